# SPDX-License-Identifier: Apache-2.0
"""How actor programs end in real processes: exit codes, exceptions, deaths, deadlocks."""

import os
import re
import signal
import unittest

from launcher import LAUNCHER, EndsTest, Job, kill_all, run

BIN = os.path.dirname(LAUNCHER)
PROGRAM = os.path.join(os.environ["SHOAL_BUILD_DIR"], "tests", "actor_program")


class Ends(EndsTest):
    def test_lch_07_the_code_of_exit_is_the_launchers(self):
        for code in (0, 3, 255):
            for processes, pes in ((1, 1), (2, 1), (2, 4)):
                job = run("run", "-n", processes, "-p", pes, PROGRAM, "exit", code)
                self.check(job, code)

    def test_an_exception_after_a_send_ends_the_job_and_is_told(self):
        job = run("run", "-n", 3, "-p", 1, PROGRAM, "throw")
        self.check(job, 1, r"actor_program::Element::fail_when_sent of element 2 on PE 2 threw "
                           r"std::range_error: out of tune")

    def test_comm_17_a_killed_process_ends_the_others_and_gives_137(self):
        for processes, pes in ((3, 1), (2, 2)):
            job = Job("run", "-n", processes, "-p", pes, PROGRAM, "wait")
            pids = job.ready(processes)
            os.kill(pids[1], signal.SIGKILL)
            job.code = job.finish()
            self.check(job, 137, r"process 1 \(pid \d+\) was killed by SIGKILL")
            self.assertLess(job.seconds, 30)

    def test_comm_17_a_process_killed_among_large_messages_ends_the_job(self):
        job = Job("run", "-n", 3, "-p", 1, PROGRAM, "mixture", 7)
        try:
            found = []
            while len(found) < 3 and job.process.poll() is None:
                found = job.processes()
            os.kill(max(found), signal.SIGKILL)
            job.code = job.finish()
            self.check(job, 137, "was killed by SIGKILL")
        finally:
            kill_all(job)

    def test_a_deadlock_is_reported_by_name_with_code_124(self):
        job = run("run", "-n", 2, "-p", 1, PROGRAM, "stuck")
        self.check(job, 124, "deadlock: nothing moves any more",
                   r"PE 0: the program waits for a reply of actor_program::Element::never of "
                   r"element 0, for \d+\.\d s",
                   r"PE 0: actor_program::Element::never of element 0 waits for a promise",
                   r"PE 1: actor_program::Element::ask_an_absent_one of element 1 waits for a "
                   r"reply of actor_program::Element::twice of element 1000",
                   r"a message for actor_program::Element::twice of element 1000 waits")
        self.assertLess(job.seconds, 30)

    def test_a_deadlock_report_has_a_line_of_every_pe(self):
        for processes, pes in ((2, 1), (2, 2), (3, 2)):
            job = run("run", "-n", processes, "-p", pes, PROGRAM, "all-stuck")
            waits = re.findall(r"PE (\d+): actor_program::Element::ask_an_absent_one", job.err)
            self.assertEqual(sorted(map(int, waits)), list(range(processes * pes)), job.err)

    def test_sched_05_a_stack_overflow_is_told_with_entry_size_and_option(self):
        job = run("run", "-n", 2, "-p", 1, PROGRAM, "overflow")
        self.check(job, 128 + signal.SIGSEGV,
                   r"stack overflow in fiber of actor_program::Element::overflow of element 1 "
                   r"\(size 64 KiB\): raise it with --shoal-fiber-stack")
        job = run("run", "-n", 2, "-p", 1, PROGRAM, "overflow", "--shoal-fiber-stack=256")
        self.check(job, 0)

    def test_comm_16_jobs_end_with_small_and_large_messages_in_flight(self):
        for _ in range(int(os.environ.get("SHOAL_REPEATS", "8"))):
            for processes, pes in ((4, 1), (2, 2), (2, 1)):
                job = run("run", "-n", processes, "-p", pes, PROGRAM, "in-flight")
                self.check(job, 5)
                self.assertLess(job.seconds, 30)

    def test_lch_11_different_programs_in_one_job_are_refused_with_the_difference(self):
        script = 'if [ "$SHOAL_RANK" = 1 ]; then exec "$1"; else exec "$2"; fi'
        job = run("run", "-n", 2, "-p", 1, "sh", "-c", script, "sh", os.path.join(BIN, "hello"),
                  os.path.join(BIN, "ring"))
        self.assertNotEqual(job.code, 0)
        self.assertRegex(job.err, r"only in process 1: .*hello::Hello::hi")
        self.assertRegex(job.err, r"only in process 0: .*ring::Member::pass")
        self.assertLess(job.seconds, 10)
        self.assertEqual(job.leftovers(), [])

    def test_sched_01_an_entry_that_runs_for_long_is_named_once(self):
        job = run("run", "-n", 2, "-p", 1, PROGRAM, "busy", 900, "--shoal-watch=0.2")
        self.check(job, 0, r"PE 1: actor_program::Element::be_busy of element 1 has run for "
                           r"0\.\d s without giving the PE back")
        self.assertEqual(job.err.count("has run for"), 1)

    def test_help_lists_the_options_and_starts_nothing(self):
        job = run("run", "-n", 1, PROGRAM, "throw", "--shoal-help")
        self.assertEqual(job.code, 0, job.err)
        for part in ("--shoal-pes", "SHOAL_FIBER_STACK", "--shoal-hang-timeout"):
            self.assertIn(part, job.out)

    def test_an_interrupt_ends_the_job(self):
        job = Job("run", "-n", 2, "-p", 1, PROGRAM, "wait")
        job.ready(2)
        job.kill(signal.SIGINT)
        job.code = job.finish()
        self.check(job, 130)

    def test_a_wrong_option_ends_the_job_with_code_2(self):
        job = run("run", "-n", 2, "-p", 1, PROGRAM, "exit", "0", "--shoal-sede=3")
        self.check(job, 2, "did you mean --shoal-seed")


if __name__ == "__main__":
    unittest.main()
