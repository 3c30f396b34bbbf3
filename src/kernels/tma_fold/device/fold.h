// SPDX-License-Identifier: Apache-2.0
// kernels/tma_fold/device/fold.h - products of pixels with a row of taps, added to the sums of the pixels' neighbours
// (kernel.h).
//
//   registers (row; tap, column) --shuffles within a warp's 16 rows; shared memory for those of the next warp--> sums
#pragma once

#include "kernels/tma/device/output.h"
#include "target/hopper.h"

namespace wt {

// Rows of a fragment that are pixels with their padding: of an image row the first `width` have outputs, and of the
// fragment those before `end`.
struct FoldedRows {
  const TmaRegion& region;
  i64 first;
  i32 width;
  int end;

  WT_DEVICE i64 offset(int row) const {
    const i64 at = first + row;
    if (row >= end || at >= region.rows) return -1;
    return region.rows >> 31 == 0 ? offset_of<u32>(static_cast<u32>(at)) : offset_of<i64>(at);
  }

 private:
  template <class Index>
  WT_DEVICE i64 offset_of(Index at) const {
    const auto wide = static_cast<Index>(region.size[2]);
    Index rest = at / wide;
    const Index w = at - rest * wide;
    if (w >= static_cast<Index>(width)) return -1;
    i64 offset = region.out_base + static_cast<i64>(w) * region.out_stride[3];
    // WHY not as RegionRows: without a third dimension there is a division less.
    WT_UNROLL for (int i = 1; i >= 0; --i) {
      if (region.size[i] == 1) continue;
      const auto size = static_cast<Index>(region.size[i]);
      const Index above = rest / size;
      offset += static_cast<i64>(rest - above * size) * region.out_stride[i + 1];
      rest = above;
    }
    return offset + static_cast<i64>(rest) * region.out_stride[0];
  }
};

// Sum `row` of a column is that of product s of row + s over the taps s. Accumulators lie as in output.h: lane / 4 is a
// row of the first eight of a warp, and with the third and fourth of a block of eight columns of the second eight.
template <KernelConfig kConfig>
struct Fold {
  static constexpr int kTaps = tma_layout::tap_columns(kConfig), kBlocks = kConfig.gemm.tile.n / 8;
  static constexpr int kFragments = tma_layout::rows_of_consumer(kConfig) / 64, kWarps = 4 * kFragments;
  static constexpr int kLanes = 4 * (kTaps - 1);        // that hold the first rows of a warp
  static constexpr int kPairs = kBlocks * (kTaps - 1);  // of numbers of each, under all taps but the first
  static constexpr int kBytes = tma_layout::fold_edge_bytes(kConfig);
  static_assert(kBytes == kWarps * kPairs * kLanes * 8 && kTaps <= 8);
  using Pair = Vector<float, 2>;

  // The products that rows of the warp before need; all threads of the consumer meet before they are read.
  WT_DEVICE static void send_edges(SharedAddress edges, const float (&d)[kFragments][kTaps * kBlocks * 4]) {
    const int lane = device::lane_index(), warp = device::warp_index() % 4;
    if (lane >= kLanes) return;
    WT_UNROLL for (int i = 0; i < kFragments; ++i) {
      WT_UNROLL for (int block = kBlocks; block < kTaps * kBlocks; ++block) {
        device::store_shared(edge(edges, 4 * i + warp, block, lane), Pair{{d[i][4 * block], d[i][4 * block + 1]}});
      }
    }
  }

  // The sums of a fragment. Those of the last rows of all lack products, and nobody stores them.
  WT_DEVICE static void fold(SharedAddress edges, int fragment, const float (&d)[kTaps * kBlocks * 4],
                             float (&sums)[kBlocks * 4]) {
    const int lane = device::lane_index(), next = 4 * fragment + device::warp_index() % 4 + 1;
    WT_UNROLL for (int i = 0; i < kBlocks * 4; ++i) sums[i] = d[i];
    WT_UNROLL for (int tap = 1; tap < kTaps; ++tap) {
      const int from = (lane + 4 * tap) % 32;
      const bool wraps = lane < 4 * tap;  // this lane gives to rows of the eight before its own
      WT_UNROLL for (int j = 0; j < kBlocks; ++j) {
        const int block = tap * kBlocks + j;
        Pair beyond{};  // the first rows of the next warp
        if (wraps && next < kWarps) beyond = device::load_shared<Pair>(edge(edges, next, block, lane));
        WT_UNROLL for (int e = 0; e < 2; ++e) {
          const float upper = d[4 * block + e], lower = d[4 * block + 2 + e];
          sums[4 * j + e] += device::shuffle(wraps ? lower : upper, from);
          sums[4 * j + 2 + e] += device::shuffle(wraps ? beyond.at[e] : lower, from);
        }
      }
    }
  }

 private:
  WT_DEVICE static SharedAddress edge(SharedAddress edges, int warp, int block, int lane) {
    return edges + ((warp * kPairs + block - kBlocks) * kLanes + lane) * 8;
  }
};

}  // namespace wt
