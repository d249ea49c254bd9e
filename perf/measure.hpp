// SPDX-License-Identifier: Apache-2.0
#pragma once

// What every program of perf/ needs and none should write twice: the options of a benchmark, the
// schedule of repetitions that follows from them, pinning, time, and the two forms of output.
//
// A program asks its Schedule for the next Run, measures it once, and reports one value. By hand
// the schedule walks the sizes of `-m MIN:MAX` and prints a table in the look of the OSU
// benchmarks. Under `--serve FILE` it reads one line a repetition from FILE (a named pipe, so that
// the process sleeps until it is asked) and answers each with one line of JSON on stdout.
// perf/bench.py uses the second form to let all sides of a comparison take turns.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace perf {

// One repetition. `value` of its report is microseconds one way for "latency", 10^6 bytes a second
// for "bandwidth", of both ways together for "bidirectional_bandwidth", messages a second for
// "rate", and what the program documents for other metrics.
struct Run {
  std::string name;      // the case: "two_processes", "one_pe/array"
  std::size_t size = 8;  // bytes of payload
  std::string metric = "latency";
  long iterations = 1000;  // round trips for latency; otherwise messages a way, in whole windows
  long warmup = 100;       // as many more, not timed, before them
};

// Messages in flight before an acknowledgement is awaited; two such windows overlap.
inline long window(std::size_t size) { return size < (1u << 20) ? 64 : 16; }

class Schedule {
 public:
  // Reads the options below out of the arguments, the program's name first. `cases` and `metrics`
  // are what the program offers; the first of each is its default. Whatever else stands there is
  // named on stderr, with a usage text, and then there is no repetition and exit_code() is 2.
  //   -m MIN:MAX  -i ITERATIONS  -x WARMUP  --reps R  --metric M  --case C  --serve FILE
  Schedule(std::span<const std::string> arguments, std::vector<std::string> cases,
           std::vector<std::string> metrics);

  // The next repetition, or nothing at the end. Blocks on the pipe under --serve.
  std::optional<Run> next();

  // Call once for each next(), in one process of the benchmark.
  void report(const Run& run, double value);

  int exit_code() const { return exit_code_; }
  const std::string& chosen_case() const { return case_; }

  // Appends `.RANK` to the file of --serve: each process of an MPI program reads a pipe of its own.
  void open(int rank = -1);

 private:
  std::optional<Run> next_command();
  std::optional<Run> next_by_hand();
  void print_row(const Run& run);
  void print_usage(const std::string& program) const;
  bool take(const std::string& option, const std::string& value);

  std::vector<std::string> cases_, metrics_;
  std::string case_, metric_, serve_path_;
  std::size_t min_ = 1, max_ = 4u << 20, size_ = 0;
  long iterations_ = 0, warmup_ = -1, reps_ = 11;
  bool header_printed_ = false;
  int exit_code_ = 0;
  std::vector<double> values_;
  std::FILE* commands_ = nullptr;
};

void pin_to_core(int nth);  // the calling thread, to the nth core that the process may use
std::vector<std::string> arguments(int argc, char** argv);
double now_ns();  // steady clock
double median(std::vector<double> values);

// The value of a run that took `ns` in all: see Run for the unit.
double value_of(const Run& run, double ns);

}  // namespace perf
