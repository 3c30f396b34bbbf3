// SPDX-License-Identifier: Apache-2.0
// kernels/four_wave_weight/device/layout.h - how threads share a k-block of the four-wave weight gradient.
//
// Freestanding: the host asks by the same functions that the kernel lays out by. Shared memory is that of the forward
// kernels (kernels/four_wave/device/layout.h): rows of channels, pixels side by side.
#pragma once

#include "kernels/four_wave/device/layout.h"

namespace wt::four_wave_weight_layout {

inline constexpr int kPixels = 4;  // of a thread, one after the other: 8 bytes of each of its rows

// Channels that a thread loads of each of its pixels, of an operand of so many rows.
constexpr int channels(const KernelConfig& config, int rows) {
  return rows * config.gemm.tile.k / (kPixels * four_wave_layout::kThreads);
}

}  // namespace wt::four_wave_weight_layout
