// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05_halo/device/patch_tiles.h - tiles that are 8 pixels wide and 16 high, for kernels/tcgen05/device/
// kernel.h.
//
//   patch of one column of the filter --TMA--> slot --a start for each of its taps--> products
//   those taps' filters               --TMA--/
//
// A pixel's channels are one row of the swizzle, and 8 pixels of a patch's row one repeat of it: the taps below each
// other begin whole repeats apart, so that no start is off one. Columns of the filter have patches of their own, a
// pixel further on. With filter3x3 one patch, two pixels wider, serves them all; its starts are anywhere in a repeat,
// which no source proves right (config/quarantine.cc). A block of a pair has the next 16 rows of pixels.
#pragma once

#include "kernels/tcgen05/device/roles.h"
#include "kernels/tcgen05/device/source.h"
#include "kernels/tcgen05_halo/device/arguments.h"
#include "kernels/tma_halo/device/output.h"

namespace wt {

template <KernelConfig kConfig>
struct PatchTiles {
  using Params = Tcgen05HaloArguments;
  using Rows = PixelRows;
  using Shared = Tcgen05Shared<kConfig>;
  static constexpr int kHigh = tcgen05_layout::kPatchHeight, kWide = tcgen05_layout::patch_taps_w(kConfig);
  static constexpr int kTaps = kConfig.gemm.filter_rows;

  WT_DEVICE static void prefetch(const Params& p) { device::tma_prefetch(p.a); }
  // As RegionTiles::clear.
  WT_DEVICE static void clear(const Params& p, const Shared& shared) {
    constexpr int kRowBytes = tcgen05_layout::pixel_pitch(kConfig) * kConfig.gemm.swizzle_a;
    if (p.copied_rows >= tcgen05_layout::patch_height(kConfig)) return;
    for (int slot = 0; slot < kConfig.gemm.stages; ++slot) {
      const SharedAddress patch = shared.a_box(slot, 0);
      clear_rows(patch + p.copied_rows * kRowBytes, patch + tcgen05_layout::patch_height(kConfig) * kRowBytes);
    }
    device::fence_async_shared();
  }
  // Of a tile's whole sum: planes, columns of taps, blocks of channels.
  WT_DEVICE static i32 stages(const Params& p, const Work&) { return p.planes * p.columns_w * p.depth_blocks; }

  // Those of this block.
  WT_DEVICE static Rows rows(const Params& p, const Work& work) {
    const auto m = static_cast<u32>(work.tile.m), tiles_w = static_cast<u32>(p.tiles_w),
               tiles_h = static_cast<u32>(p.tiles_h), planes = static_cast<u32>(p.size[0]);
    const u32 row = m / tiles_w, plane = row / tiles_h, image = plane / planes;
    const u32 high = (row - plane * tiles_h) * Shared::kBlocks + Shared::in_tile();
    return {p, static_cast<i32>(image), static_cast<i32>(plane - image * planes), static_cast<i32>(high) * kHigh,
            static_cast<i32>(m - row * tiles_w) * tcgen05_layout::kPatchEdge};
  }

  // 64 staged rows, 8 by 8 pixels; by one thread. Those outside the image are dropped.
  template <class Out>
  WT_DEVICE static void send(const Params& p, const Rows& rows, int half, const typename Out::Place& place,
                             SharedAddress staging) {
    const auto column = static_cast<i32>(Out::first_channel(p, place));
    const TensorMap& map = Out::is_tail(0) ? p.out_tail : p.out;
    const i32 h = rows.h + kHigh / 2 * half;
    if constexpr (kConfig.dims == 3) {
      device::tma_store(map, staging, column, rows.w, h, rows.d, rows.image);
    } else {
      device::tma_store(map, staging, column, rows.w, h, rows.image);
    }
    device::bulk_commit();
  }

  // As RegionTiles::load.
  template <class Begin>
  WT_DEVICE static void load(const Params& p, const Shared& shared, const Work& work, const StageRange& range,
                             RingCursor<kConfig.gemm.stages> slot, Begin&& begin) {
    using Loads = Tcgen05Loads<kConfig>;
    constexpr bool kPair = Shared::kBlocks == 2;
    const auto part = static_cast<i32>(Shared::in_tile());
    const Rows at = rows(p, work);
    const i32 column = static_cast<i32>(work.tile.n) * kConfig.gemm.tile.n + part * tcgen05_layout::columns(kConfig);
    const i32 first_channel = work.tile.group * p.depth;
    const i32 first_filter = work.tile.group * (tma_layout::b_is_mn_major(kConfig) ? p.depth : p.columns);
    const i32 of_filter = p.columns_w * kWide;  // taps beside each other
    i32 block = range.first % p.depth_blocks, walk = range.first / p.depth_blocks;
    i32 plane = walk / p.columns_w, tap_w = walk - plane * p.columns_w;
    for (i32 stage = 0; stage < range.count; ++stage) {
      shared.ring.wait_empty(slot);
      const SharedAddress own = shared.ring.full(slot.slot);
      if (part == 0) device::mbarrier_arrive_expect(own, static_cast<u32>(p.stage_bytes));
      const u32 full = kPair ? device::pair_address(own) : own;
      const i32 channel = block * p.box_channels;
      const BulkCopies<kPair, false> patch{shared.a_box(slot.slot, 0), p.a, full, 0, p.policy};
      const i32 w = at.w + p.start[2] + tap_w * p.step[1], h = at.h + p.start[1];
      if constexpr (kConfig.dims == 3) {
        patch.tiled(first_channel + channel, w, h, at.d + p.start[0] + plane * p.step[0], at.image);
      } else {
        patch.tiled(first_channel + channel, w, h, at.image);
      }
      WT_UNROLL for (int box = 0; box < kTaps * kWide; ++box) {
        const i32 tap = (plane * kTaps + box / kWide) * of_filter + tap_w * kWide + box % kWide;
        Loads::load_b(shared.b_box(slot.slot, box), p.b, full, channel, p.filter + tap * p.filter_step, column,
                      first_filter, kCacheNormal);
      }
      begin(stage);
      slot.next();
      if (++block < p.depth_blocks) continue;
      block = 0;
      if (++tap_w < p.columns_w) continue;
      tap_w = 0;
      ++plane;
    }
  }
};

}  // namespace wt
