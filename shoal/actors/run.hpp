// SPDX-License-Identifier: Apache-2.0
// The problem: main must become a job: options read, processes met, PEs started, the program run,
// all ended. Offered: shoal::run, the one call in a program's main, and shoal::simulate, the same
// under a seed.
#pragma once

#include <shoal/actors/actor_layer.hpp>
#include <shoal/actors/world.hpp>

#include <concepts>
#include <functional>

namespace shoal::actors {

struct RunSettings {
  /// Sees exceptions that leave an entry nobody had called; without it they end the job.
  ExceptionHandler on_exception;
};

/// A program: `Task<> program(World&)`, or a plain function `void program(World&)`.
template <class P>
concept is_a_program = std::is_invocable_v<P, World&> &&
    (std::is_same_v<std::invoke_result_t<P, World&>, Task<>> ||
     std::is_void_v<std::invoke_result_t<P, World&>>);

namespace detail {
using AnyProgram = std::function<Task<>(World&)>;
int run_program(int argc, char** argv, AnyProgram program, RunSettings settings);

template <is_a_program P>
AnyProgram as_task(P program) {
  if constexpr (std::same_as<std::invoke_result_t<P, World&>, Task<>>) {
    return AnyProgram(std::move(program));
  } else {
    return [program = std::move(program)](World& world) -> Task<> {
      program(world);
      co_return;
    };
  }
}
}  // namespace detail

/// Runs `program` on PE 0 of a job: of this process alone, or, under a launcher, with the others.
/// Returns the exit code when all has ended: the program's own (World::exit), 0 when it is quiet,
/// or one of runtime/exit_codes.hpp. Call it once, at the end of main.
template <is_a_program P>
int run(int argc, char** argv, P program, RunSettings settings = {}) {
  return detail::run_program(argc, argv, detail::as_task(std::move(program)), std::move(settings));
}

}  // namespace shoal::actors
