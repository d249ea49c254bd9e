// SPDX-License-Identifier: Apache-2.0
// For a misspelt word, the one that was probably meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace shoal::tools {

/// The candidate with the fewest edits, where a swap of neighbours counts as one (optimal string
/// alignment); empty if none is within a third of the longer one's length and within three edits.
std::string near_match(std::string_view word, std::span<const std::string> candidates);

}  // namespace shoal::tools
