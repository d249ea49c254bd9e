# SPDX-License-Identifier: Apache-2.0
"""The launcher and the user's signals: Ctrl-C through a terminal, kill, and a killed launcher."""

import os
import signal
import termios
import unittest

from launcher import MEMBER, Job, kill_all, wait_until


class Terminal(unittest.TestCase):
    def start(self, *arguments):
        job = Job("run", *arguments, terminal=True)
        self.addCleanup(kill_all, job)
        return job

    def test_ctrl_c_ends_the_job_in_order(self):
        job = self.start("-n", 2, MEMBER, "*:join", "*:ready")
        job.read_terminal_until(rb"ready . \d+\r\n(.|\n)*ready . \d+\r\n")
        os.write(job.terminal, b"\x03")
        self.assertEqual(job.finish_terminal(), 130)
        self.assertIn(b"shoal: got SIGINT; ending 2 processes", job.seen)
        self.assertEqual(job.leftovers(), [])

    def test_a_second_ctrl_c_kills_at_once(self):
        job = self.start("-n", 2, "--grace", 3600, MEMBER, "*:join", "*:ignore=15", "*:ready",
                         "*:deaf")
        job.read_terminal_until(rb"ready . \d+\r\n(.|\n)*ready . \d+\r\n")
        os.write(job.terminal, b"\x03")
        job.read_terminal_until(rb"got SIGINT")
        self.assertEqual(len(job.processes()), 2)
        os.write(job.terminal, b"\x03")
        self.assertEqual(job.finish_terminal(), 130)
        self.assertEqual(job.leftovers(), [])

    def test_ctrl_c_reaches_programs_that_are_not_shoals(self):
        job = self.start("-n", 2, "sh", "-c", "echo ready; exec sleep 100")
        job.read_terminal_until(rb"ready\r\n(.|\n)*ready\r\n")
        os.write(job.terminal, b"\x03")
        self.assertEqual(job.finish_terminal(), 130)
        self.assertLess(job.seconds, 50)

    def test_process_0_reads_the_terminal(self):
        job = self.start("-n", 2, "sh", "-c",
                         "[ $SHOAL_RANK = 1 ] || { echo ready; read a; echo got $a; }")
        job.read_terminal_until(rb"ready")
        os.write(job.terminal, b"words\n")
        self.assertEqual(job.finish_terminal(), 0)
        self.assertIn(b"got words", job.seen)

    def test_lch_07_the_terminal_is_put_back_after_a_crash(self):
        job = self.start("-n", 2, MEMBER, "*:join", "*:ready", "0:raw", "0:deaf")
        before = termios.tcgetattr(job.terminal)
        job.read_terminal_until(rb"ready 0 \d+")
        wait_until(lambda: termios.tcgetattr(job.terminal) != before, "the raw mode")
        victim = int(job.seen.split(b"ready 0 ")[1].split()[0])
        os.kill(victim, signal.SIGSEGV)
        job.read_terminal_until(rb"was killed by SIGSEGV")
        self.assertEqual(job.finish_terminal(), 139)
        self.assertEqual(termios.tcgetattr(job.terminal), before)


class Signals(unittest.TestCase):
    def start(self, *arguments):
        job = Job("run", *arguments)
        self.addCleanup(kill_all, job)
        return job

    def test_sigterm_sigint_and_sighup_end_the_job_in_order(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            job = self.start("-n", 2, MEMBER, "*:join", "*:ready")
            job.ready(2)
            job.kill(number)
            self.assertEqual(job.finish(), 128 + number)
            self.assertIn(f"got {number.name}", job.err)
            self.assertEqual(job.leftovers(), [])

    def test_a_signal_while_the_job_ends_in_order_is_no_success(self):
        job = self.start("-n", 2, MEMBER, "*:join", "*:ready", "1:deaf", "0:exit=0")
        pids = job.ready(2)
        wait_until(lambda: pids[0] not in job.processes(), "process 0 ends")
        job.kill(signal.SIGTERM)
        self.assertEqual(job.finish(), 143)
        self.assertEqual(job.leftovers(), [])

    def test_a_signal_to_the_launcher_reaches_programs_that_are_not_shoals(self):
        job = self.start("-n", 2, "sh", "-c", "echo ready $SHOAL_RANK $$; exec sleep 100")
        job.ready(2)
        job.kill(signal.SIGTERM)
        self.assertEqual(job.finish(), 143)
        self.assertLess(job.seconds, 50)

    def test_a_killed_launcher_takes_its_processes_along(self):
        stranger = ["sh", "-c", "echo ready $SHOAL_RANK $$; sleep 100 & wait"]
        for program in [MEMBER, "*:join", "*:ready", "*:deaf"], stranger:
            job = self.start("-n", 3, *program)
            pids = job.ready(3)
            job.kill(signal.SIGKILL)
            wait_until(lambda: not set(pids.values()) & set(job.processes()), "all are dead")
            job.process.wait()
            job.process.stdout.close()
            job.process.stderr.close()
            kill_all(job)

    def test_a_stopped_job_goes_on_after_sigcont(self):
        job = self.start("-n", 2, MEMBER, "*:join", "*:ready", "*:barrier=a", "0:exit=4")
        job.kill(signal.SIGSTOP)
        job.kill(signal.SIGCONT)
        self.assertEqual(job.finish(), 4)


if __name__ == "__main__":
    unittest.main()
