// SPDX-License-Identifier: Apache-2.0
// kernels/four_wave_weight/device/loader.h - both operands of a weight gradient, transposed on their way: a thread
// loads the same channels of four pixels that follow each other, and stores four pixels of each channel.
//
//   global (pixels, channels) --buffer loads--> 4 x channels in registers --v_perm--> shared (channels, pixels)
//
// Pixels of x are found by addition from one k-block to the next. What lies outside is zero in either operand.
#pragma once

#include "kernels/four_wave/device/chunk.h"
#include "kernels/four_wave_weight/device/arguments.h"
#include "kernels/four_wave_weight/device/layout.h"

namespace wt {

// Rows of channels, pixels side by side. WHY two parts of the row: threads store rows of eight that are eight apart,
// and read rows that follow each other; either way eight of them fall into all banks.
template <int kSpan>
struct TurnedPlaces {
  WT_DEVICE static u32 at(u32 rows, u32 in_row) {
    const u32 offset = rows + in_row;
    return swizzled<kSpan>(offset) ^ (offset / (8 * kSpan) * 16 & (kSpan - 16));
  }
};

// kRows: of the operand, which are channels or numbers of the filter.
template <KernelConfig kConfig, int kRows>
struct TurnedChunk {
  static constexpr int kPixels = four_wave_weight_layout::kPixels;
  static constexpr int kChannels = four_wave_weight_layout::channels(kConfig, kRows);
  static constexpr int kAcross = kRows / kChannels;  // threads side by side
  static constexpr int kSpan = four_wave_layout::span(kConfig);
  static constexpr int kBytes = kChannels * 2;
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16, "a thread loads one vector of a pixel");

  u32 word[kPixels][kChannels / 2];

  WT_DEVICE static int first_row() { return device::thread_index() % kAcross * kChannels; }
  WT_DEVICE static int first_pixel() { return device::thread_index() / kAcross * kPixels; }

  WT_DEVICE void load(int pixel, const BufferWindow& window, u32 offset) {
    const auto words = device::load_buffer<Vector<u32, kChannels / 2>>(window.view, offset);
    WT_UNROLL for (int w = 0; w < kChannels / 2; ++w) word[pixel][w] = words.at[w];
  }
  WT_DEVICE void store(SharedAddress tile) const {
    WT_UNROLL for (int c = 0; c < kChannels; ++c) {
      const u32 half = c % 2 ? 0x7632 : 0x5410;
      Vector<u32, 2> four;
      WT_UNROLL for (int i = 0; i < 2; ++i) {
        four.at[i] = device::permute_bytes(word[2 * i][c / 2], word[2 * i + 1][c / 2], half);
      }
      device::store_shared(tile + TurnedPlaces<kSpan>::at(static_cast<u32>((first_row() + c) * kSpan),
                                                          static_cast<u32>(first_pixel() * 2)),
                           four);
    }
  }
};

// dy: output channels of pixels as they lie.
template <KernelConfig kConfig>
struct GradientLoader {
  using Chunk = TurnedChunk<kConfig, kConfig.gemm.tile.m>;

  BufferWindow window;
  u32 offset;  // of the thread's first pixel in the next k-block

  WT_DEVICE void start(const FourWaveWeightArguments& p, u32 group, u32 row, i32 pixel) {
    const i64 skipped = static_cast<i64>(pixel) * p.dy_pitch + static_cast<i64>(group) * p.dy_group;
    const i64 all = static_cast<i64>(p.pixels) * p.dy_pitch;
    window = BufferWindow::make(static_cast<const char*>(p.dy) + skipped, all > skipped ? all - skipped : 0);
    const i32 channel = static_cast<i32>(row) + Chunk::first_row();
    offset = window.shift + static_cast<u32>(Chunk::first_pixel() * p.dy_pitch + channel * 2);
    if (channel >= p.outputs) offset = device::kOutside;
  }
  WT_DEVICE void fetch(const FourWaveWeightArguments& p, Chunk& to) {
    WT_UNROLL for (int i = 0; i < Chunk::kPixels; ++i) to.load(i, window, offset + static_cast<u32>(i * p.dy_pitch));
    offset += static_cast<u32>(kConfig.gemm.tile.k * p.dy_pitch);
  }
};

// x: numbers of the filter, whose tap and channels a thread keeps, under the pixels of dy.
template <KernelConfig kConfig>
struct ImageColumns {
  using Chunk = TurnedChunk<kConfig, kConfig.gemm.tile.n>;
  static constexpr int kFirst = 3 - kConfig.dims;  // of the dimensions d, h, w

  struct Place {
    i32 at[3];   // in the image, under the tap
    i32 offset;  // of that
  };

  BufferWindow window;
  Place place;  // of the thread's first pixel in the next k-block
  i32 end[3];   // where the next row, plane or image begins
  bool exists;

  WT_DEVICE void start(const FourWaveWeightArguments& p, u32 group, u32 column, i32 pixel) {
    i32 at[3];
    const i32 first_image = decode(p, pixel, at), image = decode(p, pixel + Chunk::first_pixel(), at);
    const i32 number = static_cast<i32>(column) + Chunk::first_row();
    exists = number < p.numbers;
    u32 tap = quotient(static_cast<u32>(number), p.channels);
    const i32 channel = number - static_cast<i32>(tap * p.channels.by);
    place.offset = (image - first_image) * static_cast<i32>(p.image_bytes) + channel * 2;
    WT_UNROLL for (int d = 2; d >= kFirst; --d) {
      const u32 outer = quotient(tap, p.filter[d]);
      const i32 shift = static_cast<i32>(tap - outer * p.filter[d].by) * p.dilation[d] - p.pad[d];
      tap = outer;
      place.at[d] = at[d] * p.stride[d] + shift;
      end[d] = static_cast<i32>(p.out_size[d].by) * p.stride[d] + shift;
      place.offset += place.at[d] * p.pixel_bytes[d];
    }
    const i64 skipped = first_image * p.image_bytes + static_cast<i64>(group) * p.x_group;
    const i64 all = p.images * p.image_bytes;
    window = BufferWindow::make(static_cast<const char*>(p.x) + skipped, all > skipped ? all - skipped : 0);
    place.offset += static_cast<i32>(window.shift);
  }

  WT_DEVICE void fetch(const FourWaveWeightArguments& p, Chunk& to) {
    Place next = place;
    WT_UNROLL for (int i = 0; i < Chunk::kPixels; ++i) {
      bool inside = exists;
      WT_UNROLL for (int d = kFirst; d < 3; ++d) {
        inside = inside && static_cast<u32>(next.at[d]) < static_cast<u32>(p.in[d]);
      }
      to.load(i, window, inside ? static_cast<u32>(next.offset) : device::kOutside);
      next.at[2] += p.stride[2];
      next.offset += p.stride[2] * p.pixel_bytes[2];
      carry(p, next);
    }
    WT_UNROLL for (int d = kFirst; d < 3; ++d) place.at[d] += p.advance[d];
    place.offset += p.advance_bytes;
    carry(p, place);
  }

 private:
  // Pixel of dy -> image, and where in it.
  WT_DEVICE static i32 decode(const FourWaveWeightArguments& p, i32 pixel, i32 (&at)[3]) {
    u32 rest = static_cast<u32>(pixel);
    WT_UNROLL for (int d = 2; d >= kFirst; --d) {
      const u32 outer = quotient(rest, p.out_size[d]);
      at[d] = static_cast<i32>(rest - outer * p.out_size[d].by);
      rest = outer;
    }
    return static_cast<i32>(rest);
  }
  // What has passed the end of a row begins the next, and so on. WHY no branches: quadrants.h mixes the loop.
  WT_DEVICE void carry(const FourWaveWeightArguments& p, Place& at) const {
    WT_UNROLL for (int d = 2; d >= kFirst; --d) {
      const i32 length = static_cast<i32>(p.out_size[d].by) * p.stride[d];
      const bool over = at.at[d] >= end[d];
      at.at[d] -= over ? length : 0;
      if (d > kFirst) {
        at.at[d - 1] += over ? p.stride[d - 1] : 0;
        at.offset += over ? p.stride[d - 1] * p.pixel_bytes[d - 1] - length * p.pixel_bytes[d] : 0;
      } else {
        at.offset += over ? static_cast<i32>(p.image_bytes) - length * p.pixel_bytes[d] : 0;
      }
    }
  }
};

}  // namespace wt
