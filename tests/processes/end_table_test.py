# SPDX-License-Identifier: Apache-2.0
"""Every way in which a job may end, under every launcher that may have started it: the exit code,
what is told, and nothing left behind."""

import os
import signal
import unittest

import starters
from launcher import kill_all, wait_until

PROGRAM = os.path.join(os.environ["SHOAL_BUILD_DIR"], "tests", "actor_program")
ROUNDS = int(os.environ.get("SHOAL_REPEATS", "1"))


class MemoryLimit:
    """A control group, of whichever version this machine has."""

    def __init__(self, limit):
        v1 = os.path.isdir("/sys/fs/cgroup/memory")
        self.folder = f"/sys/fs/cgroup/{'memory/' if v1 else ''}shoal-test-{os.getpid()}"
        try:
            os.mkdir(self.folder)
            name = "memory.limit_in_bytes" if v1 else "memory.max"
            with open(f"{self.folder}/{name}", "w") as file:
                file.write(str(limit))
            self.works = True
        except OSError:
            self.works = False
        self.enter = ("sh", "-c", f'echo $$ > {self.folder}/cgroup.procs && exec "$@"', "sh")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if os.path.isdir(self.folder):
            os.rmdir(self.folder)


class Ends(starters.StarterTests):
    """The table's rows; a subclass for each launcher."""

    def finish(self, job, codes, *patterns):
        job.code = job.finish()
        told = job.out + job.err
        self.assertIn(job.code, codes, told)
        for pattern in patterns:
            self.assertRegex(told, pattern)
        self.nothing_stays(job)

    def nothing_stays(self, job):
        try:
            # A launcher of others may leave before its daemons have buried the processes.
            wait_until(lambda: not self.leftovers(job), "nothing is left behind")
        except AssertionError:
            self.fail(f"left behind: {self.leftovers(job)}")

    def leftovers(self, job):
        return job.leftovers()

    def start(self, processes, *command):
        job = self.starter.start(processes, PROGRAM, *command)
        self.addCleanup(kill_all, job)
        return job

    def waiting(self, processes=3):
        job = self.start(processes, "wait")
        return job, job.ready(processes)

    # ------------------------------------------------------------------------------------ rows

    def test_exit_0(self):
        self.finish(self.start(2, "exit", 0), (0,))

    def test_exit_3(self):
        self.finish(self.start(2, "exit", 3), (3,))

    def test_exception(self):
        self.finish(self.start(3, "throw"), (1,),
                    r"fail_when_sent of element 2 on PE 2 threw std::range_error: out of tune")

    def test_abort(self):
        self.finish(self.start(3, "abort"), self.died(signal.SIGABRT), self.told(2, "SIGABRT"))

    def test_stack_overflow_in_a_fiber(self):
        self.finish(self.start(2, "overflow"), self.died(signal.SIGSEGV),
                    r"stack overflow in fiber of actor_program::Element::overflow of element 1")

    def test_sigkill_of_a_process(self):
        job, pids = self.waiting()
        os.kill(pids[1], signal.SIGKILL)
        self.finish(job, self.died(signal.SIGKILL), self.told(1, "SIGKILL"))

    def test_sigkill_of_process_0(self):
        job, pids = self.waiting()
        os.kill(pids[0], signal.SIGKILL)
        self.finish(job, self.died(signal.SIGKILL), self.told(0, "SIGKILL"))

    def test_out_of_memory_in_a_control_group(self):
        with MemoryLimit(300 << 20) as group:
            if not group.works:
                self.skipTest("no control group can be made here")
            job = self.starter.start(3, PROGRAM, "eat", within=group.enter)
            self.addCleanup(kill_all, job)
            self.finish(job, self.died(signal.SIGKILL), self.told(2, "SIGKILL"), *self.memory_told)

    memory_told = ()

    def test_sigint_once(self):
        job, _ = self.waiting()
        job.kill(signal.SIGINT)
        self.finish(job, self.interrupted(signal.SIGINT))

    def test_sigint_twice(self):
        job, _ = self.waiting()
        job.kill(signal.SIGINT)
        job.kill(signal.SIGINT)
        self.finish(job, self.interrupted(signal.SIGINT))

    def test_sigterm(self):
        job, _ = self.waiting()
        job.kill(signal.SIGTERM)
        self.finish(job, self.interrupted(signal.SIGTERM))

    def test_sigkill_of_the_launcher(self):
        job, _ = self.waiting()
        job.kill(signal.SIGKILL)
        job.finish()
        self.nothing_stays(job)

    # ----------------------------------------------------------- what the launchers differ in

    def died(self, number):
        return (128 + number,)

    def interrupted(self, number):
        return (128 + number,)

    def told(self, process, name):
        return rf"process {process} \(pid \d+\) was killed by {name}"


class UnderPmix(Ends):
    def leftovers(self, job):
        """A folder that the launcher made is its own affair, if it was killed."""
        return [one for one in job.leftovers() if not one.startswith(("ompi.", "prtrn."))]

    def told(self, process, name):
        if process == 0:
            return "process 0, which kept the job together, is gone"
        return rf"process {process} \(pid \d+ on \S+\) failed: its connection ended before the job"


class ShoalRun(Ends, unittest.TestCase):
    starter_class = starters.Shoal
    memory_told = (r"the control group ran out of memory \(limit 300 MiB\)",)


class Mpirun(UnderPmix, unittest.TestCase):
    starter_class = starters.Mpirun

    def interrupted(self, number):
        return (1,)  # whatever its processes return


class Prterun(Mpirun):
    starter_class = starters.Prterun


class Srun(UnderPmix, unittest.TestCase):
    starter_class = starters.Srun

    def interrupted(self, number):
        return (128 + number, 128 + signal.SIGKILL)  # which it sends soon after

    def test_sigint_once(self):
        """srun only asks whether it was meant."""
        job, pids = self.waiting()
        self.interrupt_once(job)
        self.assertLessEqual(set(pids.values()), set(job.processes()))
        job.kill(signal.SIGTERM)
        self.finish(job, self.interrupted(signal.SIGINT))

    def test_sigint_twice(self):
        job, _ = self.waiting()
        self.interrupt_once(job)
        job.kill(signal.SIGINT)
        self.finish(job, self.interrupted(signal.SIGINT))

    def interrupt_once(self, job):
        job.kill(signal.SIGINT)
        while "one more within" not in job.process.stderr.readline():
            self.assertIsNone(job.process.poll())

    def test_scancel(self):
        job, _ = self.waiting()
        self.starter.cancel_all()
        self.finish(job, (128 + signal.SIGTERM,), "failed: it got SIGTERM")


def load_tests(loader, standard, _):
    """SHOAL_REPEATS rounds of the whole table."""
    return unittest.TestSuite([standard] + [
        loader.loadTestsFromTestCase(one) for one in (ShoalRun, Mpirun, Prterun, Srun)
        for _ in range(ROUNDS - 1)])


if __name__ == "__main__":
    unittest.main()
