# SPDX-License-Identifier: Apache-2.0
"""How the programs of a comparison are started, each on the two cores."""

import os
import shutil
import subprocess

from sides import SideFailed

# PE 0 blocks in the read of its commands between turns: that is no hang.
SHOAL_ENVIRONMENT = {"SHOAL_WATCH": "86400", "SHOAL_HANG_TIMEOUT": "86400"}
MPI_ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def shoal_command(bench, program, processes=1, pes=1):
    """The command of a job of Shoal; its PEs are bound to the two cores."""
    path = bench.program(program)
    if not os.path.exists(path):
        raise SideFailed(f"{path} is missing; build it: ./dev build release")
    if processes == 1:
        return [path, "--shoal-pes", str(pes)]
    return [bench.program("shoal"), "run", "-n", str(processes), "--pes", str(pes), path]


def mpirun(program, *options):
    """A command that runs another on two ranks, each bound to a core, or None without MPI."""
    if not shutil.which("mpirun") or not os.path.exists(program[0]):
        return None
    # Not --oversubscribe: with it, Open MPI yields its core in every poll.
    return ["mpirun", "-n", "2", "--bind-to", "core", *options, *program]


def python_peer(module):
    """A command that runs the peer in Python which uses this module, with the interpreter of the
    virtual environment that ./dev setup makes."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    python = os.path.join(root, ".deps", "peers", "bin", "python")
    if not os.path.exists(python):
        raise SideFailed(f"{module}: no .deps/peers; ./dev setup or ./dev bench makes it")
    find = f"import importlib.util, sys; sys.exit(importlib.util.find_spec('{module}') is None)"
    if subprocess.run([python, "-c", find], capture_output=True, check=False).returncode != 0:
        raise SideFailed(f"{module}: not in .deps/peers; ./dev setup tries to install it")
    return [python, os.path.join(root, "perf", "peers", f"{module}_ping_pong.py")]


def charmrun(program):
    """A command that runs a charm4py program on two processes of this host."""
    python, script = program
    return [python, "-m", "charmrun.start", "+p2", "++local", script]
