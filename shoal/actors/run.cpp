// SPDX-License-Identifier: Apache-2.0
#include <shoal/actors/run.hpp>
#include <shoal/comm/log.hpp>
#include <shoal/runtime/exit_codes.hpp>
#include <shoal/runtime/job.hpp>

#include <cstdio>

namespace shoal::actors::detail {

int run_program(int argc, char** argv, AnyProgram program, RunSettings settings) {
  auto parsed = runtime::parse_options(argc, argv);
  if (!parsed) {
    comm::log_line(comm::Level::error, parsed.error().text);
    return runtime::kExitUsage;
  }
  if (parsed->help) {
    std::fputs(runtime::options_help().c_str(), stdout);  // NOLINT: the user asked for it
    return 0;
  }
  const EntryTable& entries = EntryTable::instance();
  ActorLayer layer(std::move(parsed->arguments), std::move(settings.on_exception),
                   std::move(program));
  runtime::JobSettings job;
  job.options = parsed->options;
  job.values = std::move(parsed->values);
  job.warnings = std::move(parsed->warnings);
  job.layer = &layer;
  job.entry_digest = entries.digest();
  job.entries = entries.list();
  return runtime::run_job(job);
}

}  // namespace shoal::actors::detail
