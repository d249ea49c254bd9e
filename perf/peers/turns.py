# SPDX-License-Identifier: Apache-2.0
"""The turns of a peer in Python: what measure.hpp is to those in C++.

Under `--serve FILE` each process reads a pipe of its own, FILE.0 or FILE.1: a line is a turn, CASE
SIZE METRIC ITERATIONS WARMUP, and anything else the end. Process 0 answers with one line of JSON.
"""

import dataclasses
import json
import sys


@dataclasses.dataclass
class Turn:
    case: str
    size: int
    metric: str
    iterations: int  # round trips for latency; otherwise messages, in whole windows
    warmup: int      # as many more, not timed, before them

    @property
    def window(self):
        """Messages in flight before an acknowledgement is awaited."""
        return 64 if self.size < 1 << 20 else 16

    def value(self, ns):
        """What it means that the iterations took so many nanoseconds, in the metric's unit."""
        if self.metric == "latency":
            return ns / self.iterations / 2e3
        per_second = self.iterations / ns * 1e9
        if self.metric == "rate":
            return per_second
        ways = 2 if self.metric == "bidirectional_bandwidth" else 1
        return per_second * self.size / 1e6 * ways


def read_turns(rank):
    """The turns of this process, until the driver says quit. Sleeps while there is none."""
    with open(f"{sys.argv[sys.argv.index('--serve') + 1]}.{rank}", encoding="utf-8") as pipe:
        if rank == 0:
            answer({"ready": True})
        for line in pipe:
            words = line.split()
            if len(words) != 5:
                return
            turn = Turn(words[0], int(words[1]), words[2], int(words[3]), int(words[4]))
            if turn.metric != "latency":
                turn.iterations += -turn.iterations % turn.window
                turn.warmup += -turn.warmup % turn.window
            yield turn


def report(turn, ns):
    answer({"case": turn.case, "size": turn.size, "metric": turn.metric, "value": turn.value(ns)})


def answer(what):
    print(json.dumps(what), flush=True)
