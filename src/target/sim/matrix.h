// SPDX-License-Identifier: Apache-2.0
// target/sim/matrix.h - 8x8 matrices of 16-bit elements between shared memory and fragments (ldmatrix, stmatrix).
#pragma once

#include "target/sim/identity.h"

namespace wt::device {

inline constexpr bool kMatrixLoads = is_nvidia(kTarget);

template <bool kTransposed>
WT_DEVICE void load_matrix(u32 (&to)[4], SharedAddress row, WT_SITE) {
  sim::table->load_matrix(to, 4, kTransposed, row, site);
}
template <bool kTransposed>
WT_DEVICE void load_matrix(u32 (&to)[2], SharedAddress row, WT_SITE) {
  sim::table->load_matrix(to, 2, kTransposed, row, site);
}
template <bool kTransposed>
WT_DEVICE void store_matrix(SharedAddress row, const u32 (&from)[4], WT_SITE) {
  sim::table->store_matrix(row, from, 4, kTransposed, site);
}
template <bool kTransposed>
WT_DEVICE void store_matrix(SharedAddress row, const u32 (&from)[2], WT_SITE) {
  sim::table->store_matrix(row, from, 2, kTransposed, site);
}

}  // namespace wt::device
