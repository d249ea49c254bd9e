# SPDX-License-Identifier: Apache-2.0
"""How the programs of a comparison are started, each on the two cores."""

import os
import shutil

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
    """A command that runs a program on two ranks, each bound to a core, or None without MPI."""
    if not shutil.which("mpirun") or not os.path.exists(program):
        return None
    # Not --oversubscribe: with it, Open MPI yields its core in every poll.
    return ["mpirun", "-n", "2", "--bind-to", "core", *options, program]
