// SPDX-License-Identifier: Apache-2.0
// kernels/beside/device/channel_sum.h - sums of a tensor over images and pixels, one per channel: the gradient of a
// bias.
//
//   tensor --16-byte loads--> fp32 sums of a thread --> of a block --> workspace --second launch--> out (channels) fp32
//
// It waits for memory alone. Every sum has a fixed order, so the same tensor gives the same bits.
#pragma once

#include "kernels/beside/device/channel_sum_arguments.h"
#include "kernels/device/direct/channels.h"
#include "kernels/device/overlap.h"

namespace wt {

// What the two layouts share. A load is kVector elements.
template <DataType kType>
struct ChannelSumShape {
  using Element = Storage<kType>;
  static constexpr int kThreads = kChannelSumThreads;
  static constexpr int kVector = kChannelSumBytes / static_cast<int>(sizeof(Element));
  static constexpr int kAhead = kVector > 8 ? 4 : 8;  // loads in flight, as registers allow
  using Load = Channels<Element, kVector>;
};

template <DataType kType, Target kTarget>
struct ChannelPartsLast : ChannelSumShape<kType> {
  using Params = ChannelPartsArguments;
  using Shape = ChannelSumShape<kType>;
  using Element = typename Shape::Element;
  using Load = typename Shape::Load;
  static constexpr int kMinBlocks = 4;
  static constexpr int kVector = Shape::kVector, kAhead = Shape::kAhead;

  WT_DEVICE static void run(const Params& p) {
    const i32 thread = device::thread_index(), block = device::block_index().x;
    const i32 lane = thread % p.lanes, slot = thread / p.lanes;
    const i32 column = block % p.column_blocks * p.lanes + lane;
    const i64 row_block = block / p.column_blocks;
    const bool useful = slot < p.slots && column < p.row_vectors;
    float sum[kVector] = {};
    if (useful) add_rows(p, column, row_block * p.slots + slot, sum);
    if constexpr (overlaps_sum(kTarget)) device::launch_dependents();

    const SharedAddress base = device::shared_base();
    WT_UNROLL for (int e = 0; e < kVector; ++e) device::store_shared(base + 4 * (e * Shape::kThreads + thread), sum[e]);
    device::sync_block();
    if (slot > 0 || column >= p.row_vectors) return;
    float* out = p.parts + row_block * p.width + static_cast<i64>(column) * kVector;
    WT_UNROLL for (int e = 0; e < kVector; ++e) {
      float total = sum[e];
      for (i32 other = 1; other < p.slots; ++other)
        total += device::load_shared<float>(base + 4 * (e * Shape::kThreads + other * p.lanes + lane));
      device::store_global(out + e, total);
    }
  }

 private:
  WT_DEVICE static void add_rows(const Params& p, i32 column, i64 first, float (&sum)[kVector]) {
    const i64 step = static_cast<i64>(p.row_blocks) * p.slots, pitch = static_cast<i64>(p.row_vectors) * kVector;
    const Element* in = static_cast<const Element*>(p.in) + static_cast<i64>(column) * kVector;
    for (i64 row = first; row < p.rows; row += step * kAhead) {
      Load held[kAhead];
      WT_UNROLL for (int i = 0; i < kAhead; ++i) {
        const i64 at = row + i * step;
        held[i] = Load::load(in + at * pitch, at < p.rows);
      }
      WT_UNROLL for (int i = 0; i < kAhead; ++i) {
        WT_UNROLL for (int e = 0; e < kVector; ++e) sum[e] += held[i].value(e);
      }
    }
  }
};

template <DataType kType, Target kTarget>
struct ChannelPartsFirst : ChannelSumShape<kType> {
  using Params = ChannelPartsArguments;
  using Shape = ChannelSumShape<kType>;
  using Element = typename Shape::Element;
  using Load = typename Shape::Load;
  static constexpr int kMinBlocks = 4;
  static constexpr int kVector = Shape::kVector;

  WT_DEVICE static void run(const Params& p) {
    const i32 thread = device::thread_index(), lane = thread % p.lanes, slot = thread / p.lanes;
    const i64 channel = device::block_index().x % p.channels, row_block = device::block_index().x / p.channels;
    float total = 0;
    for (i64 item = row_block * p.slots + slot; item < p.items; item += static_cast<i64>(p.row_blocks) * p.slots) {
      const i64 image = item / p.segments, segment = item - image * p.segments;
      const i64 line = (image * p.channels + channel) * p.pixels, first = segment * p.segment_elements;
      const i64 end = first + p.segment_elements < p.pixels ? first + p.segment_elements : p.pixels;
      total += sum_range(p, lane, line + first, line + end);
    }
    if constexpr (overlaps_sum(kTarget)) device::launch_dependents();

    const SharedAddress base = device::shared_base();
    // A tree, the same for every block.
    for (i32 half = Shape::kThreads / 2; half > 0; half /= 2) {
      if (thread >= half && thread < 2 * half) device::store_shared(base + 4 * thread, total);
      device::sync_block();
      if (thread < half) total += device::load_shared<float>(base + 4 * (thread + half));
    }
    if (thread == 0) device::store_global(p.parts + row_block * p.width + channel, total);
  }

 private:
  // This lane's share of elements [first, end): aligned loads, whose elements outside count as zero.
  WT_DEVICE static float sum_range(const Params& p, i32 lane, i64 first, i64 end) {
    const auto* in = static_cast<const Element*>(p.in);
    float sum = 0;
    const i64 step = static_cast<i64>(p.lanes) * kVector;
    WT_UNROLL_FEW for (i64 at = first / kVector * kVector + lane * kVector; at < end; at += step) {
      if (at + kVector > p.elements) {  // the tensor ends within the load
        for (i64 i = at < first ? first : at; i < end; ++i) sum += device::to_float(device::load_global(in + i));
        continue;
      }
      const Load held = Load::load(in + at, true);
      if (at >= first && at + kVector <= end) {
        WT_UNROLL for (int e = 0; e < kVector; ++e) sum += held.value(e);
      } else {
        WT_UNROLL for (int e = 0; e < kVector; ++e) sum += at + e >= first && at + e < end ? held.value(e) : 0.0f;
      }
    }
    return sum;
  }
};

template <DataType kType, Target kTarget>
struct ChannelTotals {
  using Params = ChannelTotalsArguments;
  static constexpr int kThreads = kChannelSumThreads;
  static constexpr int kMinBlocks = 1;

  WT_DEVICE static void run(const Params& p) {
    const i32 thread = device::thread_index(), lane = thread % p.elements, slice = thread / p.elements;
    const i32 slices = kThreads / p.elements;
    const i64 channel = static_cast<i64>(device::block_index().x) * p.elements + lane;
    if constexpr (overlaps_sum(kTarget)) device::wait_prerequisites();
    float total = channel < p.channels ? add_slice(p, channel, slice, slices) : 0;
    const SharedAddress base = device::shared_base();
    for (i32 half = slices / 2; half > 0; half /= 2) {
      if (slice >= half && slice < 2 * half) device::store_shared(base + 4 * thread, total);
      device::sync_block();
      if (slice < half) total += device::load_shared<float>(base + 4 * (thread + half * p.elements));
    }
    if (slice == 0 && channel < p.channels) device::store_global(p.out + channel, total);
  }

 private:
  // Parts slice, slice + slices, .. of the channel: it stands at every channels-th element of a row of parts.
  WT_DEVICE static float add_slice(const Params& p, i64 channel, i32 slice, i32 slices) {
    float total = 0;
    const i64 repeats = p.width / p.channels, count = p.row_blocks * repeats;
    WT_UNROLL_FEW for (i64 i = slice; i < count; i += slices) {
      // Rows of parts lie one after the other, and each is a whole number of rows of channels.
      total += device::load_global(p.parts + i * p.channels + channel);
    }
    const auto* tail = static_cast<const Storage<kType>*>(p.in) + p.tail_first + channel;
    for (i64 row = slice; row < p.tail_rows; row += slices)
      total += device::to_float(device::load_global(tail + row * p.channels));
    return total;
  }
};

}  // namespace wt
