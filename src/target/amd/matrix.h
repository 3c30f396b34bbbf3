// SPDX-License-Identifier: Apache-2.0
// target/amd/matrix.h - these targets load no 8x8 matrices: fragments are read by ordinary loads.
#pragma once

#include "target/amd/identity.h"

namespace wt::device {

inline constexpr bool kMatrixLoads = false;

// Declared for code that asks kMatrixLoads first.
template <bool kTransposed>
WT_DEVICE void load_matrix(u32 (&to)[4], SharedAddress row) = delete;

}  // namespace wt::device
