// SPDX-License-Identifier: Apache-2.0
#include "serialize_samples.hpp"

#include <limits>

namespace shoal::samples {
namespace {

void add_core_samples(SampleList& list) {
  add(list, std::numeric_limits<std::int64_t>::min());
  add(list, std::numeric_limits<double>::infinity());
  add(list, true);
  add(list, U'\u00e9');
  add(list, Side::east);
  add(list, second);
  add(list, std::byte{255});
  add(list, Plain{1.5, -2, 3});
  add(list, std::string("a string with a \0 in it", 23));
  add(list, std::string());
  add(list, std::u16string(u"sixteen"));
  add(list, numbers(0));
  add(list, numbers(5));
  add(list, std::vector<Plain>{{1, 2, 3}, {4, 5, 6}});
  add(list, std::vector<bool>{true, false, true, true, false, false, true, false, true});
  add(list, std::vector<std::string>{"", "one", std::string(100, 'x')});
  add(list, std::vector<std::vector<std::vector<int>>>{{{1}, {}, {2, 3}}, {}, {{}, {4}}});
  add(list, std::array<float, 4>{1, 2, 3, 4});
  add(list, std::array<std::pair<bool, int>, 2>{{{true, 1}, {false, 2}}});
  add(list, std::pair<std::string, int>{"pair", 4});
  add(list, std::tuple<int, bool, double, char>{1, true, 2.5, 'c'});
  add(list, std::tuple<>{});
  add(list, std::tuple<int, std::vector<int>, std::tuple<std::string>>{1, {2, 3}, {"nested"}});
  add(list, std::optional<int>{});
  add(list, std::optional<std::vector<std::string>>{{"a", "b"}});
  add(list, Ghost{3, Side::east, numbers(4)});
  add(list, std::vector<Ghost>{{1, Side::west, numbers(2)}, {2, Side::east, {}}});
  add(list, std::vector<Empty>(5));
  add(list, ByFreeFunction{1, true});
  add(list, Arrays{{1, 2, 3}, {"x", "yy"}, {true, false, true}, {"z", ""}});
  add(list, Versioned{4, "new"});
}

}  // namespace

const SampleList& all_samples() {
  static const SampleList samples = [] {
    SampleList list;
    add_core_samples(list);
    add_library_samples(list);
    return list;
  }();
  return samples;
}

}  // namespace shoal::samples
