// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/taps/kernel.h - few output channels on Hopper: every pixel times every tap, then sums of neighbours.
//
//   source row --TMA--> slots --wgmma--> products (pixel; channel, tap) --> shared --sums--> window --epilogue-->
//   output filter --once a block--> shared memory --/
//
// A block walks down a strip of the image. Each row of 64 source pixels is multiplied by the whole filter, its columns
// being output channels times taps, and every product is added to the output that it belongs to: the source is read
// once, not once a tap, and a matrix instruction's columns are full though the output has 3 channels. Output rows in
// the making stay in shared memory. Each output has one thread, which adds in one order.
#pragma once

#include "kernel/epilogue.h"
#include "kernel/gemm/ring.h"
#include "kernel/gemm/taps/arguments.h"
#include "kernel/gemm/taps/layout.h"

namespace wt {

template <KernelConfig kConfig>
struct TapsGemm {
  using Params = TapsArguments;
  static constexpr int kThreads = taps_layout::threads(kConfig);
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const Shared shared = layout(p);
    if (device::thread_index() == 0) {
      shared.sources.init(1, kMathThreads / 32);
      device::mbarrier_fence_init();
    }
    device::sync_block();
    const Strip strip = strip_of(p);
    if (device::warp_index() == kMathThreads / 32) {
      if (device::elect()) produce(p, shared, strip);
    } else if (device::thread_index() < kMathThreads) {
      consume(p, shared, strip);
    }
  }

 private:
  static constexpr int kColumns = kConfig.gemm.tile.n, kStages = kConfig.gemm.stages;
  static constexpr int kMathThreads = taps_layout::kMathThreads, kPitch = taps_layout::kProductPitch;
  static constexpr int kBarrier = 1;  // of the math threads
  using Element = Storage<operand_a(kConfig)>;
  using Multiply = device::Wgmma<operand_a(kConfig), operand_b(kConfig), kColumns>;
  using SourceRing = Ring<kStages>;
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;

  struct Shared {  // addresses
    SharedAddress source, filter, products, window;
    SourceRing sources;
  };

  // What a block makes: units [first, last) of both dimensions, from source rows that start `reach` earlier.
  struct Strip {
    i32 image, first_h, last_h, first_w, width;
  };

  WT_DEVICE static Shared layout(const Params& p) {
    const SharedAddress source = (device::shared_base() + 1023) & ~1023u;
    const SharedAddress filter = source + taps_layout::source_bytes(kConfig);
    const SharedAddress products = filter + taps_layout::filter_bytes(kConfig, p.depth_blocks);
    const SharedAddress window = products + taps_layout::product_bytes(kConfig);
    const SharedAddress barriers = (window + static_cast<u32>(p.window * row_numbers(p)) * 4 + 7) & ~7u;
    return {source, filter, products, window, {barriers}};
  }

  // Outputs of a row of the strip.
  WT_DEVICE static i32 row_numbers(const Params& p) { return p.channels * p.stride[1] * p.strip_units; }

  WT_DEVICE static Strip strip_of(const Params& p) {
    const auto index = static_cast<u32>(device::block_index().x);
    const u32 row = index / static_cast<u32>(p.strips), strip = index - row * static_cast<u32>(p.strips);
    const u32 image = row / static_cast<u32>(p.segments), segment = row - image * static_cast<u32>(p.segments);
    const i32 first_h = static_cast<i32>(segment) * p.segment_units, first_w = static_cast<i32>(strip) * p.strip_units;
    const i32 last_h = first_h + p.segment_units < p.units[0] ? first_h + p.segment_units : p.units[0];
    return {static_cast<i32>(image), p.first_unit[0] + first_h, p.first_unit[0] + last_h, p.first_unit[1] + first_w,
            p.units[1] - first_w < p.strip_units ? p.units[1] - first_w : p.strip_units};
  }

  WT_DEVICE static void produce(const Params& p, const Shared& shared, const Strip& strip) {
    typename SourceRing::Cursor slot;
    for (i32 row = strip.first_h - p.reach[0]; row < strip.last_h; ++row) {
      for (i32 block = 0; block < p.depth_blocks; ++block) {
        shared.sources.wait_empty(slot);
        const SharedAddress full = shared.sources.full(slot.slot);
        device::mbarrier_arrive_expect(full, taps_layout::kSlotBytes);
        device::tma_load(shared.source + slot.slot * taps_layout::kSlotBytes, p.source, full,
                         block * taps_layout::kDepth, strip.first_w - p.reach[1], row, strip.image);
        slot.next();
      }
    }
  }

  WT_DEVICE static void consume(const Params& p, const Shared& shared, const Strip& strip) {
    load_filter(p, shared.filter);
    for (i32 i = device::thread_index(); i < p.window * row_numbers(p); i += kMathThreads)
      device::store_shared<float>(shared.window + i * 4, 0);
    device::fence_async_shared();
    device::sync_named(kBarrier, kMathThreads);

    typename SourceRing::Cursor slot;
    Steps steps;
    for (i32 row = strip.first_h - p.reach[0]; row < strip.last_h; ++row) {
      float d[kColumns / 2];
      multiply(p, shared, slot, d);
      device::sync_named(kBarrier, kMathThreads);  // the products of the row before have been added
      store_products(shared.products, d);
      device::sync_named(kBarrier, kMathThreads);
      add_products(p, shared, row);
      finish_rows(p, shared, strip, row, steps);
    }
    steps.finish(p.epilogue);
  }

  // Columns are (output channel, tap), in blocks of 64 channels that are summed over; what does not exist is zero.
  WT_DEVICE static void load_filter(const Params& p, SharedAddress filter) {
    constexpr int kWidth = 16 / sizeof(Element);
    const auto taps = static_cast<u32>(p.taps[0] * p.taps[1]);
    const u32 columns = static_cast<u32>(p.channels) * taps;
    const auto* from = static_cast<const Element*>(p.filter) + p.filter_first;
    const int chunks = p.depth_blocks * (taps_layout::kDepth / kWidth);
    // WHY a chunk of a column a thread: forward it is one load, and neighbouring columns are neighbours backward.
    for (int index = device::thread_index(); index < chunks * kColumns; index += kMathThreads) {
      const auto column = static_cast<u32>(index % kColumns);
      const int chunk = index / kColumns, depth = chunk * kWidth;
      Vector<Element, kWidth> part{};
      if (column < columns) {
        const u32 channel = column / taps, tap = column - channel * taps;
        const u32 tap_h = tap / static_cast<u32>(p.taps[1]), tap_w = tap - tap_h * static_cast<u32>(p.taps[1]);
        const Element* at = from + channel * p.filter_channel + tap_h * p.filter_tap[0] + tap_w * p.filter_tap[1];
        WT_UNROLL for (int i = 0; i < kWidth; ++i) {
          if (depth + i < p.depth) part.at[i] = device::load_global(at + (depth + i) * p.filter_depth);
        }
      }
      const int block = depth / taps_layout::kDepth, in_block = chunk % (taps_layout::kDepth / kWidth);
      device::store_shared(filter + (block * kColumns + static_cast<int>(column)) * 128 +
                               static_cast<u32>(in_block ^ static_cast<int>(column % 8)) * 16,
                           part);
    }
  }

  WT_DEVICE static void multiply(const Params& p, const Shared& shared, typename SourceRing::Cursor& slot,
                                 float (&d)[kColumns / 2]) {
    constexpr int kSteps = 128 / 32;
    const bool releases = device::lane_index() == 0;
    for (i32 block = 0; block < p.depth_blocks; ++block) {
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
      device::wgmma_wait<1>();  // the block before this one has been read
      if (releases && block > 0) device::mbarrier_arrive(shared.sources.empty(slot.previous()));
      slot.next();
    }
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

  // An output of the strip's row, by number: channel, then remainder of the stride, then unit.
  struct Place {
    i32 channel, rest, unit;
  };
  WT_DEVICE static Place place_of(const Params& p, i32 number) {
    const u32 line = static_cast<u32>(number) / static_cast<u32>(p.strip_units);
    const u32 channel = line / static_cast<u32>(p.stride[1]);
    return {static_cast<i32>(channel), static_cast<i32>(line - channel * static_cast<u32>(p.stride[1])),
            number - static_cast<i32>(line) * p.strip_units};
  }
  // Where output row `output`, counted with its shift, lies in the window.
  WT_DEVICE static i32 window_row(const Params& p, i32 output) {
    const i32 rest = output % p.window;
    return rest < 0 ? rest + p.window : rest;
  }

  WT_DEVICE static void add_products(const Params& p, const Shared& shared, i32 row) {
    const i32 numbers = row_numbers(p);
    const i32 first_row = window_row(p, row * p.stride[0]);
    const u32 step = static_cast<u32>(p.tap_step * kPitch - p.source_step) * 4;
    for (i32 number = device::thread_index(); number < numbers; number += kMathThreads) {
      const Place place = place_of(p, number);
      const i32 tap_first = p.tap_first[place.rest];
      if (tap_first < 0) continue;
      SharedAddress from =
          shared.products +
          ((place.channel * p.taps[0] * p.taps[1] + tap_first) * kPitch + place.unit + p.tap_source[place.rest]) * 4;
      i32 into = first_row;
      for (i32 tap_h = 0; tap_h < p.taps[0]; ++tap_h) {
        SharedAddress at = from;
        float sum = 0;
        for (i32 tap = tap_first; tap < p.taps[1]; tap += p.tap_step, at += step) sum += device::load_shared<float>(at);
        const SharedAddress to = shared.window + (into * numbers + number) * 4;
        device::store_shared(to, device::load_shared<float>(to) + sum);
        from += static_cast<u32>(p.taps[1] * kPitch) * 4;
        into += p.dilation[0];
        if (into >= p.window) into -= p.window;
      }
    }
  }

  // Output rows of this unit have met their last source row: they leave, and their place starts again at zero.
  WT_DEVICE static void finish_rows(const Params& p, const Shared& shared, const Strip& strip, i32 row, Steps& steps) {
    const i32 numbers = row_numbers(p);
    auto* out = static_cast<typename Steps::Element*>(p.out);
    for (i32 rest_h = 0; rest_h < p.stride[0]; ++rest_h) {
      const i32 output = row * p.stride[0] + rest_h, h = output - p.shift[0];
      const bool exists = row >= strip.first_h && h >= 0 && h < p.size[0];
      const SharedAddress line = shared.window + window_row(p, output) * numbers * 4;
      for (i32 number = device::thread_index(); number < numbers; number += kMathThreads) {
        const float value = device::load_shared<float>(line + number * 4);
        device::store_shared<float>(line + number * 4, 0);
        const Place place = place_of(p, number);
        const i32 w = (strip.first_w + place.unit) * p.stride[1] + place.rest - p.shift[1];
        if (!exists || place.unit >= strip.width || w < 0 || w >= p.size[1]) continue;
        const i64 offset = strip.image * p.out_stride[0] + h * p.out_stride[1] + w * p.out_stride[2] + place.channel;
        Steps::write(out + offset, steps.apply(p.epilogue, value, offset, place.channel));
      }
    }
  }
};

}  // namespace wt
