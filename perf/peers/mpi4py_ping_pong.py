# SPDX-License-Identifier: Apache-2.0
"""The mpi4py peer of `ping_pong`: what openmpi.cpp does, from Python.

Blocking Send and Recv of arrays made once for latency; windows of Isend and Irecv, two of them
overlapping, each acknowledged, for rate and bandwidth; windows both ways for the bidirectional one.
Run it under `mpirun -n 2`.
"""

import time

import numpy
from mpi4py import MPI

from turns import read_turns, report

WORLD = MPI.COMM_WORLD
RANK = WORLD.Get_rank()
OTHER = 1 - RANK
DATA, ACKNOWLEDGEMENT = 1, 2  # tags


def bounce(count, sent, received):
    send, receive = WORLD.Send, WORLD.Recv
    if RANK == 0:
        for _ in range(count):
            send(sent, 1)
            receive(received, 1)
    else:
        for _ in range(count):
            receive(received, 0)
            send(sent, 0)


def send_windows(count, sent, window, byte):
    outstanding = 0
    for _ in range(count // window):
        MPI.Request.Waitall([WORLD.Isend(sent, 1, DATA) for _ in range(window)])
        outstanding += 1
        if outstanding == 2:
            WORLD.Recv(byte, 1, ACKNOWLEDGEMENT)
            outstanding = 1
    for _ in range(outstanding):
        WORLD.Recv(byte, 1, ACKNOWLEDGEMENT)


def receive_windows(count, received, window, byte):
    for _ in range(count // window):
        MPI.Request.Waitall([WORLD.Irecv(received, 0, DATA) for _ in range(window)])
        WORLD.Send(byte, 0, ACKNOWLEDGEMENT)


def exchange_windows(count, sent, received, window):
    for _ in range(count // window):
        requests = [WORLD.Irecv(received, OTHER, DATA) for _ in range(window)]
        requests += [WORLD.Isend(sent, OTHER, DATA) for _ in range(window)]
        MPI.Request.Waitall(requests)


def main():
    arrays = (numpy.ones(0, numpy.uint8), numpy.ones(0, numpy.uint8))
    byte = numpy.zeros(1, numpy.uint8)
    for turn in read_turns(RANK):
        if len(arrays[0]) != turn.size:
            arrays = (numpy.ones(turn.size, numpy.uint8), numpy.ones(turn.size, numpy.uint8))
        sent, received = arrays
        WORLD.Barrier()
        for count in (turn.warmup, turn.iterations):
            start = time.perf_counter_ns()
            if turn.metric == "latency":
                bounce(count, sent, received)
            elif turn.metric == "bidirectional_bandwidth":
                exchange_windows(count, sent, received, turn.window)
            elif RANK == 0:
                send_windows(count, sent, turn.window, byte)
            else:
                receive_windows(count, received, turn.window, byte)
            ns = time.perf_counter_ns() - start
        if RANK == 0:
            report(turn, ns)


if __name__ == "__main__":
    main()
