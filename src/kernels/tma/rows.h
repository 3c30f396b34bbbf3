// SPDX-License-Identifier: Apache-2.0
// kernels/tma/rows.h - constraint rows that the kinds with bulk tensor copies share.
#pragma once

#include <algorithm>

#include "kernels/shared/constraint_rows.h"

namespace wt::tma_rows {

// What rows of several of these kinds ask.
inline bool is_forward(const Case& at) { return at.config.direction == Direction::kForward; }
inline bool is_weight(const Case& at) { return at.config.direction == Direction::kBackwardWeight; }
inline bool stores_bulk(const Case& at) { return at.config.gemm.staging == Staging::kTmaStore; }

// Channels that are summed over, and output channels, of a group or of as many as the kernel takes together.
inline int64_t depth(const Case& at) {
  return (is_forward(at) ? at.problem->c_per_group() : at.problem->k_per_group()) * at.config.gemm.groups_per_tile;
}
inline int64_t columns(const Case& at) {
  return (is_forward(at) ? at.problem->k_per_group() : at.problem->c_per_group()) * at.config.gemm.groups_per_tile;
}
// Groups as the kernel sees them.
inline int64_t groups(const Case& at) { return at.problem->g / std::max<int64_t>(1, at.config.gemm.groups_per_tile); }

std::span<const Constraint> roles();        // warps, swizzles and parts of sums
std::span<const Constraint> staging();      // outputs through shared memory
std::span<const Constraint> features();     // stream-K, operands that blocks share, patches
std::span<const Constraint> channels();     // of the problem: groups and boxes
std::span<const Constraint> bulk_stores();  // of the problem: what TMA can write

}  // namespace wt::tma_rows
