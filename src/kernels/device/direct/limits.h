// SPDX-License-Identifier: Apache-2.0
// kernels/device/direct/limits.h - what the direct kernels can hold; the constraint table and dispatch read it too.
//
// Freestanding: host and device compilers read this file.
#pragma once

#include "config/kernel_config.h"

namespace wt {

// Columns of the input that a streaming thread reads: a bit each (kernels/device/direct/strip.h).
inline constexpr int kMaxStreamColumns = 32;

// Taps of int8 whose sum fp32 holds exactly: products of at most 2^14.
inline constexpr int kInt8Taps = 1024;

// Weights that a gathering block stages at a time, fp32.
inline constexpr int kGatherSharedBytes = 48 * 1024;

// One row of the filter with the fewest channels a block can have.
constexpr long long gather_row_bytes(const KernelConfig& config, long long filter_w, long long multiplier) {
  const long long many = config.direction == Direction::kBackwardData ? multiplier : 1;
  return filter_w * many * config.direct.vector_out * 4;
}

}  // namespace wt
