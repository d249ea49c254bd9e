// SPDX-License-Identifier: Apache-2.0
#include <tools/near_match.hpp>

#include <algorithm>
#include <limits>
#include <vector>

namespace shoal::tools {

namespace {

std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string near_match(std::string_view word, std::span<const std::string> candidates) {
  std::size_t best = std::numeric_limits<std::size_t>::max();
  std::string match;
  for (const std::string& candidate : candidates) {
    const std::size_t longer = std::max(word.size(), candidate.size());
    const std::size_t distance = edits(word, candidate);
    if (distance > std::min<std::size_t>(longer / 3, 3) || distance >= best) continue;
    best = distance;
    match = candidate;
  }
  return match;
}

}  // namespace shoal::tools
