// SPDX-License-Identifier: Apache-2.0
// kernels/device/direct/strip.h - what the three streaming kernels share: the strip of a thread, its rows, its weights.
//
//   block = channel vectors (lanes) x strips;  strip = some columns of some rows of one plane of one image
//
// Channels-first, a block has one channel and its threads lie side by side along columns.
#pragma once

#include "kernels/depthwise_stream/device/shape.h"
#include "kernels/device/direct/arguments.h"
#include "kernels/device/direct/channels.h"

namespace wt {

// Where a thread stands in its block and its block in the grid.
struct StripThread {
  i32 lane, slot, slots;
  i32 channel;  // first of its vector
  i64 block;    // over everything but channels
  bool useful;  // whole strips and existing channels

  template <int kThreads, int kWidth>
  WT_DEVICE static StripThread make(const DirectBlocks& blocks, i32 channels) {
    StripThread at;
    const i32 thread = device::thread_index(), index = device::block_index().x;
    at.lane = thread % blocks.lanes;
    at.slot = thread / blocks.lanes;
    at.slots = kThreads / blocks.lanes;
    at.channel = (index % blocks.channel_blocks * blocks.lanes + at.lane) * kWidth;
    at.block = index / blocks.channel_blocks;
    at.useful = at.slot < at.slots && at.channel < channels;
    return at;
  }
};

struct Strip {
  i64 image;
  i32 plane, row_tile, column_tile;

  WT_DEVICE static Strip make(const StreamArguments& p, i64 index, i32 planes) {
    Strip strip;
    strip.column_tile = static_cast<i32>(index % p.column_tiles);
    index /= p.column_tiles;
    strip.row_tile = static_cast<i32>(index % p.row_tiles);
    index /= p.row_tiles;
    strip.plane = static_cast<i32>(index % planes);
    strip.image = index / planes;
    return strip;
  }
};

// The order in which a strip's rows come: every plane of the filter for one step, then the next step.
struct StripCursor {
  i32 step, plane;

  template <bool kPlanes>
  WT_DEVICE void advance(i32 planes) {
    if (kPlanes && ++plane < planes) return;
    plane = 0;
    ++step;
  }
};

// kCount neighbouring pixels of a row, from `column` on; zeros outside the image. With a history, the rows before the
// first are its last ones.
template <class T, int kWidth, int kCount, bool kHistory = false>
struct RowReader {
  using Pixel = Channels<T, kWidth>;
  static constexpr int kPixels = kCount;
  const T* first;  // row 0, at the first column and channel
  const T* past;   // where row 0 would follow the history; rows lie as far apart as the image's
  i64 pitch;
  i32 pixel, height;
  u32 columns;  // bit i: column i exists

  WT_DEVICE static RowReader make(const DirectImage& image, const void* data, i64 n, i32 channel, i32 column) {
    static_assert(kCount <= 32);
    RowReader reader;
    reader.first = static_cast<const T*>(data) + n * image.n + column * image.spatial[2] + channel * image.channel;
    reader.pitch = image.spatial[1];
    reader.pixel = static_cast<i32>(image.spatial[2]);
    reader.height = image.size[1];
    reader.past = nullptr;
    reader.columns = 0;
    WT_UNROLL for (int i = 0; i < kCount; ++i) {
      if (column + i >= 0 && column + i < image.size[2]) reader.columns |= 1u << i;
    }
    return reader;
  }
  // One-dimensional images: one column, one plane.
  WT_DEVICE void set_history(const DirectHistory& history, i64 n, i32 channel) {
    past = static_cast<const T*>(history.data) + n * history.n + history.length * history.pixel +
           channel * history.channel;
  }
  // `offset` leads to the plane.
  WT_DEVICE void read(Pixel (&to)[kCount], i32 row, bool exists, i64 offset) const {
    exists = exists && (kHistory || row >= 0) && row < height;
    const T* at = (kHistory && row < 0 ? past : first) + offset + row * pitch;
    WT_UNROLL for (int i = 0; i < kCount; ++i) {
      to[i] = Pixel::load(at + static_cast<i64>(i) * pixel, exists && (columns >> i & 1));
    }
  }
};

// The steps of a thread that are on their way and the one that it multiplies, pixel by pixel, side by side with those
// of the other threads. No barrier: a thread reads what it has copied itself.
template <KernelConfig kConfig>
struct StepRing {
  static constexpr int kSlots = kConfig.direct.prefetch + 1;
  static constexpr int kPixelBytes = stream_pixel_bytes(kConfig);
  static constexpr u32 kPitch = kPixelBytes * kConfig.direct.block_size;

  SharedAddress mine;
  int slot = 0;  // of the step that is multiplied next

  WT_DEVICE static StepRing make() {
    return {device::shared_base() + static_cast<u32>(kPixelBytes * device::thread_index())};
  }
  WT_DEVICE SharedAddress at(int index) const { return mine + static_cast<u32>(index) * (kPitch * kPixels); }
  // Where the step after those on their way goes: the place of the one before.
  WT_DEVICE SharedAddress next() const { return at(slot == 0 ? kSlots - 1 : slot - 1); }
  WT_DEVICE void advance() { slot = slot + 1 == kSlots ? 0 : slot + 1; }

  // The reader's pixels of a row, from pixel `first` of the step on; `offset` leads to the plane.
  template <class Reader>
  WT_DEVICE static void copy(const Reader& reader, SharedAddress step, int first, i32 row, bool exists, i64 offset) {
    exists = exists && row >= 0 && row < reader.height;
    const auto* from = reader.first + offset + row * reader.pitch;
    WT_UNROLL for (int i = 0; i < Reader::kPixels; ++i) {
      device::copy_async<kPixelBytes>(step + (first + i) * kPitch, from + static_cast<i64>(i) * reader.pixel,
                                      exists && (reader.columns >> i & 1) ? kPixelBytes : 0);
    }
  }
  template <class Pixel, int kCount>
  WT_DEVICE static void read(SharedAddress step, int first, Pixel (&to)[kCount]) {
    WT_UNROLL for (int i = 0; i < kCount; ++i) to[i] = Pixel::from_shared(step + (first + i) * kPitch);
  }

 private:
  static constexpr u32 kPixels = stream_step_pixels(kConfig);
};

// The weights of a block's channels as fp32 in shared memory, a lane's taps together.
template <KernelConfig kConfig>
struct StripWeights {
  using Shape = StreamShape<kConfig>;
  static constexpr int kWidth = Shape::kWidth;
  static constexpr int kKept = kConfig.direct.register_weights ? Shape::kTaps : 1;
  using Element = Storage<kConfig.w>;
  // Loads of a thread that are on their way together: all of them for the widest block, as far as registers go.
  static constexpr int kLoads = (kMostStreamLanes * kWidth * Shape::kTaps + Shape::kThreads - 1) / Shape::kThreads;
  static constexpr int kBatch = kLoads < 8 ? kLoads : 8;

  SharedAddress lane;
  float kept[kKept][kWidth];

  // By all threads; ends with a barrier. WHY batches: a load that waits for the one before costs a short walk more than
  // its products.
  WT_DEVICE void stage(const StreamArguments& p, const StripThread& at) {
    const SharedAddress base = device::shared_base() + stream_ring_bytes(kConfig);
    const i32 taps = Shape::kPlanes ? p.filter_d * Shape::kTaps : Shape::kTaps, pitch = stream_tap_pitch(taps);
    const i32 first = at.channel - at.lane * kWidth, width = p.blocks.lanes * kWidth;
    const i32 count = (first + width < p.channels ? width : p.channels - first) * taps;
    const auto* weights = static_cast<const Element*>(p.second) + static_cast<i64>(first) * taps;
    for (i32 begin = device::thread_index(); begin < count; begin += kBatch * Shape::kThreads) {
      Element value[kBatch];
      WT_UNROLL for (int j = 0; j < kBatch; ++j) {
        const i32 i = begin + j * Shape::kThreads;
        value[j] = device::load_global(weights + (i < count ? i : 0));
      }
      WT_UNROLL for (int j = 0; j < kBatch; ++j) {
        const i32 i = begin + j * Shape::kThreads, channel = i / taps, tap = i % taps;
        if (i < count) {
          device::store_shared(base + 4 * ((channel / kWidth * pitch + tap) * kWidth + channel % kWidth),
                               device::to_float(value[j]));
        }
      }
    }
    device::sync_block();
    lane = base + 4 * (at.lane * pitch * kWidth);
    // Lanes beyond the last channel have no weights in shared memory.
    if constexpr (kConfig.direct.register_weights) {
      if (at.useful) {
        WT_UNROLL for (int tap = 0; tap < kKept; ++tap) read_weights(lane + 4 * tap * kWidth, kept[tap]);
      }
    }
  }
  // Weights of the filter's plane `plane`, which is 0 where the thread keeps its weights.
  WT_DEVICE void get(i32 plane, int tap, float (&to)[kWidth]) const {
    if constexpr (kConfig.direct.register_weights) {
      WT_UNROLL for (int i = 0; i < kWidth; ++i) to[i] = kept[tap][i];
    } else {
      read_weights(lane + 4 * plane * (Shape::kTaps * kWidth) + 4 * tap * kWidth, to);
    }
  }
};

}  // namespace wt
