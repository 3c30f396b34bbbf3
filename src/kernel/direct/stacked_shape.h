// SPDX-License-Identifier: Apache-2.0
// kernel/direct/stacked_shape.h - the sizes that a wgmma kernel for small groups is compiled for, and its shared
// memory.
//
//   filter | a ring of input rows for each consumer | staged output rows of each consumer | barriers
//
// Freestanding: constraints, dispatch and the kernel read the same formulas. A position is an output pixel of a row:
// columns of one image, or of several narrow ones side by side. A step is `stride` rows of the input.
#pragma once

#include "config/kernel_config.h"

namespace wt::stacked {

inline constexpr int kChannels = 64;   // of a consumer: a pixel is one swizzled row of 128 bytes
inline constexpr int kPositions = 64;  // rows of a matrix instruction
inline constexpr int kPixelBytes = 128;
inline constexpr int kConsumers = 2;                     // warpgroups
inline constexpr int kThreads = (kConsumers + 1) * 128;  // and a warpgroup of warps that load, one for each
inline constexpr int kProducerRegisters = 40, kConsumerRegisters = 232;
inline constexpr int kStagedRows = 2;  // of a consumer, so that one leaves while the next is made
inline constexpr int kMaxSums = 160;   // registers of a thread

constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }

constexpr bool is_data(const KernelConfig& config) { return config.direction == Direction::kBackwardData; }
constexpr int width(const KernelConfig& config) { return config.direct.vector_in; }  // channels of a group
constexpr int groups(const KernelConfig& config) { return kChannels / width(config); }
// Channels of a block: 64, whose consumers take different rows and share the filter, or 128, 64 for each.
constexpr int block_channels(const KernelConfig& config) { return config.direct.vector_out; }
constexpr bool apart(const KernelConfig& config) { return block_channels(config) > kChannels; }

// Output rows in the making, which an input row meets: those of the filter's rows of one remainder of the stride.
constexpr int slots(const KernelConfig& config) { return ceil_div(config.direct.filter_h, config.direct.stride_h); }
constexpr int rows_met(const KernelConfig& config, int remainder) {
  return ceil_div(config.direct.filter_h - remainder, config.direct.stride_h);
}
// Registers of a thread. The second row of a step has sums of its own.
constexpr int sums(const KernelConfig& config) {
  return (slots(config) + (config.direct.stride_h == 2 ? rows_met(config, 1) : 0)) * kChannels / 2;
}

// Columns that a position meets beyond its own, and pixels that the positions of an instruction read.
constexpr int reach(const KernelConfig& config) { return (config.direct.filter_w - 1) / config.direct.stride_w; }
constexpr int row_pixels(const KernelConfig& config) { return ceil_div(kPositions + reach(config), 8) * 8; }
// An input row, its columns sorted by their remainder of the stride.
constexpr int phase_bytes(const KernelConfig& config) { return row_pixels(config) * kPixelBytes; }
constexpr int row_bytes(const KernelConfig& config) { return config.direct.stride_w * phase_bytes(config); }

// The filter of a group and tap, of which those that a row meets lie one after the other.
constexpr int tap_bytes(const KernelConfig& config) { return width(config) * width(config) * 2; }
// Taps that lie before those of the filter's rows with this remainder, of one column of it.
constexpr int first_tap(const KernelConfig& config, int remainder) {
  return remainder == 0 ? 0 : first_tap(config, remainder - 1) + rows_met(config, remainder - 1);
}
constexpr int filter_bytes(const KernelConfig& config) {
  return groups(config) * config.direct.filter_w * config.direct.filter_h * tap_bytes(config);
}

constexpr int ring_bytes(const KernelConfig& config) { return config.direct.prefetch * row_bytes(config); }
constexpr int staged_bytes(const KernelConfig& config) { return phase_bytes(config); }
constexpr int consumer_bytes(const KernelConfig& config) {
  return ring_bytes(config) + kStagedRows * staged_bytes(config);
}
constexpr int aligned(int bytes) { return (bytes + 1023) / 1024 * 1024; }
constexpr int filters_bytes(const KernelConfig& config) {
  return block_channels(config) / kChannels * aligned(filter_bytes(config));
}
constexpr int shared_bytes(const KernelConfig& config) {
  const int barriers = kConsumers * (8 + 16 * config.direct.prefetch);
  return 1024 + filters_bytes(config) + kConsumers * consumer_bytes(config) + barriers;
}

}  // namespace wt::stacked
