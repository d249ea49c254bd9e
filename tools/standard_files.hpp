// SPDX-License-Identifier: Apache-2.0
// The problem: whoever starts with stdin, stdout or stderr closed (`>&-`) gets its next descriptor
// under that number, and writes what it prints there. Offered: a start that leaves none of them
// closed.
#pragma once

namespace shoal::tools {

/// Opens the null device where stdin, stdout or stderr is closed; to be called before anything else
/// is opened. False: it cannot be opened.
bool open_standard_files();

}  // namespace shoal::tools
