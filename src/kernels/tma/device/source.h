// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/source.h - the copies of a tile, stage by stage: what kernel.h's producer issues.
//
//   TapBoxes       boxes of channels of one tap after the other, and the filter's of the same channels
//   RawPatchBoxes  patches where they lie, though their rows are no whole 16 bytes; a block's first ones at once
//
// Source::load(...) fills one slot of the ring after the other with a tile's stages, or with those of a part of its
// sum.
#pragma once

#include "kernels/tma/device/operand.h"
#include "kernels/tma/device/schedule.h"
#include "kernels/tma/device/shared.h"

namespace wt {

// The stages that a tile, or a part of its sum, takes.
struct StageRange {
  i32 first, count;
};

// The boxes that a tile of the region sums over.
template <class Params>
WT_DEVICE i32 boxes_of(const Params& p, const TmaRegion& region) {
  return region.taps.count[0] * region.taps.count[1] * region.taps.count[2] * p.depth_blocks;
}

// The sink says which stages a work is (sink.h).
template <KernelConfig kConfig, class Params, class Sink>
struct TapBoxes {
  using Loads = TmaLoads<kConfig>;
  using Shared = TmaShared<kConfig>;
  static constexpr int kBoxes = tma_layout::boxes(kConfig);
  static constexpr i32 kPastEnd = 1 << 20;  // a box of channels that no tensor has

  WT_DEVICE static void load(const Params& p, const Shared& shared, const TmaRegion& region, const Work& work,
                             typename Shared::SlotRing::Cursor& slot) {
    const TileIndex& tile = work.tile;
    const i64 row =
        (tile.m - region.first_tile) * kConfig.gemm.tile.m + Loads::share_a() * tma_layout::a_box_rows(kConfig);
    const WalkStart start = walk_start_at(region, row);
    const i32 column = static_cast<i32>(tile.n) * kConfig.gemm.tile.n;
    // Channels that are summed over start here in A, and the group's filters in B.
    const i32 first_channel = tile.group * p.depth, first_filter = tile.group * p.group_filter;
    const StageRange range = Sink::stages(p, region, work);
    TapCursor at(region.taps);
    if constexpr (Sink::kSeeks) {
      if (range.count > 0) at.seek(region.taps, p.depth_blocks, range.first * kBoxes);
    }
    i32 left = boxes_of(p, region) - range.first * kBoxes;
    for (i32 stage = range.count; stage > 0; --stage) {
      const SharedAddress full = shared.ring.full(slot.slot);
      shared.ring.wait_empty(slot);
      device::mbarrier_arrive_expect(full, static_cast<u32>(p.stage_bytes));
      WT_UNROLL for (int box = 0; box < kBoxes; ++box) {
        // WHY: boxes past the end are loaded from channels past the end, which are zeros in both operands.
        if (kBoxes > 1 && left <= 0) at.box = kPastEnd;
        const i32 channel = at.box * p.box_channels;
        Loads::load_a(shared.a_box(slot.slot, box), region.a, full, start, row, at, first_channel + channel, p.policy);
        Loads::load_b(shared.b_box(slot.slot, box), p.b, p.b_tail, full, channel, at.filter, column, first_filter,
                      p.filter_policy);
        at.next(region.taps, p.depth_blocks);
        --left;
      }
      slot.next();
    }
  }
};

template <KernelConfig kConfig, class Params, class Sink>
struct RawPatchBoxes {
  using Loads = TmaLoads<kConfig>;
  using Shared = TmaShared<kConfig>;
  static constexpr int kStages = kConfig.gemm.stages;
  static_assert(tma_layout::boxes(kConfig) == 1 && !kConfig.gemm.multicast_a);

  WT_DEVICE static void load(const Params& p, const Shared& shared, const TmaRegion& region, const Work& work,
                             typename Shared::SlotRing::Cursor& slot) {
    const TileIndex& tile = work.tile;
    const WalkStart start = walk_start_at(region, (tile.m - region.first_tile) * kConfig.gemm.tile.m);
    const i32 column = static_cast<i32>(tile.n) * kConfig.gemm.tile.n;
    const i32 number = start.image * static_cast<i32>(p.run.by);  // columns of patches are the images of their walk
    const i32 first_channel = number & ~7, first_filter = (number & 7) * p.group_filter;
    const StageRange range = Sink::stages(p, region, work);
    TapCursor at(region.taps);
    i32 ahead = 0;  // stages whose pixels are on their way
    if (work.order == 0) ahead = load_ahead(p, shared, region, start, first_channel, range.count);
    for (i32 stage = range.count; stage > 0; --stage, --ahead) {
      const SharedAddress full = shared.ring.full(slot.slot);
      if (ahead <= 0) {
        shared.ring.wait_empty(slot);
        device::mbarrier_arrive_expect(full, static_cast<u32>(p.stage_bytes));
      }
      const i32 channel = at.box * p.box_channels;
      if (ahead <= 0)
        Loads::load_a(shared.a_box(slot.slot, 0), region.a, full, start, 0, at, first_channel + channel, p.policy);
      Loads::load_b(shared.b_box(slot.slot, 0), p.b, p.b_tail, full, channel, at.filter, column, first_filter,
                    p.filter_policy);
      at.next(region.taps, p.depth_blocks);
      slot.next();
    }
  }

 private:
  // A block's first patches, which nobody copies before; then waits for the copies of the filter.
  WT_DEVICE static i32 load_ahead(const Params& p, const Shared& shared, const TmaRegion& region,
                                  const WalkStart& start, i32 first_channel, i32 stages) {
    const i32 ahead = stages < kStages ? stages : kStages;
    TapCursor at(region.taps);
    for (i32 slot = 0; slot < ahead; ++slot) {
      const SharedAddress full = shared.ring.full(slot);
      device::mbarrier_arrive_expect(full, static_cast<u32>(p.stage_bytes));
      Loads::load_a(shared.a_box(slot, 0), region.a, full, start, 0, at, first_channel + at.box * p.box_channels,
                    p.policy);
      at.next(region.taps, p.depth_blocks);
    }
    device::wait_prerequisites();
    return ahead;
  }
};

template <KernelConfig kConfig, class Params, class Sink, bool kRaw = tma_layout::raw_patches(kConfig)>
struct SourceOf {
  using Type = TapBoxes<kConfig, Params, Sink>;
};
template <KernelConfig kConfig, class Params, class Sink>
struct SourceOf<kConfig, Params, Sink, true> {
  using Type = RawPatchBoxes<kConfig, Params, Sink>;
};

}  // namespace wt
