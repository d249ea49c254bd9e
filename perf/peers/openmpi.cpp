// SPDX-License-Identifier: Apache-2.0
//
// The MPI peer of `ping_pong`: blocking send and receive for latency; windows of MPI_Isend, two of
// them overlapping, each acknowledged, for bandwidth and rate; windows both ways, one after the
// other, for the bidirectional one, as osu_bibw measures it. Run it under `mpirun -n 2`. Under
// --serve both ranks read a pipe of their own, FILE.0 and FILE.1, so that both sleep between
// repetitions (an MPI process that waits in a receive spins).

#include "../measure.hpp"

#include <cstdlib>
#include <cstring>
#include <vector>

#include <mpi.h>

namespace {

int rank = 0;
std::vector<char> sent, received;

double latency(const perf::Run& run) {
  const int size = static_cast<int>(run.size), other = 1 - rank;
  double start = 0;
  for (long i = -run.warmup; i < run.iterations; ++i) {
    if (i == 0) start = perf::now_ns();
    if (rank == 0) MPI_Send(sent.data(), size, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    MPI_Recv(received.data(), size, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(sent.data(), size, MPI_BYTE, other, 0, MPI_COMM_WORLD);
  }
  return perf::now_ns() - start;
}

void acknowledge(bool wait) {
  char byte = 0;
  if (wait)
    MPI_Recv(&byte, 1, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else
    MPI_Send(&byte, 1, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
}

double stream(const perf::Run& run) {
  const int size = static_cast<int>(run.size);
  const long window = perf::window(run.size);
  std::vector<MPI_Request> requests(static_cast<std::size_t>(window));
  double start = 0;
  long outstanding = 0;
  for (long done = -run.warmup; done < run.iterations; done += window) {
    if (done >= 0 && start == 0) start = perf::now_ns();
    for (MPI_Request& request : requests) {
      if (rank == 0)
        MPI_Isend(sent.data(), size, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
      else
        MPI_Irecv(received.data(), size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
    }
    MPI_Waitall(static_cast<int>(window), requests.data(), MPI_STATUSES_IGNORE);
    if (rank == 1)
      acknowledge(false);
    else if (++outstanding == 2)
      acknowledge(true), --outstanding;
  }
  if (rank == 0) {
    while (outstanding-- > 0) acknowledge(true);
  }
  return perf::now_ns() - start;
}

// Both ranks send and receive a window at the same time.
double exchange(const perf::Run& run) {
  const int size = static_cast<int>(run.size), other = 1 - rank;
  const long window = perf::window(run.size);
  std::vector<MPI_Request> requests(static_cast<std::size_t>(2 * window));
  double start = 0;
  for (long done = -run.warmup; done < run.iterations; done += window) {
    if (done >= 0 && start == 0) start = perf::now_ns();
    MPI_Request* request = requests.data();
    for (long i = 0; i < window; ++i)
      MPI_Irecv(received.data(), size, MPI_BYTE, other, 1, MPI_COMM_WORLD, request++);
    for (long i = 0; i < window; ++i)
      MPI_Isend(sent.data(), size, MPI_BYTE, other, 1, MPI_COMM_WORLD, request++);
    MPI_Waitall(static_cast<int>(2 * window), requests.data(), MPI_STATUSES_IGNORE);
  }
  return perf::now_ns() - start;
}

double measure(const perf::Run& run) {
  if (run.metric == "latency") return latency(run);
  return run.metric == "bidirectional_bandwidth" ? exchange(run) : stream(run);
}

}  // namespace

int main(int argc, char** argv) {
  perf::Schedule schedule(perf::arguments(argc, argv), {"two_processes"},
                          {"latency", "bandwidth", "rate", "bidirectional_bandwidth"});
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  schedule.open(rank);
  while (auto run = schedule.next()) {
    if (sent.size() < run->size) {
      sent.assign(run->size, 1);
      received.assign(run->size, 2);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double ns = measure(*run);
    if (rank == 0) schedule.report(*run, perf::value_of(*run, ns));
  }
  MPI_Finalize();
  return schedule.exit_code();
}
