// SPDX-License-Identifier: Apache-2.0
// target/sim/collective.h - exchanges inside a warp. Every lane takes part.
#pragma once

#include "target/sim/identity.h"

namespace wt::device {

WT_DEVICE u32 shuffle_xor(u32 value, int mask, WT_SITE) {
  return static_cast<u32>(sim::table->vote(sim::Vote::kShuffleXor, value, mask, site));
}
WT_DEVICE float shuffle_xor(float value, int mask, WT_SITE) {
  return __builtin_bit_cast(float, shuffle_xor(__builtin_bit_cast(u32, value), mask, site));
}
WT_DEVICE u32 shuffle(u32 value, int lane, WT_SITE) {
  return static_cast<u32>(sim::table->vote(sim::Vote::kShuffle, value, lane, site));
}
WT_DEVICE float shuffle(float value, int lane, WT_SITE) {
  return __builtin_bit_cast(float, shuffle(__builtin_bit_cast(u32, value), lane, site));
}
WT_DEVICE u64 ballot(bool vote, WT_SITE) { return sim::table->vote(sim::Vote::kBallot, vote, 0, site); }

}  // namespace wt::device
