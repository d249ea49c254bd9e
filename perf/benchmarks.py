# SPDX-License-Identifier: Apache-2.0
"""What is measured: the cases of each benchmark, their peers, and the turns that all sides take."""

import contextlib
import dataclasses
import os
import re
import subprocess
import time

import report
from sides import MPI_ENVIRONMENT, Perftest, Served, SideFailed, Ucx, mpirun

SIZES = (8, 64, 1024, 8192, 65536, 1 << 20, 4 << 20)
QUICK_SIZES = (8, 1024, 65536, 1 << 20)
# PE 0 blocks in the read of its commands between turns: that is no hang.
SHOAL_ENVIRONMENT = {"SHOAL_WATCH": "86400", "SHOAL_HANG_TIMEOUT": "86400"}
METRICS = ("latency", "rate")  # bandwidth is the rate of the same turn times the size


@dataclasses.dataclass(frozen=True)
class Group:
    """Cases of ping_pong that one job of Shoal serves, and so the same peers."""

    cases: tuple
    processes: int
    pes: int  # in a process
    peers: tuple
    environment: dict = dataclasses.field(default_factory=dict)
    mpi_options: tuple = ()
    slower: int = 1  # a message takes about so many times what it takes over shared memory


GROUPS = (
    Group(("one_pe",), 1, 1, ()),
    Group(("two_pes",), 1, 2, ("queue",)),
    Group(("two_processes", "two_processes_view", "two_processes_value"), 2, 1,
          ("ucx", "openmpi")),
    Group(("two_processes_tcp",), 2, 1, ("ucx", "openmpi"), {"UCX_TLS": "tcp,self"},
          ("--mca", "btl", "tcp,self", "--mca", "pml", "ob1"), slower=6),
)
ENTRY_CASES = ("one_pe/actor", "one_pe/array", "one_pe/group", "two_pes/array")
ENTRY_TURN = (128_000, 12_800)  # messages, and warm-up
STARTUP_CASES = ("one_process", "two_processes")
CASES = {
    "ping_pong": tuple(case for group in GROUPS for case in group.cases),
    "entry_cost": ENTRY_CASES,
    "startup": STARTUP_CASES,
}


def shoal_command(bench, program, processes=1, pes=1):
    """The command of a job of Shoal; its PEs are bound to the two cores."""
    path = bench.program(program)
    if not os.path.exists(path):
        raise SideFailed(f"{path} is missing; build it: ./dev build release")
    if processes == 1:
        return [path, "--shoal-pes", str(pes)]
    return [bench.program("shoal"), "run", "-n", str(processes), "--pes", str(pes), path]


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


# ------------------------------------------------------------------------------------ ping_pong


def open_peers(bench, group, shoal, stack):
    """The peers of a group that can run here, as (name, side); says what is missing."""
    found = []
    for peer in group.peers:
        try:
            if peer == "queue":
                side = Served("queue", [bench.peer("queue")])
            elif peer == "openmpi":
                command = mpirun(bench.peer("openmpi"), *group.mpi_options)
                if command is None:
                    raise SideFailed("openmpi: mpirun, or the program built with it, is missing")
                side = Served("openmpi", command, MPI_ENVIRONMENT, ranks=2)
            else:
                side = open_perftest(bench, group, shoal)
            found.append((side.name, stack.enter_context(side)))
        except SideFailed as failure:
            bench.say(f"warning: without a peer: {failure}")
    return found


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
            sides = [(case, shoal) for case in cases] + open_peers(bench, group, shoal, stack)
            rows = []
            for size in sizes:
                if any(bench.wanted(f"ping_pong/{case}/{size}") for case in cases):
                    rows += ping_pong_size(bench, group, cases, sides, size)
        print_ping_pong(bench, cases, rows)


def ping_pong_size(bench, group, cases, sides, size):
    rows = []
    for metric in METRICS:
        iterations, warmup = turn_length(size, metric, group.slower)
        values = {name: [] for name, _ in sides}
        for _ in range(bench.repetitions(31, 7)):
            for name, side in sides:
                case = name if side.name == "shoal" else cases[0]
                values[name].append(side.measure(case, size, metric, iterations, warmup))
        peers = {name: values[name] for name, _ in sides if name not in cases}
        for case in cases:
            rows += bench.add("ping_pong", f"{case}/{size}", metric, values[case], peers)
            if metric == "rate":
                scaled = {name: [rate * size / 1e6 for rate in rates]
                          for name, rates in values.items()}
                rows += bench.add("ping_pong", f"{case}/{size}", "bandwidth", scaled[case],
                                  {name: scaled[name] for name in peers})
    return rows


def print_ping_pong(bench, cases, rows):
    titles = {"latency": "latency (us), one way", "rate": "messages a second, one way",
              "bandwidth": "bandwidth (MB/s), one way"}
    for case in cases:
        for metric, title in titles.items():
            chosen = [row for row in rows
                      if row["metric"] == metric and row["case"].rsplit("/", 1)[0] == case]
            if chosen:
                report.table(f"ping_pong {case}: {title}", "Size", chosen,
                             lambda row: row["case"].rsplit("/", 1)[1], bench.out)


# ----------------------------------------------------------------------------------- entry_cost


def instructions(command):
    """Instructions a message: callgrind counts two lengths of one run, and the rest falls out.

    Valgrind lets one thread run at a time: a PE that polls while the other works would be counted
    for it, so idle PEs sleep at once (SHOAL_SPIN_US=0).
    """
    counts = []
    short, long = 6_400, 646_400
    for messages in (short, long):
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command,
             "--messages", str(messages)],
            env={**os.environ, "SHOAL_SPIN_US": "0"}, capture_output=True, text=True, timeout=600)
        collected = re.search(r"Collected : (\d+)", run.stderr)
        if run.returncode != 0 or not collected:
            raise SideFailed(f"callgrind of {command[0]}: " + run.stderr[-500:])
        counts.append(int(collected[1]))
    return (counts[1] - counts[0]) / (long - short)


def entry_cost(bench):
    cases = [case for case in ENTRY_CASES if bench.wanted(f"entry_cost/{case}")]
    rows = []
    with contextlib.ExitStack() as stack:
        jobs = {pes: shoal_command(bench, "entry_cost", 1, pes) for pes in (1, 2)}
        pes_of = {case: 2 if case.startswith("two_pes") else 1 for case in cases}
        sides = {pes: stack.enter_context(Served("shoal", jobs[pes], SHOAL_ENVIRONMENT))
                 for pes in set(pes_of.values())}
        fifo = stack.enter_context(Served("fifo", [bench.peer("fifo")]))
        for metric, full, quick in (("time", 51, 11), ("allocations", 5, 3)):
            values = {name: [] for name in [*cases, "fifo"]}
            for _ in range(bench.repetitions(full, quick)):
                for case in cases:
                    values[case].append(sides[pes_of[case]].measure(case, 8, metric, *ENTRY_TURN))
                values["fifo"].append(fifo.measure("one_pe/array", 8, metric, *ENTRY_TURN))
            for case in cases:
                rows += bench.add("entry_cost", case, metric, values[case],
                                  {"fifo": values["fifo"]})
    try:
        limit = instructions([bench.peer("fifo")])
        for case in cases:
            count = instructions(jobs[pes_of[case]] + ["--case", case])
            rows += bench.add("entry_cost", case, "instructions", [count], {"fifo": [limit]})
    except (FileNotFoundError, SideFailed, subprocess.TimeoutExpired) as failure:
        bench.say(f"warning: no instruction counts: {failure}")
    report.table("entry_cost: one message and the entry it runs (time in ns)", "Case", rows,
                 lambda row: f"{row['case']} {row['metric']}", bench.out)


# -------------------------------------------------------------------------------------- startup


def seconds(command, environment=None):
    """From the start of a command to its end."""
    start = time.perf_counter()
    run = subprocess.run(command, env={**os.environ, **(environment or {})},
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         check=False)
    elapsed = time.perf_counter() - start
    if run.returncode != 0:
        raise SideFailed(f"{' '.join(command)}: " + run.stdout.decode(errors="replace")[-500:])
    return elapsed


def startup(bench):
    commands = {"one_process": ([bench.program("startup")], None),
                "two_processes": (shoal_command(bench, "startup", 2), None),
                "empty_program": ([bench.peer("empty_program")], None)}
    mpi = mpirun(bench.peer("mpi_hello"))
    if mpi is None:
        bench.say("warning: without a peer: mpi: mpirun, or the program built with it, is missing")
    else:
        commands["mpi"] = (mpi, MPI_ENVIRONMENT)
    values = {name: [] for name in commands}
    for _ in range(bench.repetitions(21, 5)):
        for name, (command, environment) in commands.items():
            values[name].append(seconds(command, environment))
    peers = {name: values[name] for name in commands if name not in STARTUP_CASES}
    rows = []
    for case in STARTUP_CASES:
        rows += bench.add("startup", case, "time", values[case], peers, unit="s")
    report.table("startup: from start to end (s)", "Case", rows, lambda row: row["case"], bench.out)


ALL = {"ping_pong": ping_pong, "entry_cost": entry_cost, "startup": startup}


def check_idle(bench):
    """One peer alone, then beside all the sleepers of two_processes: how much do they disturb?"""
    group = GROUPS[2]
    bench.say(f"# {'':20}{'alone':>10}{'beside':>10}{'ratio':>8}   (us, medians of 41 turns)")
    command = shoal_command(bench, "ping_pong", 2)
    with contextlib.ExitStack() as stack:
        shoal = stack.enter_context(Served("shoal", command, SHOAL_ENVIRONMENT))
        perftest = open_perftest(bench, group, shoal)
        shoal.close()
        stack.enter_context(perftest)
        alone = idle_turns(perftest)
        again = stack.enter_context(Served("shoal", command, SHOAL_ENVIRONMENT))
        open_peers(bench, dataclasses.replace(group, peers=("queue", "openmpi")), again, stack)
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
