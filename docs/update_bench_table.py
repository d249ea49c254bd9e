#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""update_bench_table.py FIGURES.json

Puts the figures that `./dev bench --json FIGURES.json` wrote into the tables of README.md and
docs/architecture.md, between <!-- bench:begin --> and <!-- bench:end -->, or <!-- cost:begin -->
and <!-- cost:end -->. A line for each peer; figures that are not in the file are left out. What a
row of the file holds is told in perf/report.py.
"""

import json
import os
import platform
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# What a table shows: a label, and the bench, case and metric it is taken from.
MAIN_LINES = (
    ("one PE to itself, an `int`: time", "entry_cost", "one_pe/array", "time"),
    ("one PE to itself, an `int`: instructions", "entry_cost", "one_pe/array", "instructions"),
    ("one PE to itself, an `int`: allocations", "entry_cost", "one_pe/array", "allocations"),
    ("two PEs of a process, 8 B: latency", "ping_pong", "two_pes/8", "latency"),
    ("two PEs of a process, 1 MiB: latency", "ping_pong", "two_pes/1048576", "latency"),
    ("two processes, 8 B: latency", "ping_pong", "two_processes/8", "latency"),
    ("two processes, 1 KiB: latency", "ping_pong", "two_processes/1024", "latency"),
    ("two processes, 64 KiB into a buffer", "ping_pong", "two_processes/65536", "latency"),
    ("two processes, 1 MiB into a buffer", "ping_pong", "two_processes/1048576", "latency"),
    ("two processes, 1 MiB as a view", "ping_pong", "two_processes_view/1048576", "latency"),
    ("two processes, 1 MiB as a vector", "ping_pong", "two_processes_value/1048576", "latency"),
    ("two processes, 4 MiB: bandwidth", "ping_pong", "two_processes/4194304", "bandwidth"),
    ("two processes, 1 MiB: bandwidth both ways", "ping_pong", "two_processes/1048576",
     "bidirectional_bandwidth"),
    ("two processes, 8 B: messages a second", "ping_pong", "two_processes/8", "rate"),
    ("two processes over TCP, 8 B: latency", "ping_pong", "two_processes_tcp/8", "latency"),
    *((f"{label}, {threads}: a message", "messages", f"{program}/{n}", "time")
      for n, threads in ((1, "1 thread"), (2, "2 threads"))
      for label, program in (("two actors and a ball", "ping_pong"), ("a ring of 100", "ring"),
                             ("one counts for another", "counting"),
                             ("32 to all others", "many_to_many"))),
    ("start, hello and end: one process", "startup", "one_process", "time"),
    ("start, hello and end: two processes", "startup", "two_processes", "time"),
)
COST_LINES = tuple(
    (f"{label}: {metric}", "entry_cost", case, metric)
    for label, case in (("a PE to itself, single actor", "one_pe/actor"),
                        ("a PE to itself, array", "one_pe/array"),
                        ("a PE to itself, group", "one_pe/group"),
                        ("two PEs of a process, array", "two_pes/array"))
    for metric in ("instructions", "time", "allocations"))
TABLES = (("README.md", "bench", MAIN_LINES), ("docs/architecture.md", "cost", COST_LINES))
PEERS = {
    "fifo": "bare FIFO of function pointers",
    "queue": "bare queue between two threads",
    "openmpi": "Open MPI",
    "caf": "CAF",
    "empty_program": "empty program",
    "mpi": "Open MPI, `mpirun -n 2`",
}


def peer_name(peer):
    if peer.startswith("ucx_"):
        return f"UCX {peer[4:]} alone"
    return PEERS.get(peer, peer)


def figure(value, unit):
    """A value with its unit, three digits, scaled where the unit would be unreadable."""
    if value is None:
        return "–"
    scaled = {("messages/s", 1e6): "million/s", ("s", 1e-3): "ms"}
    for (known, factor), name in scaled.items():
        if unit == known and (value >= factor if factor > 1 else value < 1):
            value, unit = value / factor, name
            break
    text = f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return text if unit in ("instructions", "allocations") else f"{text} {unit}".replace("us", "µs")


def floor(rows):
    """The sentence about the hand-over of a cache line, without which no figure says much."""
    values = sorted(row["value"] for row in rows if row["bench"] == "cache_line")
    if not values:
        return ""
    return (f" One cache line from core to core took {values[0]:.0f} to {values[-1]:.0f} ns "
            "during the run.")


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    return f"{model[1] if model else platform.machine()}, {len(os.sched_getaffinity(0))} cores"


def table(rows, lines_wanted):
    """The Markdown between the markers."""
    lines = [f"Measured on: {machine()}.{floor(rows)}", "",
             "| | Shoal | beside | its figure | ratio |", "|---|---:|---|---:|---:|"]
    for label, bench, case, metric in lines_wanted:
        wanted = (bench, case, metric)
        for row in rows:
            if (row["bench"], row["case"], row["metric"]) != wanted:
                continue
            peer = peer_name(row["peer"]) if row["peer"] else ""
            ratio = "" if row["ratio"] is None else f"{row['ratio']:.2f}"
            lines.append(f"| {label} | {figure(row['value'], row['unit'])} | {peer} | "
                         f"{figure(row['peer_value'], row['unit']) if peer else ''} | {ratio} |")
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = [json.loads(line) for line in file if line.strip()]
    for name, marker, lines in TABLES:
        path = os.path.join(ROOT, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        region = re.compile(rf"(<!-- {marker}:begin -->\n).*?(<!-- {marker}:end -->)", re.DOTALL)
        text, count = region.subn(lambda match: match[1] + table(rows, lines) + match[2], text)
        if count != 1:
            sys.exit(f"{path} has no <!-- {marker}:begin --> … <!-- {marker}:end -->")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
