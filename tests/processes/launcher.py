# SPDX-License-Identifier: Apache-2.0
"""Runs `shoal run` for the launcher tests and looks for what it may leave behind."""

import os
import pty
import re
import select
import signal
import subprocess
import tempfile
import time
import unittest
import uuid

LAUNCHER = os.environ["SHOAL_LAUNCHER"]
MEMBER = os.environ.get("SHOAL_MEMBER") or os.path.join(
    os.environ["SHOAL_BUILD_DIR"], "tests", "launcher_member"
)
PATIENCE_S = 60
FOLDERS = tempfile.TemporaryDirectory()  # one below it for each job


def wait_until(condition, what):
    """Polls a condition that no descriptor announces."""
    limit = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > limit:
            raise AssertionError(f"not within {PATIENCE_S} s: {what}")
        time.sleep(0.002)


class Job:
    """One run of a launcher (ours, unless `starter` is another's command), whose processes are
    known by a mark in their environment."""

    def __init__(self, *arguments, stdin=None, terminal=False, redirect="", starter=(LAUNCHER,),
                 environment=None):
        self.mark = f"SHOAL_TEST_MARK={uuid.uuid4().hex}"
        self.folder = tempfile.mkdtemp(dir=FOLDERS.name)
        self.shared_memory = set(os.listdir("/dev/shm"))
        name, value = self.mark.split("=")
        environment = dict(environment or os.environ, TMPDIR=self.folder, **{name: value})
        # A crash stays a crash in builds with sanitizers.
        environment["ASAN_OPTIONS"] = "handle_segv=0:" + environment.get("ASAN_OPTIONS", "")
        environment["TSAN_OPTIONS"] = "handle_segv=0:" + environment.get("TSAN_OPTIONS", "")
        command = [*starter, *[str(argument) for argument in arguments]]
        if redirect:  # as a shell has it
            command = ["sh", "-c", f'exec "$@" {redirect}', "sh", *command]
        self.started = time.monotonic()
        if terminal:
            self.pid, self.terminal = pty.fork()
            if self.pid == 0:
                os.execve(command[0], command, environment)
            self.seen = b""
            return
        self.process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.pid = self.process.pid
        self.stdin = stdin

    def finish(self):
        """The exit code; output and errors stand in `out` and `err`, the time in `seconds`."""
        self.out, self.err = self.process.communicate(self.stdin, timeout=PATIENCE_S)
        self.seconds = time.monotonic() - self.started
        return self.process.returncode

    def read_terminal_until(self, pattern):
        while not re.search(pattern, self.seen):
            if not select.select([self.terminal], [], [], PATIENCE_S)[0]:
                raise AssertionError(f"{pattern} never came: {self.seen}")
            try:
                self.seen += os.read(self.terminal, 65536)
            except OSError as error:
                raise AssertionError(f"{pattern} never came: {self.seen}") from error

    def finish_terminal(self):
        """Reads to the end and returns the exit code."""
        while True:
            try:
                data = os.read(self.terminal, 65536)
            except OSError:
                break
            if not data:
                break
            self.seen += data
        _, status = os.waitpid(self.pid, 0)
        self.seconds = time.monotonic() - self.started
        return os.waitstatus_to_exitcode(status)

    def processes(self):
        """The living processes of this job, without the launcher."""
        found = []
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    ours = self.mark.encode() in file.read()
                with open(f"/proc/{entry}/stat", encoding="latin-1") as file:
                    state = file.read().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if ours and state != "Z" and int(entry) != self.pid:
                found.append(int(entry))
        return found

    def ready(self, count):
        """Reads `ready RANK PID` lines from stdout until `count` have come; the pids by rank."""
        pids = {}
        while len(pids) < count:
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError(f"only {pids} got ready: {self.process.stderr.read()}")
            match = re.match(r"ready (\d+) (\d+)$", line)
            if match:
                pids[int(match[1])] = int(match[2])
        return pids

    def leftovers(self):
        """What the job left behind; empty if nothing."""
        left = [f"process {pid}" for pid in self.processes()]
        left += [f"/dev/shm/{name}" for name in set(os.listdir("/dev/shm")) - self.shared_memory
                 if name.startswith(("shoal", "ucx_shm"))]
        left += os.listdir(self.folder)
        return left

    def kill(self, number):
        os.kill(self.pid, number)


def run(*arguments, **how):
    """Runs a job to its end."""
    job = Job(*arguments, **how)
    job.code = job.finish()
    return job


def kill_all(job):
    """For tearDown after a failed test."""
    for pid in job.processes():
        os.kill(pid, signal.SIGKILL)


class EndsTest(unittest.TestCase):
    """For tests of how jobs end."""

    def check(self, job, code, *patterns):
        self.assertEqual(job.code, code, job.err)
        for pattern in patterns:
            self.assertRegex(job.err, pattern)
        try:  # a job beside this one may have a file of UCX's for a moment
            wait_until(lambda: not job.leftovers(), "nothing is left behind")
        except AssertionError:
            self.assertEqual(job.leftovers(), [])
