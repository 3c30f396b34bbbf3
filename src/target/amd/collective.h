// SPDX-License-Identifier: Apache-2.0
// target/amd/collective.h - exchanges inside a wave. Every lane takes part.
#pragma once

#include "target/amd/identity.h"

namespace wt::device {

WT_DEVICE u32 shuffle(u32 value, int lane) {
  return static_cast<u32>(__builtin_amdgcn_ds_bpermute(lane * 4, static_cast<int>(value)));
}
WT_DEVICE float shuffle(float value, int lane) {
  return __builtin_bit_cast(float, shuffle(__builtin_bit_cast(u32, value), lane));
}
WT_DEVICE u32 shuffle_xor(u32 value, int mask) { return shuffle(value, lane_index() ^ mask); }
WT_DEVICE float shuffle_xor(float value, int mask) { return shuffle(value, lane_index() ^ mask); }
WT_DEVICE u64 ballot(bool vote) {
#if defined(__GFX9__)
  return __builtin_amdgcn_ballot_w64(vote);
#else
  return __builtin_amdgcn_ballot_w32(vote);
#endif
}

}  // namespace wt::device
