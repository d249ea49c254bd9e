# SPDX-License-Identifier: Apache-2.0
"""The launcher's ends: exit codes, deaths, last words, output, and what it refuses to start."""

import os
import re
import signal
import time
import unittest

from launcher import FOLDERS, LAUNCHER, MEMBER, EndsTest, Job, kill_all, run


class Ends(EndsTest):
    def test_lch_07_the_code_of_an_orderly_exit_is_returned_without_a_word(self):
        for code in (0, 3, 255):
            job = run("run", "-n", 4, MEMBER, "*:join", f"2:exit={code}")
            self.check(job, code)
            self.assertEqual(job.err, "")

    def test_lch_07_a_segfault_is_named_with_process_signal_and_last_words(self):
        job = run("run", "-n", 4, MEMBER, "*:join", "2:say=the pressure rose", "2:signal=11")
        self.check(job, 139, r"shoal: process 2 \(pid \d+\) was killed by SIGSEGV after \d+\.\d+ s"
                   r'; its last words: "the pressure rose"')
        self.assertEqual(job.err.count("shoal:"), 1)

    def test_lch_07_an_uncaught_exception_is_named_by_its_text(self):
        job = run("run", "-n", 4, MEMBER, "*:join", "1:throw=no more cheese")
        self.check(job, 134, r"process 1 .* was killed by SIGABRT", r"no more cheese")

    def test_lch_07_a_code_other_than_zero_without_an_exit_is_a_failure(self):
        job = run("run", "-n", 4, MEMBER, "*:join", "3:return=5")
        self.check(job, 5, r"process 3 \(pid \d+\) exited with code 5")

    def test_what_a_process_reports_is_told_with_its_code(self):
        job = run("run", "-n", 3, MEMBER, "*:join", "1:fail=check failed: 2 is not 3")
        self.check(job, 9, r"process 1 \(pid \d+\) failed after .* s: check failed: 2 is not 3")

    def test_lch_07_who_hangs_after_a_failure_is_ended_after_the_grace(self):
        job = run("run", "-n", 3, "--grace", 0.2, MEMBER, "*:join", "0:deaf", "1:ignore=15",
                  "1:deaf", "2:return=4")
        self.check(job, 4)
        self.assertGreater(job.seconds, 1.0)  # SIGTERM is ignored, SIGKILL comes a second later
        self.assertLess(job.seconds, 10)

    def test_who_hangs_after_an_orderly_exit_is_named_and_ended_which_is_no_success(self):
        for asked, code in (0, 1), (7, 7):
            job = run("run", "-n", 3, MEMBER, "*:join", "1:deaf", "2:deaf", f"0:exit={asked}")
            self.check(job, code, *(rf"process {rank} \(pid \d+\) did not end within 5.00 s of "
                                    rf"exit\({asked}\)" for rank in (1, 2)))
            self.assertEqual(job.err.count("shoal:"), 2)

    def test_a_crash_while_the_job_ends_in_order_is_told(self):
        job = run("run", "-n", 2, MEMBER, "*:join", "*:barrier=a", "0:exit=0", "1:signal=11")
        self.assertIn("was killed by SIGSEGV", job.err)
        self.assertEqual(job.code, 139)

    def test_a_process_that_leaves_before_all_have_joined_fails_the_job(self):
        job = run("run", "-n", 2, MEMBER, "0:join")
        self.check(job, 1, r"process 1 \(pid \d+\) ended with code 0 without joining the job")

    def test_lch_07_a_killed_process_is_known_within_a_tenth_of_a_second(self):
        best = 9.0
        for _ in range(5):
            job = Job("run", "-n", 3, MEMBER, "*:join", "*:ready")
            pids = job.ready(3)
            killed = time.monotonic()
            os.kill(pids[1], signal.SIGKILL)
            line = job.process.stderr.readline()
            best = min(best, time.monotonic() - killed)
            self.assertIn(f"process 1 (pid {pids[1]}) was killed by SIGKILL", line)
            self.assertEqual(job.finish(), 137)
            self.assertEqual(job.leftovers(), [])
        print(f"death known after {1e3 * best:.1f} ms")
        self.assertLess(best, 0.1)

    def test_lch_11_processes_of_two_builds_are_refused_within_a_second(self):
        job = run("run", "-n", 3, MEMBER, "2:build=other-build", "*:join")
        self.check(job, 1, "the job was refused: processes [01] and 2 cannot work together",
                   r'build: process [01] has ".*", process 2 has "other-build"')
        job = run("run", "-n", 2, MEMBER, "1:entries=void Late::entry()", "*:join")
        self.check(job, 1, r"only in process 1: void Late::entry\(\)")
        self.assertLess(job.seconds, 5)

    def test_who_never_joins_is_named_after_the_start_timeout(self):
        job = run("run", "-n", 2, "--start-timeout", 0.3, "--grace", 0.2, MEMBER, "0:join",
                  "1:deaf")
        self.check(job, 1, r"1 of 2 processes joined within \d+ s; not there: 1")

    def test_lch_05_every_job_has_a_port_of_its_own(self):
        jobs = [Job("run", "-n", 1, "sh", "-c", "echo $SHOAL_RENDEZVOUS; cat", stdin="")
                for _ in range(5)]
        ports = {job.process.stdout.readline() for job in jobs}
        self.assertEqual(len(ports), 5)
        for job in jobs:
            self.assertEqual(job.finish(), 0)

    def test_nothing_is_left_after_many_ends(self):
        for _ in range(15):
            for action, code in ("1:exit=0", 0), ("1:exit=3", 3), ("0:signal=9", 137):
                job = run("run", "-n", 2, MEMBER, "*:join", action)
                self.check(job, code)


class Output(unittest.TestCase):
    def test_lch_10_lines_of_eight_processes_are_whole_and_none_is_lost_by_a_crash(self):
        for options in [], ["--prefix"]:
            job = run("run", "-n", 8, *options, MEMBER, "*:join", "*:print=10000",
                      "*:barrier=printed", "5:say=last words of five", "5:signal=11")
            self.assertEqual(job.code, 139)
            self.assertIn("last words of five\n", job.err)
            expected = [0] * 8
            for line in job.out.splitlines():
                if options:
                    prefix, line = line.split("] ", 1)
                    self.assertEqual(prefix[1:], line.split()[0])
                rank, number, rest = line.split(" ", 2)
                self.assertEqual(len(line), 199)
                self.assertEqual(int(number), expected[int(rank)])
                expected[int(rank)] += 1
            self.assertEqual(expected, [10000] * 8)

    def test_a_line_beyond_64_kib_passes_whole_in_the_end(self):
        job = run("run", "-n", 2, "sh", "-c",
                  "[ $SHOAL_RANK = 1 ] || head -c 300000 /dev/zero | tr '\\0' x; echo")
        self.assertEqual(sorted(map(len, job.out.splitlines())), [0, 300000])

    def test_the_last_line_needs_no_newline(self):
        self.assertEqual(run("run", "-n", 1, "printf", "end").out, "end")
        self.assertEqual(sorted(run("run", "-n", 2, "printf", "end").out.split()), ["end", "end"])

    def test_one_process_passes_a_prompt_at_once(self):
        job = Job("run", "-n", 1, "sh", "-c", "printf 'name? '; read name; echo hello $name",
                  stdin="")
        self.assertEqual(job.process.stdout.read(6), "name? ")
        job.stdin = "you\n"
        self.assertEqual(job.finish(), 0)
        self.assertEqual(job.out, "hello you\n")

    def test_only_process_0_has_the_stdin(self):
        job = run("run", "-n", 3, "--prefix", "cat", stdin="one\ntwo\n")
        self.assertEqual((job.code, job.out), (0, "[0] one\n[0] two\n"))

    def test_a_reader_that_goes_away_ends_the_job_quietly(self):
        job = Job("run", "-n", 2, "yes")
        self.assertEqual(job.process.stdout.readline(), "y\n")
        job.process.stdout.close()
        self.assertEqual(job.process.wait(30), 141)
        self.assertEqual(job.process.stderr.read(), "")
        job.process.stderr.close()
        self.assertEqual(job.leftovers(), [])

    def test_output_that_cannot_be_written_is_told_and_fails_the_job(self):
        line = "shoal: cannot write the job's output: No space left on device\n"
        for program in (["yes"], ["echo", "word"], ["sh", "-c", "printf end; sleep 100 &"],
                        [MEMBER, "*:join", "*:print=1", "*:barrier=a"],
                        [MEMBER, "*:join", "*:print=1", "*:barrier=a", "0:exit=0"]):
            job = Job("run", "-n", 2, *program, redirect=">/dev/full")
            self.addCleanup(kill_all, job)
            self.assertEqual((job.finish(), job.err), (1, line), program)
            kill_all(job)
        job = run("run", "-n", 2, "yes", redirect=">/dev/full 2>&1")
        self.assertEqual((job.code, job.out, job.err), (1, "", ""))
        self.assertEqual(job.leftovers(), [])

    def test_a_death_keeps_its_code_when_the_output_cannot_be_written(self):
        job = Job("run", "-n", 2, "sh", "-c", "sleep 100 & printf end; kill -SEGV $$",
                  redirect=">/dev/full")
        self.addCleanup(kill_all, job)
        self.assertEqual(job.finish(), 139)
        self.assertIn("was killed by SIGSEGV", job.err)
        self.assertIn("cannot write the job's output: No space left on device", job.err)

    def test_a_launcher_without_stdin_stdout_or_stderr_runs_the_job_all_the_same(self):
        for closed in ["<&-"], [">&-"], ["2>&-"], ["<&-", ">&-", "2>&-"]:
            redirect = " ".join(closed)
            job = run("run", "-n", 2, "-p", 1, "sh", "-c", "cat; echo out; echo err >&2",
                      stdin="in\n", redirect=redirect)
            self.assertEqual(job.code, 0, redirect)
            words = ["out", "out"] + (["in"] if "<&-" not in closed else [])
            self.assertEqual(sorted(job.out.split()), sorted(words) if ">&-" not in closed else [])
            self.assertEqual(job.err, "err\nerr\n" if "2>&-" not in closed else "")
            job = run("run", "-n", 2, MEMBER, "*:join", "*:print=10", "*:barrier=a", "0:exit=3",
                      redirect=redirect)
            self.assertEqual((job.code, job.err), (3, ""), redirect)
            self.assertEqual(len(job.out.splitlines()), 20 if ">&-" not in closed else 0)
            self.assertEqual(job.leftovers(), [])

    def test_an_heir_of_the_output_is_not_waited_for(self):
        job = run("run", "-n", 1, "sh", "-c", "sleep 30 & echo $!")
        self.assertEqual(job.code, 0)
        self.assertLess(job.seconds, 20)
        os.kill(int(job.out), signal.SIGKILL)


class Starts(unittest.TestCase):
    def test_a_program_that_is_not_a_shoal_program_runs_in_each_process(self):
        job = run("run", "-n", 3, "sh", "-c", "echo $SHOAL_RANK of $SHOAL_PROCESSES")
        self.assertEqual(job.code, 0)
        self.assertEqual(sorted(job.out.splitlines()), ["0 of 3", "1 of 3", "2 of 3"])

    def test_lch_01_thirteen_pes_are_spread_exactly_over_any_number_of_processes(self):
        for processes in (1, 2, 3, 4, 5, 6, 7, 13):
            job = run("run", "-n", processes, "-P", 13, MEMBER, "*:join", "0:exit=0")
            self.assertEqual(job.code, 0, job.err)
            job = run("run", "-n", processes, "-P", 13, "sh", "-c", "echo $SHOAL_PES")
            counts = list(map(int, job.out.split()))
            self.assertEqual(sum(counts), 13)
            self.assertLessEqual(max(counts) - min(counts), 1)

    def test_without_a_number_of_pes_the_allowed_cores_are_shared_out(self):
        cores = len(os.sched_getaffinity(0))
        job = run("run", "-n", 2, "sh", "-c", "echo $SHOAL_PES")
        self.assertLessEqual(max(map(int, job.out.split())), max(1, cores // 2))

    def test_lch_01_numbers_that_cannot_be_are_refused_at_once(self):
        for arguments in (["-n", 0], ["-n", -1], ["-n", "two"], ["-n", 100000], [],
                          ["-n", 2, "-p", 0], ["-n", 2, "-p", 99999], ["-n", 3, "-P", 2],
                          ["-n", 2, "-P", 4, "-p", 2]):
            job = run("run", *arguments, "true")
            self.assertEqual(job.code, 2, arguments)
            self.assertRegex(job.err, r"^shoal run: .*\(see shoal run --help\)\n$")
            self.assertLess(job.seconds, 5)

    def test_a_program_that_cannot_run_is_named(self):
        for program, reason in (("no-such-program", "no such program in PATH"),
                                ("./no-such-program", "No such file"),
                                ("/dev/null", "not executable"), ("/tmp", "it is a folder")):
            job = run("run", "-n", 2, program)
            self.assertEqual(job.code, 127)
            self.assertRegex(job.err, f"cannot run '{program}': .*{reason}")

    def test_a_file_that_the_kernel_refuses_is_named(self):
        path = os.path.join(FOLDERS.name, "script-without-interpreter")
        with open(path, "w", encoding="ascii") as file:
            file.write("echo hello\n")
        os.chmod(path, 0o755)
        job = run("run", "-n", 2, path)
        self.assertEqual(job.code, 127)
        self.assertIn("Exec format error", job.err)

    def test_bld_05_misspelt_words_get_a_near_match(self):
        for arguments, match in ((["run", "-n", 2, "--prefx", "true"], "--prefix"),
                                 (["run", "--proceses", 2, "true"], "--processes"),
                                 (["rnu"], "run"), (["rn"], "run"), (["--vesrion"], "--version")):
            job = run(*arguments)
            self.assertEqual(job.code, 2)
            self.assertIn(f"did you mean '{match}'?", job.err)

    def test_the_help_of_run_says_where_the_program_stands(self):
        job = run("run", "--help")
        self.assertEqual((job.code, job.err), (0, ""))
        usages = [line for line in job.out.splitlines() if "PROGRAM" in line]
        self.assertEqual(usages, ["Usage: shoal run -n PROCESSES [OPTIONS] PROGRAM [ARGS...]"])
        self.assertNotIn("PROGRAM", run("--help").out)

    def test_what_stands_behind_the_program_is_the_programs(self):
        job = run("run", "-n", 1, "echo", "-n", "5", "--prefix", "--help")
        self.assertEqual(job.out, "5 --prefix --help")
        self.assertEqual(run("run", "-n", 1, "--", "echo", "x").out, "x\n")

    def test_env_reaches_the_processes_and_replaces(self):
        job = run("run", "-n", 1, "--env", "A=b=c", "--env", "HOME=", "sh", "-c", 'echo "$A$HOME"')
        self.assertEqual((job.code, job.out), (0, "b=c\n"))
        self.assertEqual(run("run", "-n", 1, "--env", "A", "true").code, 2)

    def test_the_secret_is_in_no_argument_and_no_variable(self):
        job = Job("run", "-n", 1, "sh", "-c",
                  "tr '\\0' '\\n' </proc/self/environ; "
                  "od -An -tx1 -v /proc/self/fd/$SHOAL_SECRET_FD")
        self.assertEqual(job.finish(), 0)
        lines = job.out.splitlines()
        secret = "".join(lines[-2:]).replace(" ", "")
        self.assertRegex(secret, r"^[0-9a-f]{64}$")
        self.assertNotIn(secret, "".join(lines[:-2]))
        names = sorted(re.findall(r"^(SHOAL_\w+)=", job.out, re.M))
        self.assertTrue({"SHOAL_PES", "SHOAL_PROCESSES", "SHOAL_RANK", "SHOAL_RENDEZVOUS",
                         "SHOAL_SECRET_FD"} <= set(names))

    def test_info_names_version_build_and_ucx(self):
        job = run("info")
        self.assertEqual(job.code, 0)
        self.assertRegex(job.out, r"version: +\d+\.\d+\.\d+ .*\nbuild: +\S+\nUCX: +\d+\.\d+\.\d+ "
                                  r"\(.*\)\ntransports: +self,posix.*\nprocessors: +\d+ of \d+ ")
        self.assertRegex(run("--version").out, r"^shoal \d+\.\d+\.\d+ ")


    def test_doctor_names_what_is_in_the_way_and_what_to_do(self):
        job = run("doctor")
        self.assertEqual(job.code, 0, job.out)
        self.assertRegex(job.out, r"good    UCX \d+\.\d+\.\d+")
        if os.geteuid() != 0:
            self.skipTest("only root can make /dev/shm small")
        small = run("doctor", starter=(
            "unshare", "-m", "sh", "-c",
            'mount -t tmpfs -o size=8m none /dev/shm && ulimit -n 64 && exec "$0" "$@"', LAUNCHER))
        self.assertEqual(small.code, 1, small.out + small.err)
        self.assertRegex(small.out, r"bad     8 MiB free in /dev/shm.*\n +mount -o remount")
        self.assertRegex(small.out, r"slower  64 open files.*\n +ulimit -n")


if __name__ == "__main__":
    unittest.main()
