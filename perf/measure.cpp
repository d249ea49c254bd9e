// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>

#include <sched.h>
#include <unistd.h>

namespace perf {

namespace {

const cpu_set_t allowed_cores = [] {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  return set;
}();

// The others measure messages of one small argument.
bool has_sizes(const std::string& metric) {
  return metric == "latency" || metric == "bandwidth" || metric == "rate" ||
         metric == "bidirectional_bandwidth";
}

const char* heading(const std::string& metric) {
  if (metric == "latency") return "Latency (us)";
  if (metric == "bandwidth") return "Bandwidth (MB/s)";
  if (metric == "bidirectional_bandwidth") return "Both ways (MB/s)";
  if (metric == "rate") return "Messages/s";
  if (metric == "time") return "Time (ns)";
  return metric.c_str();
}

// Tells a driver that the program has started, which UCX library it loaded and with which settings,
// so that the peers get the same.
void print_ready() {
  std::string settings, library;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (!text.starts_with("UCX_") || text.find_first_of("\"\\") != text.npos) continue;
    if (!settings.empty()) settings += ", ";
    settings.append("\"").append(text.substr(0, equals)).append("\": \"");
    settings.append(text.substr(equals + 1)).append("\"");
  }
  std::ifstream maps("/proc/self/maps");
  for (std::string line; library.empty() && std::getline(maps, line);) {
    if (line.find("/libucp.so") != line.npos) library = line.substr(line.find('/'));
  }
  std::printf("{\"ready\": true, \"libucp\": \"%s\", \"environment\": {%s}}\n", library.c_str(),
              settings.c_str());
  std::fflush(stdout);
}

}  // namespace

Schedule::Schedule(std::span<const std::string> arguments, std::vector<std::string> cases,
                   std::vector<std::string> metrics)
    : cases_(std::move(cases)),
      metrics_(std::move(metrics)),
      case_(cases_.at(0)),
      metric_(metrics_.at(0)) {
  for (std::size_t i = 1; i < arguments.size(); i += 2) {
    const bool help = arguments[i] == "--help" || arguments[i] == "-h";
    if (!help && i + 1 < arguments.size() && take(arguments[i], arguments[i + 1])) continue;
    if (!help)
      std::fprintf(stderr, "%s: what is %s?\n", arguments[0].c_str(), arguments[i].c_str());
    print_usage(arguments[0]);
    exit_code_ = help ? 0 : 2;
    max_ = 0;  // no repetition
    serve_path_.clear();
    break;
  }
  if (max_ > 0 && !has_sizes(metric_)) min_ = max_ = 8;
  size_ = min_;
}

bool Schedule::take(const std::string& option, const std::string& value) {
  const auto offered = [&](const auto& words) {
    return std::find(words.begin(), words.end(), value) != words.end();
  };
  if (option == "-m") {
    const auto colon = value.find(':');
    min_ = max_ = std::strtoull(value.c_str(), nullptr, 10);
    if (colon != value.npos) max_ = std::strtoull(value.c_str() + colon + 1, nullptr, 10);
    return min_ > 0;
  }
  if (option == "-i") return (iterations_ = std::atol(value.c_str())) > 0;
  if (option == "-x") return (warmup_ = std::atol(value.c_str())) >= 0;
  if (option == "--reps") return (reps_ = std::atol(value.c_str())) > 0;
  if (option == "--metric") return metric_ = value, offered(metrics_);
  if (option == "--case") return case_ = value, offered(cases_);
  if (option == "--messages") return true;  // tokens.hpp reads it
  if (option == "--serve") return !(serve_path_ = value).empty();
  return false;
}

void Schedule::print_usage(const std::string& program) const {
  std::fprintf(
      stderr,
      "usage: %s [-m MIN:MAX] [-i ITERATIONS] [-x WARMUP] [--reps R] [--metric M] [--case C]\n"
      "       %s --serve FILE   reads CASE SIZE METRIC ITERATIONS WARMUP, one line a repetition\n"
      "cases:  ",
      program.c_str(), program.c_str());
  for (const auto& name : cases_) std::fprintf(stderr, " %s", name.c_str());
  std::fprintf(stderr, "\nmetrics:");
  for (const auto& name : metrics_) std::fprintf(stderr, " %s", name.c_str());
  std::fprintf(stderr, "\n");
}

void Schedule::open(int rank) {
  if (serve_path_.empty()) return;
  if (rank <= 0) print_ready();
  if (rank >= 0) serve_path_.append(1, '.').append(std::to_string(rank));
  commands_ = std::fopen(serve_path_.c_str(), "r");
  if (commands_ == nullptr) {
    std::perror(serve_path_.c_str());
    std::exit(1);
  }
}

std::optional<Run> Schedule::next() {
  auto run = commands_ == nullptr ? next_by_hand() : next_command();
  if (run && run->metric != "latency") {
    const long whole = window(run->size);
    run->iterations = (run->iterations + whole - 1) / whole * whole;
    run->warmup = (run->warmup + whole - 1) / whole * whole;
  }
  return run;
}

std::optional<Run> Schedule::next_command() {
  char line[256], name[64], metric[32];
  Run run;
  if (std::fgets(line, sizeof line, commands_) == nullptr) return std::nullopt;
  if (std::sscanf(line, "%63s %zu %31s %ld %ld", name, &run.size, metric, &run.iterations,
                  &run.warmup) != 5) {
    return std::nullopt;  // "quit", or a driver of another version
  }
  run.name = name;
  run.metric = metric;
  return run;
}

std::optional<Run> Schedule::next_by_hand() {
  if (static_cast<long>(values_.size()) == reps_) {
    values_.clear();
    size_ *= 2;
  }
  if (size_ > max_) return std::nullopt;
  Run run{case_, size_, metric_, iterations_, warmup_};
  if (run.iterations <= 0) {
    run.iterations = !has_sizes(metric_)  ? 128'000
                     : size_ <= 8192      ? 10'000
                     : size_ < (1u << 20) ? 1'000
                                          : 100;
  }
  if (run.warmup < 0) run.warmup = run.iterations / 10 + 1;
  // Each process of a benchmark counts the repetitions here, whether or not it reports them.
  values_.push_back(0);
  return run;
}

void Schedule::report(const Run& run, double value) {
  if (commands_ != nullptr) {
    std::printf("{\"case\": \"%s\", \"size\": %zu, \"metric\": \"%s\", \"value\": %.9g}\n",
                run.name.c_str(), run.size, run.metric.c_str(), value);
    std::fflush(stdout);
    return;
  }
  values_.back() = value;
  if (static_cast<long>(values_.size()) == reps_) print_row(run);
}

void Schedule::print_row(const Run& run) {
  const bool more_is_better = has_sizes(run.metric) && run.metric != "latency";
  if (!header_printed_) {
    std::printf("# %s\n# %-10s %18s %18s\n", run.name.c_str(), "Size", heading(run.metric),
                more_is_better ? "max" : "min");
    header_printed_ = true;
  }
  const auto [least, most] = std::minmax_element(values_.begin(), values_.end());
  std::printf("%-12zu %18.3f %18.3f\n", run.size, median(values_), more_is_better ? *most : *least);
  std::fflush(stdout);
}

void pin_to_core(int nth) {
  // Read before main: a thread inherits the narrowed mask of one that is pinned already.
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed_cores) || nth-- > 0) continue;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    if (sched_setaffinity(0, sizeof set, &set) == 0) return;
    break;
  }
  std::fprintf(stderr, "cannot pin a thread: this benchmark needs two cores\n");
  std::exit(1);
}

std::vector<std::string> arguments(int argc, char** argv) { return {argv, argv + argc}; }

double now_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double value_of(const Run& run, double ns) {
  const auto n = static_cast<double>(run.iterations);
  if (run.metric == "latency") return ns / n / 2e3;
  if (run.metric == "bandwidth") return n * static_cast<double>(run.size) / ns * 1e3;
  if (run.metric == "bidirectional_bandwidth") return n * static_cast<double>(run.size) / ns * 2e3;
  if (run.metric == "rate") return n / ns * 1e9;
  return ns / n;
}

}  // namespace perf
