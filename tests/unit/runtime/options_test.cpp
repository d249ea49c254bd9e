// SPDX-License-Identifier: Apache-2.0
#include <shoal/runtime/options.hpp>

#include <doctest/doctest.h>

#include <unistd.h>

#include <cstdlib>

#include "../../in_child.hpp"

using namespace shoal::runtime;  // NOLINT(google-build-using-namespace)

namespace {

shoal::comm::Expected<ParsedOptions> parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "program");
  return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

}  // namespace

TEST_CASE("a flag sets its option") {
  CHECK(parse({"--shoal-pes", "3"}).value().options.pes == 3);
  CHECK(parse({"--shoal-pes=4"}).value().options.pes == 4);
}

TEST_CASE("an environment variable sets its option") {
  const Variable pes("SHOAL_FIBER_STACK", "128");
  CHECK(parse({}).value().options.fiber_stack_kib == 128);
}

TEST_CASE("a flag wins over the environment") {
  const Variable pes("SHOAL_PES", "5");
  CHECK(parse({"--shoal-pes=2"}).value().options.pes == 2);
}

TEST_CASE("BLD-05 a misspelt flag is refused and the nearest one named") {
  const auto parsed = parse({"--shoal-pse=2"});
  REQUIRE_FALSE(parsed);
  CHECK(says(parsed.error().text, "--shoal-pse"));
  CHECK(says(parsed.error().text, "did you mean --shoal-pes?"));
}

TEST_CASE("a value that does not fit is refused and the flag named") {
  for (const char* wrong : {"--shoal-pes=two", "--shoal-bind=tight", "--shoal-hang-timeout=-1",
                            "--shoal-fiber-stack=1", "--shoal-pes=-1"}) {
    CAPTURE(wrong);
    const auto parsed = parse({wrong});
    REQUIRE_FALSE(parsed);
    const std::string flag(wrong, std::string(wrong).find('='));
    CHECK(says(parsed.error().text, flag.c_str()));
    CHECK_FALSE(says(parsed.error().text, "environment"));
  }
}

TEST_CASE("a time that is no whole nanosecond, or is not representable, is refused") {
  for (const char* value : {"0", "1e-300", "0.0001", "1e10", "1e300", "inf", "nan", "-inf"}) {
    CAPTURE(value);
    CHECK_FALSE(parse({"--shoal-hang-timeout", value}));
    const Variable watch("SHOAL_WATCH", value);
    CHECK_FALSE(parse({}));
  }
  CHECK(parse({"--shoal-watch=1e9"}).value().options.watch_s == 1e9);
  CHECK(parse({"--shoal-hang-timeout=0.001"}).value().options.hang_timeout_s == 0.001);
}

TEST_CASE("a value of the environment that does not fit is refused") {
  const Variable bind("SHOAL_BIND", "tight");
  const auto parsed = parse({});
  REQUIRE_FALSE(parsed);
  CHECK(says(parsed.error().text, "SHOAL_BIND"));
}

TEST_CASE("a flag without its value is refused") {
  const auto parsed = parse({"--shoal-pes"});
  REQUIRE_FALSE(parsed);
  CHECK(says(parsed.error().text, "--shoal-pes"));
}

TEST_CASE("the program's own arguments stay as they are and in order") {
  const auto parsed =
      parse({"-n", "--shoal-pes", "3", "--help", "--size=4", "file", "--shoal-log=info", ""});
  const std::vector<std::string> own{"program", "-n", "--help", "--size=4", "file", ""};
  CHECK(parsed.value().arguments == own);
  CHECK(parsed.value().options.log == "info");
}

TEST_CASE("what stands behind two dashes is the program's") {
  const auto parsed = parse({"a", "--", "--shoal-pes=3", "--shoal-nothing"});
  const std::vector<std::string> own{"program", "a", "--", "--shoal-pes=3", "--shoal-nothing"};
  CHECK(parsed.value().arguments == own);
  CHECK(parsed.value().options.pes == 0);
}

TEST_CASE("--shoal-help asks for the list") {
  CHECK(parse({"--shoal-help"}).value().help);
  CHECK_FALSE(parse({}).value().help);
}

TEST_CASE("the list has each option with its variable and its default") {
  const std::string help = options_help();
  for (const char* part : {"--shoal-pes", "SHOAL_PES", "--shoal-fiber-stack", "SHOAL_FIBER_STACK",
                           "64", "--shoal-hang-timeout", "60", "--shoal-seed", "--shoal-log"}) {
    CAPTURE(part);
    CHECK(says(help, part));
  }
}

TEST_CASE("an option that is given twice is refused") {
  const auto parsed = parse({"--shoal-pes=2", "--shoal-pes=3"});
  REQUIRE_FALSE(parsed);
  CHECK(says(parsed.error().text, "--shoal-pes"));
}

namespace {
/// A file of options for as long as a test needs it.
struct File {
  explicit File(const std::string& text) {
    const int made = ::mkstemp(path.data());
    REQUIRE(made >= 0);
    REQUIRE(::write(made, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    ::close(made);
    flag = "--shoal-config=" + path;
  }
  ~File() { ::unlink(path.c_str()); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string path = "/tmp/shoal-options-XXXXXX";
  std::string flag;
};
}  // namespace

TEST_CASE("a file sets options, the environment wins over it, and a flag over both") {
  const File file("# of this machine\npes = 2\nfiber-stack = 256\nseed = 9\n");
  const Variable stack("SHOAL_FIBER_STACK", "128");
  const auto parsed = parse({file.flag.c_str(), "--shoal-seed=5", "--shoal-values"});
  REQUIRE(parsed);
  CHECK(parsed.value().options.pes == 2);
  CHECK(parsed.value().options.fiber_stack_kib == 128);
  CHECK(parsed.value().options.seed == 5);
  const std::string& values = parsed.value().values;
  CHECK(says(values, "pes = 2 (the file " + file.path + ")"));
  CHECK(says(values, "fiber-stack = 128 (SHOAL_FIBER_STACK)"));
  CHECK(says(values, "seed = 5 (the command line)"));
  CHECK(says(values, "bind = auto (default)"));
  const Variable config("SHOAL_CONFIG", file.path.c_str());
  CHECK(parse({}).value().options.pes == 2);
  CHECK(parse({}).value().values.empty());
}

TEST_CASE("BLD-05 a file's unknown key or wrong value, or no file, is refused and named") {
  const File unknown("pse = 2\n");
  const auto refused = parse({unknown.flag.c_str()});
  REQUIRE_FALSE(refused);
  CHECK(says(refused.error().text, unknown.path));
  CHECK(says(refused.error().text, "there is no option pse: did you mean pes?"));
  const File wrong("bind = tight\n");
  const auto tight = parse({wrong.flag.c_str()});
  REQUIRE_FALSE(tight);
  CHECK(says(tight.error().text, "--shoal-bind"));
  CHECK(says(tight.error().text, "from the file " + wrong.path));
  const auto absent = parse({"--shoal-config=/nowhere/x.ini"});
  REQUIRE_FALSE(absent);
  CHECK(says(absent.error().text, "/nowhere/x.ini"));
}

TEST_CASE("BLD-05 a misspelt variable is told of") {
  const Variable pes("SHOAL_PSE", "3");
  const Variable other("SHOAL_BENCH_FOLDER", "x");  // somebody else's
  const auto parsed = parse({});
  REQUIRE(parsed);
  REQUIRE(parsed.value().warnings.size() == 1);
  CHECK(says(parsed.value().warnings[0], "SHOAL_PSE is set"));
  CHECK(says(parsed.value().warnings[0], "did you mean SHOAL_PES?"));
}
