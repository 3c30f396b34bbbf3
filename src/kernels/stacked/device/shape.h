// SPDX-License-Identifier: Apache-2.0
// kernels/stacked/device/shape.h - the sizes that a wgmma kernel for small groups is compiled for, and its shared
// memory.
//
//   filter | a ring of input rows for each consumer | staged output rows of each consumer | barriers
//
// Freestanding: constraints, dispatch and the kernel read the same formulas. A position is an output pixel of a row:
// columns of one image, or of several narrow ones side by side. A step is `stride` rows of the input.
#pragma once

#include "config/kernel_config.h"
#include "kernels/device/gemm/regions.h"

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
constexpr int width(const KernelConfig& config) { return config.direct.group_channels; }  // channels of a group
constexpr int groups(const KernelConfig& config) { return kChannels / width(config); }
// Channels of a block: 64, whose consumers take different rows and share the filter, or 128, 64 for each.
constexpr int block_channels(const KernelConfig& config) { return config.direct.block_channels; }
constexpr bool apart(const KernelConfig& config) { return block_channels(config) > kChannels; }

// Output rows in the making, which an input row meets: those of the filter's rows of one remainder of the stride.
constexpr int slots(const KernelConfig& config) { return ceil_div(config.fixed.filter_h, config.fixed.stride_h); }
constexpr int rows_met(const KernelConfig& config, int remainder) {
  return ceil_div(config.fixed.filter_h - remainder, config.fixed.stride_h);
}
// Registers of a thread. The second row of a step has sums of its own.
constexpr int sums(const KernelConfig& config) {
  return (slots(config) + (config.fixed.stride_h == 2 ? rows_met(config, 1) : 0)) * kChannels / 2;
}

// Columns that a position meets beyond its own, and pixels that the positions of an instruction read.
constexpr int reach(const KernelConfig& config) { return (config.fixed.filter_w - 1) / config.fixed.stride_w; }
constexpr int row_pixels(const KernelConfig& config) { return ceil_div(kPositions + reach(config), 8) * 8; }
// An input row, its columns sorted by their remainder of the stride.
constexpr int phase_bytes(const KernelConfig& config) { return row_pixels(config) * kPixelBytes; }
constexpr int row_bytes(const KernelConfig& config) { return config.fixed.stride_w * phase_bytes(config); }

// The filter of a group and tap, of which those that a row meets lie one after the other.
constexpr int tap_bytes(const KernelConfig& config) { return width(config) * width(config) * 2; }
// Taps that lie before those of the filter's rows with this remainder, of one column of it.
constexpr int first_tap(const KernelConfig& config, int remainder) {
  return remainder == 0 ? 0 : first_tap(config, remainder - 1) + rows_met(config, remainder - 1);
}
constexpr int filter_bytes(const KernelConfig& config) {
  return groups(config) * config.fixed.filter_w * config.fixed.filter_h * tap_bytes(config);
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
// A consumer's barriers: of its filter, and of its ring of rows.
constexpr int barrier_bytes(const KernelConfig& config) { return 8 + wt::ring_bytes(config.direct.prefetch); }

// Of a block: offsets from its first aligned byte.
struct SharedLayout {
  int filter, rows, barriers, bytes;
};
constexpr SharedLayout shared_layout(const KernelConfig& config) {
  Regions regions;
  SharedLayout at{};
  at.filter = regions.take(filters_bytes(config));
  at.rows = regions.take(kConsumers * consumer_bytes(config));
  at.barriers = regions.take(kConsumers * barrier_bytes(config));
  at.bytes = regions.bytes();
  return at;
}
constexpr int shared_bytes(const KernelConfig& config) { return shared_layout(config).bytes; }

}  // namespace wt::stacked
