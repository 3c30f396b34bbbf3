// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/operand.h - the operands' bulk copies and the descriptors by which wgmma reads them.
//
//   box (rows, box_k) in a stage, rows one swizzle span long --descriptor--> wgmma, step by step along k
#pragma once

#include "kernels/tma/device/arguments.h"
#include "kernels/tma/device/layout.h"
#include "target/hopper.h"

namespace wt {

constexpr device::DescriptorSwizzle descriptor_swizzle(int bytes) {
  return bytes == 128  ? device::DescriptorSwizzle::k128
         : bytes == 64 ? device::DescriptorSwizzle::k64
         : bytes == 32 ? device::DescriptorSwizzle::k32
                       : device::DescriptorSwizzle::kNone;
}

// An operand whose rows hold consecutive k: 8-row groups of one swizzle span each.
template <int kSwizzle>
struct KMajor {
  static constexpr device::Major kMajor = device::Major::kK;
  static constexpr int kStepBytes = 32;  // one wgmma's k, in bytes, for every type

  // Descriptor of the rows that start at `rows` bytes into the box, at the step-th wgmma of the box.
  WT_DEVICE static u64 descriptor(SharedAddress box, int rows, int step) {
    return device::wgmma_descriptor(box + rows + step * kStepBytes, 16, 8 * kSwizzle, descriptor_swizzle(kSwizzle));
  }
};

// An operand whose rows hold consecutive columns: blocks of 64 columns, each kDepth rows of 128 bytes. 16-bit types.
template <int kDepth>
struct MnMajor {
  static constexpr device::Major kMajor = device::Major::kMn;

  WT_DEVICE static u64 descriptor(SharedAddress box, int, int step) {
    return device::wgmma_descriptor(box + step * 16 * 128, kDepth * 128, 1024, device::DescriptorSwizzle::k128);
  }
};

// How operand B lies in its stage: the filter along its channels, or across them.
template <KernelConfig kConfig, bool kAcross = tma_layout::b_is_mn_major(kConfig)>
struct FilterLayout : KMajor<kConfig.gemm.swizzle_a> {};
template <KernelConfig kConfig>
struct FilterLayout<kConfig, true> : MnMajor<tma_layout::box_k(kConfig)> {};

// How both operands of a weight gradient lie in their stages: across their channels, or turned round.
template <KernelConfig kConfig, bool kTurned = tma_layout::turns_tiles(kConfig)>
struct WeightOperand : MnMajor<kConfig.gemm.tile.k> {};
template <KernelConfig kConfig>
struct WeightOperand<kConfig, true> : KMajor<128> {};

// What wgmma multiplies an operand of this type as.
constexpr DataType wgmma_type(DataType type) { return type == DataType::kF32 ? DataType::kTf32 : type; }

// Where a region's walk over an image starts for GEMM row m.
struct WalkStart {
  i32 at[3];  // d, h, w
  i32 image;
};

template <class Index>
WT_DEVICE WalkStart walk_start(const TmaRegion& region, Index row) {
  WalkStart start;
  WT_UNROLL for (int i = 2; i >= 0; --i) {
    const auto size = static_cast<Index>(region.size[i]);
    const Index rest = row / size;
    start.at[i] = region.start[i] + static_cast<i32>(row - rest * size) * region.step[i];
    row = rest;
  }
  start.image = static_cast<i32>(row);
  return start;
}
// WHY: dividing 64-bit numbers takes several times as long, and few problems have that many rows. Rows of the last tile
// may lie past the end.
WT_DEVICE WalkStart walk_start_at(const TmaRegion& region, i64 row) {
  return region.rows >> 30 == 0 ? walk_start<u32>(region, static_cast<u32>(row)) : walk_start<i64>(region, row);
}

// The producer's place in the sum: taps outside, channel boxes inside.
struct TapCursor {
  i32 box = 0;
  i32 tap[3] = {0, 0, 0};
  i32 offset[3];
  i32 filter;

  WT_DEVICE explicit TapCursor(const TapWalk& walk) : filter(walk.filter) {
    WT_UNROLL for (int i = 0; i < 3; ++i) offset[i] = walk.offset[i];
  }

  // As `next` would after `steps` calls from the start.
  WT_DEVICE void seek(const TapWalk& walk, i32 depth_blocks, i32 steps) {
    const i32 rest = steps / depth_blocks;
    box = steps - rest * depth_blocks;
    i32 index = rest;
    WT_UNROLL for (int i = 2; i >= 0; --i) {
      const i32 above = index / walk.count[i];
      tap[i] = index - above * walk.count[i];
      offset[i] += tap[i] * walk.step[i];
      filter += tap[i] * walk.filter_step[i];
      index = above;
    }
  }

  // False where the walk is over; the cursor then stands at its start.
  WT_DEVICE bool next(const TapWalk& walk, i32 depth_blocks) {
    if (++box < depth_blocks) return true;
    box = 0;
    WT_UNROLL for (int i = 2; i >= 0; --i) {
      offset[i] += walk.step[i];
      filter += walk.filter_step[i];
      if (++tap[i] < walk.count[i]) return true;
      offset[i] = walk.offset[i];
      filter -= walk.filter_step[i] * walk.count[i];
      tap[i] = 0;
    }
    return false;
  }
};

// The copies of a stage. Where blocks of a cluster share an operand, each issues its share of the tile, which lands in
// all of them.
template <KernelConfig kConfig>
struct TmaLoads {
  static constexpr int kBox = tma_layout::box_k(kConfig);
  static constexpr int kM = kConfig.gemm.cluster_m, kN = kConfig.gemm.cluster_n;
  static constexpr bool kShareA = kConfig.gemm.multicast_a, kShareB = kConfig.gemm.multicast_b;

  // This block's place among those that share A (along n) and B (along m).
  WT_DEVICE static int share_a() { return kShareA ? static_cast<int>(device::cluster_rank()) / kM : 0; }
  WT_DEVICE static int share_b() { return kShareB ? static_cast<int>(device::cluster_rank()) % kM : 0; }
  static constexpr u16 kEveryBlock = (1 << kM * kN) - 1;  // clusters are 2x1 or 1x2: all of it shares

  // The A box at the cursor's tap, from `channel` on; `start` and `row` are those of this block's share of the tile's
  // rows.
  WT_DEVICE static void load_a(SharedAddress to, const TensorMap& map, SharedAddress full, const WalkStart& start,
                               i64 row, const TapCursor& at, i32 channel, CachePolicy policy) {
    const auto w = static_cast<u16>(at.offset[2]), h = static_cast<u16>(at.offset[1]),
               d = static_cast<u16>(at.offset[0]);
    if constexpr (kShareA) {
      to += share_a() * tma_layout::a_box_rows(kConfig) * kConfig.gemm.swizzle_a;
      if constexpr (kConfig.gemm.loader_a == Loader::kTmaTiled) {
        device::tma_load_multicast(to, map, full, kEveryBlock, channel, static_cast<i32>(row), policy);
      } else if constexpr (kConfig.dims == 1) {
        device::tma_load_im2col_multicast(to, map, full, kEveryBlock, channel, start.at[2], start.image, w, policy);
      } else if constexpr (kConfig.dims == 2) {
        device::tma_load_im2col_multicast(to, map, full, kEveryBlock, channel, start.at[2], start.at[1], start.image, w,
                                          h, policy);
      } else {
        device::tma_load_im2col_multicast(to, map, full, kEveryBlock, channel, start.at[2], start.at[1], start.at[0],
                                          start.image, w, h, d, policy);
      }
    } else if constexpr (tma_layout::raw_patches(kConfig)) {
      device::tma_load(to, map, full, channel, at.offset[1], start.at[2], policy);
    } else if constexpr (kConfig.gemm.loader_a == Loader::kTmaTiled) {
      device::tma_load(to, map, full, channel, static_cast<i32>(row), policy);
    } else if constexpr (kConfig.dims == 1) {
      device::tma_load_im2col(to, map, full, channel, start.at[2], start.image, w, policy);
    } else if constexpr (kConfig.dims == 2) {
      device::tma_load_im2col(to, map, full, channel, start.at[2], start.at[1], start.image, w, h, policy);
    } else {
      device::tma_load_im2col(to, map, full, channel, start.at[2], start.at[1], start.at[0], start.image, w, h, d,
                              policy);
    }
  }

  // The B box from `channel` on at the filter's tap; map dimensions are {channels of a group, taps, output channels},
  // or, turned round, {output channels of a group, channels of a group, taps of all groups}. `tail` has the columns of
  // a last block that is narrower.
  WT_DEVICE static void load_b(SharedAddress to, const TensorMap& map, const TensorMap& tail, SharedAddress full,
                               i32 channel, i32 tap, i32 column, i32 first_filter, CachePolicy policy = kCacheNormal) {
    if constexpr (tma_layout::b_is_mn_major(kConfig)) {
      constexpr int kBlockBytes = kBox * 128, kBlocks = tma_layout::b_columns(kConfig) / 64;
      WT_UNROLL for (int j = 0; j < kBlocks; ++j) {
        const TensorMap& block = tma_layout::tail_columns(kConfig) > 0 && j == kBlocks - 1 ? tail : map;
        if constexpr (kShareB) {
          if (j % kM == share_b())
            device::tma_load_multicast(to + j * kBlockBytes, block, full, kEveryBlock, column + 64 * j, tap,
                                       first_filter + channel, policy);
        } else {
          device::tma_load(to + j * kBlockBytes, block, full, column + 64 * j, tap, first_filter + channel, policy);
        }
      }
    } else if constexpr (tma_layout::turns_filter(kConfig)) {
      const int rows = share_b() * tma_layout::b_box_rows(kConfig);
      if constexpr (kShareB) {
        device::tma_load_multicast(to + rows * kConfig.gemm.swizzle_a, map, full, kEveryBlock, channel, column + rows,
                                   first_filter + tap, policy);
      } else {
        device::tma_load(to, map, full, channel, column, first_filter + tap, policy);
      }
    } else if constexpr (kShareB) {
      const int rows = share_b() * tma_layout::b_box_rows(kConfig);
      device::tma_load_multicast(to + rows * kConfig.gemm.swizzle_a, map, full, kEveryBlock, channel, tap,
                                 first_filter + column + rows, policy);
    } else {
      device::tma_load(to, map, full, channel, tap, first_filter + column, policy);
    }
  }
};

}  // namespace wt
