// SPDX-License-Identifier: Apache-2.0
// What a program does wrong, or catches, must not damage what it goes on with: arguments, results,
// constructors and fibers that throw, and tasks that outlive what they use.
#include "../../in_child.hpp"
#include "simulated_program.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

namespace mishap_test {
using namespace simulated_program;  // NOLINT(google-build-using-namespace)

/// An argument whose copy constructor or `serialize` throws when it is told to.
struct Thorny {
  enum : int { harmless, copied, written, read };
  int when = harmless;
  std::vector<int> content;

  Thorny() = default;
  explicit Thorny(int throws_when) : when(throws_when) {}
  Thorny(const Thorny& other) : when(other.when), content(other.content) {
    if (when == copied) throw std::runtime_error("not copied");
  }
  Thorny(Thorny&&) = default;
  Thorny& operator=(const Thorny&) = default;
  Thorny& operator=(Thorny&&) = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(when, content);
    if constexpr (Archive::kReads) {
      if (when == read) throw 42;
    } else if (std::is_same_v<Archive, shoal::actors::Writer> && when == written) {
      throw std::runtime_error("not written");
    }
  }
};

struct Silent : std::exception {
  const char* what() const noexcept override { return nullptr; }
};

struct Host : Actor<Host> {
  std::string text = "a string longer than fifteen characters";
  std::string& reference() { return text; }
  const std::string& const_reference() { return text; }
  void take(const Thorny&) {}
  int answer(const Thorny&) { return 1; }
  Thorny give(int when) { return Thorny(when); }
  void silent() { throw Silent(); }
  Task<> twice(Incoming<int> incoming) {
    std::vector<int> target(incoming.count());
    co_await incoming.into(target);
    co_await incoming.into(target);
  }
  void swallows(Fiber& fiber) {
    Promise<int> never;
    while (true) {
      try {
        (void)fiber.await(never.future());
      } catch (...) {
        continue;
      }
    }
  }
};

// Whether a guard in a task's frame found the member of its actor alive when it died.
int guards_died = 0;
int guards_died_late = 0;

struct Alive {
  bool alive = true;
  ~Alive() { alive = false; }
};
struct Guarded : Actor<Guarded, Index1> {
  explicit Guarded(bool in_constructor) {
    if (in_constructor) (void)wait_long();
  }
  Task<> wait_long() {
    struct Guard {
      Alive& member;
      ~Guard() {
        ++guards_died;
        guards_died_late += member.alive ? 0 : 1;
      }
    };
    const Guard guard{member};
    co_await sleep_for(std::chrono::hours(1));
  }
  void start() { (void)wait_long(); }
  void nothing() {}
  Alive member;
};

struct Picky : Actor<Picky, Index1> {
  Picky() {
    if (index()[0] == 2) throw std::invalid_argument("not element 2");
  }
  void hear() { ++heard; }
  static inline int heard = 0;
};

std::size_t reserved_bytes() { return shoal::runtime::this_pe().pool().reserved_bytes(); }
}  // namespace mishap_test

using namespace mishap_test;  // NOLINT(google-build-using-namespace)

TEST_CASE("a result that is a reference is copied, and its actor keeps it") {
  for (const Shape& shape : kShapes) {
    const auto result = run_on(shape, [](World& world) -> Task<> {
      const auto host = world.create_on<Host>(world.pes() - 1);
      for (int i = 0; i < 2; ++i) {
        CHECK(co_await host.call<&Host::reference>() == Host().text);
        CHECK(co_await host.call<&Host::const_reference>() == Host().text);
      }
    });
    CHECK(trouble(result) == "");
  }
}

TEST_CASE("tasks that nobody awaits end before what their actor holds") {
  for (const bool in_constructor : {false, true}) {
    guards_died = guards_died_late = 0;
    const auto result = run_on({2, 2}, [&](World& world) -> Task<> {
      const auto array = world.create<Guarded>(8, in_constructor);
      if (!in_constructor) array.broadcast<&Guarded::start>();
      for (int i = 0; i < 8; ++i) array[i].send<&Guarded::nothing>();
      co_await sleep_for(std::chrono::milliseconds(10));
      world.exit(0);
    });
    CHECK(trouble(result) == "");
    CHECK(guards_died == 8);
    CHECK(guards_died_late == 0);
  }
}

TEST_CASE("an argument that throws leaves no open call and no lost block behind") {
  for (const Shape& shape : kShapes) {
    const auto result = run_on(shape, [](World& world) -> Task<> {
      const auto host = world.create_on<Host>(world.pes() - 1);
      const bool elsewhere = world.processes() > 1;
      const Thorny thorny(elsewhere ? Thorny::written : Thorny::copied);
      std::size_t before = 0;
      for (int i = 0; i < 3'000; ++i) {
        if (i == 1'000) before = reserved_bytes();
        CHECK_THROWS_AS(host.send<&Host::take>(thorny), std::runtime_error);
        CHECK_THROWS_AS((void)host.call<&Host::answer>(thorny), std::runtime_error);
      }
      CHECK(reserved_bytes() == before);
      CHECK(co_await host.call<&Host::answer>(Thorny()) == 1);
    });
    CHECK(trouble(result) == "");
  }
}

TEST_CASE("a result that cannot be read fails its call") {
  const auto result = run_on({2, 1}, [](World& world) -> Task<> {
    const auto host = world.create_on<Host>(1);
    bool caught = false;
    try {
      (void)co_await host.call<&Host::give>(int{Thorny::read});
    } catch (int number) {
      caught = number == 42;
    }
    CHECK(caught);
    CHECK((co_await host.call<&Host::give>(int{Thorny::harmless})).when == Thorny::harmless);
  });
  CHECK(trouble(result) == "");
}

TEST_CASE("arguments whose reading throws end the job and name entry and exception") {
  const auto result = run_on({2, 1}, [](World& world) -> Task<> {
    world.create_on<Host>(1).send<&Host::take>(Thorny(Thorny::read));
    co_await world.quiescence();
  });
  CHECK(result.exit_code == shoal::comm::kCheckFailed);
  CHECK(says(text_of(result), "reading the arguments of mishap_test::Host::take threw int"));
}

TEST_CASE("an exception without a text is told by its type") {
  const auto result = run_on({1, 1}, [](World& world) -> Task<> {
    world.create_on<Host>(0).send<&Host::silent>();
    co_await world.quiescence();
  });
  CHECK(result.exit_code == 1);
  CHECK(says(text_of(result), "mishap_test::Silent: (its what() is null)"));
}

TEST_CASE("an element whose constructor fails leaves the others as they would be") {
  for (const Shape& shape : kShapes) {
    Picky::heard = 0;
    std::vector<std::string> handled;
    RunSettings settings;
    settings.on_exception = [&](const shoal::actors::UnhandledException& what) {
      handled.push_back(what.entry + ": " + what.text);
      return true;
    };
    const auto result = run_on(
        shape,
        [](World& world) -> Task<> {
          const auto array = world.create<Picky>(6);
          array.broadcast<&Picky::hear>();
          co_await world.quiescence();
        },
        settings);
    CHECK(trouble(result) == "");
    CHECK(Picky::heard == 5);
    REQUIRE(handled.size() == 1);
    CHECK(handled[0] == "the constructor of mishap_test::Picky of element 2: not element 2");
  }
}

TEST_CASE("a pause that is longer than the clock can say does not end at once") {
  const auto result = run_on({1, 1}, [](World& world) -> Task<> {
    bool woken = false;
    const auto sleeper = [](auto pause, bool& flag) -> Task<> {
      co_await sleep_for(pause);
      flag = true;
    };
    Task<> hours = sleeper(std::chrono::hours::max(), woken);
    Task<> years = sleeper(std::chrono::hours(24 * 365 * 400), woken);
    Task<> seconds = sleeper(std::chrono::duration<double>(1e30), woken);
    co_await sleep_for(std::chrono::hours(24));
    CHECK_FALSE(woken);
    world.exit(0);
    co_await hours;
  });
  CHECK(trouble(result) == "");
}

TEST_CASE("SCHED-13 a fiber that swallows its end is given up with a line that names it") {
  const auto result = run_on({1, 1}, [](World& world) -> Task<> {
    world.create_on<Host>(0).send<&Host::swallows>();
    co_await sleep_for(std::chrono::milliseconds(1));
    world.exit(0);
  });
  CHECK(result.exit_code == 0);
  CHECK(says(text_of(result), "the fiber of mishap_test::Host::swallows"));
}

TEST_CASE("an Incoming that is received twice ends the job and says so") {
  const ChildEnd end = in_child([] {
    return run_on({2, 1},
                  [](World& world) -> Task<> {
                    world.create_on<Host>(1).send<&Host::twice>(std::vector<int>(10'000, 1));
                    co_await world.quiescence();
                  })
        .exit_code;
  });
  CHECK(end.exit_code == shoal::comm::kCheckFailed);
  CHECK(says(end.said, "into() is called twice"));
}

TEST_CASE("a code whose last eight bits are 0 does not end as a success") {
  const auto result = run_on({1, 1}, [](World& world) -> Task<> {
    world.exit(256);
    co_return;
  });
  CHECK(result.exit_code == 1);
}
