// SPDX-License-Identifier: Apache-2.0
#include <shoal/runtime/options.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>
#include <numeric>

namespace shoal::runtime {

namespace {
constexpr std::string_view kPrefix = "--shoal-";

// The table. Each call is one option.
void describe(CLI::App& app, Options& options, bool& help) {
  const auto add = [&](const char* name, auto& value, const char* text) {
    std::string variable = "SHOAL_";
    for (const char* at = name; *at != '\0'; ++at) {
      variable += *at == '-' ? '_' : static_cast<char>(std::toupper(*at));
    }
    return app.add_option(std::string(kPrefix) + name, value, text)
        ->envname(variable)
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
  app.add_flag(std::string(kPrefix) + "help", help, "print this list and end");
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
// Where a refused value comes from, if it is not the command line.
std::string source_of(const CLI::ParseError& error, const CLI::App& app,
                      const std::vector<std::string>& given) {
  const std::string text = error.what();
  const std::string flag = text.substr(0, text.find(':'));
  const CLI::Option* option = app.get_option_no_throw(flag);
  const auto is_it = [&](const std::string& one) { return one.substr(0, one.find('=')) == flag; };
  if (option == nullptr || std::any_of(given.begin(), given.end(), is_it)) return "";
  return fmt::format(" (from the environment: {})", option->get_envname());
}
}  // namespace

comm::Expected<ParsedOptions> parse_options(int argc, const char* const* argv) {
  ParsedOptions parsed;
  CLI::App app("Options of the Shoal runtime", "");
  app.set_help_flag();
  describe(app, parsed.options, parsed.help);

  std::vector<std::string> own;
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
    return comm::make_error(comm::ErrorCode::bad_argument,
                            error.what() + source_of(error, app, own));
  }
  return parsed;
}

std::string options_help() {
  Options defaults;
  bool help = false;
  CLI::App app("Options of the Shoal runtime, for every program that uses it", "PROGRAM");
  app.set_help_flag();
  describe(app, defaults, help);
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
