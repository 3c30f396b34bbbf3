// SPDX-License-Identifier: Apache-2.0
// kernels/wavelet/device/weight_operand.h - the operands of weight gradients: k-blocks of pixels, both MN-major.
//
//   gathered: (pixels, numbers of runs)    plain: (pixels, channels)    --> blocks of 64 columns, 128 bytes per pixel
#pragma once

#include "kernels/wavelet/device/chunk.h"
#include "kernels/wavelet/device/place.h"
#include "kernels/wavelet/device/weight_arguments.h"

namespace wt {

// Byte offset of a chunk of eight columns of a pixel in a stage.
template <int kDepth>
WT_DEVICE u32 mn_major_chunk(int pixel, int chunk) {
  return static_cast<u32>(chunk / 8 * kDepth * 128) +
         swizzled<128>(static_cast<u32>(pixel * 128 + chunk % 8 * wavelet_layout::kChunkBytes));
}

// A thread owns one chunk of columns, so that its taps and channels stay the same over all k-blocks of a tile.
template <KernelConfig kConfig>
struct WeightGathered {
  using Places = ImagePlaces<kConfig>;
  using Place = typename Places::Place;
  static constexpr int kDepth = kConfig.gemm.tile.k, kBytes = Places::kBytes;
  static constexpr int kChunk = wavelet_layout::kChunkBytes / kBytes;
  static constexpr int kVector = kConfig.gemm.vector_a, kVectors = kChunk / kVector;
  static constexpr int kChunks = kConfig.gemm.tile.m / kChunk;
  static constexpr int kRowStep = wavelet_layout::load_threads(kConfig) / kChunks;
  static constexpr int kRows = kDepth / kRowStep;
  static constexpr bool kAsync = lands_by_itself(kConfig.gemm.loader_a);
  static_assert(kRows * kRowStep == kDepth);

  Place places[kVectors];
  const char* image;

  WT_DEVICE void start(const WaveletArguments<3>& p, const WaveletTile& tile, int thread) {
    WaveletWalk walk;
    walk.start(p, tile, static_cast<i32>(tile.row) + thread % kChunks * kChunk);
    WT_UNROLL for (int v = 0; v < kVectors; ++v) {
      if (v > 0) walk.at.step(kVector, p.run.length, tile);
      places[v] = Places::at(p, tile, walk.at);
    }
    image = static_cast<const char*>(p.a) + static_cast<i64>(tile.group) * p.depth.by * kBytes;
  }

  // The pixels whose coordinates are in `table` into `stage`. What only fills vectors may hold anything: it stands in
  // rows of the product that are not stored.
  WT_DEVICE void copy(const WaveletArguments<3>& p, SharedAddress table, SharedAddress stage, int thread) const {
    const int first = thread / kChunks, chunk = thread % kChunks;
    if constexpr (kAsync) {
      WT_UNROLL for (int i = 0; i < kRows; ++i) {
        const int pixel = first + i * kRowStep;
        const WaveletRow row = device::load_shared<WaveletRow>(table + pixel * sizeof(WaveletRow));
        WT_UNROLL for (int v = 0; v < kVectors; ++v) {
          device::copy_async<kVector * kBytes>(stage + mn_major_chunk<kDepth>(pixel, chunk) + v * kVector * kBytes,
                                               Places::address(image, row, places[v]),
                                               Places::inside(p, row, places[v]) ? kVector * kBytes : 0);
        }
      }
    } else {
      constexpr int kWanted = 16 / kVectors, kBatch = kRows < kWanted ? kRows : kWanted;
      WT_UNROLL for (int batch = 0; batch < kRows; batch += kBatch) {
        ChunkWords words[kBatch];
        WT_UNROLL for (int i = 0; i < kBatch; ++i) {
          const int pixel = first + (batch + i) * kRowStep;
          const WaveletRow row = device::load_shared<WaveletRow>(table + pixel * sizeof(WaveletRow));
          words[i].clear();
          WT_UNROLL for (int v = 0; v < kVectors; ++v) {
            words[i].template load<kVector * kBytes>(v, Places::address(image, row, places[v]),
                                                     Places::inside(p, row, places[v]));
          }
        }
        WT_UNROLL for (int i = 0; i < kBatch; ++i) {
          words[i].store(stage + mn_major_chunk<kDepth>(first + (batch + i) * kRowStep, chunk));
        }
      }
    }
  }
};

template <KernelConfig kConfig>
struct WeightPlain {
  static constexpr int kDepth = kConfig.gemm.tile.k, kBytes = size_of(operand_b(kConfig));
  static constexpr int kChunk = wavelet_layout::kChunkBytes / kBytes;
  static constexpr int kVector = kConfig.gemm.vector_b, kVectors = kChunk / kVector;
  static constexpr int kChunks = kConfig.gemm.tile.n / kChunk;
  static constexpr int kThreads = wavelet_layout::load_threads(kConfig);
  static constexpr int kCopies = (kDepth * kChunks + kThreads - 1) / kThreads;
  static constexpr bool kAsync = lands_by_itself(kConfig.gemm.loader_b);

  WT_DEVICE static void copy(const WaveletWeightArguments& p, const WaveletTile& tile, i32 first_pixel,
                             SharedAddress stage, int thread) {
    const char* tensor =
        static_cast<const char*>(p.walk.b) + (static_cast<i64>(tile.group) * p.walk.columns + tile.column) * kBytes;
    const i32 columns = p.walk.columns - tile.column;
    WT_UNROLL for (int i = 0; i < kCopies; ++i) {
      const int index = thread + i * kThreads;
      if (kDepth * kChunks % kThreads != 0 && index >= kDepth * kChunks) break;
      const int pixel = index / kChunks, chunk = index % kChunks;
      const i32 left = first_pixel + pixel < p.pixels ? columns - chunk * kChunk : 0;
      const char* from = tensor + (static_cast<i64>(first_pixel + pixel) * p.plain_pitch + chunk * kChunk) * kBytes;
      const SharedAddress to = stage + mn_major_chunk<kDepth>(pixel, chunk);
      if constexpr (kAsync) {
        WT_UNROLL for (int v = 0; v < kVectors; ++v) {
          device::copy_async<kVector * kBytes>(to + v * kVector * kBytes, from + v * kVector * kBytes,
                                               v * kVector < left ? kVector * kBytes : 0);
        }
      } else {
        ChunkWords words;
        words.clear();
        WT_UNROLL for (int v = 0; v < kVectors; ++v) {
          words.template load<kVector * kBytes>(v, from + v * kVector * kBytes, v * kVector < left);
        }
        words.store(to);
      }
    }
  }
};

}  // namespace wt
