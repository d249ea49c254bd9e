// SPDX-License-Identifier: Apache-2.0
#include <tools/command_line.hpp>

#include <tools/allowed_cores.hpp>
#include <tools/doctor.hpp>
#include <tools/info.hpp>
#include <tools/job.hpp>
#include <tools/near_match.hpp>
#include <tools/run_options.hpp>
#include <tools/why.hpp>

#include <shoal/comm/build_info.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

namespace shoal::tools {

namespace {

constexpr int kWrongUse = 2;

/// What the user typed, before it is checked against the machine.
struct Typed {
  std::uint32_t processes = 0;
  std::uint32_t pes = 0;        // 0: not given
  std::uint32_t total_pes = 0;  // 0: not given
  double grace_s = 2;
  double start_limit_s = 60;
  RunOptions run;
};

/// CLI11 does not know that a program follows.
class RunHelp : public CLI::Formatter {
  std::string make_usage(const CLI::App* /*app*/, std::string name) const override {
    return fmt::format("Usage: {} -n PROCESSES [OPTIONS] PROGRAM [ARGS...]\n", name);
  }
};

void add_run(CLI::App& run, Typed& typed) {
  run.prefix_command();  // what stands behind PROGRAM is the program's
  run.formatter(std::make_shared<RunHelp>());
  run.footer(
      "Process 0 has this stdin. The exit code is the program's, or that of the first failure.");
  run.add_option("-n,--processes", typed.processes, "How many processes to start")
      ->required()
      ->check(CLI::Range(1U, kMostProcesses));
  auto* pes = run.add_option("-p,--pes", typed.pes,
                             "PEs of each process; without it, the allowed cores are shared out")
                  ->check(CLI::Range(1U, kMostPesPerProcess));
  run.add_option("-P,--total-pes", typed.total_pes,
                 "PEs of the job, spread evenly: the first processes have one more")
      ->check(CLI::Range(1U, kMostProcesses * kMostPesPerProcess))
      ->excludes(pes);
  run.add_flag("--prefix", typed.run.prefix, "Put \"[rank] \" before each line of output");
  run.add_option("--env", typed.run.environment, "NAME=VALUE for the processes; may be repeated")
      ->allow_extra_args(false);
  run.add_option("--grace", typed.grace_s,
                 "Seconds that processes have to end after a failure or an interrupt")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 3600.0));
  run.add_option("--start-timeout", typed.start_limit_s,
                 "Seconds from the first process that joins until all must have")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 86400.0));
}

std::vector<std::string> words_of(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
    for (const std::string& name : option->get_snames()) words.push_back("-" + name);
  }
  for (const CLI::App* subcommand : app.get_subcommands({})) {
    words.push_back(subcommand->get_name());
  }
  return words;
}

int wrong_use(const CLI::App& app, const std::string& text) {
  const std::string name = app.get_parent() != nullptr ? "shoal " + app.get_name() : app.get_name();
  fmt::print(stderr, "{}: {} (see {} --help)\n", name, text, name);
  return kWrongUse;
}

int unknown_word(const CLI::App& app, const std::string& word) {
  const auto words = words_of(app);
  const std::string match = near_match(word.substr(0, word.find('=')), words);
  return wrong_use(
      app, fmt::format("unknown {} '{}'{}", word.front() == '-' ? "option" : "command", word,
                       match.empty() ? "" : fmt::format("; did you mean '{}'?", match)));
}

std::vector<std::uint32_t> share_out(const Typed& typed) {
  std::vector<std::uint32_t> pes(typed.processes, typed.pes);
  if (typed.total_pes > 0) {
    for (std::uint32_t k = 0; k < typed.processes; ++k) {
      pes[k] = typed.total_pes / typed.processes + (k < typed.total_pes % typed.processes ? 1 : 0);
    }
  } else if (typed.pes == 0) {
    std::fill(pes.begin(), pes.end(), std::max(1U, allowed_cores() / typed.processes));
  }
  return pes;
}

comm::Nanoseconds nanoseconds(double seconds) {
  return static_cast<comm::Nanoseconds>(seconds * static_cast<double>(comm::kSecond));
}

int run_job(const CLI::App& app, Typed& typed) {
  // What stands behind a "--" is left to the parent.
  const auto command = app.remaining_size() > 0 ? app.remaining() : app.get_parent()->remaining();
  if (command.empty()) return wrong_use(app, "no program is named");
  if (app.remaining_size() > 0 && command.front().front() == '-') {
    return unknown_word(app, command.front());
  }
  typed.run.command = command;
  if (typed.total_pes > 0 && typed.total_pes < typed.processes) {
    return wrong_use(app, fmt::format("{} PEs cannot be spread over {} processes", typed.total_pes,
                                      typed.processes));
  }
  for (const std::string& entry : typed.run.environment) {
    if (entry.find('=') == std::string::npos || entry.front() == '=') {
      return wrong_use(app, fmt::format("--env wants NAME=VALUE, not '{}'", entry));
    }
  }
  typed.run.pes = share_out(typed);
  typed.run.grace = nanoseconds(typed.grace_s);
  typed.run.start_limit = nanoseconds(typed.start_limit_s);
  return Job(std::move(typed.run)).run();
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app("Starts and inspects Shoal programs.", "shoal");
  app.set_version_flag("--version", std::string("shoal ") + std::string(comm::build_description()));
  app.allow_extras();  // they are told with a near match below
  Typed typed;
  CLI::App& run = *app.add_subcommand("run", "Start a program as a job of several processes");
  add_run(run, typed);
  CLI::App& info = *app.add_subcommand("info", "Show what this installation is made of");
  info.allow_extras();
  CLI::App& why = *app.add_subcommand(
      "why", "Show what a running job waits for: tasks, fibers, messages, entries");
  int asked = 0;
  why.add_option("PID", asked, "The job's `shoal run`, or process 0; may be left out if one runs")
      ->check(CLI::PositiveNumber);
  why.allow_extras();
  CLI::App& doctor =
      *app.add_subcommand("doctor", "Look for what of this machine would stand in a job's way");
  doctor.allow_extras();
  const CLI::App* chosen = &app;
  try {
    app.parse(argc, argv);
    for (const CLI::App* subcommand : {&run, &info, &why, &doctor}) {
      if (subcommand->parsed()) chosen = subcommand;
    }
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error);
    if (run.parsed()) chosen = &run;
    const auto extras = run.remaining();
    if (!extras.empty() && extras.front().front() == '-') return unknown_word(run, extras.front());
    return wrong_use(*chosen, error.what());
  }
  if (chosen == &run) return run_job(run, typed);
  const auto extras = chosen->remaining();
  if (!extras.empty()) return unknown_word(*chosen, extras.front());
  if (chosen == &why) return tell_why(asked);
  if (chosen == &doctor) return examine_machine();
  if (chosen == &info) {
    fmt::print("{}", describe_installation());
    return 0;
  }
  fmt::print(stderr, "{}", app.help());
  return kWrongUse;
}

}  // namespace shoal::tools
