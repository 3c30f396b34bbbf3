// SPDX-License-Identifier: Apache-2.0
// kernels/wavelet/device/gathered.h - operand A of forward and backward data: pixels under the taps of a filter.
//
//   rows of the tile (registers, once a tile) + a place in the sum (once a k-block) --> 16-byte chunks in shared memory
//
// A thread owns one column of chunks, so that it walks along k once for all its rows.
#pragma once

#include "kernels/wavelet/device/chunk.h"
#include "kernels/wavelet/device/place.h"

namespace wt {

template <KernelConfig kConfig>
struct GatheredOperand {
  using Arguments = WaveletArguments<wavelet_layout::phases(kConfig)>;
  using Places = ImagePlaces<kConfig>;
  using Place = typename Places::Place;
  static constexpr int kTileM = kConfig.gemm.tile.m;
  static constexpr int kBytes = size_of(operand_a(kConfig));
  static constexpr int kChunk = wavelet_layout::kChunkBytes / kBytes;  // numbers
  static constexpr int kVector = kConfig.gemm.vector_a, kVectors = kChunk / kVector;
  static constexpr int kSpan = wavelet_layout::span(kConfig);
  static constexpr int kChunks = kSpan / wavelet_layout::kChunkBytes;  // of a row
  static constexpr int kRowStep = wavelet_layout::load_threads(kConfig) / kChunks;
  static constexpr int kRows = kTileM / kRowStep;  // of a thread
  static constexpr bool kAsync = lands_by_itself(kConfig.gemm.loader_a);
  static_assert(kRows * kRowStep == kTileM && kRowStep % 8 == 0, "a thread's rows share their place in the swizzle");

  // WHY only for copies: what passes through registers needs them, and reads a row's coordinates again for eight or so
  // loads.
  WaveletRow held[kAsync ? kRows : 1];
  SharedAddress table;  // at the thread's first row
  const char* image;    // at the group's first channel
  u32 place;            // of the thread's first chunk in a stage

  WT_DEVICE static int chunk_of(int thread) { return thread % kChunks; }

  // The rows' coordinates are those that the load warps have written to `rows`.
  WT_DEVICE void start(const Arguments& p, const WaveletTile& tile, SharedAddress rows, int thread) {
    const int first = thread / kChunks;
    table = rows + first * sizeof(WaveletRow);
    if constexpr (kAsync) {
      WT_UNROLL for (int i = 0; i < kRows; ++i) held[i] = read_row(i);
    }
    image = static_cast<const char*>(p.a) + static_cast<i64>(tile.group) * p.depth.by * kBytes;
    place = swizzled<kSpan>(static_cast<u32>(first * kSpan + chunk_of(thread) * wavelet_layout::kChunkBytes));
  }

  // The rows' numbers from the cursor on into `stage`.
  WT_DEVICE void copy(const Arguments& p, const WaveletTile& tile, WaveletCursor at, SharedAddress stage) const {
    Place places[kVectors];
    u32 keep[4];
    WT_UNROLL for (int v = 0; v < kVectors; ++v) {
      if (v > 0) at.step(kVector, p.run.length, tile);
      places[v] = Places::at(p, tile, at);
      if constexpr (!kAsync && kVector > 1) window(p, at.number, v, keep);
    }
    if constexpr (kAsync) {
      WT_UNROLL for (int v = 0; v < kVectors; ++v) {
        WT_UNROLL for (int i = 0; i < kRows; ++i) {
          device::copy_async<kVector * kBytes>(stage + place + i * kRowStep * kSpan + v * kVector * kBytes,
                                               Places::address(image, held[i], places[v]),
                                               Places::inside(p, held[i], places[v]) ? kVector * kBytes : 0);
        }
      }
    } else {
      // WHY in batches: the loads of a batch are all under way before the first of them is needed.
      constexpr int kWanted = 16 / kVectors, kBatch = kRows < kWanted ? kRows : kWanted;
      WT_UNROLL for (int first = 0; first < kRows; first += kBatch) {
        ChunkWords words[kBatch];
        WT_UNROLL for (int i = 0; i < kBatch; ++i) {
          words[i].clear();
          const WaveletRow row = read_row(first + i);
          WT_UNROLL for (int v = 0; v < kVectors; ++v) {
            words[i].template load<kVector * kBytes>(v, Places::address(image, row, places[v]),
                                                     Places::inside(p, row, places[v]));
          }
        }
        WT_UNROLL for (int i = 0; i < kBatch; ++i) {
          if constexpr (kVector > 1) words[i].mask(keep);
          words[i].template round<operand_a(kConfig)>();
          words[i].store(stage + place + (first + i) * kRowStep * kSpan);
        }
      }
    }
  }

 private:
  WT_DEVICE WaveletRow read_row(int i) const {
    return device::load_shared<WaveletRow>(table + i * kRowStep * sizeof(WaveletRow));
  }

  // Which bits of the index-th vector belong to the run's real numbers; the others only fill vectors.
  WT_DEVICE static void window(const Arguments& p, i32 number, int index, u32 (&keep)[4]) {
    constexpr int kWords = kVector * kBytes / 4, kPerWord = 4 / kBytes;
    constexpr u32 kNumber = kBytes == 4 ? ~0u : (1u << 8 * kBytes % 32) - 1;
    WT_UNROLL for (int w = 0; w < kWords; ++w) {
      u32 bits = 0;
      WT_UNROLL for (int e = 0; e < kPerWord; ++e) {
        const i32 at = number + w * kPerWord + e - p.run.head;
        if (at >= 0 && at < p.run.real) bits |= kNumber << 8 * kBytes * e;
      }
      keep[index * kWords + w] = bits;
    }
  }
};

}  // namespace wt
