// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_gather/device/kernel.h - depthwise forward and backward data, every tap looked up: any filter,
// stride, dilation, padding, multiplier and layout.
//
//   weights --rows of the filter--> shared memory;  pixels of x or dy --> registers --> sums --> y or dx
//
// A thread has vector_out channels of sub_w pixels of one row; with stride_w = dilation_w = 1 compiled in, it slides
// over the row and reads each pixel once. Threads of a block lie side by side along channels (channels-last) or columns
// (channels-first), so that neighbours read neighbouring addresses.
#pragma once

#include "kernels/device/direct/output.h"
#include "kernels/device/direct/walk.h"

namespace wt {

template <KernelConfig kConfig>
struct DirectGather {
  using Params = GatherArguments;
  static constexpr int kThreads = kConfig.direct.block_size;
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const Place at = Place::make(p);
    ChannelOutput<kConfig, kWidth> output;
    float sum[kPixels][kWidth] = {};
    const i32 rows = p.filter[0] * p.filter[1];
    for (i32 first = 0; first < rows; first += p.filter_rows) {
      const i32 end = first + p.filter_rows < rows ? first + p.filter_rows : rows;
      stage(p, at, first, end);
      if (at.useful) add_rows(p, at, first, end, sum);
    }
    if (!at.useful) return;
    output.prepare(p.epilogue, at.channel);
    const i64 out = at.image * p.to.n + at.channel * p.to.channel + at.d * p.to.spatial[0] + at.h * p.to.spatial[1];
    WT_UNROLL for (int i = 0; i < kPixels; ++i) {
      const i32 column = at.column + i * p.column_lanes * p.lattices;
      if (column < p.to.size[2]) output.store(p.epilogue, p.out, out + column * p.to.spatial[2], sum[i]);
    }
    output.finish(p.epilogue);
  }

 private:
  static constexpr bool kForward = kConfig.direction == Direction::kForward;
  static constexpr int kWidth = kConfig.direct.vector_out;
  static constexpr int kPixels = kConfig.direct.sub_w;
  static constexpr bool kVector = kConfig.direct.vector_in == kWidth;  // input channels lie like the output's
  static constexpr bool kHistory = kConfig.direct.history;  // one-dimensional, so that all before pixel 0 is along w
  static constexpr bool kSliding = kConfig.fixed.stride_w == 1 && kConfig.fixed.dilation_w == 1;
  // Pixels on their way while a thread slides along a row; channels that are read one by one take too many registers.
  static constexpr int kAhead = !kVector && kWidth > 1 ? 1 : kPixels < 4 ? kPixels : 4;
  static_assert(kPixels % kAhead == 0);
  using In = Storage<operand_a(kConfig)>;

  struct Place {
    i32 lane, channel;
    i64 image;
    i32 d, h;
    i32 column;  // of the first pixel
    bool useful;

    WT_DEVICE static Place make(const Params& p) {
      Place at;
      i32 thread = device::thread_index(), block = device::block_index().x;
      at.lane = thread % p.blocks.lanes;
      thread /= p.blocks.lanes;
      const i32 column_lane = thread % p.column_lanes, slot = thread / p.column_lanes;
      const i32 slots = kThreads / (p.blocks.lanes * p.column_lanes);
      at.channel = (block % p.blocks.channel_blocks * p.blocks.lanes + at.lane) * kWidth;
      i64 strip = static_cast<i64>(block / p.blocks.channel_blocks) * slots + slot;
      at.useful = slot < slots && strip < p.strips && at.channel < p.channels;
      const i32 tile = static_cast<i32>(strip % p.column_tiles);
      strip /= p.column_tiles;
      const i32 lattice = static_cast<i32>(strip % p.lattices);
      strip /= p.lattices;
      at.h = static_cast<i32>(strip % p.to.size[1]);
      strip /= p.to.size[1];
      at.d = static_cast<i32>(strip % p.to.size[0]);
      at.image = strip / p.to.size[0];
      at.column = lattice + (tile * kPixels * p.column_lanes + column_lane) * p.lattices;
      return at;
    }
  };

  // Weights that meet one input channel each: a channel's own forward, its multiples' backward.
  WT_DEVICE static i32 multiples(const Params& p) { return kForward ? 1 : p.multiplier; }

  // Rows [first, end) of the filter as (row, tap, multiple, channel of the block), fp32.
  WT_DEVICE static void stage(const Params& p, const Place& at, i32 first, i32 end) {
    const SharedAddress base = device::shared_base();
    const auto* weights = static_cast<const Storage<kConfig.w>*>(p.second);
    const i32 width = p.blocks.lanes * kWidth, start = at.channel - at.lane * kWidth, many = multiples(p);
    const i32 taps = (end - first) * p.filter[2];
    const i64 filter = static_cast<i64>(p.filter[0]) * p.filter[1] * p.filter[2];
    device::sync_block();
    for (i32 i = device::thread_index(); i < taps * width * many; i += kThreads) {
      const i32 tap = i % taps, k = i / taps;
      const i32 channel = k / many, multiple = k % many;
      float value = 0;
      if (start + channel < p.channels) {
        const i64 from = (static_cast<i64>(start) * many + k) * filter + first * p.filter[2] + tap;
        value = device::to_float(device::load_global(weights + from));
      }
      device::store_shared(base + 4 * ((tap * many + multiple) * width + channel), value);
    }
    device::sync_block();
  }

  WT_DEVICE static void add_rows(const Params& p, const Place& at, i32 first, i32 end, float (&sum)[kPixels][kWidth]) {
    const TapWalk d = walk_of<kConfig.direction>(p, 0, at.d), h = walk_of<kConfig.direction>(p, 1, at.h);
    const TapWalk w = walk_of<kConfig.direction>(p, 2, at.column);
    const i64 image = at.image * p.from.n;
    for (i32 a = d.tap, z = d.position; a < p.filter[0]; a += p.tap_step[0], z += p.position_step[0]) {
      if (z < 0 || z >= p.from.size[0]) continue;
      for (i32 r = h.tap, y = h.position; r < p.filter[1]; r += p.tap_step[1], y += p.position_step[1]) {
        const i32 row = a * p.filter[1] + r;
        if (y < 0 || y >= p.from.size[1] || row < first || row >= end) continue;
        const i64 offset = image + z * p.from.spatial[0] + y * p.from.spatial[1];
        if constexpr (kSliding) {
          slide_row(p, at, offset, row - first, sum);
        } else {
          add_row(p, at, offset, row - first, w, sum);
        }
      }
    }
  }

  WT_DEVICE static void add_row(const Params& p, const Place& at, i64 offset, i32 row, const TapWalk& walk,
                                float (&sum)[kPixels][kWidth]) {
    const In* pixels = static_cast<const In*>(p.first) + offset;
    const i32 width = p.blocks.lanes * kWidth, many = multiples(p);
    const i32 pixel_step = p.column_lanes * (kForward ? p.stride[2] : 1);
    const SharedAddress weights = device::shared_base() + 4 * (row * p.filter[2] * many * width + at.lane * kWidth);
    i32 x = walk.position;
    for (i32 s = walk.tap; s < p.filter[2]; s += p.tap_step[2], x += p.position_step[2]) {
      for (i32 multiple = 0; multiple < many; ++multiple) {
        float weight[kWidth];
        read_weights(weights + 4 * (s * many + multiple) * width, weight);
        WT_UNROLL for (int i = 0; i < kPixels; ++i) {
          const i32 position = x + i * pixel_step;
          if ((!kHistory && position < 0) || position >= p.from.size[2]) continue;
          float value[kWidth];
          if (kHistory && position < 0) {
            Fetched::load(past_pixel(p, at, position), p.history.channel, p, at.channel, multiple, true).widen(value);
          } else {
            Fetched::load(pixels + position * p.from.spatial[2], p.from.channel, p, at.channel, multiple, true)
                .widen(value);
          }
          WT_UNROLL for (int e = 0; e < kWidth; ++e) sum[i][e] = device::multiply_add(value[e], weight[e], sum[i][e]);
        }
      }
    }
  }

  // The same where neighbouring pixels meet neighbouring taps: each pixel of the row is read once and kept for the
  // outputs that it meets. Taps are walked so that positions grow.
  WT_DEVICE static void slide_row(const Params& p, const Place& at, i64 offset, i32 row,
                                  float (&sum)[kPixels][kWidth]) {
    const In* pixels = static_cast<const In*>(p.first) + offset;
    const i32 width = p.blocks.lanes * kWidth, many = multiples(p), taps = p.filter[2];
    const SharedAddress weights = device::shared_base() + 4 * (row * taps * many * width + at.lane * kWidth);
    const i32 x = kForward ? at.column - p.pad[2] : at.column + p.pad[2] - (taps - 1);
    // Those that exist and are met; counted once, since every tap asks.
    const i32 begin = x < 0 ? -x : 0, met = taps + kPixels - 1, inside = p.from.size[2] - x;
    const i32 end = met < inside ? met : inside, pitch = static_cast<i32>(p.from.spatial[2]);
    const u32 count = end > begin ? static_cast<u32>(end - begin) : 0;
    pixels += x * p.from.spatial[2];
    for (i32 multiple = 0; multiple < many; ++multiple) {
      // Position `from` of those that the row's taps meet.
      const auto fetch = [&](i32 from) {
        const bool exists = static_cast<u32>(from - begin) < count;
        if constexpr (kHistory) {
          if (from < begin)
            return Fetched::load(past_pixel(p, at, x + from), p.history.channel, p, at.channel, multiple, from < met);
        }
        return Fetched::load(pixels + static_cast<i64>(from) * pitch, p.from.channel, p, at.channel, multiple, exists);
      };
      Fetched ahead[kAhead];        // position first + kPixels + i at i, modulo kAhead
      float held[kPixels][kWidth];  // position first + i at i, modulo kPixels
      {
        Fetched start[kPixels];
        WT_UNROLL for (int i = 0; i < kPixels; ++i) start[i] = fetch(i);
        WT_UNROLL for (int i = 0; i < kAhead; ++i) ahead[i] = fetch(kPixels + i);
        WT_UNROLL for (int i = 0; i < kPixels; ++i) start[i].widen(held[i]);
      }
      for (i32 first = 0; first < taps; first += kPixels) {
        WT_UNROLL for (int step = 0; step < kPixels; ++step) {
          if (first + step >= taps) break;
          const i32 tap = kForward ? first + step : taps - 1 - (first + step);
          float weight[kWidth];
          read_weights(weights + 4 * (tap * many + multiple) * width, weight);
          WT_UNROLL for (int i = 0; i < kPixels; ++i) {
            WT_UNROLL for (int e = 0; e < kWidth; ++e) sum[i][e] =
                device::multiply_add(held[(i + step) % kPixels][e], weight[e], sum[i][e]);
          }
          ahead[step % kAhead].widen(held[step]);
          ahead[step % kAhead] = fetch(first + step + kPixels + kAhead);
        }
      }
    }
  }

  // Pixel `before` zero: the history ends where the image begins.
  WT_DEVICE static const In* past_pixel(const Params& p, const Place& at, i32 before) {
    return static_cast<const In*>(p.history.data) + at.image * p.history.n +
           static_cast<i64>(p.history.length + before) * p.history.pixel;
  }

  // A thread's channels of one pixel as they came from memory. WHY not as floats: widening waits for the load.
  struct Fetched {
    static constexpr bool kWhole = kVector && kWidth > 1;
    typename Choose<kWhole, Channels<In, kWidth>, Vector<In, 1>>::Type whole;
    In each[kWhole ? 1 : kWidth];

    // Zeros where the pixel does not exist. Its channels lie `pitch` apart.
    WT_DEVICE static Fetched load(const In* pixel, i64 pitch, const Params& p, i32 channel, i32 multiple, bool exists) {
      Fetched to;
      if constexpr (kWhole) {
        to.whole = Channels<In, kWidth>::load(pixel + channel, exists);
      } else {
        WT_UNROLL for (int e = 0; e < kWidth; ++e) {
          to.each[e] = In{};
          const i32 from = kForward ? (channel + e) / p.multiplier : (channel + e) * p.multiplier + multiple;
          if (exists) to.each[e] = device::load_global(pixel + from * pitch);
        }
      }
      return to;
    }
    WT_DEVICE void widen(float (&to)[kWidth]) const {
      WT_UNROLL for (int e = 0; e < kWidth; ++e) {
        if constexpr (kWhole) {
          to[e] = whole.value(e);
        } else {
          to[e] = device::to_float(each[e]);
        }
      }
    }
  };
};

}  // namespace wt
