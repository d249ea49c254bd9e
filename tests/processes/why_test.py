# SPDX-License-Identifier: Apache-2.0
"""What is told of jobs that stand still: `shoal why`, Ctrl-\\, and processes that are stopped."""

import os
import re
import signal
import subprocess
import unittest

import starters
from launcher import LAUNCHER, EndsTest, Job, kill_all, wait_until

PROGRAM = os.path.join(os.environ["SHOAL_BUILD_DIR"], "tests", "actor_program")


def why(*arguments):
    return subprocess.run([LAUNCHER, "why", *map(str, arguments)], capture_output=True, text=True,
                          timeout=60)


class Why(EndsTest):
    def waiting(self, processes, *options, what="wait"):
        job = Job("run", "-n", processes, "-p", 1, PROGRAM, what, *options)
        self.addCleanup(kill_all, job)
        return job, job.ready(processes)

    def end(self, job):
        job.kill(signal.SIGTERM)
        job.code = job.finish()

    def test_a_running_job_says_what_it_waits_for(self):
        job, pids = self.waiting(3)
        said = why(job.pid)
        self.assertEqual(said.returncode, 0, said.stderr)
        for rank, pid in pids.items():
            self.assertIn(f"process {rank} (pid {pid} on ", said.stdout)
            self.assertRegex(said.stdout, rf"PE {rank}: no message queued; \d+ messages and holds "
                                          r"created, \d+ ended; \d timers")
        self.assertRegex(said.stdout, r"PE 0: the program waits for a timer, for \d+\.\d s")
        self.end(job)
        self.check(job, 143)

    def test_queued_messages_are_counted_by_entry_and_a_long_entry_is_named(self):
        job, _ = self.waiting(2, 30, what="flooded")
        wait_until(lambda: "be_busy" in why(job.pid).stdout, "the busy entry is named")
        said = why(job.pid).stdout
        self.assertRegex(said, r"PE 1: runs actor_program::Element::be_busy of element 1, and has "
                               r"not given the PE back for \d+\.\d s")
        self.end(job)

    def test_a_stopped_process_is_named_within_two_heartbeats_and_heard_of_again(self):
        job, pids = self.waiting(3, "--shoal-heartbeat=0.5")
        os.kill(pids[1], signal.SIGSTOP)
        self.assertRegex(job.process.stderr.readline() + job.process.stderr.readline(),
                         rf"process 1 \(pid {pids[1]} on \S+\) is stuck: it has not been heard of "
                         r"for [01]\.\d s")
        self.assertRegex(why(job.pid).stdout,
                         rf"process 1 \(pid {pids[1]} on \S+\) does not answer")
        os.kill(pids[1], signal.SIGCONT)
        self.assertRegex(job.process.stderr.readline(), "process 1 .* is heard of again")
        self.end(job)
        self.check(job, 143)

    def test_a_quit_from_the_terminal_reports_and_ends_nothing(self):
        job = Job("run", "-n", 2, "-p", 1, PROGRAM, "wait", terminal=True)
        job.read_terminal_until(rb"ready 1 \d+")
        os.write(job.terminal, b"\x1c")
        job.read_terminal_until(rb"what the job waits for:[^$]*PE 1: no message queued")
        os.write(job.terminal, b"\x03")
        self.assertEqual(job.finish_terminal(), 130)

    def test_a_program_alone_reports_on_sigquit(self):
        job = Job("wait", "--shoal-pes=2", starter=(PROGRAM,))
        job.ready(1)
        job.kill(signal.SIGQUIT)
        self.assertIn("what this process waits for", job.process.stderr.readline())
        self.assertRegex(job.process.stderr.readline(), "PE 0: no message queued")
        self.end(job)
        self.assertEqual(job.code, 143)

    def test_who_asks_for_nothing_is_told(self):
        said = why(1)
        self.assertEqual(said.returncode, 1)
        self.assertIn("process 1 runs no job that you may ask", said.stderr)

    def test_a_job_of_mpirun_answers_too(self):
        reason = starters.Mpirun.missing()
        if reason:
            self.skipTest(reason)
        job = starters.Mpirun().start(2, PROGRAM, "wait")
        pids = job.ready(2)
        said = why(pids[0])
        self.assertEqual(len(re.findall(r"PE \d: no message queued", said.stdout)), 2, said)
        self.end(job)


if __name__ == "__main__":
    unittest.main()
