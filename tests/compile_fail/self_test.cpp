// SPDX-License-Identifier: Apache-2.0
// Shows what a case looks like, and that the machinery sees the concept's name.
// EXPECT: has_a_size
#include <vector>

namespace {

template <typename T>
concept has_a_size = requires(const T& value) {
  value.size();
};

template <has_a_size T>
auto size_of(const T& value) {
  return value.size();
}

}  // namespace

#ifdef FIXED
int main() { return static_cast<int>(size_of(std::vector<int>{})); }
#else
int main() { return static_cast<int>(size_of(3)); }
#endif
