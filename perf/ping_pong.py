# SPDX-License-Identifier: Apache-2.0
"""ping_pong: its cases, their peers, and the turns that all sides take."""

import contextlib
import dataclasses

import report
from commands import (MPI_ENVIRONMENT, SHOAL_ENVIRONMENT, charmrun, mpirun, python_peer,
                      shoal_command)
from sides import Perftest, Served, SideFailed, Ucx

SIZES = (8, 64, 1024, 8192, 65536, 1 << 20, 4 << 20)
QUICK_SIZES = (8, 1024, 65536, 1 << 20)
# Bandwidth is the rate of the same turn times the size.
METRICS = {"latency": "latency (us), one way", "rate": "messages a second, one way",
           "bandwidth": "bandwidth (MB/s), one way",
           "bidirectional_bandwidth": "bandwidth (MB/s), both ways at the same time"}


@dataclasses.dataclass(frozen=True)
class Group:
    """Cases of ping_pong that one job of Shoal serves, and so the same peers."""

    cases: tuple
    processes: int
    pes: int  # in a process
    peers: tuple
    environment: dict = dataclasses.field(default_factory=dict)
    mpi_options: tuple = ()
    turns: tuple = ("latency", "rate", "bidirectional_bandwidth")
    slower: int = 1  # a message takes about so many times what it takes over shared memory


GROUPS = (
    Group(("one_pe",), 1, 1, (), turns=("latency", "rate")),
    Group(("two_pes",), 1, 2, ("queue",), turns=("latency", "rate")),
    Group(("two_processes", "two_processes_view", "two_processes_value"), 2, 1,
          ("ucx", "openmpi", "mpi4py", "charm4py")),
    Group(("two_processes_tcp",), 2, 1, ("ucx", "openmpi"), {"UCX_TLS": "tcp,self"},
          ("--mca", "btl", "tcp,self", "--mca", "pml", "ob1"), slower=6),
)
CASES = tuple(case for group in GROUPS for case in group.cases)


def turn_length(size, metric, slower):
    """Iterations and warm-up of one turn, so that it takes a few milliseconds on any side:
    short enough that most turns are not interrupted."""
    if metric == "latency":
        steps = ((1024, 2000), (8192, 600), (65536, 1500), (1 << 20, 16))
        iterations = next((n for limit, n in steps if size <= limit), 6)
    else:
        steps = ((1024, 8192), (8192, 2048), (65536, 512))
        iterations = next((n for limit, n in steps if size <= limit), 32)
    iterations = max(iterations // slower, 16)
    # Warm-up covers waking a sleeper and the first touch of buffers of this size.
    return iterations, max(iterations // 2, 24)


def open_peers(bench, group, shoal, stack):
    """The peers of a group that can run here; says what is missing, and why."""
    found = []
    for peer in group.peers:
        try:
            side = open_peer(bench, group, shoal, peer)
        except SideFailed as failure:
            bench.say(f"warning: without a peer: {failure}")
            continue
        found.append(stack.enter_context(side))
        for metric, reason in side.lacks.items():
            if metric in group.turns:
                bench.say(f"# left out: {metric} of {side.name}: {reason}")
    return found


def open_peer(bench, group, shoal, peer):
    if peer == "queue":
        return Served("queue", [bench.peer("queue")])
    if peer == "ucx":
        return open_perftest(bench, group, shoal)
    if peer == "charm4py":
        side = Served(peer, charmrun(python_peer(peer)), ranks=2)
        side.slower = 10
        return side
    program = [bench.peer("openmpi")] if peer == "openmpi" else python_peer(peer)
    command = mpirun(program, *group.mpi_options)
    if command is None:
        raise SideFailed(f"{peer}: mpirun, or the program built with it, is missing")
    return Served(peer, command, MPI_ENVIRONMENT, ranks=2)


def open_perftest(bench, group, shoal):
    if not shoal.ready.get("libucp"):
        raise SideFailed("ucx: Shoal did not load it")
    ucx = Ucx(shoal.ready["libucp"], shoal.ready["environment"])
    if ucx.perftest is None:
        raise SideFailed(f"{ucx.name}: no ucx_perftest belongs to {shoal.ready['libucp']}")
    return Perftest(ucx, bench.cores, group.environment)


def ping_pong(bench):
    sizes = QUICK_SIZES if bench.quick else SIZES
    if bench.options.sizes:
        sizes = [int(size) for size in bench.options.sizes.split(",")]
    for group in GROUPS:
        cases = [case for case in group.cases
                 if any(bench.wanted(f"ping_pong/{case}/{size}") for size in sizes)]
        if not cases:
            continue
        with contextlib.ExitStack() as stack:
            shoal = stack.enter_context(Served(
                "shoal", shoal_command(bench, "ping_pong", group.processes, group.pes),
                {**SHOAL_ENVIRONMENT, **group.environment}))
            sides = [(case, shoal) for case in cases]
            sides += [(side.name, side) for side in open_peers(bench, group, shoal, stack)]
            rows = []
            for size in sizes:
                if any(bench.wanted(f"ping_pong/{case}/{size}") for case in cases):
                    rows += ping_pong_size(bench, group, cases, sides, size)
        print_ping_pong(bench, cases, rows)


def ping_pong_size(bench, group, cases, sides, size):
    rows = []
    for metric in group.turns:
        values = take_turns(bench, group, cases, sides, size, metric)
        figures = {metric: values}
        if metric == "rate":
            figures["bandwidth"] = {name: [rate * size / 1e6 for rate in rates]
                                    for name, rates in values.items()}
        for name, of_sides in figures.items():
            peers = {peer: of_sides[peer] for peer in of_sides if peer not in cases}
            for case in cases:
                rows += bench.add("ping_pong", f"{case}/{size}", name, of_sides[case], peers)
    return rows


def take_turns(bench, group, cases, sides, size, metric):
    """The values of each side that measures this metric. A peer that fails is left out from then
    on."""
    values = {name: [] for name, side in sides if metric not in side.lacks}
    for _ in range(bench.repetitions(31, 7)):
        for name, side in sides:
            if metric in side.lacks:
                continue
            iterations, warmup = turn_length(size, metric, group.slower * side.slower)
            case = name if side.name == "shoal" else cases[0]
            try:
                values[name].append(side.measure(case, size, metric, iterations, warmup))
            except SideFailed as failure:
                if side.name == "shoal":
                    raise
                bench.say(f"warning: without a peer from here on: {failure}")
                side.lacks = dict.fromkeys(group.turns, "it failed")
                del values[name]
    return values


def print_ping_pong(bench, cases, rows):
    for case in cases:
        for metric, title in METRICS.items():
            chosen = [row for row in rows
                      if row["metric"] == metric and row["case"].rsplit("/", 1)[0] == case]
            if chosen:
                report.table(f"ping_pong {case}: {title}", "Size", chosen,
                             lambda row: row["case"].rsplit("/", 1)[1], bench.out)


def check_idle(bench):
    """One peer alone, then beside all the sleepers of two_processes: how much do they disturb?"""
    group = GROUPS[2]
    sleepers = ("queue", *(peer for peer in group.peers if peer != "ucx"))
    bench.say(f"# {'':20}{'alone':>10}{'beside':>10}{'ratio':>8}   (us, medians of 41 turns)")
    command = shoal_command(bench, "ping_pong", 2)
    with contextlib.ExitStack() as stack:
        shoal = stack.enter_context(Served("shoal", command, SHOAL_ENVIRONMENT))
        perftest = open_perftest(bench, group, shoal)
        shoal.close()
        stack.enter_context(perftest)
        alone = idle_turns(perftest)
        again = stack.enter_context(Served("shoal", command, SHOAL_ENVIRONMENT))
        open_peers(bench, dataclasses.replace(group, peers=sleepers), again, stack)
        beside = idle_turns(perftest)
    for size, value in alone.items():
        bench.say(f"{perftest.name + ' ' + str(size):22}{report.figure(value):>10}"
                  f"{report.figure(beside[size]):>10}{beside[size] / value:>8.2f}")


def idle_turns(side):
    result = {}
    for size in (8, 65536):
        iterations, warmup = turn_length(size, "latency", 1)
        values = sorted(side.measure("", size, "latency", iterations, warmup) for _ in range(41))
        result[size] = values[20]
    return result
