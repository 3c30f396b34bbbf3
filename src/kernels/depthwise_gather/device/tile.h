// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_gather/device/tile.h - depthwise forward and backward data of large filters, rows in shared memory.
//
//   rows of x or dy --cp.async--> ring (shared) --slide along taps--> sums of 8 pixels x 4 channels a thread --> y, dx
//
// A block has 32 channels of some rows and columns of one image. For each row of the filter it needs one more row of
// the input, which comes while the row before is multiplied. WHY shared memory: gather.h asks for every pixel whether
// it exists and where it lies; here zeros stand around the image and a pixel is one load, so that 8 instructions of 10
// multiply.
#pragma once

#include "kernels/depthwise_gather/device/tile_shape.h"
#include "kernels/device/direct/arguments.h"
#include "kernels/device/direct/output.h"

namespace wt {

template <KernelConfig kConfig>
struct DirectGatherTile {
  using Params = GatherArguments;
  static constexpr int kThreads = kConfig.direct.block_size;
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const Place at = Place::make(p);
    const i32 pixels = gather_tile::row_pixels(kConfig, p.column_lanes, p.filter[2]);
    const u32 row_bytes = static_cast<u32>(gather_tile::row_bytes(kConfig, p.column_lanes, p.filter[2]));
    const SharedAddress ring = device::keep(device::shared_base());
    const SharedAddress weights = ring + (p.tile_rows + 1) * row_bytes;
    const u32 weight_bytes = static_cast<u32>(p.filter[2] * kBlockChannels * 4);
    for (i32 row = 0; row < p.tile_rows; ++row) copy_row(p, at, row, pixels, ring + row * row_bytes);
    device::copy_async_commit();
    stage_weights(p, at, 0, weights);

    float sum[kPixels][kWidth] = {};
    i32 newest = p.tile_rows;  // slot of the ring that the next row takes
    i32 mine = at.row;         // slot of the thread's row
    for (i32 r = 0; r < p.filter[1]; ++r) {
      device::copy_async_wait<0>();
      device::sync_block();
      // WHY here: the barrier says that every thread is done with the row and the weights whose places these take.
      if (r + 1 < p.filter[1]) {
        copy_row(p, at, r + p.tile_rows, pixels, ring + newest * row_bytes);
        stage_weights(p, at, r + 1, weights + (r + 1) % 2 * weight_bytes);
      }
      device::copy_async_commit();
      const i32 from = at.first_row + at.row + r - at.pad_h;
      if (at.useful && from >= 0 && from < p.from.size[1]) {
        slide(p, ring + mine * row_bytes + at.offset, weights + r % 2 * weight_bytes + at.lane * (kWidth * 4), sum);
      }
      newest = newest == p.tile_rows ? 0 : newest + 1;
      mine = mine == p.tile_rows ? 0 : mine + 1;
    }
    if (!at.useful) return;
    ChannelOutput<kConfig, kWidth> output;
    output.prepare(p.epilogue, at.channel);
    const i64 out = at.image * p.to.n + at.channel + (at.first_row + at.row) * p.to.spatial[1];
    WT_UNROLL for (int i = 0; i < kPixels; ++i) {
      const i32 column = at.column + i;
      if (column < p.to.size[2]) output.store(p.epilogue, p.out, out + column * p.to.spatial[2], sum[i]);
    }
    output.finish(p.epilogue);
  }

 private:
  static constexpr bool kForward = kConfig.direction == Direction::kForward;
  static constexpr int kWidth = kConfig.direct.vector_out, kPixels = kConfig.direct.sub_w;
  static constexpr int kLanes = gather_tile::kLanes, kBlockChannels = kLanes * kWidth;
  static constexpr int kPixelBytes = kBlockChannels * 2, kRunBytes = gather_tile::run_bytes(kConfig);
  static constexpr int kChunks = kPixelBytes / 16;
  static constexpr int kAhead = 2;  // pixels on their way from shared memory
  using In = Storage<operand_a(kConfig)>;
  using Pixel = Channels<In, kWidth>;
  static_assert(sizeof(In) == 2 && kPixels % kAhead == 0 && kPixelBytes % 16 == 0);

  struct Place {
    i32 lane, channel;
    i64 image;
    i32 first_row, first_column;  // of the block, of the output
    i32 row;                      // of the thread, in the block
    i32 column;                   // its first
    u32 offset;                   // of its first pixel in a row of the ring
    i32 pad_h, pad_w;             // of the turned filter backward
    bool useful;

    WT_DEVICE static Place make(const Params& p) {
      Place at;
      const i32 thread = device::thread_index(), run = thread / kLanes % p.column_lanes;
      i32 block = device::block_index().x;
      at.lane = thread % kLanes;
      at.row = thread / (kLanes * p.column_lanes);
      at.channel = (block % p.blocks.channel_blocks * kLanes + at.lane) * kWidth;
      block /= p.blocks.channel_blocks;
      at.first_column = block % p.column_tiles * p.column_lanes * kPixels;
      block /= p.column_tiles;
      at.first_row = block % p.row_tiles * p.tile_rows;
      at.image = block / p.row_tiles;
      at.column = at.first_column + run * kPixels;
      at.offset = static_cast<u32>(run * kRunBytes + at.lane * (kWidth * 2));
      at.pad_h = kForward ? p.pad[1] : p.filter[1] - 1 - p.pad[1];
      at.pad_w = kForward ? p.pad[2] : p.filter[2] - 1 - p.pad[2];
      at.useful = at.row < p.tile_rows && at.first_row + at.row < p.to.size[1] && at.channel < p.channels;
      return at;
    }
  };

  // Row `row` of the block's input, counted from the padded edge, zeros around the image.
  WT_DEVICE static void copy_row(const Params& p, const Place& at, i32 row, i32 pixels, SharedAddress to) {
    const i32 y = at.first_row + row - at.pad_h;
    const bool exists = y >= 0 && y < p.from.size[1];
    const i32 first = at.channel - at.lane * kWidth;
    const In* from = static_cast<const In*>(p.first) + at.image * p.from.n + (exists ? y * p.from.spatial[1] : 0);
    for (i32 i = device::thread_index(); i < pixels * kChunks; i += kThreads) {
      const i32 pixel = i / kChunks, chunk = i % kChunks;
      const i32 x = at.first_column + pixel - at.pad_w, channel = first + chunk * 8;
      const bool copied = exists && x >= 0 && x < p.from.size[2] && channel < p.channels;
      device::copy_async<16>(to + gather_tile::place(kConfig, pixel) + chunk * 16,
                             from + (copied ? x * p.from.spatial[2] + channel : 0), copied ? 16 : 0);
    }
  }

  // The filter's row r as (tap, channel of the block), fp32, in the order that pixels meet it.
  WT_DEVICE static void stage_weights(const Params& p, const Place& at, i32 r, SharedAddress to) {
    const auto* weights = static_cast<const Storage<kConfig.w>*>(p.second);
    const i32 taps = p.filter[2], first = at.channel - at.lane * kWidth;
    for (i32 i = device::thread_index(); i < taps * kBlockChannels; i += kThreads) {
      const i32 channel = i / taps, s = i % taps;
      const i32 row = kForward ? r : p.filter[1] - 1 - r, tap = kForward ? s : taps - 1 - s;
      float value = 0;
      if (first + channel < p.channels) {
        value = device::to_float(
            device::load_global(weights + (static_cast<i64>(first + channel) * p.filter[1] + row) * taps + tap));
      }
      device::store_shared(to + 4 * (s * kBlockChannels + channel), value);
    }
  }

  // Where pixel `pixel` of a thread's lies from its first, for pixels below kPixels + kAhead of a run.
  static constexpr int offset_of(int pixel) { return pixel / kPixels * kRunBytes + pixel % kPixels * kPixelBytes; }

  WT_DEVICE static void slide(const Params& p, SharedAddress row, SharedAddress weights,
                              float (&sum)[kPixels][kWidth]) {
    Pixel ahead[kAhead];
    float held[kPixels][kWidth];  // pixel first + i at i, modulo kPixels
    WT_UNROLL for (int i = 0; i < kPixels; ++i) widen(load(row + offset_of(i)), held[i]);
    WT_UNROLL for (int i = 0; i < kAhead; ++i) ahead[i] = load(row + offset_of(kPixels + i));
    for (i32 first = 0; first < p.filter[2]; first += kPixels) {
      WT_UNROLL for (int step = 0; step < kPixels; ++step) {
        if (first + step >= p.filter[2]) break;
        float weight[kWidth];
        read_weights(weights + step * (kBlockChannels * 4), weight);
        WT_UNROLL for (int i = 0; i < kPixels; ++i) {
          WT_UNROLL for (int e = 0; e < kWidth; ++e) {
            sum[i][e] = device::multiply_add(held[(i + step) % kPixels][e], weight[e], sum[i][e]);
          }
        }
        widen(ahead[step % kAhead], held[step]);
        ahead[step % kAhead] = load(row + offset_of(step + kPixels + kAhead));
      }
      row += kRunBytes;
      weights += kPixels * kBlockChannels * 4;
    }
  }
  WT_DEVICE static Pixel load(SharedAddress from) {
    Pixel pixel;
    pixel.piece[0] = device::load_shared<typename Pixel::Piece>(from);
    return pixel;
  }
  WT_DEVICE static void widen(const Pixel& from, float (&to)[kWidth]) {
    WT_UNROLL for (int e = 0; e < kWidth; ++e) to[e] = from.value(e);
  }
};

}  // namespace wt
