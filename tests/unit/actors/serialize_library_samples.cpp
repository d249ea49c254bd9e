// SPDX-License-Identifier: Apache-2.0
// The samples whose codecs are not in core.hpp: a file of their own, to compile beside the others.
#include "serialize_samples.hpp"

namespace shoal::samples {

void add_library_samples(SampleList& list) {
  add(list, std::deque<int>{1, 2, 3});
  add(list, std::list<std::string>{"p", "q"});
  add(list, std::map<std::string, Ghost>{{"a", {1, Side::east, numbers(3)}}, {"b", {}}});
  add(list, std::map<int, std::map<int, bool>>{{1, {{2, true}}}, {3, {}}});
  add(list, std::multimap<int, int>{{1, 1}, {1, 2}, {2, 3}});
  add(list, std::set<std::string>{"s", "t"});
  add(list, std::multiset<int>{1, 1, 2});
  add(list, std::unordered_map<std::string, int>{{"one", 1}, {"two", 2}, {"three", 3}});
  add(list, std::unordered_multimap<int, std::string>{{1, "a"}, {1, "b"}});
  add(list, std::unordered_set<std::uint64_t>{1, 2, 3, 4, 5});
  add(list, std::unordered_multiset<int>{7, 7, 8});
  add(list, std::variant<std::monostate, int, std::string>{"text"});
  add(list, std::variant<std::monostate, int, std::string>{});
  add(list, std::vector<std::variant<int, std::vector<int>>>{1, std::vector<int>{2, 3}});
  add(list, std::complex<double>{1, -1});
  add(list, std::vector<std::complex<float>>{{1, 2}, {3, 4}});
  add(list, std::chrono::milliseconds{17});
  add(list, std::chrono::system_clock::time_point{std::chrono::seconds{9}});
  add(list, std::bitset<70>("1011"));
  add(list, std::filesystem::path("folder/file.txt"));
  add(list, CerealStyle{"name", {{"k", {1, 2}}, {"l", {}}}});
  add(list, some_tree());
}

}  // namespace shoal::samples
