// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05/device/region_tiles.h - tiles whose rows are the pixels of a region, one after the other, as on
// Hopper (kernels/tma/device/arguments.h): what kernel.h loads and where its results go.
#pragma once

#include "kernels/tcgen05/device/arguments.h"
#include "kernels/tcgen05/device/roles.h"
#include "kernels/tcgen05/device/source.h"
#include "kernels/tma/device/output.h"
#include "kernels/tma/device/source.h"

namespace wt {

template <KernelConfig kConfig>
struct RegionTiles {
  using Params = typename Tcgen05ArgumentsOf<kConfig>::Type;
  using Rows = RegionRows;
  using Shared = Tcgen05Shared<kConfig>;
  static constexpr int kBoxes = tma_layout::boxes(kConfig);

  WT_DEVICE static void prefetch(const Params& p) {
    if (boxes_of(p, p.regions[0]) > 0) device::tma_prefetch(p.regions[0].a);
  }
  // Rows that no copy brings, which products read all the same.
  WT_DEVICE static void clear(const Params& p, const Shared& shared) {
    if (p.copied_rows >= tcgen05_layout::kRows) return;
    for (int slot = 0; slot < kConfig.gemm.stages; ++slot) {
      WT_UNROLL for (int box = 0; box < kBoxes; ++box) {
        const SharedAddress rows = shared.a_box(slot, box);
        const int from = p.copied_rows * kConfig.gemm.swizzle_a, end = tcgen05_layout::a_box_bytes(kConfig);
        clear_rows(rows + from, rows + end);
        if constexpr (Shared::kChanges) clear_rows(rows + Shared::kLow + from, rows + Shared::kLow + end);
      }
    }
    device::fence_async_shared();
  }
  // Of a tile's whole sum.
  WT_DEVICE static i32 stages(const Params& p, const Work& work) {
    return (boxes_of(p, region_of(p, work.tile.m)) + kBoxes - 1) / kBoxes;
  }
  // Those of this block.
  WT_DEVICE static Rows rows(const Params& p, const Work& work) {
    const TmaRegion& region = region_of(p, work.tile.m);
    return {region, first_row(region, work)};
  }
  // 64 staged rows, by one thread.
  template <class Out>
  WT_DEVICE static void send(const Params& p, const Rows& rows, int half, const typename Out::Place& place,
                             SharedAddress staging) {
    Out::send(p, rows.first + 64 * half, place, staging);
  }

  // Fills one slot after the other with the stages of a work; by one thread. `begin(stage)` is called when a stage's
  // copies have been issued.
  template <class Begin>
  WT_DEVICE static void load(const Params& p, const Shared& shared, const Work& work, const StageRange& range,
                             RingCursor<kConfig.gemm.stages> slot, Begin&& begin) {
    using Loads = Tcgen05Loads<kConfig>;
    const TmaRegion& region = region_of(p, work.tile.m);
    constexpr i32 kPastEnd = 1 << 20;  // a box of channels that no tensor has
    const TileIndex& tile = work.tile;
    const auto part = static_cast<i32>(Shared::in_tile());
    const i64 row = first_row(region, work) + Loads::share_a() * tma_layout::a_box_rows(kConfig);
    const WalkStart start = walk_start_at(region, row);
    const i32 column = static_cast<i32>(tile.n) * kConfig.gemm.tile.n + part * tcgen05_layout::columns(kConfig);
    const i32 first_channel = tile.group * p.depth, first_filter = tile.group * p.group_filter;
    TapCursor at(region.taps);
    if (range.count > 0) at.seek(region.taps, p.depth_blocks, range.first * kBoxes);
    i32 left = boxes_of(p, region) - range.first * kBoxes;
    for (i32 stage = 0; stage < range.count; ++stage) {
      shared.ring.wait_empty(slot);
      const SharedAddress own = shared.ring.full(slot.slot);
      if (part == 0) device::mbarrier_arrive_expect(own, static_cast<u32>(p.stage_bytes));
      const u32 full = Shared::kBlocks == 1 ? own : device::pair_address(own);
      WT_UNROLL for (int box = 0; box < kBoxes; ++box) {
        // WHY: boxes past the end are loaded from channels past the end, which are zeros in both operands.
        if (kBoxes > 1 && left <= 0) at.box = kPastEnd;
        const i32 channel = at.box * p.box_channels;
        Loads::load_a(shared.a_box(slot.slot, box), region.a, full, start, row, at, first_channel + channel, p.policy);
        Loads::load_b(shared.b_box(slot.slot, box), p.b, full, channel, at.filter, column, first_filter,
                      p.filter_policy);
        at.next(region.taps, p.depth_blocks);
        --left;
      }
      begin(stage);
      slot.next();
    }
  }

 private:
  WT_DEVICE static i64 first_row(const TmaRegion& region, const Work& work) {
    return (work.tile.m - region.first_tile) * kConfig.gemm.tile.m +
           static_cast<i64>(Shared::in_tile()) * tcgen05_layout::kRows;
  }
};

}  // namespace wt
