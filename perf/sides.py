# SPDX-License-Identifier: Apache-2.0
"""The sides of a comparison: processes that live on, sleep, and measure a repetition on request.

Every side reads its commands from named pipes, one line a repetition, so that between its turns
each of its processes is blocked in a read and leaves the cores to the others. That holds for
programs whose runtime spins while it waits, too: MPI processes and `ucx_perftest` read a pipe each.
"""

import json
import os
import re
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time

TIMEOUT_S = 60  # for one repetition, or for a start


class SideFailed(Exception):
    """A side could not start, or did not answer."""


class Side:
    """Processes with pipes of commands. Ended by close(), or by the end of `with`."""

    lacks = {}  # metric: why this side does not measure it
    slower = 1  # a message takes about so many times what it takes on the others

    def __init__(self, name):
        self.name = name
        self.folder = tempfile.mkdtemp(prefix="shoal-bench-")
        self.pipes = []
        self.processes = []
        self.pending = b""

    def make_pipe(self, path):
        os.mkfifo(path)
        # Opened for both directions: then neither end waits for the other, or sees an end of file.
        self.pipes.append(os.open(path, os.O_RDWR))
        return path

    def start(self, command, environment, answers=False):
        """Starts a process; of the one whose `answers` are read, stdout is kept."""
        log = open(os.path.join(self.folder, f"log.{len(self.processes)}"), "wb")
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stderr=log,
            stdout=subprocess.PIPE if answers else log, start_new_session=True)
        log.close()
        self.processes.append(process)
        if answers:
            self.answers = process.stdout
            self.pending = b""

    def ask(self, line):
        for pipe in self.pipes:
            os.write(pipe, (line + "\n").encode())

    def line(self):
        """The next line of the answering process."""
        deadline = time.monotonic() + TIMEOUT_S
        while b"\n" not in self.pending:
            ready = select.select([self.answers], [], [], max(0, deadline - time.monotonic()))[0]
            data = os.read(self.answers.fileno(), 65536) if ready else b""
            if not data:
                what = "ended" if ready else "no answer"
                raise SideFailed(f"{self.name}: {what}{self.said()}")
            self.pending += data
        line, self.pending = self.pending.split(b"\n", 1)
        return line.decode(errors="replace").strip()

    def said(self):
        """The last lines of the logs, for an error."""
        time.sleep(0.2)
        lines = []
        for name in sorted(os.listdir(self.folder)):
            if name.startswith("log."):
                with open(os.path.join(self.folder, name), errors="replace") as log:
                    lines += log.read().strip().splitlines()[-8:]
        return "".join("\n    " + line for line in lines)

    def close(self):
        try:
            self.ask("quit")
        except OSError:
            pass
        for pipe in self.pipes:
            os.close(pipe)
        self.pipes = []
        for process in self.processes:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Served(Side):
    """A program of perf/ under `--serve`: answers each line with one line of JSON.

    `ranks` is the number of processes that read a pipe of their own (FILE.0, FILE.1), or 0 where
    one process of the job reads FILE and tells the others itself.
    """

    def __init__(self, name, command, environment=None, ranks=0):
        super().__init__(name)
        path = os.path.join(self.folder, "commands")
        for rank in range(ranks):
            self.make_pipe(f"{path}.{rank}")
        if not ranks:
            self.make_pipe(path)
        self.start(command + ["--serve", path], {**os.environ, **(environment or {})}, answers=True)
        try:
            self.ready = self.json_line("ready")
        except SideFailed:
            self.close()
            raise

    def json_line(self, key):
        while True:
            line = self.line()
            if line.startswith("{") and key in (answer := json.loads(line)):
                return answer

    def measure(self, case, size, metric, iterations, warmup):
        self.ask(f"{case} {size} {metric} {iterations} {warmup}")
        return self.json_line("value")["value"]


class Perftest(Side):
    """UCX's own ucx_perftest, the real program, two processes on two cores.

    Its batch mode (-b FILE) reads one test a line, and a named pipe serves as the file. Each test
    makes its context and connection anew, which takes 0.1 s and is not in the figures.
    """

    lacks = {"bidirectional_bandwidth": "ucx_perftest has no such test"}

    def __init__(self, ucx, cores, environment=None):
        super().__init__(ucx.name)
        settings = {**os.environ, **ucx.settings, **(environment or {})}
        settings["LD_LIBRARY_PATH"] = ucx.library_path
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = str(probe.getsockname()[1])
        # -t is needed though each line of the batch names its own test.
        common = ["stdbuf", "-oL", ucx.perftest, "-t", "ucp_am_lat", "-f", "-v", "-p", port]
        for index, role in ((1, []), (0, ["127.0.0.1"])):
            pipe = self.make_pipe(os.path.join(self.folder, f"tests.{index}"))
            self.start(common + role + ["-c", str(cores[index]), "-b", pipe], settings,
                       answers=index == 0)
            if index == 1:
                self.wait_for_port(int(port))

    def wait_for_port(self, port):
        """Until the server listens. Without connecting: it would take that for its client."""
        wanted = f":{port:04X} "
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline:
            with open("/proc/net/tcp") as table:
                if any(wanted in line and " 0A " in line for line in table):
                    return
            time.sleep(0.01)
        self.close()
        raise SideFailed(f"{self.name}: the server does not listen")

    def measure(self, case, size, metric, iterations, warmup):
        test = "ucp_am_lat" if metric == "latency" else "ucp_am_bw"
        self.ask(f"turn -t {test} -s {size} -n {iterations} -w {max(warmup, 1)}")
        while True:
            fields = self.line().split(",")
            if fields[0] == "turn":
                break
        # iterations, median, average and overall latency, two bandwidths (in 2^20 B/s), two rates
        latency, rate = float(fields[4]), float(fields[8])
        return {"latency": latency, "rate": rate, "bandwidth": rate * size / 1e6}[metric]


class Ucx:
    """The UCX that Shoal loaded, its ucx_perftest, and the UCX_ settings that Shoal made."""

    def __init__(self, library, settings):
        self.settings = settings
        # First the libraries beside the one that was loaded, so that perftest loads the same.
        self.library_path = os.path.dirname(library)
        version = subprocess.run(
            [sys.executable, "-c",
             "import ctypes, sys; u = [ctypes.c_uint() for _ in range(3)]\n"
             "ctypes.CDLL(sys.argv[1]).ucp_get_version(*map(ctypes.byref, u))\n"
             "print(f'{u[0].value}.{u[1].value}')", library],
            env={**os.environ, "LD_LIBRARY_PATH": self.library_path},
            capture_output=True, text=True).stdout.strip()
        self.name = f"ucx_{version or 'unknown'}"
        self.perftest = self.find_perftest(library)

    def find_perftest(self, library):
        """The ucx_perftest that belongs to the library, or None."""
        folder = os.path.dirname(os.path.realpath(library))
        candidates = []
        for _ in range(3):
            folder = os.path.dirname(folder)
            candidates.append(os.path.join(folder, "bin", "ucx_perftest"))
        candidates.append(shutil.which("ucx_perftest") or "")
        for program in candidates:
            if os.path.isfile(program) and self.loads(program, library):
                if not os.access(program, os.X_OK):  # wheels are unpacked without the mode
                    os.chmod(program, 0o755)
                return program
        return None

    def loads(self, program, library):
        listing = subprocess.run(
            ["ldd", program], env={**os.environ, "LD_LIBRARY_PATH": self.library_path},
            capture_output=True, text=True).stdout
        found = re.search(r"libucp\.so\S* => (\S+)", listing)
        return bool(found) and os.path.realpath(found[1]) == os.path.realpath(library)
