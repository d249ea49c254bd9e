# SPDX-License-Identifier: Apache-2.0
"""What is measured: all benchmarks, and those that need few words: ping_pong.py has its own."""

import contextlib
import os
import re
import subprocess
import time

import ping_pong
import report
from commands import MPI_ENVIRONMENT, SHOAL_ENVIRONMENT, mpirun, shoal_command
from sides import Served, SideFailed

ENTRY_CASES = ("one_pe/actor", "one_pe/array", "one_pe/group", "two_pes/array")
ENTRY_TURN = (128_000, 12_800)  # messages, and warm-up
STARTUP_CASES = ("one_process", "two_processes")
MESSAGE_CASES = tuple(f"{program}/{threads}" for threads in (1, 2)
                      for program in ("ping_pong", "ring", "counting", "many_to_many"))
# Divides by the tokens and rounds of messages.hpp. The warm-up is as long, since a thread of CAF
# that has found nothing to steal sleeps for 10 ms.
MESSAGE_TURN = (99_200, 99_200)
CASES = {
    "ping_pong": ping_pong.CASES,
    "entry_cost": ENTRY_CASES,
    "messages": MESSAGE_CASES,
    "startup": STARTUP_CASES,
}


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
    mpi = mpirun([bench.peer("mpi_hello")])
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


# ------------------------------------------------------------------------------------- messages


def messages(bench):
    rows = []
    for threads in (1, 2):
        cases = [case for case in MESSAGE_CASES
                 if case.endswith(f"/{threads}") and bench.wanted(f"messages/{case}")]
        if cases:
            rows += messages_of(bench, threads, cases)
    report.table("messages: a message of four small programs, on 1 thread or 2 (time in ns)",
                 "Case", rows, lambda row: row["case"], bench.out)


def messages_of(bench, threads, cases):
    """The rows of the cases that run on so many threads."""
    rows = []
    with contextlib.ExitStack() as stack:
        sides = [stack.enter_context(Served(
            "shoal", shoal_command(bench, "messages", 1, threads), SHOAL_ENVIRONMENT))]
        try:
            sides.append(stack.enter_context(open_caf(bench, cases[0])))
        except SideFailed as failure:
            bench.say(f"warning: without a peer: {failure}")
        for case in cases:
            values = {side.name: [] for side in sides}
            for _ in range(bench.repetitions(31, 7)):
                for side in sides:
                    values[side.name].append(side.measure(case, 8, "time", *MESSAGE_TURN))
            shoal = values.pop("shoal")
            rows += bench.add("messages", case, "time", shoal, values)
    return rows


def open_caf(bench, case):
    """CAF, with as many threads as the case has: all it is asked for later have as many."""
    program = bench.peer("caf")
    if not os.path.exists(program):
        raise SideFailed("caf: its program was not built, since CMake found no CAF 0.17 "
                         "(libcaf-dev: ./dev setup installs it)")
    return Served("caf", [program, "--case", case])


ALL = {"ping_pong": ping_pong.ping_pong, "entry_cost": entry_cost, "messages": messages,
       "startup": startup}
