// SPDX-License-Identifier: Apache-2.0
// kernels/taps/device/row_kernel.h - few output channels under large filters: products of pixels with a row of taps at
// a time, summed over the filter's rows before neighbours are added.
//
//   source rows --TMA--> ring of rows --wgmma, all filter rows--> products (pixel; channel, tap along w) --> shared
//   --sums along w--> epilogue --> output
//
// As kernel.h, with the filter's rows along k instead of among the columns: 9x9 taps of 3 channels are 27 columns and
// not 243, so that next to nothing is stored and added; the ring keeps as many source rows as the filter has. Unit
// strides. Warpgroups take output rows in turns and share the ring: each waits for every slot and releases every slot
// once, when its next output row lies below it.
#pragma once

#include "kernels/device/epilogue.h"
#include "kernels/device/gemm/ring.h"
#include "kernels/taps/device/filter.h"
#include "kernels/taps/device/layout.h"
#include "kernels/taps/device/place.h"

namespace wt {

template <KernelConfig kConfig>
struct TapsRowGemm {
  using Params = TapsArguments;
  static constexpr int kThreads = taps_layout::threads(kConfig);
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const Shared shared = layout(p);
    start_barriers([&] { shared.rows.init(1, 4 * kGroups); });
    const TapsStrip strip = taps_strip(p, device::block_index().x);
    const int group = device::warp_index() / 4;
    if (group == kGroups) {
      if (device::elect()) produce(p, shared, strip);
    } else {
      consume(p, shared, strip, group);
    }
  }

 private:
  static constexpr int kColumns = kConfig.gemm.tile.n, kStages = kConfig.gemm.stages;
  static constexpr int kGroups = taps_layout::groups(kConfig), kGroupThreads = 128;
  static constexpr int kPitch = taps_layout::kProductPitch;
  static constexpr int kTapsH = kConfig.fixed.filter_h, kTapsW = kConfig.fixed.filter_w;
  static constexpr int kNumbers = taps_layout::numbers_of_thread(kConfig);
  static constexpr int kFilterBarrier = 1, kGroupBarrier = 2;  // of all math threads, and the first of a group
  using Element = Storage<operand_a(kConfig)>;
  using Multiply = device::Wgmma<operand_a(kConfig), operand_b(kConfig), kColumns>;
  using Rows = Ring<kStages>;
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;

  struct Shared {  // addresses
    SharedAddress source, filter, products;
    Rows rows;
  };

  WT_DEVICE static Shared layout(const Params& p) {
    constexpr taps_layout::RegionBytes kBytes = taps_layout::region_bytes(kConfig);
    const taps_layout::SharedLayout<SharedAddress> at(aligned_shared_base(), kBytes, p.depth_blocks, 0);
    return {at.source, at.filter, at.products, {at.ring}};
  }

  WT_DEVICE static void produce(const Params& p, const Shared& shared, const TapsStrip& strip) {
    typename Rows::Cursor slot;
    for (i32 row = strip.first_h - p.reach[0]; row < strip.last_h; ++row) {
      for (i32 block = 0; block < p.depth_blocks; ++block) {
        shared.rows.wait_empty(slot);
        const SharedAddress full = shared.rows.full(slot.slot);
        device::mbarrier_arrive_expect(full, taps_layout::kSlotBytes);
        device::tma_load(shared.source + slot.slot * taps_layout::kSlotBytes, p.source, full,
                         block * taps_layout::kDepth, strip.first_w - p.before, row, strip.image);
        slot.next();
      }
    }
  }

  WT_DEVICE static void consume(const Params& p, const Shared& shared, const TapsStrip& strip, int group) {
    load_filter(p, shared.filter);
    clear_outside<kGroupThreads * kGroups>(shared.products, kColumns * kGroups);
    device::fence_async_shared();
    device::sync_named(kFilterBarrier, kGroupThreads * kGroups);

    const SharedAddress products = shared.products + group * kColumns * kPitch * 4;
    Outputs outputs;
    outputs.start(p, strip, products);
    Steps steps;
    typename Rows::Cursor filled, oldest;  // the next slot to wait for, and the first one of the rows that are needed
    await(p, shared, filled, group);       // rows that only the groups before need
    release(p, shared, oldest, group);
    i32 missing = kTapsH;
    for (i32 row = strip.first_h + group; row < strip.last_h; row += kGroups) {
      await(p, shared, filled, missing);
      missing = kGroups;
      float d[kColumns / 2];
      multiply(p, shared, oldest, d);
      release(p, shared, oldest, row + kGroups < strip.last_h ? kGroups : kTapsH);
      device::sync_named(kGroupBarrier + group, kGroupThreads);  // the products of the row before have been added
      store_products(products, d);
      device::sync_named(kGroupBarrier + group, kGroupThreads);
      outputs.store(p, row, steps);
    }
    steps.finish(p.epilogue);
  }

  WT_DEVICE static void await(const Params& p, const Shared& shared, typename Rows::Cursor& filled, i32 rows) {
    for (i32 i = rows * p.depth_blocks; i > 0; --i) {
      shared.rows.wait_full(filled);
      filled.next();
    }
  }

  // WHY only rows that were waited for: an arrival for a slot that is not filled yet would count for the row before.
  WT_DEVICE static void release(const Params& p, const Shared& shared, typename Rows::Cursor& oldest, i32 rows) {
    const bool arrives = device::lane_index() == 0;
    for (i32 i = rows * p.depth_blocks; i > 0; --i) {
      if (arrives) device::mbarrier_arrive(shared.rows.empty(oldest.slot));
      oldest.next();
    }
  }

  // By filter rows, columns (output channel, tap along w), in blocks of 64 channels that are summed over; what does not
  // exist is zero.
  WT_DEVICE static void load_filter(const Params& p, SharedAddress filter) {
    constexpr int kChunks = 8;  // of a block
    const int columns = p.channels * kTapsW, all = kTapsH * p.depth_blocks * kChunks * kColumns;
    load_taps_filter<Element, kGroupThreads * kGroups>(p, all, all, [&](int index) {
      const int column = index % kColumns, chunk = index / kColumns % kChunks, part = index / (kColumns * kChunks);
      const int tap = part / p.depth_blocks, block = part - tap * p.depth_blocks;
      return TapsChunk{p.filter_first + column / kTapsW * p.filter_channel + tap * p.filter_tap[0] +
                           column % kTapsW * p.filter_tap[1],
                       block * taps_layout::kDepth + chunk * (taps_layout::kDepth / kChunks), column < columns,
                       filter + (part * kColumns + column) * 128 + static_cast<u32>(chunk ^ column % 8) * 16};
    });
  }

  // The oldest source row meets the last tap. WHY one chain of sums: two in turns took as long on an H200.
  WT_DEVICE static void multiply(const Params& p, const Shared& shared, typename Rows::Cursor slot,
                                 float (&d)[kColumns / 2]) {
    constexpr int kSteps = 128 / 32;
    for (int tap = kTapsH - 1; tap >= 0; --tap) {
      for (i32 block = 0; block < p.depth_blocks; ++block) {
        const SharedAddress from = shared.source + slot.slot * taps_layout::kSlotBytes;
        const SharedAddress filter = shared.filter + (tap * p.depth_blocks + block) * kColumns * 128;
        device::wgmma_fence();
        WT_UNROLL for (int step = 0; step < kSteps; ++step) {
          const u64 a = device::wgmma_descriptor(from + step * 32, 16, 1024, device::DescriptorSwizzle::k128);
          const u64 b = device::wgmma_descriptor(filter + step * 32, 16, 1024, device::DescriptorSwizzle::k128);
          Multiply::template multiply<device::Major::kK, device::Major::kK>(d, a, b,
                                                                            tap + 1 < kTapsH || block > 0 || step > 0);
        }
        device::wgmma_commit();
        slot.next();
      }
    }
    device::wgmma_wait<0>();
    device::wgmma_hold(d);
  }

  // Column by column, pixels next to each other.
  WT_DEVICE static void store_products(SharedAddress products, const float (&d)[kColumns / 2]) {
    const int lane = device::lane_index();
    const SharedAddress first = products + (2 * (lane % 4) * kPitch + device::warp_index() % 4 * 16 + lane / 4) *
                                               static_cast<int>(sizeof(float));
    WT_UNROLL for (int i = 0; i < kColumns / 2; ++i) {
      device::store_shared(first + ((8 * (i / 4) + i % 2) * kPitch + 8 * (i / 2 % 2)) * 4, d[i]);
    }
  }

  // A thread's outputs of every row.
  struct Outputs {
    SharedAddress from[kNumbers];  // of the first tap's product
    i64 offset[kNumbers];          // in the image's first row of output
    i32 channel[kNumbers];
    bool exists[kNumbers];

    WT_DEVICE void start(const Params& p, const TapsStrip& strip, SharedAddress products) {
      const i32 numbers = taps_row_numbers(p);
      WT_UNROLL for (int i = 0; i < kNumbers; ++i) {
        const i32 number = device::thread_index() % kGroupThreads + i * kGroupThreads;
        const TapsPlace place = taps_place(p, number < numbers ? number : 0);
        const i32 w = strip.first_w + place.unit - p.shift[1];
        exists[i] = number < numbers && place.unit < strip.width && w >= 0 && w < p.size[1];
        channel[i] = place.channel;
        from[i] = products + (place.channel * kTapsW * kPitch + place.unit + p.before) * 4;
        offset[i] = strip.image * p.out_stride[0] + w * p.out_stride[2] + place.channel;
      }
    }

    WT_DEVICE void store(const Params& p, i32 row, Steps& steps) const {
      auto* out = static_cast<typename Steps::Element*>(p.out);
      const i32 h = row - p.shift[0];
      WT_UNROLL for (int i = 0; i < kNumbers; ++i) {
        float sum = 0;
        WT_UNROLL for (int tap = 0; tap < kTapsW; ++tap) sum +=
            device::load_shared<float>(from[i] + tap * (kPitch - 1) * 4);
        if (!exists[i] || h < 0 || h >= p.size[0]) continue;
        const i64 at = offset[i] + h * p.out_stride[1];
        Steps::write(out + at, steps.apply(p.epilogue, sum, at, channel[i]));
      }
    }
  };
};

}  // namespace wt
