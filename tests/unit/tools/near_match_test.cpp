// SPDX-License-Identifier: Apache-2.0
#include <tools/near_match.hpp>

#include <doctest/doctest.h>

#include <vector>

using shoal::tools::near_match;

TEST_CASE("BLD-05: a misspelt word finds the one that was meant, a foreign one finds none") {
  const std::vector<std::string> words{"--prefix", "--processes", "--pes", "--grace", "run", "-n"};
  CHECK(near_match("--prefx", words) == "--prefix");
  CHECK(near_match("--pse", words) == "--pes");
  CHECK(near_match("--procs", words) == "");
  CHECK(near_match("--proceses", words) == "--processes");
  CHECK(near_match("--garce", words) == "--grace");
  CHECK(near_match("rnu", words) == "run");
  CHECK(near_match("rn", words) == "run");
  CHECK(near_match("ru", words) == "run");
  CHECK(near_match("un", words) == "run");
  CHECK(near_match("nr", words) == "");
  CHECK(near_match("rm", words) == "");
  CHECK(near_match("r", words) == "");
  CHECK(near_match("-x", words) == "");
  CHECK(near_match("", words) == "");
}
