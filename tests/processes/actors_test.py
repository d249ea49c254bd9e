# SPDX-License-Identifier: Apache-2.0
"""Actor programs in real processes over UCX: examples, arrays, calls, mixtures, idling."""

import os
import re
import unittest

from launcher import LAUNCHER, run

BIN = os.path.dirname(LAUNCHER)
PROGRAM = os.path.join(os.environ["SHOAL_BUILD_DIR"], "tests", "actor_program")
SHAPES = ((1, 1), (2, 1), (2, 2), (4, 3), (13, 1))


def over(processes, pes, *command):
    return run("run", "-n", processes, "-p", pes, *command)


class Actors(unittest.TestCase):
    def check(self, job, *patterns, code=0):
        self.assertEqual(job.code, code, job.err + job.out)
        for pattern in patterns:
            self.assertRegex(job.out, pattern)
        self.assertEqual(job.leftovers(), [])

    def test_hello_greets_each_element_in_turn_in_every_shape(self):
        for processes, pes in SHAPES:
            job = over(processes, pes, os.path.join(BIN, "hello"))
            self.check(job, rf"{2 * processes * pes} elements on {processes * pes} PEs "
                            rf"of {processes} processes\n")
            greeted = set(map(int, re.findall(r"element (\d+) on", job.out)))
            self.assertEqual(greeted, set(range(2 * processes * pes)))

    def test_ring_goes_round_all_pes_in_every_shape(self):
        for processes, pes in SHAPES:
            total = processes * pes
            job = over(processes, pes, os.path.join(BIN, "ring"), 50)
            self.check(job, rf"met is {50 * total * (total - 1) // 2}\n",
                       rf"50 rounds over {total} PEs\n")

    def test_lch_01_pes_that_do_not_divide_are_refused_within_seconds_or_run_exactly(self):
        for processes in (2, 3, 4, 5, 6, 7):
            job = run("run", "-n", processes, "-P", 13, os.path.join(BIN, "hello"))
            self.assertNotEqual(job.code, 0)
            self.assertRegex(job.err, r"start each with the same number")
            self.assertLess(job.seconds, 10)
            self.assertEqual(job.leftovers(), [])
        self.check(run("run", "-n", 13, "-P", 13, os.path.join(BIN, "hello")), "on 13 PEs")
        self.check(run("run", "-n", 1, "-P", 13, os.path.join(BIN, "hello")), "on 13 PEs")

    def test_lch_08_a_program_without_the_launcher_runs_alone(self):
        job = run("run", "-n", 1, "sh", "-c", 'unset $(env | grep -o "^SHOAL_[A-Z_]*"); exec "$0"',
                  os.path.join(BIN, "hello"))
        self.check(job, "of 1 processes")

    def test_arrays_of_0_to_4_mib_arrive_whole_by_each_way(self):
        for processes, pes in ((2, 1), (2, 2), (3, 1)):
            self.check(over(processes, pes, PROGRAM, "bulk"), rf"bulk {10 * processes * pes}\n")

    def test_arrays_arrive_whole_over_tcp_too(self):
        job = run("run", "-n", 2, "-p", 1, "--env", "UCX_TLS=self,tcp", PROGRAM, "bulk")
        self.check(job, "bulk 20\n")

    def test_calls_and_exceptions_come_back_from_all_pes(self):
        for processes, pes in SHAPES[:4]:
            self.check(over(processes, pes, PROGRAM, "calls"), "calls 99990000\n")

    def test_mixtures_give_the_sequential_result(self):
        for processes, pes, seed in ((1, 1, 1), (1, 4, 100), (2, 1, 200), (3, 2, 300)):
            self.check(over(processes, pes, PROGRAM, "mixture", seed), f"mixture {seed}\n")

    def test_comm_05_the_very_first_traffic_may_be_1500000_bytes_to_a_late_receiver(self):
        job = over(3, 1, PROGRAM, "first-large")
        self.check(job, "large true\n")
        self.assertLess(job.seconds, 30)

    def test_sched_08_sixteen_pes_on_few_cores_go_round_and_end_with_one_warning(self):
        job = over(4, 4, os.path.join(BIN, "ring"), 63)  # 1,008 hops
        self.check(job, "63 rounds over 16 PEs\n")
        cores = len(os.sched_getaffinity(0))
        if cores < 16:
            self.assertEqual(len(re.findall(rf"16 PEs share {cores} processors", job.err)), 1)

    def test_sched_07_idle_processes_sleep(self):
        job = over(2, 2, PROGRAM, "idle")
        self.check(job)
        used = list(map(float, re.findall(r"used ([\d.]+)", job.out)))
        self.assertEqual(len(used), 2)
        print("CPU seconds of two idle processes in 2 s:", used)
        self.assertLess(max(used), 0.04)


if __name__ == "__main__":
    unittest.main()
