// SPDX-License-Identifier: Apache-2.0
// kernels/taps/device/layout.h - how a taps kernel divides its shared memory.
//
//   source slots | filter | products | window of output rows | barriers
//
// Freestanding: the host asks for bytes by the same functions that the kernel lays out by.
#pragma once

#include "kernels/device/gemm/regions.h"
#include "kernels/device/gemm/storage.h"

namespace wt::taps_layout {

inline constexpr int kPixels = 64;  // source pixels of a fragment
inline constexpr int kDepth = 64;   // channels of one copy: 128 bytes
inline constexpr int kSlotBytes = kPixels * 128;
inline constexpr int kMathThreads = 128;

// WHY 4 more than the pixels: the eight rows and four columns that the lanes of a warp store then lie in 32 banks.
inline constexpr int kProductPitch = kPixels + 4;

// Pixels outside the image have no products: where a strip is the whole width of it, these zeros stand for them, as
// many on each side. A column's first ones lie behind the column before it, and those of all columns start the buffer.
inline constexpr int kOutside = kProductPitch - kPixels, kOutsideBytes = kOutside * 4;

// Whether filter and stride are the config's, so that unfinished outputs stay in registers (register_sums.h).
constexpr bool in_registers(const KernelConfig& config) { return config.fixed.filter_h > 0; }

// Whether the filter's rows are summed over by the products, so that columns are output channels times the taps of one
// row (row_kernel.h): of unit strides.
constexpr bool sums_rows(const KernelConfig& config) { return config.gemm.filter_rows > 0; }
constexpr int groups(const KernelConfig& config) { return config.gemm.warps.m / 4; }

// Outputs of a thread there: channels that the columns have room for, over the units that 64 pixels make at most.
constexpr int numbers_of_thread(const KernelConfig& config) {
  const FixedSizes& filter = config.fixed;
  const int channels = config.gemm.tile.n / ((sums_rows(config) ? 1 : filter.filter_h) * filter.filter_w);
  return (channels * filter.stride_w * kPixels + kMathThreads - 1) / kMathThreads;
}

constexpr int threads(const KernelConfig& config) {
  return kMathThreads * groups(config) + 32 * config.gemm.load_warps;
}
// `row_blocks`: of 64 channels, of all filter planes.
constexpr int filter_bytes(const KernelConfig& config, int row_blocks) {
  return (sums_rows(config) ? config.fixed.filter_h : 1) * row_blocks * config.gemm.tile.n * 128;
}
constexpr int product_bytes(const KernelConfig& config) {
  return kOutsideBytes + groups(config) * config.gemm.tile.n * kProductPitch * 4;
}
constexpr int source_bytes(const KernelConfig& config) { return config.gemm.stages * kSlotBytes; }

// The regions of a block's shared memory: addresses from `base` in the kernel; the host asks for the end, from 0.
struct RegionBytes {
  int source, block, products, ring;  // block: of the filter, of 64 channels
  int odd;                            // bits that no barrier's address has behind a window; 0: there is no window
};
constexpr RegionBytes region_bytes(const KernelConfig& config) {
  return {source_bytes(config), filter_bytes(config, 1), product_bytes(config), ring_bytes(config.gemm.stages),
          sums_rows(config) ? 0 : 7};
}
template <class Address>
struct SharedLayout {
  Address source, filter, outside, products, window, ring, end;

  // `window_bytes`: of the output rows in the making, where these lie in shared memory.
  constexpr SharedLayout(Address base, RegionBytes bytes, int row_blocks, Address window_bytes)
      : source(base),
        filter(source + bytes.source),
        outside(filter + row_blocks * bytes.block),
        products(outside + kOutsideBytes),
        window(outside + bytes.products),
        ring((window + window_bytes + bytes.odd) & ~static_cast<Address>(bytes.odd)),
        end(ring + bytes.ring) {}
};
// `window`: fp32 numbers of the output rows in the making.
constexpr long long shared_bytes(const KernelConfig& config, int row_blocks, long long window) {
  const long long window_bytes = in_registers(config) ? 0 : 4 * window;
  return kSharedAlignment + SharedLayout<long long>(0, region_bytes(config), row_blocks, window_bytes).end;
}

}  // namespace wt::taps_layout
