# SPDX-License-Identifier: Apache-2.0
"""Jobs start, exchange and end under each launcher, whatever the numbers."""

import os
import re
import unittest

import starters
from launcher import EndsTest, run

BIN = os.path.dirname(starters.LAUNCHER)
HELLO = os.path.join(BIN, "hello")
PROGRAM = os.path.join(os.environ["SHOAL_BUILD_DIR"], "tests", "actor_program")


class Starts(starters.StarterTests):
    """What all launchers have in common; a subclass for each."""

    def finish(self, job, code=0):
        self.assertEqual(job.finish(), code, job.out + job.err)
        return job

    def test_lch_01_any_number_of_processes_says_hello(self):
        for processes in (1, 2, 4, 13):
            job = self.finish(self.starter.start(processes, HELLO))
            self.assertRegex(job.out, rf"elements on \d+ PEs of {processes} processes")

    def test_lch_01_several_pes_a_process(self):
        job = self.finish(self.starter.start(3, HELLO, "--shoal-pes=2", pes=2))
        self.assertIn("12 elements on 6 PEs of 3 processes", job.out)

    def test_messages_of_all_kinds_between_them(self):
        self.finish(self.starter.start(4, PROGRAM, "mixture", 11))
        self.finish(self.starter.start(4, PROGRAM, "bulk"))

    def test_what_a_process_starts_is_no_member_of_the_job(self):
        job = self.finish(self.starter.start(2, PROGRAM, "starts", HELLO))
        self.assertEqual(len(re.findall("elements on 1 PEs of 1 processes", job.out)), 2, job.out)



class ShoalRun(Starts, unittest.TestCase):
    starter_class = starters.Shoal


class Mpirun(Starts, unittest.TestCase):
    starter_class = starters.Mpirun

    def test_lch_11_different_programs_in_one_job_are_refused_with_the_difference(self):
        job = self.starter.start(1, HELLO, ":", "-n", 1, os.path.join(BIN, "ring"))
        self.assertNotEqual(job.finish(), 0)
        self.assertRegex(job.err, r"only in process 0: .*hello::Hello::hi")
        self.assertRegex(job.err, r"only in process 1: .*ring::Member::pass")


class Prterun(Starts, unittest.TestCase):
    starter_class = starters.Prterun


class Srun(Starts, unittest.TestCase):
    starter_class = starters.Srun

    def test_two_hosts_of_two_processes_within_two_seconds(self):
        self.finish(self.starter.start(4, HELLO))  # the first step of a cluster warms it up
        job = self.finish(self.starter.start(4, PROGRAM, "mixture", 5))
        self.assertLess(job.seconds, 10)  # speed is the benchmarks'; this only bounds a hang

    def test_without_pmix_the_riddle_is_told(self):
        job = self.starter.start(2, HELLO, mpi="none")
        self.finish(job)
        self.assertIn("4 elements on 2 PEs of 1 processes", job.out)
        self.assertRegex(job.err, "one of 2 that srun started, but without PMIx, so it is a job of "
                                  "its own: start it with srun --mpi=pmix")


class Alone(EndsTest):
    def test_lch_08_without_a_launcher(self):
        for pes in (1, 2, 13):
            job = run(f"--shoal-pes={pes}", starter=(HELLO,))
            self.check(job, 0)
            self.assertIn(f"{2 * pes} elements on {pes} PEs of 1 processes", job.out)


if __name__ == "__main__":
    unittest.main()
