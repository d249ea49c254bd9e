// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the sides of `messages` share, so that they do the same work: the four programs, how many
// actors each has, and how the messages of a turn divide among them.
//
//   ping_pong     two actors exchange a ball
//   ring          100 actors in a ring pass 10 tokens on
//   counting      one actor is sent increments by another, which then asks for the count
//   many_to_many  32 actors: in each round each sends to the 31 others, one after the other, and it
//                 begins the next when it has been sent as many as it sent
//
// A case is a program and a number of threads: `ring/2`. The metric `time` is nanoseconds a
// message. All actors count what they receive, and after a turn the sum must be exact.

#include "measure.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace perf {

inline constexpr std::int64_t ring_actors = 100, ring_tokens = 10;
inline constexpr std::int64_t many_actors = 32, many_others = many_actors - 1;

inline std::vector<std::string> message_cases(unsigned threads) {
  const std::string suffix = "/" + std::to_string(threads);
  return {"ping_pong" + suffix, "ring" + suffix, "counting" + suffix, "many_to_many" + suffix};
}

// The program of a case: "ring" of "ring/2".
inline std::string program_of(const std::string& name) { return name.substr(0, name.find('/')); }

// Into how many equal parts the messages of a turn divide: tokens, or messages of one round.
inline std::int64_t parts_of(const std::string& program) {
  if (program == "ring") return ring_tokens;
  return program == "many_to_many" ? many_actors * many_others : 1;
}

// Rounds up the messages of a turn, so that they divide.
inline void make_whole(Run& run) {
  const std::int64_t parts = parts_of(program_of(run.name));
  run.iterations = (run.iterations + parts - 1) / parts * parts;
  run.warmup = (run.warmup + parts - 1) / parts * parts;
}

inline void check_count(const Run& run, std::int64_t counted) {
  if (counted == run.iterations + run.warmup) return;
  std::fprintf(stderr, "%s: %lld messages counted, not %ld\n", run.name.c_str(),
               static_cast<long long>(counted), run.iterations + run.warmup);
  std::exit(1);
}

}  // namespace perf
