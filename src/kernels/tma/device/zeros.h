// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/zeros.h - the pixels of dx that no tap reaches, written beside the products.
//
// Three warps of the producer group have nothing to do. Strides larger than the filter leave most of dx without taps:
// these pixels are memory traffic and nothing else, which would follow the products if consumers wrote it.
#pragma once

#include "kernels/device/gemm/storage.h"
#include "kernels/tma/device/arguments.h"
#include "kernels/tma/device/layout.h"
#include "target/hopper.h"

namespace wt {

// Where pixel `row` of an image of the region lies, in elements.
WT_DEVICE i64 zero_offset(const TmaRegion& region, u32 image, u32 row) {
  i64 offset = region.out_base + image * region.out_stride[0];
  WT_UNROLL for (int i = 2; i > 0; --i) {
    const u32 rest = row / static_cast<u32>(region.size[i]);
    offset += (row - rest * static_cast<u32>(region.size[i])) * region.out_stride[i + 1];
    row = rest;
  }
  return offset + row * region.out_stride[1];
}

// By whole warps, of `warp` from 0 to kZeroWarps - 1. A unit is kZeroRows pixels of an image in a region, whose first
// unit in an image stands in first_tile and whose rows are those of one image. Units go round over all blocks, so that
// all together walk through memory, as the tiles do.
template <KernelConfig kConfig, class Params>
WT_DEVICE void write_zeros(const Params& p, int warp) {
  using Element = Storage<output_type(kConfig)>;
  constexpr u32 kRows = tma_layout::kZeroRows;
  const i64 row_bytes = static_cast<i64>(p.columns) * p.groups * static_cast<i64>(sizeof(Element));
  const auto lane = static_cast<u32>(device::lane_index());
  const auto write = [&](auto zero) {
    const u32 step = static_cast<u32>(device::grid_size().x) * tma_layout::kZeroWarps;
    for (u32 unit = static_cast<u32>(device::block_index().x) * tma_layout::kZeroWarps + static_cast<u32>(warp);
         unit < static_cast<u32>(p.zero_units); unit += step) {
      const u32 image = unit / static_cast<u32>(p.image_zero_units);
      const u32 in_image = unit - image * static_cast<u32>(p.image_zero_units);
      i32 at = p.region_count;
      while (at + 1 < p.region_count + p.zero_regions && p.regions[at + 1].first_tile <= in_image) ++at;
      const TmaRegion& region = p.regions[at];
      const u32 row = (in_image - static_cast<u32>(region.first_tile)) * kRows;
      const u32 left = static_cast<u32>(region.rows) - row, rows = left < kRows ? left : kRows;
      const i64 start = zero_offset(region, image, row + lane % kRows);
      WT_ROLLED for (u32 first = 0; first < rows * p.zero_vectors.by; first += 32) {
        const u32 in_unit = quotient(first + lane, p.zero_vectors);
        const u32 vector = first + lane - in_unit * p.zero_vectors.by;
        const u32 low = device::shuffle(static_cast<u32>(start), static_cast<int>(in_unit % kRows));
        const u32 high =
            device::shuffle(static_cast<u32>(static_cast<u64>(start) >> 32), static_cast<int>(in_unit % kRows));
        if (in_unit >= rows) continue;
        auto* to = static_cast<Element*>(p.y) + static_cast<i64>(static_cast<u64>(high) << 32 | low);
        device::store_global(reinterpret_cast<decltype(zero)*>(to) + vector, zero);
      }
    }
  };
  constexpr int kLeast = tma_layout::zero_bytes(kConfig, 1);
  if (kLeast == 16 || row_bytes % 16 == 0) {
    write(Vector<u32, 4>{});
  } else {
    write(Vector<unsigned char, kLeast>{});
  }
}

}  // namespace wt
