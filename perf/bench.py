#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs Shoal's benchmarks, each beside its peers, and says how they compare.

    perf/bench.py [NAME…] [--quick] [--json FILE] [--build-dir DIR] [--sizes A,B] [--reps N]

NAME is a benchmark or the beginning of a case: ping_pong, ping_pong/two_processes, entry_cost,
messages, startup; none means all. Tables go to stdout, JSON Lines to FILE (`-` for stdout):
report.py tells what is in a row.

How the figures are made. A machine is noisy, a virtual one above all: the same hand-over of a
cache line takes 25 ns in one minute and 180 in another. So all sides of a comparison take turns,
A B C A B C, a few milliseconds each, at least 21 times, and medians are compared. The processes of
all sides live through the whole run and sleep between their turns, blocked in a read of a pipe of
commands (sides.py); what spins while it waits, an MPI process or ucx_perftest, has a pipe for each
of its processes. That the sleepers do not disturb is checked on request: --check-idle measures one
peer alone, then beside all sleepers, and prints both. The hand-over time of a cache line between
the two cores is printed before and after each benchmark: figures of two runs can be compared only
when it agrees, and there is a warning when it moved within one.
"""

import argparse
import json
import os
import subprocess
import sys
import time

import benchmarks
import ping_pong
import report
from sides import SideFailed

BUSY = 0.1  # of the two cores: from here on others disturb
DRIFT = 1.5  # times: from here on the figures of a run are called noisy


class Bench:
    """What a run of the driver knows: its options, where the programs are, its cores, its rows."""

    def __init__(self, options):
        self.options = options
        self.quick = options.quick
        self.rows = []
        self.out = sys.stderr if options.json == "-" else sys.stdout
        self.cores = sorted(os.sched_getaffinity(0))[:2]
        if len(self.cores) < 2:
            raise SystemExit("bench: needs two cores")
        os.sched_setaffinity(0, self.cores)  # inherited: every side runs on these two

    def program(self, name):
        """The path of a built program."""
        return os.path.join(os.path.abspath(self.options.build_dir), "bin", name)

    def peer(self, name):
        return os.path.join(os.path.abspath(self.options.build_dir), "perf", name)

    def say(self, text):
        print(text, file=self.out, flush=True)

    def wanted(self, case):
        """Whether the names on the command line ask for `bench/case`, or for a part of it."""
        names = self.options.names
        return not names or any((case + "/").startswith(name + "/") or
                                (name + "/").startswith(case + "/") for name in names)

    def repetitions(self, full, quick):
        return self.options.reps or (quick if self.quick else full)

    def hand_over(self):
        """The floor: {"median", "min"} in ns of one cache line between the two cores."""
        answer = subprocess.run([self.peer("cache_line")], stdout=subprocess.PIPE, check=True)
        return json.loads(answer.stdout)

    def others(self):
        """The share of the two cores that other programs take while this one sleeps, 0 to 1."""
        def busy():
            with open("/proc/stat") as file:
                rows = [line.split() for line in file]
            mine = [row for row in rows if row[0] in [f"cpu{core}" for core in self.cores]]
            ticks = [[int(n) for n in row[1:9]] for row in mine]
            return sum(sum(row) for row in ticks), sum(row[3] + row[4] for row in ticks)
        total, idle = busy()
        time.sleep(0.5)
        new_total, new_idle = busy()
        return 1 - (new_idle - idle) / max(new_total - total, 1)

    def add(self, bench, case, metric, values, peers, unit=None):
        new = report.rows(bench, case, metric, values, peers, unit)
        wanted = [row for row in new if self.wanted(f"{bench}/{case}")]
        self.rows += wanted
        return wanted


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="bench", description=__doc__.split("\n\n")[0],
        epilog="benchmarks: " + ", ".join(benchmarks.ALL))
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="a benchmark, or the beginning of a case: ping_pong/two_processes")
    parser.add_argument("--quick", action="store_true", help="fewer sizes and repetitions, rougher")
    parser.add_argument("--json", metavar="FILE", help="write JSON Lines to FILE, - for stdout")
    parser.add_argument("--build-dir", default="build/release", metavar="DIR")
    parser.add_argument("--sizes", metavar="A,B", help="message sizes in bytes, instead of all")
    parser.add_argument("--reps", type=int, metavar="N", help="repetitions, instead of the default")
    parser.add_argument("--check-idle", action="store_true",
                        help="measure how much the sleeping sides disturb, and end")
    options = parser.parse_args(arguments)
    for name in options.names:
        if name.split("/")[0] not in benchmarks.ALL:
            parser.error(f"no benchmark is called {name}; there are {', '.join(benchmarks.ALL)}")
    return options


def run(bench):
    for name, function in benchmarks.ALL.items():
        if not any(bench.wanted(f"{name}/{case}") for case in benchmarks.CASES[name]):
            continue
        if (share := bench.others()) > BUSY:
            bench.say(f"warning: other programs take {share:.0%} of the two cores; the figures "
                      "below mean little, run this alone")
        before = bench.hand_over()
        function(bench)
        after = bench.hand_over()
        bench.say(f"\n# one cache line from core {bench.cores[0]} to {bench.cores[1]}: median "
                  f"{before['median']:.0f} ns before, {after['median']:.0f} ns after "
                  f"(min {before['min']:.0f}, {after['min']:.0f})")
        for when, floor in (("before", before), ("after", after)):
            bench.rows.append({
                "bench": "cache_line", "case": f"{name}/{when}", "metric": "time", "unit": "ns",
                "better": "lower", "value": floor["median"], "min": floor["min"], "n": 200,
                "peer": None, "peer_value": None, "ratio": None})
        drift = max(before["median"], after["median"]) / min(before["median"], after["median"])
        if drift > DRIFT:
            bench.say(f"warning: it moved by a factor of {drift:.1f}; the figures above are noisy, "
                      "run them again")


def main(arguments):
    bench = Bench(parse(arguments))
    if not os.path.exists(bench.peer("cache_line")):
        raise SystemExit(f"bench: no benchmarks under {bench.options.build_dir}; build them: "
                         "./dev build release")
    bench.say("# Medians of all repetitions; best: Shoal's best one; ratio: Shoal to the peer at\n"
              "# its left. Within a process, arrays of 8 KiB and more are handed over by a\n"
              "# pointer, whatever their size.")
    try:
        if bench.options.check_idle:
            ping_pong.check_idle(bench)
            return 0
        run(bench)
    except SideFailed as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    finally:
        if bench.options.json and bench.rows:
            report.write_json(bench.rows, bench.options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
