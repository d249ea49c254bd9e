// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/build_info.hpp>

#include <doctest/doctest.h>

#include <string_view>

using namespace shoal::comm;

TEST_CASE("the build id names the kind of build") {
#ifdef NDEBUG
  CHECK(build_id().find("-release-") != std::string_view::npos);
#else
  CHECK(build_id().find("-debug-") != std::string_view::npos);
#endif
}

TEST_CASE("the build description starts with the version") {
  CHECK(build_description().substr(0, version().size()) == version());
  CHECK(version().find('.') != std::string_view::npos);
}
