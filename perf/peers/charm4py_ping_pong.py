# SPDX-License-Identifier: Apache-2.0
"""The charm4py peer of `ping_pong`: two chares on two processes, with a channel between them.

Channels of arrays are the fastest way that its documentation has; there is none to receive into an
array that is there already. Run it under charmrun with +p2; each process binds itself to a core.
"""

import os
import time

import numpy
from charm4py import Channel, Chare, Group, charm, coro

from turns import read_turns, report

CORES = sorted(os.sched_getaffinity(0))


class Player(Chare):
    @coro
    def play(self, done):
        rank = charm.myPe()
        os.sched_setaffinity(0, {CORES[rank]})
        self.channel = Channel(self, remote=self.thisProxy[1 - rank])
        array = numpy.ones(0, numpy.uint8)
        for turn in read_turns(rank):
            if len(array) != turn.size:
                array = numpy.ones(turn.size, numpy.uint8)
            for count in (turn.warmup, turn.iterations):
                start = time.perf_counter_ns()
                if turn.metric == "latency":
                    self.bounce(count, array, rank)
                elif turn.metric == "bidirectional_bandwidth":
                    self.exchange_windows(count, array, turn.window)
                elif rank == 0:
                    self.send_windows(count, array, turn.window)
                else:
                    self.receive_windows(count, turn.window)
                ns = time.perf_counter_ns() - start
            if rank == 0:
                report(turn, ns)
            self.come_to_rest(rank)
        self.reduce(done)

    def come_to_rest(self, rank):
        """Before a read, during which nothing is sent: what the scheduler has not sent by then,
        the output included, would wait as long."""
        self.channel.send(0)
        self.channel.recv()  # the other has all that was sent before
        for _ in range(4):
            self.thisProxy[rank].nothing(awaitable=True).get()

    def nothing(self):
        pass

    def bounce(self, count, array, rank):
        send, receive = self.channel.send, self.channel.recv
        if rank == 0:
            for _ in range(count):
                send(array)
                receive()
        else:
            for _ in range(count):
                receive()
                send(array)

    def send_windows(self, count, array, window):
        outstanding = 0
        for _ in range(count // window):
            for _ in range(window):
                self.channel.send(array)
            outstanding += 1
            if outstanding == 2:
                self.channel.recv()
                outstanding = 1
        for _ in range(outstanding):
            self.channel.recv()

    def receive_windows(self, count, window):
        for _ in range(count // window):
            for _ in range(window):
                self.channel.recv()
            self.channel.send(0)

    def exchange_windows(self, count, array, window):
        for _ in range(count // window):
            for _ in range(window):
                self.channel.send(array)
            for _ in range(window):
                self.channel.recv()


def main(_):
    done = charm.Future()
    Group(Player).play(done)
    done.get()
    charm.exit()


if __name__ == "__main__":
    charm.options.quiet = True
    charm.start(main)
