// SPDX-License-Identifier: Apache-2.0
// kernels/wavelet/device/filter.h - operand B of forward and backward data: the filter.
//
//   forward: rows are output channels, k runs along memory            (tile.n, tile.k), K-major
//   backward data: rows are numbers of the sum, columns run along memory   (tile.k, tile.n), MN-major
#pragma once

#include "kernels/wavelet/device/chunk.h"
#include "kernels/wavelet/device/walk.h"

namespace wt {

template <KernelConfig kConfig>
struct ForwardFilter {
  using Arguments = WaveletArguments<wavelet_layout::phases(kConfig)>;
  static constexpr int kTileN = kConfig.gemm.tile.n, kTileK = kConfig.gemm.tile.k;
  static constexpr int kBytes = size_of(operand_b(kConfig));
  static constexpr int kChunk = wavelet_layout::kChunkBytes / kBytes;
  static constexpr int kVector = kConfig.gemm.vector_b, kVectors = kChunk / kVector;
  static constexpr int kSpan = wavelet_layout::span(kConfig);
  static constexpr int kChunks = kSpan / wavelet_layout::kChunkBytes;
  static constexpr int kRowStep = wavelet_layout::load_threads(kConfig) / kChunks;
  static constexpr int kRows = (kTileN + kRowStep - 1) / kRowStep;
  static constexpr bool kAsync = lands_by_itself(kConfig.gemm.loader_b);
  static_assert(kRowStep % 8 == 0, "a thread's rows share their place in the swizzle");

  const char* from;  // the thread's first row
  i32 rows;          // of the tile that exist, from the thread's first on
  int first;
  u32 place;
  i32 run, number;  // of the thread's chunk in the next k-block

  WT_DEVICE void start(const Arguments& p, const WaveletTile& tile, int thread) {
    first = thread / kChunks;
    const int chunk = thread % kChunks;
    const i64 channel = static_cast<i64>(tile.group) * p.columns + tile.column + first;
    from = static_cast<const char*>(p.b) + channel * p.filter_pitch * kBytes;
    rows = p.columns - tile.column - first;
    place = swizzled<kSpan>(static_cast<u32>(first * kSpan + chunk * wavelet_layout::kChunkBytes));
    run = chunk * kChunk < p.run.length
              ? 0
              : static_cast<i32>(static_cast<u32>(chunk * kChunk) / static_cast<u32>(p.run.length));
    number = chunk * kChunk - run * p.run.length;
  }

  WT_DEVICE void next(const Arguments& p) {
    run += p.advance.runs;
    number += p.advance.numbers;
    if (number >= p.run.length) {
      number -= p.run.length;
      ++run;
    }
  }

  WT_DEVICE void copy(const Arguments& p, SharedAddress stage) const {
    i32 offset[kVectors];  // of the vectors in a row; -1: zeros
    i32 u = run, at = number;
    WT_UNROLL for (int v = 0; v < kVectors; ++v) {
      const i32 real = at - p.run.head;
      offset[v] = u * p.run.real + real;
      if (real < 0 || real >= p.run.real || offset[v] >= p.filter_pitch) offset[v] = -1;
      at += kVector;
      // WHY a loop: vectors of the filter may be wider than a run, which then is a part of one.
      while (at >= p.run.length) {
        at -= p.run.length;
        ++u;
      }
    }
    WT_UNROLL for (int i = 0; i < kRows; ++i) {
      if (kTileN % kRowStep != 0 && first + i * kRowStep >= kTileN) break;
      const char* row = from + static_cast<i64>(i * kRowStep) * p.filter_pitch * kBytes;
      const bool exists = i * kRowStep < rows;
      const SharedAddress to = stage + place + i * kRowStep * kSpan;
      if constexpr (kAsync) {
        WT_UNROLL for (int v = 0; v < kVectors; ++v) {
          const bool inside = exists && offset[v] >= 0;
          device::copy_async<kVector * kBytes>(to + v * kVector * kBytes, inside ? row + i64{offset[v]} * kBytes : row,
                                               inside ? kVector * kBytes : 0);
        }
      } else {
        ChunkWords words;
        words.clear();
        WT_UNROLL for (int v = 0; v < kVectors; ++v) {
          words.template load<kVector * kBytes>(v, row + i64{offset[v]} * kBytes, exists && offset[v] >= 0);
        }
        words.template round<operand_b(kConfig)>();
        words.store(to);
      }
    }
  }
};

template <KernelConfig kConfig>
struct BackwardFilter {
  using Arguments = WaveletArguments<wavelet_layout::phases(kConfig)>;
  static constexpr int kTileN = kConfig.gemm.tile.n, kTileK = kConfig.gemm.tile.k;
  static constexpr int kBytes = size_of(operand_b(kConfig));
  static constexpr int kChunk = wavelet_layout::kChunkBytes / kBytes;
  static constexpr int kVector = kConfig.gemm.vector_b, kVectors = kChunk / kVector;
  // Neighbouring threads take neighbouring chunks of a row. WHY eight: their addresses then fall into all banks.
  static constexpr int kAbreast = kTileN >= 64 ? 8 : 4;
  static constexpr int kRowStep = wavelet_layout::load_threads(kConfig) / kAbreast;
  static constexpr int kRows = (kTileK + kRowStep - 1) / kRowStep;
  static constexpr int kChunks = kTileN / kChunk, kChunkSteps = (kChunks + kAbreast - 1) / kAbreast;
  static constexpr bool kAsync = lands_by_itself(kConfig.gemm.loader_b);
  static_assert(kBytes == 2, "wgmma reads 16-bit operands across k");

  WaveletWalk walk[kRows];
  const char* from;  // the group's filter at the thread's first column
  i32 columns;       // that exist from there on
  int first;         // row

  WT_DEVICE void start(const Arguments& p, const WaveletTile& tile, int thread) {
    first = thread / kAbreast;
    const i32 column = tile.column + thread % kAbreast * kChunk;
    from =
        static_cast<const char*>(p.b) + (static_cast<i64>(tile.group) * p.depth.by * p.filter_pitch + column) * kBytes;
    columns = p.columns - column;
    WT_UNROLL for (int i = 0; i < kRows; ++i) walk[i].start(p, tile, first + i * kRowStep);
  }

  WT_DEVICE void next(const Arguments& p, const WaveletTile& tile) {
    WT_UNROLL for (int i = 0; i < kRows; ++i) walk[i].next(p, tile);
  }

  WT_DEVICE void copy(const Arguments& p, const WaveletTile& tile, SharedAddress stage) const {
    const int abreast = device::thread_index() % kAbreast;
    WT_UNROLL for (int i = 0; i < kRows; ++i) {
      const int row = first + i * kRowStep;
      if (kRowStep * kRows > kTileK && row >= kTileK) break;
      bool exists;
      const char* filter = from + row_offset(p, tile, walk[i].at, exists) * kBytes;
      WT_UNROLL for (int j = 0; j < kChunkSteps; ++j) {
        const int chunk = abreast + j * kAbreast;
        if (kChunks % kAbreast != 0 && chunk >= kChunks) break;
        const SharedAddress to = stage + static_cast<u32>(chunk / 8 * kTileK * 128) +
                                 swizzled<128>(static_cast<u32>(row * 128 + chunk % 8 * wavelet_layout::kChunkBytes));
        copy_chunk(filter + j * kAbreast * kChunk * kBytes, exists ? columns - j * kAbreast * kChunk : 0, to);
      }
    }
  }

 private:
  // Elements before the row of the filter that the cursor names: output channel and tap.
  WT_DEVICE static i64 row_offset(const Arguments& p, const WaveletTile& tile, const WaveletCursor& at, bool& exists) {
    const i32 real = at.number - p.run.head;
    exists = !at.ended(tile) && real >= 0 && real < p.run.real;
    const u32 touching = exists ? quotient(static_cast<u32>(real), p.depth) : 0;  // taps of the run before this one
    const i32 channel = exists ? real - static_cast<i32>(touching * p.depth.by) : 0;
    i32 tap = static_cast<i32>(touching) * p.filter_step[2];
    WT_UNROLL for (int i = 0; i < 3; ++i) tap += p.phases[tile.phase[i]].filter + at.tap[i] * p.filter_step[i];
    return exists ? static_cast<i64>(channel) * p.filter_pitch + tap : 0;
  }

  // Eight columns, of which `left` exist.
  WT_DEVICE static void copy_chunk(const char* filter, i32 left, SharedAddress to) {
    if constexpr (kAsync) {
      WT_UNROLL for (int v = 0; v < kVectors; ++v) {
        device::copy_async<kVector * kBytes>(to + v * kVector * kBytes, filter + v * kVector * kBytes,
                                             v * kVector < left ? kVector * kBytes : 0);
      }
    } else {
      ChunkWords words;
      words.clear();
      WT_UNROLL for (int v = 0; v < kVectors; ++v) {
        words.template load<kVector * kBytes>(v, filter + v * kVector * kBytes, v * kVector < left);
      }
      words.store(to);
    }
  }
};

}  // namespace wt
