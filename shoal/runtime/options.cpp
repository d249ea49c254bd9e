// SPDX-License-Identifier: Apache-2.0
#include <shoal/runtime/options.hpp>

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <istream>
#include <map>
#include <numeric>

namespace shoal::runtime {

namespace {
constexpr std::string_view kPrefix = "--shoal-";
constexpr const char* kFileVariable = "SHOAL_CONFIG";

std::string variable_of(std::string_view name) {
  std::string variable = "SHOAL_";
  for (const char letter : name) {
    variable += letter == '-' ? '_' : static_cast<char>(std::toupper(letter));
  }
  return variable;
}

/// Lines NAME = VALUE, where NAME is an option's without --shoal-. Left out are those that the
/// environment sets: CLI11 lets the file win.
class File : public CLI::ConfigINI {
 public:
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    auto lines = CLI::ConfigINI::from_config(input);
    std::erase_if(lines, [](const CLI::ConfigItem& line) {
      return std::getenv(variable_of(line.fullname()).c_str()) != nullptr;
    });
    for (CLI::ConfigItem& line : lines) {
      line.name = "shoal-" + line.fullname();
      line.parents.clear();
    }
    return lines;
  }
};

/// What is asked of the options themselves.
struct Asked {
  bool help = false;
  bool values = false;
};

// The table. Each call is one option.
void describe(CLI::App& app, Options& options, Asked& asked) {
  const auto add = [&](const char* name, auto& value, const char* text) {
    return app.add_option(std::string(kPrefix) + name, value, text)
        ->envname(variable_of(name))
        ->capture_default_str();
  };
  // Beyond these, a time in nanoseconds would be none, or not fit; and infinity is a number, too.
  const CLI::Validator seconds(
      [](const std::string& text) {
        const double value = std::strtod(text.c_str(), nullptr);
        return value >= 0.001 && value <= 1e9
                   ? std::string()
                   : fmt::format("{} is not a number from 0.001 to 1e9", text);
      },
      "0.001 to 1e9");
  add("pes", options.pes, "PEs of this process; 0: one a core, or what the launcher says")
      ->check(CLI::Range(0U, 1U << 20U));
  add("bind", options.bind, "bind each PE to a core if there are enough")
      ->check(CLI::IsMember({"auto", "none"}));
  add("spin-us", options.spin_us, "microseconds that an idle PE polls before it sleeps");
  add("fiber-stack", options.fiber_stack_kib, "KiB of stack for each fiber")
      ->check(CLI::Range(16U, 1U << 20U));
  add("hang-timeout", options.hang_timeout_s,
      "seconds without progress, all PEs idle, before the job is ended with a report")
      ->check(seconds);
  add("heartbeat", options.heartbeat_s,
      "seconds: a process that stands still is told of within twice this")
      ->check(CLI::Range(0.01, 1e6));
  add("watch", options.watch_s, "seconds an entry may run before a line says that it still does")
      ->check(seconds);
  add("seed", options.seed, "of the runtime's random choices");
  add("log", options.log, "what is told on stderr")
      ->check(CLI::IsMember({"error", "warning", "info", "debug"}));
  app.set_config(std::string(kPrefix) + "config", "",
                 "a file of options: lines such as pes = 2; # begins a comment")
      ->envname(kFileVariable)
      ->type_name("FILE");
  app.config_formatter(std::make_shared<File>());
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.add_flag(std::string(kPrefix) + "values", asked.values,
               "say at start what each option is, and where that is from");
  app.add_flag(std::string(kPrefix) + "help", asked.help, "print this list and end");
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

std::string nearest(const CLI::App& app, std::string_view flag) {
  std::string best;
  std::size_t least = flag.size();
  for (const CLI::Option* option : app.get_options()) {
    const std::size_t distance = edit_distance(option->get_name(), flag);
    if (distance < least) {
      least = distance;
      best = option->get_name();
    }
  }
  return best;
}

// "default", "the command line", "SHOAL_PES" or "the file x.ini".
std::string origin_of(const CLI::App& app, const CLI::Option& option,
                      const std::vector<std::string>& given) {
  const std::string flag = option.get_name();
  const auto is_it = [&](const std::string& one) { return one.substr(0, one.find('=')) == flag; };
  if (std::any_of(given.begin(), given.end(), is_it)) return "the command line";
  if (std::getenv(option.get_envname().c_str()) != nullptr) return option.get_envname();
  const CLI::Option* file = app.get_config_ptr();
  return option.count() > 0 && file->count() > 0 ? "the file " + file->as<std::string>()
                                                 : "default";
}

std::string describe_values(const CLI::App& app, const std::vector<std::string>& given) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (option->get_envname().empty() || option == app.get_config_ptr()) continue;
    const std::string value =
        option->count() > 0 ? option->as<std::string>() : option->get_default_str();
    text += fmt::format("\n  {} = {} ({})", name.substr(kPrefix.size()), value,
                        origin_of(app, *option, given));
  }
  return text;
}

std::string describe_error(const CLI::ParseError& error, const CLI::App& app,
                           const std::vector<std::string>& given) {
  std::string text = error.what();
  const std::string flag = text.substr(0, text.find(':'));
  const CLI::Option* option = app.get_option_no_throw(flag);
  if (option != nullptr) {
    const std::string origin = origin_of(app, *option, given);
    return origin == "the command line" ? text : fmt::format("{} (from {})", text, origin);
  }
  if (dynamic_cast<const CLI::ConfigError*>(&error) == nullptr) return text;
  const std::string key = text.substr(text.find_last_of(' ') + 1);
  return fmt::format("the file {}: there is no option {}: did you mean {}?",
                     app.get_config_ptr()->as<std::string>(), key.substr(sizeof("shoal-") - 1),
                     nearest(app, "--" + key).substr(kPrefix.size()));
}

// Variables that are nearly an option's: a typing error that would be ignored.
std::vector<std::string> misspelt_variables(const CLI::App& app) {
  std::vector<std::string> warnings;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (!name.starts_with("SHOAL_")) continue;
    for (const CLI::Option* option : app.get_options()) {
      const std::size_t distance = edit_distance(option->get_envname(), name);
      if (distance == 0 || distance > 2) continue;
      warnings.push_back(fmt::format("{} is set, but there is no such option: did you mean {}?",
                                     name, option->get_envname()));
    }
  }
  return warnings;
}
}  // namespace

comm::Expected<ParsedOptions> parse_options(int argc, const char* const* argv) {
  ParsedOptions parsed;
  CLI::App app("Options of the Shoal runtime", "");
  app.set_help_flag();
  Asked asked;
  describe(app, parsed.options, asked);

  std::vector<std::string> own;
  // CLI11 reads the file before it looks at the environment; a flag behind this one wins.
  if (const char* file = std::getenv(kFileVariable)) {
    own.push_back(app.get_config_ptr()->get_name() + "=" + file);
  }
  bool after_dashes = false;
  for (int i = 0; i < argc; ++i) {
    const std::string argument = argv[i];
    after_dashes = after_dashes || argument == "--";
    if (i == 0 || after_dashes || !argument.starts_with(kPrefix)) {
      parsed.arguments.push_back(argument);
      continue;
    }
    const std::string flag = argument.substr(0, argument.find('='));
    const CLI::Option* option = app.get_option_no_throw(flag);
    if (option == nullptr) {
      return comm::make_error(comm::ErrorCode::bad_argument,
                              fmt::format("there is no option {}: did you mean {}? --shoal-help "
                                          "lists all",
                                          flag, nearest(app, flag)));
    }
    own.push_back(argument);
    if (flag == argument && option->get_type_size() > 0 && i + 1 < argc)
      own.emplace_back(argv[++i]);
  }
  std::vector<std::string> consumed(own.rbegin(), own.rend());  // CLI11 takes them from the end
  try {
    app.parse(consumed);
  } catch (const CLI::ParseError& error) {
    return comm::make_error(comm::ErrorCode::bad_argument, describe_error(error, app, own));
  }
  parsed.help = asked.help;
  if (asked.values) parsed.values = describe_values(app, own);
  parsed.warnings = misspelt_variables(app);
  return parsed;
}

std::string options_help() {
  Options defaults;
  Asked asked;
  CLI::App app("Options of the Shoal runtime, for every program that uses it", "PROGRAM");
  app.set_help_flag();
  describe(app, defaults, asked);
  return app.help();
}

comm::Level log_level(const Options& options) {
  static const std::map<std::string, comm::Level> levels{{"error", comm::Level::error},
                                                         {"warning", comm::Level::warning},
                                                         {"info", comm::Level::info},
                                                         {"debug", comm::Level::debug}};
  return levels.at(options.log);
}

}  // namespace shoal::runtime
