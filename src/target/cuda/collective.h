// SPDX-License-Identifier: Apache-2.0
// target/cuda/collective.h - exchanges inside a warp. Every lane takes part.
#pragma once

#include "target/cuda/identity.h"

namespace wt::device {

WT_DEVICE float shuffle_xor(float value, int mask) { return __shfl_xor_sync(0xffffffffu, value, mask); }
WT_DEVICE u32 shuffle_xor(u32 value, int mask) { return __shfl_xor_sync(0xffffffffu, value, mask); }
WT_DEVICE float shuffle(float value, int lane) { return __shfl_sync(0xffffffffu, value, lane); }
WT_DEVICE u32 shuffle(u32 value, int lane) { return __shfl_sync(0xffffffffu, value, lane); }
WT_DEVICE u64 ballot(bool vote) { return __ballot_sync(0xffffffffu, vote); }

}  // namespace wt::device
