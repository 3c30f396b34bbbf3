// SPDX-License-Identifier: Apache-2.0
// base/printable.h - text of a stranger's file for a terminal or a log.
#pragma once

#include <string>
#include <string_view>

namespace wt {

// Control characters as \x1b and the like: a name in a file must not move the cursor, change the title or hide what
// follows. Line ends and tabs stay.
std::string printable(std::string_view text);

}  // namespace wt
