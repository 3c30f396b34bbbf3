// SPDX-License-Identifier: Apache-2.0
// kernels/wavelet/device/weight_kernel.h - weight gradients on Hopper for every alignment: dw (tap channel, channel) =
// sum over pixels of a gathered tensor times a plain one.
//
//   gathered (pixels, numbers), plain (pixels, channels) --> ring --wgmma, both MN-major--> registers --> global
//
// With split_k=workspace the pixels are divided among blocks and the partial sums added by
// kernels/beside/device/split_sum.h.
#pragma once

#include "kernels/device/epilogue.h"
#include "kernels/device/gemm/ring.h"
#include "kernels/tma/device/operand.h"
#include "kernels/wavelet/device/weight_operand.h"

namespace wt {

template <KernelConfig kConfig>
struct WaveletWeightGemm {
  using Params = WaveletWeightArguments;
  static constexpr int kThreads = wavelet_layout::threads(kConfig);
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const Shared shared = layout();
    if (device::thread_index() == 0) {
      shared.ring.init(kLoadThreads * arrivals_of_thread(kConfig), 4 * kGroups);
      device::mbarrier_fence_init();
    }
    device::sync_block();
    const int role = device::warp_index() / 4;
    if (role >= kGroups) {
      if constexpr (kMoveRegisters) device::give_registers<wavelet_layout::load_registers(kConfig)>();
      load(p, shared, device::thread_index() - 128 * kGroups);
    } else {
      if constexpr (kMoveRegisters) device::take_registers<wavelet_layout::math_registers(kConfig)>();
      multiply(p, shared, role);
    }
  }

 private:
  static constexpr int kTileM = kConfig.gemm.tile.m, kTileN = kConfig.gemm.tile.n, kDepth = kConfig.gemm.tile.k;
  static constexpr int kStages = kConfig.gemm.stages;
  static constexpr int kGroups = wavelet_layout::groups(kConfig);
  static constexpr int kFragments = wavelet_layout::rows_of_group(kConfig) / 64;
  static constexpr int kLoadThreads = wavelet_layout::load_threads(kConfig);
  static constexpr int kABytes = wavelet_layout::a_bytes(kConfig), kBBytes = wavelet_layout::b_bytes(kConfig);
  static constexpr bool kMoveRegisters = wavelet_layout::moves_registers(kConfig);
  static constexpr bool kSplit = kConfig.gemm.split_k == SplitK::kWorkspace;
  static constexpr int kTableBarrier = 1;

  using Gathered = WeightGathered<kConfig>;
  using Plain = WeightPlain<kConfig>;
  using Operand = MnMajor<kDepth>;
  using Multiply = device::Wgmma<operand_a(kConfig), operand_b(kConfig), kTileN>;
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
  using Element = typename Steps::Element;
  using SlotRing = Ring<kStages>;
  using Cursor = typename SlotRing::Cursor;

  struct Shared {  // addresses
    SharedAddress a, b, table;
    SlotRing ring;
  };
  struct Item {  // one tile of one split
    WaveletTile tile;
    i32 first, count;  // blocks of pixels
    i32 split;
  };

  WT_DEVICE static Shared layout() {
    constexpr wavelet_layout::RegionBytes kBytes = wavelet_layout::region_bytes(kConfig);
    const wavelet_layout::SharedLayout<SharedAddress> at(aligned_shared_base(), kBytes, kStages);
    return {at.a, at.b, at.table, {at.ring}};
  }

  WT_DEVICE static Item item_at(const Params& p, u32 index) {
    Item item;
    item.split = static_cast<i32>(quotient(index, p.tiles));
    index -= static_cast<u32>(item.split) * p.tiles.by;
    const u32 group = quotient(index, p.tiles_a_group);
    index -= group * p.tiles_a_group.by;
    const u32 m = quotient(index, p.tiles_n);
    item.tile.group = static_cast<i32>(group);
    item.tile.column = static_cast<i32>(index - m * p.tiles_n.by) * kTileN;
    item.tile.row = m * kTileM;
    item.tile.rows = static_cast<u32>(p.pixels);  // of the walk
    WT_UNROLL for (int i = 0; i < 3; ++i) {
      item.tile.phase[i] = i;
      item.tile.taps[i] = i == 2 && p.walk.row_is_one_run ? 1 : p.walk.phases[i].taps;
    }
    item.first = item.split * p.blocks_per_split;
    const i32 left = p.pixel_blocks - item.first;
    item.count = left < p.blocks_per_split ? left : p.blocks_per_split;
    return item;
  }

  WT_DEVICE static void load(const Params& p, const Shared& shared, int thread) {
    Cursor slot;
    Gathered gathered;
    int parity = 0;
    for (u32 index = device::block_index().x; index < p.items; index += device::grid_size().x) {
      const Item item = item_at(p, index);
      gathered.start(p.walk, item.tile, thread);
      i32 pixel = item.first * kDepth;
      for (i32 block = 0; block < item.count; ++block, pixel += kDepth) {
        // WHY two tables: a thread that is ahead may write the next block's while others still read this one.
        const SharedAddress table = shared.table + parity * kDepth * sizeof(WaveletRow);
        parity ^= 1;
        if (thread < kDepth) {
          device::store_shared(table + thread * sizeof(WaveletRow),
                               wavelet_row(p.walk, item.tile, static_cast<u32>(pixel + thread)));
        }
        device::sync_named(kTableBarrier, kLoadThreads);
        shared.ring.wait_empty(slot);
        gathered.copy(p.walk, table, shared.a + slot.slot * kABytes, thread);
        Plain::copy(p, item.tile, pixel, shared.b + slot.slot * kBBytes, thread);
        publish<kConfig>(shared.ring.full(slot.slot));
        slot.next();
      }
    }
    // WHY: copies must not be in flight when their thread ends.
    if constexpr (lands_by_itself(kConfig.gemm.loader_a) || lands_by_itself(kConfig.gemm.loader_b)) {
      device::copy_async_commit();
      device::copy_async_wait<0>();
    }
  }

  WT_DEVICE static void multiply(const Params& p, const Shared& shared, int group) {
    Cursor slot;
    for (u32 index = device::block_index().x; index < p.items; index += device::grid_size().x) {
      const Item item = item_at(p, index);
      float d[kFragments][kTileN / 2];
      accumulate(shared, slot, item.count, group, d);
      WT_UNROLL for (int i = 0; i < kFragments; ++i) store(p, item, (group * kFragments + i) * 64, d[i]);
    }
  }

  WT_DEVICE static void accumulate(const Shared& shared, Cursor& slot, i32 blocks, int group,
                                   float (&d)[kFragments][kTileN / 2]) {
    const bool releases = device::lane_index() == 0;
    const auto release = [&](int at) { device::mbarrier_arrive(shared.ring.empty(at)); };
    for (i32 block = 0; block < blocks; ++block) {
      shared.ring.wait_full(slot);
      device::fence_async_shared();  // WHY: the load warps wrote through the generic proxy, wgmma reads by another
      device::wgmma_fence();
      WT_UNROLL for (int step = 0; step < kDepth / 16; ++step) {
        const u64 b = Operand::descriptor(shared.b + slot.slot * kBBytes, 0, step);
        WT_UNROLL for (int i = 0; i < kFragments; ++i) {
          const SharedAddress a = shared.a + slot.slot * kABytes + (group * kFragments + i) * kDepth * 128;
          Multiply::template multiply<device::Major::kMn, device::Major::kMn>(d[i], Operand::descriptor(a, 0, step), b,
                                                                              block > 0 || step > 0);
        }
      }
      device::wgmma_commit();
      pass_slot(slot, block > 0 && releases, release);
    }
    pass_last(slot, d, releases, release);
  }

  // The element of dw that a GEMM row is, without its column's share; its channel of the gathered tensor.
  struct Place {
    bool exists;
    i64 offset;
    i32 channel;
  };
  WT_DEVICE static Place place_of(const Params& p, const Item& item, i32 number) {
    Place place{number < p.numbers, 0, 0};
    const u32 run = quotient(static_cast<u32>(number), p.run);
    const i32 real = number - static_cast<i32>(run * p.run.by) - p.walk.run.head;
    place.exists = place.exists && real >= 0 && real < p.walk.run.real;
    if (!place.exists) return place;
    const u32 touching = quotient(static_cast<u32>(real), p.walk.depth);
    place.channel = real - static_cast<i32>(touching * p.walk.depth.by);
    const u32 rows = quotient(run, p.taps_w), planes = quotient(rows, p.taps_h);
    const i32 w = static_cast<i32>(run - rows * p.taps_w.by + touching);
    const i32 h = static_cast<i32>(rows - planes * p.taps_h.by), d = static_cast<i32>(planes);
    place.offset = static_cast<i64>(item.tile.group) * p.group_step + p.filter + d * p.walk.filter_step[0] +
                   h * p.walk.filter_step[1] + w * p.walk.filter_step[2] +
                   static_cast<i64>(place.channel) * p.channel_step;
    return place;
  }

  // One fragment of 64 rows to dw or, split, to the partial sums.
  WT_DEVICE static void store(const Params& p, const Item& item, int first_row, const float (&d)[kTileN / 2]) {
    Steps steps;
    const int thread = device::thread_index() % 128, lane = thread % 32;
    const i32 columns = p.walk.columns - item.tile.column;
    WT_UNROLL for (int half = 0; half < 2; ++half) {
      const i32 number = static_cast<i32>(item.tile.row) + first_row + thread / 32 * 16 + lane / 4 + 8 * half;
      const Place place = place_of(p, item, number);
      if (!place.exists) continue;
      WT_UNROLL for (int j = 0; j < kTileN / 4; ++j) {
        const i32 column = 8 * (j / 2) + 2 * (lane % 4) + j % 2;
        if (column >= columns) continue;
        const float value = d[4 * (j / 2) + 2 * half + j % 2];
        const i64 at = place.offset + static_cast<i64>(item.tile.column + column) * p.column_step;
        if constexpr (kSplit) {
          device::store_global(p.partials + item.split * p.elements + at, value);
        } else {
          const i32 output = p.gathers_outputs ? place.channel : item.tile.column + column;
          Steps::write(static_cast<Element*>(p.walk.out) + at,
                       steps.apply(p.walk.epilogue, value, at, item.tile.group * i64{p.outputs} + output));
        }
      }
    }
    if constexpr (!kSplit) steps.finish(p.walk.epilogue);  // parts are finished by split_sum.h
  }
};

}  // namespace wt
