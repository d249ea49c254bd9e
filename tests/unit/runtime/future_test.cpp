// SPDX-License-Identifier: Apache-2.0
#include "bare_job.hpp"

#include <doctest/doctest.h>

#include "../../in_child.hpp"

using bare::Future;
using bare::Job;
using bare::Promise;
using bare::Task;

namespace {

Task<> note(Future<int> future, std::vector<int>& seen) { seen.push_back(co_await future); }

Task<> note_error(Future<int> future, std::string& seen) {
  try {
    (void)co_await future;
  } catch (const std::exception& error) {
    seen = error.what();
  }
}

Task<> note_done(Future<void> future, int& seen) {
  co_await future;
  ++seen;
}

void note_in_fiber(bare::Fiber& fiber, void* argument) {
  auto& [future, seen] = *static_cast<std::pair<Future<int>, std::vector<int>*>*>(argument);
  seen->push_back(fiber.await(future));
}

}  // namespace

TEST_CASE("SCHED-16 all that await a future get its value, tasks and fibers, in order") {
  Job job;
  std::vector<int> seen;
  std::vector<int> in_fibers;
  Promise<int> promise;
  std::pair<Future<int>, std::vector<int>*> argument{promise.future(), &in_fibers};
  job.send_and_run([&] {
    for (int i = 0; i < 10; ++i) (void)note(promise.future(), seen);
    for (int i = 0; i < 2; ++i) bare::start_fiber(job.pe(), {}, &note_in_fiber, &argument);
  });
  CHECK(seen.empty());
  job.send_and_run([&] { promise.set(42); });
  CHECK(seen == std::vector<int>(10, 42));
  CHECK(in_fibers == std::vector<int>(2, 42));
}

TEST_CASE("SCHED-16 a future gives its value again after it was resolved") {
  Job job;
  std::vector<int> seen;
  Promise<int> promise;
  promise.set(7);
  CHECK(promise.future().ready());
  job.send_and_run([&] {
    (void)note(promise.future(), seen);
    (void)note(promise.future(), seen);
  });
  CHECK(seen == std::vector<int>{7, 7});
}

TEST_CASE("nobody is resumed within the call that sets a promise") {
  Job job;
  std::vector<int> seen;
  Promise<int> promise;
  job.send_and_run([&] { (void)note(promise.future(), seen); });
  job.send_and_run([&] {
    promise.set(1);
    CHECK(seen.empty());
  });
  CHECK(seen.size() == 1);
}

TEST_CASE("a promise that dies unset fails its futures") {
  Job job;
  std::string seen;
  job.send_and_run([&] {
    Promise<int> promise;
    (void)note_error(promise.future(), seen);
  });
  CHECK(says(seen, "dropped before it was set"));
}

TEST_CASE("a failed promise throws its exception in each that awaits") {
  Job job;
  std::string first;
  std::string second;
  Promise<int> promise;
  job.send_and_run([&] { (void)note_error(promise.future(), first); });
  job.send_and_run([&] { promise.fail(std::make_exception_ptr(std::out_of_range("too far"))); });
  job.send_and_run([&] { (void)note_error(promise.future(), second); });
  CHECK(first == "too far");
  CHECK(second == "too far");
}

TEST_CASE("a promise of nothing can be set") {
  Job job;
  int seen = 0;
  Promise<void> promise;
  job.send_and_run([&] {
    (void)note_done(promise.future(), seen);
    (void)note_done(promise.future(), seen);
  });
  job.send_and_run([&] { promise.set(); });
  CHECK(seen == 2);
}

TEST_CASE("SCHED-16 setting a promise twice ends the job and says so") {
  const ChildEnd end = in_child([] {
    Job job;
    Promise<int> promise;
    promise.set(1);
    promise.set(2);
    return 0;
  });
  CHECK(end.exit_code == shoal::comm::kCheckFailed);
  CHECK(says(end.said, "a promise is set twice"));
}

TEST_CASE("an unresolved future is owed, a resolved one is not") {
  Job job;
  const auto owed = [&] { return job.pe().counters.created - job.pe().counters.processed; };
  {
    Promise<int> promise;
    CHECK(owed() == 1);
    CHECK(job.pe().counters.passive == 1);
    promise.set(1);
    CHECK(owed() == 0);
    Promise<int> dropped;
    CHECK(owed() == 1);
  }
  CHECK(owed() == 0);
  CHECK(job.pe().counters.passive == 0);
}

TEST_CASE("a promise that was moved away dies without a word") {
  Job job;
  Promise<int> promise;
  const Future<int> future = promise.future();
  {
    Promise<int> other = std::move(promise);
    CHECK_FALSE(future.ready());
    other.set(3);
  }
  CHECK(future.take() == 3);
}

TEST_CASE("a promise that is replaced by another fails its futures") {
  Job job;
  std::string seen;
  Promise<int> promise;
  job.send_and_run([&] { (void)note_error(promise.future(), seen); });
  job.send_and_run([&] { promise = Promise<int>(); });
  CHECK(says(seen, "dropped before it was set"));
}

TEST_CASE("a future outlives its promise") {
  Job job;
  Promise<std::string> promise;
  const Future<std::string> future = promise.future();
  promise.set("kept");
  { const Promise<std::string> gone = std::move(promise); }
  CHECK(future.take() == "kept");
}
