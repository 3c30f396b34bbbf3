// SPDX-License-Identifier: Apache-2.0
// kernels/four_wave/device/loader.h - where a thread's chunks of an operand come from, k-block by k-block.
//
//   MatrixLoader   rows of numbers that follow each other: the filter, or pixels under a filter of one tap
//   ImageLoader    pixels under the taps; offsets of the halo are outside the buffer, which reads as zeros
//
// They are all that differs between a matrix product and a convolution.
#pragma once

#include "kernels/four_wave/device/arguments.h"
#include "kernels/four_wave/device/chunk.h"

namespace wt {

template <KernelConfig kConfig, int kTileRows>
struct MatrixLoader {
  using Chunk = Chunks<kConfig, kTileRows>;

  BufferWindow window;
  u32 offset, row_step;  // of the thread's first row, in the next k-block; to its next row
  i32 number, depth;

  // The tile's first row is at `from`; `bytes` from there on exist. Rows are `pitch` bytes apart.
  WT_DEVICE void start(const char* from, i64 bytes, u32 pitch, i32 numbers) {
    window = BufferWindow::make(from, bytes);
    number = Chunk::first_number();
    depth = numbers;
    offset = window.shift + static_cast<u32>(Chunk::first_row()) * pitch +
             static_cast<u32>(number * size_of(operand_a(kConfig)));
    row_step = Chunk::kRowStep * pitch;
  }

  template <class Arguments>
  WT_DEVICE void fetch(const Arguments&, const FourWavePhase&, Chunk& to) {
    to.clear();
    WT_UNROLL for (int v = 0; v < Chunk::kVectors; ++v) {
      const bool exists = number + v * Chunk::kVector < depth;
      WT_UNROLL for (int i = 0; i < Chunk::kRows; ++i) {
        const u32 at = offset + static_cast<u32>(i) * row_step + v * Chunk::kVectorBytes;
        to.load(i, v, window, exists ? at : device::kOutside);
      }
    }
    number += kConfig.gemm.tile.k;
    offset += Chunk::kSpan;
  }
};

template <KernelConfig kConfig, bool kUniform>
struct ImageLoader {
  using Arguments = FourWaveArguments<four_wave_layout::phases(kConfig)>;
  using Chunk = Chunks<kConfig, kConfig.gemm.tile.m>;
  static constexpr int kFirst = 3 - kConfig.dims;             // of the dimensions d, h, w
  static constexpr i32 kNowhere = 1 << 30;                    // a position that no tap brings inside
  static constexpr int kBytes = size_of(operand_a(kConfig));  // of a number

  BufferWindow window;
  i32 start_at[Chunk::kRows][3];  // of a row's window in the image
  i32 offset[Chunk::kRows];       // of that, which may lie before the image
  i32 number;                     // in the next k-block: of the channels under the tap (uniform), or of all k
  i32 tap[3];                     // uniform: the same for the whole block

  WT_DEVICE void start(const Arguments& p, const FourWavePhase& phase, u32 group, u32 pixel) {
    u32 image[Chunk::kRows];
    u32 at[3];
    const u32 first_image = decode(phase, pixel, at);
    WT_UNROLL for (int i = 0; i < Chunk::kRows; ++i) {
      const u32 row = pixel + static_cast<u32>(Chunk::first_row() + i * Chunk::kRowStep);
      const bool exists = row < phase.pixels;
      image[i] = decode(phase, exists ? row : pixel, at);
      offset[i] = static_cast<i32>((image[i] - first_image) * static_cast<u32>(p.image_bytes));
      WT_UNROLL for (int d = kFirst; d < 3; ++d) {
        start_at[i][d] = static_cast<i32>(at[d]) * p.stride[d] - phase.pad[d];
        offset[i] += start_at[i][d] * p.pixel_bytes[d];
      }
      // WHY the depth too: pixels that no tap reaches get products with zeros, and infinity times zero is no number.
      if (!exists || phase.depth == 0) start_at[i][2] = kNowhere;
    }
    const i64 skipped = first_image * p.image_bytes + static_cast<i64>(group) * p.group_bytes;
    window = BufferWindow::make(static_cast<const char*>(p.a) + skipped, p.images * p.image_bytes - skipped);
    number = kUniform ? 0 : Chunk::first_number();
    const i32 shift = static_cast<i32>(window.shift) + (kUniform ? Chunk::first_number() * kBytes : 0);
    WT_UNROLL for (int i = 0; i < Chunk::kRows; ++i) offset[i] += shift;
    WT_UNROLL for (int d = 0; d < 3; ++d) tap[d] = 0;
  }

  WT_DEVICE void fetch(const Arguments& p, const FourWavePhase& phase, Chunk& to) {
    to.clear();
    if constexpr (kUniform) {
      fetch_vectors<Chunk::kVectors>(p, to, 0, tap, number, true);
      next_uniform(p, phase);
    } else {
      WT_UNROLL for (int v = 0; v < Chunk::kVectors; ++v) {
        const i32 k = number + v * Chunk::kVector;
        i32 own[3];
        const i32 channel = tap_of(p, phase, k, own);
        fetch_vectors<1>(p, to, v, own, channel, k < phase.depth);
      }
      number += kConfig.gemm.tile.k;
    }
  }

 private:
  // Pixel of the phase -> image, and where in it.
  WT_DEVICE static u32 decode(const FourWavePhase& phase, u32 pixel, u32 (&at)[3]) {
    WT_UNROLL for (int d = 2; d >= kFirst; --d) {
      const u32 outer = quotient(pixel, phase.out_size[d]);
      at[d] = pixel - outer * phase.out_size[d].by;
      pixel = outer;
    }
    return pixel;
  }

  // The k-th number -> tap; the channel under it.
  WT_DEVICE static i32 tap_of(const Arguments& p, const FourWavePhase& phase, i32 k, i32 (&at)[3]) {
    u32 index = quotient(static_cast<u32>(k), p.channels);
    const i32 channel = k - static_cast<i32>(index * p.channels.by);
    WT_UNROLL for (int d = 2; d > kFirst; --d) {
      const u32 outer = quotient(index, phase.filter[d]);
      at[d] = static_cast<i32>(index - outer * phase.filter[d].by);
      index = outer;
    }
    at[kFirst] = static_cast<i32>(index);
    return channel;
  }

  // kCount vectors of every row, from vector `first` of the chunk on, under one tap.
  template <int kCount>
  WT_DEVICE void fetch_vectors(const Arguments& p, Chunk& to, int first, const i32 (&under)[3], i32 channel,
                               bool exists) const {
    i32 shift[3], moved = channel * kBytes;
    WT_UNROLL for (int d = kFirst; d < 3; ++d) {
      shift[d] = under[d] * p.dilation[d];
      moved += shift[d] * p.pixel_bytes[d];
    }
    WT_UNROLL for (int i = 0; i < Chunk::kRows; ++i) {
      bool inside = exists;
      WT_UNROLL for (int d = kFirst; d < 3; ++d) {
        inside = inside && static_cast<u32>(start_at[i][d] + shift[d]) < static_cast<u32>(p.in[d]);
      }
      const u32 at = inside ? static_cast<u32>(offset[i] + moved) : device::kOutside;
      WT_UNROLL for (int v = 0; v < kCount; ++v) {
        to.load(i, first + v, window, at + static_cast<u32>(v * Chunk::kVectorBytes));
      }
    }
  }

  WT_DEVICE void next_uniform(const Arguments& p, const FourWavePhase& phase) {
    // WHY no branches: the loop around it is then one block of instructions, which the schedule mixes.
    number += kConfig.gemm.tile.k;
    i32 carry = number >= static_cast<i32>(p.channels.by);
    number = carry ? 0 : number;
    tap[2] += carry;
    WT_UNROLL for (int d = 2; d > kFirst; --d) {
      carry = tap[d] >= static_cast<i32>(phase.filter[d].by);
      tap[d] = carry ? 0 : tap[d];
      tap[d - 1] += carry;
    }
  }
};

// Operand A by its loader: what the config names.
template <KernelConfig kConfig, Loader kLoader = kConfig.gemm.loader_a>
struct PixelLoader;
template <KernelConfig kConfig>
struct PixelLoader<kConfig, Loader::kBufferUniform> : ImageLoader<kConfig, true> {};
template <KernelConfig kConfig>
struct PixelLoader<kConfig, Loader::kBufferLane> : ImageLoader<kConfig, false> {};
template <KernelConfig kConfig>
struct PixelLoader<kConfig, Loader::kBufferRows> : MatrixLoader<kConfig, kConfig.gemm.tile.m> {
  template <class Arguments>
  WT_DEVICE void start(const Arguments& p, const FourWavePhase& phase, u32 group, u32 pixel) {
    const i64 pitch = p.pixel_bytes[2], skipped = pixel * pitch + static_cast<i64>(group) * p.group_bytes;
    MatrixLoader<kConfig, kConfig.gemm.tile.m>::start(static_cast<const char*>(p.a) + skipped,
                                                      p.image_pixels * pitch - skipped, static_cast<u32>(pitch),
                                                      phase.depth);
  }
};

}  // namespace wt
