// SPDX-License-Identifier: Apache-2.0
// kernels/tma_halo/device/parts.h - how a halo kernel divides the sum of a tile: among blocks, and among warpgroups.
//
//   patches x stages of their filter --parts of blocks--> ranges --in turns--> warpgroups --shared memory--> the first
#pragma once

#include "kernels/tma/device/layout.h"
#include "kernels/tma_halo/device/arguments.h"
#include "target/hopper.h"

namespace wt {

// The patches that a part of a tile's sum takes, of the first one the stages from `first_stage` on, of the last one
// those up to `end_stage`.
template <KernelConfig kConfig>
struct HaloRange {
  static constexpr int kTapStages = tma_layout::halo_taps(kConfig) / tma_layout::halo_stage_taps(kConfig);
  static constexpr bool kDivides = kConfig.gemm.split_k != SplitK::kNone;

  i32 first, patches;
  int first_stage, end_stage;

  WT_DEVICE static HaloRange of(const TmaHaloArguments& p, i32 part) {
    const i32 patches = p.planes * p.depth_blocks;
    if constexpr (!kDivides) return {0, patches, 0, kTapStages};
    const auto stages = static_cast<u32>(patches * kTapStages), splits = static_cast<u32>(p.splits);
    const auto begin = static_cast<i32>(stages * static_cast<u32>(part) / splits);
    const auto end = static_cast<i32>(stages * static_cast<u32>(part + 1) / splits);
    if (begin == end) return {0, 0, 0, 0};
    const i32 first = begin / kTapStages, last = (end - 1) / kTapStages;
    return {first, last - first + 1, begin - first * kTapStages, end - last * kTapStages};
  }

  // For the index-th patch.
  WT_DEVICE int first_of(i32 index) const { return kDivides && index == 0 ? first_stage : 0; }
  WT_DEVICE int end_of(i32 index) const { return kDivides && index + 1 == patches ? end_stage : kTapStages; }
  WT_DEVICE i32 stages() const { return patches == 0 ? 0 : (patches - 1) * kTapStages + end_stage - first_stage; }

  // body(plane, block, first stage, end stage) for the patches, in the order in which they are multiplied.
  template <class Body>
  WT_DEVICE void for_patches(const TmaHaloArguments& p, Body&& body) const {
    i32 plane = kDivides ? first / p.depth_blocks : 0, block = kDivides ? first - plane * p.depth_blocks : 0;
    for (i32 index = 0; index < patches; ++index) {
      body(plane, block, first_of(index), end_of(index));
      if (++block == p.depth_blocks) {
        block = 0;
        ++plane;
      }
    }
  }
};

// Warpgroups along k, each with the products of its own stages: the others' sums are added to the first one's. WHY: one
// warpgroup alone waits between its instructions, 43 cycles for each of up to 64 columns on an H200.
template <KernelConfig kConfig>
struct HaloGroups {
  static constexpr int kAlong = kConfig.gemm.warps.k, kThreads = 128 * kAlong;
  static constexpr int kFragments = tma_layout::rows_of_consumer(kConfig) / 64, kColumns = kConfig.gemm.tile.n;
  static constexpr int kFilled = 1, kEmptied = 2;  // barriers
  using Part = Vector<float, 4>;

  SharedAddress parts;

  // True for the group that has the whole sum then. `round` counts the block's tiles.
  WT_DEVICE bool sum(float (&d)[kFragments][kColumns / 2], int along, int round, bool last) const {
    if (along > 0) {
      if (round > 0) device::sync_named(kEmptied, kThreads);
      each([&](int i, int j, int at) {
        device::store_shared(place(along, at), Part{{d[i][j], d[i][j + 1], d[i][j + 2], d[i][j + 3]}});
      });
      device::arrive_named(kFilled, kThreads);
      return false;
    }
    device::sync_named(kFilled, kThreads);
    for (int other = 1; other < kAlong; ++other) {
      each([&](int i, int j, int at) {
        const Part part = device::load_shared<Part>(place(other, at));
        WT_UNROLL for (int e = 0; e < 4; ++e) d[i][j + e] += part.at[e];
      });
    }
    if (!last) device::arrive_named(kEmptied, kThreads);
    return true;
  }

 private:
  template <class Body>
  WT_DEVICE static void each(Body&& body) {
    WT_UNROLL for (int i = 0; i < kFragments; ++i) {
      WT_UNROLL for (int j = 0; j < kColumns / 2; j += 4) body(i, j, i * (kColumns / 8) + j / 4);
    }
  }
  WT_DEVICE SharedAddress place(int along, int at) const {
    return parts + ((along - 1) * kFragments * (kColumns / 8) + at) * tma_layout::kPartBytes +
           device::thread_index() % 128 * 16;
  }
};

}  // namespace wt
