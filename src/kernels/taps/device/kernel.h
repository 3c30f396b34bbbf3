// SPDX-License-Identifier: Apache-2.0
// kernels/taps/device/kernel.h - few output channels on Hopper: every pixel times every tap, then sums of neighbours.
//
//   source row --TMA--> slots --wgmma--> products (pixel; channel, tap) --> shared --sums--> window --epilogue-->
//   output filter --once a block--> shared memory --/
//
// A block walks down a strip of the image. Each row of 64 source pixels is multiplied by the whole filter, its columns
// being output channels times taps, and every product is added to the output that it belongs to: the source is read
// once, not once a tap, and a matrix instruction's columns are full though the output has 3 channels. Output rows in
// the making stay in registers where the filter is known (register_sums.h), else in shared memory (shared_sums.h). The
// next row is multiplied while the products of one are added.
#pragma once

#include "kernels/device/gemm/ring.h"
#include "kernels/taps/device/filter.h"
#include "kernels/taps/device/register_sums.h"
#include "kernels/taps/device/shared_sums.h"

namespace wt {

template <KernelConfig kConfig>
struct TapsGemm {
  using Params = TapsArguments;
  static constexpr int kThreads = taps_layout::threads(kConfig);
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const Shared shared = layout(p);
    start_barriers([&] { shared.sources.init(1, kMathThreads / 32); });
    if (device::warp_index() == kMathThreads / 32) {
      if (device::elect()) {
        typename SourceRing::Cursor slot;
        for_jobs(p, [&](const TapsStrip& strip) { produce(p, shared, strip, slot); });
      }
    } else if (device::thread_index() < kMathThreads) {
      typename SourceRing::Cursor slot;
      typename Sums::Steps steps;
      load_filter(p, shared.filter);
      clear_outside<kMathThreads>(shared.products, kColumns);
      device::fence_async_shared();
      for_jobs(p, [&](const TapsStrip& strip) { consume(p, shared, strip, slot, steps); });
      steps.finish(p.epilogue);
    }
  }

 private:
  static constexpr int kColumns = kConfig.gemm.tile.n, kStages = kConfig.gemm.stages;
  static constexpr int kMathThreads = taps_layout::kMathThreads, kPitch = taps_layout::kProductPitch;
  static constexpr int kBarrier = 1;  // of the math threads
  using Element = Storage<operand_a(kConfig)>;
  using Multiply = device::Wgmma<operand_a(kConfig), operand_b(kConfig), kColumns>;
  using SourceRing = Ring<kStages>;
  template <bool kInRegisters, class = void>
  struct SumsOf {
    using Type = SharedSums<kConfig>;
  };
  template <class Unused>
  struct SumsOf<true, Unused> {
    using Type = RegisterSums<kConfig>;
  };
  using Sums = typename SumsOf<taps_layout::in_registers(kConfig)>::Type;

  struct Shared {  // addresses
    SharedAddress source, filter, products, window;
    SourceRing sources;
  };

  WT_DEVICE static Shared layout(const Params& p) {
    constexpr taps_layout::RegionBytes kBytes = taps_layout::region_bytes(kConfig);
    const u32 window_bytes =
        taps_layout::in_registers(kConfig) ? 0 : static_cast<u32>(p.window * taps_row_numbers(p)) * 4;
    const taps_layout::SharedLayout<SharedAddress> at(aligned_shared_base(), kBytes, p.row_blocks, window_bytes);
    return {at.source, at.filter, at.products, at.window, {at.ring}};
  }

  // WHY several in one dimension alone: a strip is one row there, and takes less time than the filter's way to shared
  // memory.
  template <class Job>
  WT_DEVICE static void for_jobs(const Params& p, const Job& job) {
    if constexpr (kConfig.dims == 1) {
      for (i32 index = device::block_index().x; index < p.jobs; index += device::grid_size().x)
        job(taps_strip(p, index));
    } else {
      job(taps_strip(p, device::block_index().x));
    }
  }

  WT_DEVICE static void produce(const Params& p, const Shared& shared, const TapsStrip& strip,
                                typename SourceRing::Cursor& slot) {
    for (i32 row = strip.first_h - p.reach[0]; row < strip.last_h; ++row) {
      for (i32 block = 0; block < p.row_blocks; ++block) {
        shared.sources.wait_empty(slot);
        const SharedAddress full = shared.sources.full(slot.slot);
        device::mbarrier_arrive_expect(full, taps_layout::kSlotBytes);
        const SharedAddress to = shared.source + slot.slot * taps_layout::kSlotBytes;
        const i32 first_w = strip.first_w - p.before;
        if constexpr (kConfig.dims == 3) {
          const i32 tap = block / p.depth_blocks, depth = (block - tap * p.depth_blocks) * taps_layout::kDepth;
          const i32 image = strip.image / p.out_planes;
          const i32 plane = strip.image - image * p.out_planes + p.shift_d - p.dilation_d * tap;
          device::tma_load(to, p.source, full, depth, first_w, row, plane, image);
        } else {
          device::tma_load(to, p.source, full, block * taps_layout::kDepth, first_w, row, strip.image);
        }
        slot.next();
      }
    }
  }

  WT_DEVICE static void consume(const Params& p, const Shared& shared, const TapsStrip& strip,
                                typename SourceRing::Cursor& slot, typename Sums::Steps& steps) {
    Sums sums{p, strip, shared.products};
    if constexpr (!taps_layout::in_registers(kConfig)) {
      sums.window = shared.window;
      // WHY: other threads may still finish the strip before in what this one clears.
      if constexpr (kConfig.dims == 1) device::sync_named(kBarrier, kMathThreads);
    }
    sums.start();
    device::sync_named(kBarrier, kMathThreads);

    float d[kColumns / 2];
    // Every strip has rows. WHY the last one is added behind the loop: products that start under a condition would be
    // waited for at once.
    i32 row = strip.first_h - p.reach[0];
    multiply(p, shared, slot, d);
    for (;;) {
      end_product(shared, slot, d);
      device::sync_named(kBarrier, kMathThreads);  // the products of the row before have been added
      store_products(shared.products, d);
      device::sync_named(kBarrier, kMathThreads);
      if (row + 1 >= strip.last_h) break;
      multiply(p, shared, slot, d);
      sums.add(row);
      sums.finish(row, steps);
      ++row;
    }
    sums.add(row);
    sums.finish(row, steps);
  }

  // Columns are (output channel, tap), in blocks of 64 channels that are summed over; what does not exist is zero.
  WT_DEVICE static void load_filter(const Params& p, SharedAddress filter) {
    constexpr int kChunks = 8;  // of a block
    const auto taps = static_cast<u32>(p.taps[0] * p.taps[1]);
    const u32 columns = static_cast<u32>(p.channels) * taps;
    // WHY a chunk of a column a thread: forward it is one load, and neighbouring columns are neighbours backward.
    constexpr int kDepth = taps_layout::kDepth / kChunks;
    const int all = p.row_blocks * kChunks * kColumns;
    const int loaded = kConfig.dims == 3 ? all : (p.depth + kDepth - 1) / kDepth * kColumns;
    load_taps_filter<Element, kMathThreads>(p, all, loaded, [&](int index) {
      const auto column = static_cast<u32>(index % kColumns);
      const int chunk = index / kColumns;
      const u32 channel = column / taps, tap = column - channel * taps;
      const u32 tap_h = tap / static_cast<u32>(p.taps[1]), tap_w = tap - tap_h * static_cast<u32>(p.taps[1]);
      i64 from = p.filter_first + channel * p.filter_channel + tap_h * p.filter_tap[0] + tap_w * p.filter_tap[1];
      i32 depth = chunk * kDepth;
      if constexpr (kConfig.dims == 3) {
        const i32 plane = chunk / (p.depth_blocks * kChunks);
        from += plane * p.filter_plane;
        depth -= plane * p.depth_blocks * taps_layout::kDepth;
      }
      return TapsChunk{from, depth, column < columns,
                       filter + (chunk / kChunks * kColumns + static_cast<int>(column)) * 128 +
                           static_cast<u32>(chunk % kChunks ^ static_cast<int>(column % 8)) * 16};
    });
  }

  // Starts the product of a row; end_product waits for its last part.
  WT_DEVICE static void multiply(const Params& p, const Shared& shared, typename SourceRing::Cursor& slot,
                                 float (&d)[kColumns / 2]) {
    constexpr int kSteps =
        kConfig.gemm.tile.k / 16;  // WHY not of the run: products between branches wait for each other
    const bool releases = device::lane_index() == 0;
    for (i32 block = 0; block < p.row_blocks; ++block) {
      shared.sources.wait_full(slot);
      device::wgmma_fence();
      WT_UNROLL for (int step = 0; step < kSteps; ++step) {
        const u64 a = device::wgmma_descriptor(shared.source + slot.slot * taps_layout::kSlotBytes + step * 32, 16,
                                               1024, device::DescriptorSwizzle::k128);
        const u64 b = device::wgmma_descriptor(shared.filter + block * kColumns * 128 + step * 32, 16, 1024,
                                               device::DescriptorSwizzle::k128);
        Multiply::template multiply<device::Major::kK, device::Major::kK>(d, a, b, block > 0 || step > 0);
      }
      device::wgmma_commit();
      if (block > 0) {
        device::wgmma_wait<1>();  // the block before this one has been read
        if (releases) device::mbarrier_arrive(shared.sources.empty(slot.previous()));
      }
      slot.next();
    }
  }

  WT_DEVICE static void end_product(const Shared& shared, const typename SourceRing::Cursor& slot,
                                    float (&d)[kColumns / 2]) {
    const bool releases = device::lane_index() == 0;
    device::wgmma_wait<0>();
    device::wgmma_hold(d);
    if (releases) device::mbarrier_arrive(shared.sources.empty(slot.previous()));
  }

  // Column by column, pixels next to each other.
  WT_DEVICE static void store_products(SharedAddress products, const float (&d)[kColumns / 2]) {
    const int lane = device::lane_index();
    const SharedAddress first =
        products + (2 * (lane % 4) * kPitch + device::warp_index() * 16 + lane / 4) * static_cast<int>(sizeof(float));
    WT_UNROLL for (int i = 0; i < kColumns / 2; ++i) {
      device::store_shared(first + ((8 * (i / 4) + i % 2) * kPitch + 8 * (i / 2 % 2)) * 4, d[i]);
    }
  }
};

}  // namespace wt
