// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05/device/source.h - the copies of a stage: what the load warp issues.
//
// A block of a pair loads half of the tile's rows and half of its columns; the first one's barrier counts the bytes of
// both. Tiles of a cluster that share an operand load a share of it each, for all.
#pragma once

#include "kernels/tcgen05/device/schedule.h"
#include "kernels/tma/device/operand.h"
#include "kernels/tma/device/source.h"

namespace wt {

// Bulk tensor copies of a block or of one of a pair, to itself or to the blocks of a mask.
template <bool kPair, bool kMany>
struct BulkCopies {
  SharedAddress to;
  const TensorMap& map;
  u32 barrier;
  u16 mask;
  CachePolicy policy;

  template <class... Coordinates>
  WT_DEVICE void tiled(Coordinates... at) const {
    if constexpr (kPair && kMany) {
      device::tma_load_pair_multicast(to, map, barrier, mask, at..., policy);
    } else if constexpr (kPair) {
      device::tma_load_pair(to, map, barrier, at..., policy);
    } else if constexpr (kMany) {
      device::tma_load_multicast(to, map, barrier, mask, at..., policy);
    } else {
      device::tma_load(to, map, barrier, at..., policy);
    }
  }
  // Coordinates, then the tap's offsets.
  template <class... Coordinates>
  WT_DEVICE void im2col(Coordinates... at) const {
    if constexpr (kPair && kMany) {
      device::tma_load_im2col_pair_multicast(to, map, barrier, mask, at..., policy);
    } else if constexpr (kPair) {
      device::tma_load_im2col_pair(to, map, barrier, at..., policy);
    } else if constexpr (kMany) {
      device::tma_load_im2col_multicast(to, map, barrier, mask, at..., policy);
    } else {
      device::tma_load_im2col(to, map, barrier, at..., policy);
    }
  }
};

template <KernelConfig kConfig>
struct Tcgen05Loads {
  using Shared = Tcgen05Shared<kConfig>;
  static constexpr GemmConfig kGemm = kConfig.gemm;
  static constexpr bool kPair = Shared::kBlocks == 2;
  static constexpr int kM = kGemm.cluster_m, kN = kGemm.cluster_n;

  // This tile's place among those that share A, which lie along n, and among those that share B.
  WT_DEVICE static i32 share_a() { return kGemm.multicast_a ? static_cast<i32>(Shared::tile()) / kM : 0; }
  WT_DEVICE static i32 share_b() { return kGemm.multicast_b ? static_cast<i32>(Shared::tile()) % kM : 0; }
  // The blocks of the same place in their tile that share A, and B.
  WT_DEVICE static u16 mask_a() {
    u32 mask = 0;
    for (u32 n = 0; n < kN; ++n) mask |= 1u << ((Shared::tile() % kM + n * kM) * Shared::kBlocks + Shared::in_tile());
    return static_cast<u16>(mask);
  }
  WT_DEVICE static u16 mask_b() {
    u32 mask = 0;
    for (u32 m = 0; m < kM; ++m) mask |= 1u << ((Shared::tile() / kM * kM + m) * Shared::kBlocks + Shared::in_tile());
    return static_cast<u16>(mask);
  }

  // The A box at the cursor's tap. `start` and `row` are those of this block's share of the rows.
  WT_DEVICE static void load_a(SharedAddress to, const TensorMap& map, u32 full, const WalkStart& start, i64 row,
                               const TapCursor& at, i32 channel, CachePolicy policy) {
    const auto w = static_cast<u16>(at.offset[2]), h = static_cast<u16>(at.offset[1]),
               d = static_cast<u16>(at.offset[0]);
    const BulkCopies<kPair, kGemm.multicast_a> copy{to + share_a() * tma_layout::a_box_rows(kConfig) * kGemm.swizzle_a,
                                                    map, full, mask_a(), policy};
    if constexpr (kGemm.loader_a == Loader::kTmaTiled) {
      copy.tiled(channel, static_cast<i32>(row));
    } else if constexpr (kConfig.dims == 1) {
      copy.im2col(channel, start.at[2], start.image, w);
    } else if constexpr (kConfig.dims == 2) {
      copy.im2col(channel, start.at[2], start.at[1], start.image, w, h);
    } else {
      copy.im2col(channel, start.at[2], start.at[1], start.at[0], start.image, w, h, d);
    }
  }

  // The B box: `column` is the first of this block's. Maps are those of kernels/tma/device/operand.h.
  WT_DEVICE static void load_b(SharedAddress to, const TensorMap& map, u32 full, i32 channel, i32 tap, i32 column,
                               i32 first_filter, CachePolicy policy) {
    using Copies = BulkCopies<kPair, kGemm.multicast_b>;
    if constexpr (tma_layout::b_is_mn_major(kConfig)) {
      constexpr int kBlockBytes = tma_layout::box_k(kConfig) * 128;
      constexpr int kColumnBlocks = (tcgen05_layout::columns(kConfig) + 63) / 64;
      WT_UNROLL for (int j = 0; j < kColumnBlocks; ++j) {
        if (kGemm.multicast_b && j % kM != share_b()) continue;
        Copies{to + j * kBlockBytes, map, full, mask_b(), policy}.tiled(column + 64 * j, tap, first_filter + channel);
      }
    } else {
      const i32 rows = share_b() * tma_layout::b_box_rows(kConfig);
      const Copies copy{to + rows * kGemm.swizzle_a, map, full, mask_b(), policy};
      if constexpr (tma_layout::turns_filter(kConfig)) {
        copy.tiled(channel, column + rows, first_filter + tap);
      } else {
        copy.tiled(channel, tap, first_filter + column + rows);
      }
    }
  }
};

}  // namespace wt
