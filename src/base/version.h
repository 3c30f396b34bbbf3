// SPDX-License-Identifier: Apache-2.0
// base/version.h - the library's version, from the public header's numbers, which CMake reads too.
#pragma once

#include <string_view>

#include "wavetile/wavetile.h"

namespace wt {

#define WT_TEXT_INNER(number) #number
#define WT_TEXT(number) WT_TEXT_INNER(number)
inline constexpr std::string_view kVersion =
    WT_TEXT(WAVETILE_VERSION_MAJOR) "." WT_TEXT(WAVETILE_VERSION_MINOR) "." WT_TEXT(WAVETILE_VERSION_PATCH);
#undef WT_TEXT
#undef WT_TEXT_INNER

}  // namespace wt
