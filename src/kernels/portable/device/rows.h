// SPDX-License-Identifier: Apache-2.0
// kernels/portable/device/rows.h - operands that lie along k: pixels under the taps of a filter, and the filter
// forward.
//
//   (tile.m or tile.n rows, tile.k)   a thread owns one column of 16-byte chunks, so that it walks along k once
//
// A source names the vectors that a thread loads; movement.h moves them. Columns across k: columns.h.
#pragma once

#include "kernels/portable/device/task.h"
#include "kernels/wavelet/device/place.h"
#include "kernels/wavelet/device/words.h"

namespace wt {

// How the load threads share a tile of kExtent rows.
template <KernelConfig kConfig, int kExtent>
struct RowShares {
  static constexpr bool kWalks = is_amd(kConfig.target);
  static constexpr int kBytes = portable_layout::element_bytes(kConfig), kChunk = portable_layout::chunk(kConfig);
  static constexpr int kSpan = portable_layout::along_span(kConfig);
  static constexpr int kAcross = kSpan / portable_layout::kChunkBytes;  // chunks of a row
  static constexpr int kStep = portable_layout::load_threads(kConfig) / kAcross;
  static constexpr int kCount = kExtent / kStep;  // rows of a thread
  static_assert(kCount * kStep == kExtent, "the load threads must share the tile evenly");
  static_assert(kStep % 8 == 0, "a thread's rows share their place in the swizzle");

  WT_DEVICE static int row_of(int thread) { return thread / kAcross; }
  // WHY swizzled: copies of waves fill shared memory in the order of lanes, so that a lane brings what belongs there.
  WT_DEVICE static int chunk_of(int thread) {
    if constexpr (portable_layout::copies_waves(kConfig)) {
      const u32 at = static_cast<u32>(thread * portable_layout::kChunkBytes);
      return static_cast<int>(swizzled<kSpan>(at) % kSpan) / portable_layout::kChunkBytes;
    }
    return thread % kAcross;
  }
  WT_DEVICE static u32 place_of(int thread) {
    if constexpr (portable_layout::copies_waves(kConfig)) {
      return static_cast<u32>(thread * portable_layout::kChunkBytes);
    }
    return swizzled<kSpan>(static_cast<u32>(row_of(thread) * kSpan + chunk_of(thread) * portable_layout::kChunkBytes));
  }
};

// A of forward and backward data.
template <KernelConfig kConfig>
struct GatheredRows : RowShares<kConfig, kConfig.gemm.tile.m> {
  using Shares = RowShares<kConfig, kConfig.gemm.tile.m>;
  using Arguments = typename PortableProblem<kConfig>::Arguments;
  using Places = ImagePlaces<kConfig>;
  using Shares::kBytes, Shares::kCount, Shares::kStep, Shares::kSpan;
  static constexpr int kVector = kConfig.gemm.vector_a, kVectors = Shares::kChunk / kVector;

  struct Block {  // of k: places of the thread's vectors, the same for all its rows
    typename Places::Place at[kVectors];
  };

  WaveletRow row[kCount];
  WaveletWalk walk;
  const char* image;  // at the group's first channel
  u32 place;

  WT_DEVICE void start(const Arguments& p, const PortableTask& task, int thread) {
    const u32 first = task.tile.row + static_cast<u32>(Shares::row_of(thread));
    WT_UNROLL for (int i = 0; i < kCount; ++i) {
      row[i] = wavelet_row(p, task.tile, first + static_cast<u32>(i * kStep));
    }
    walk.start(p, task.tile, Shares::chunk_of(thread) * Shares::kChunk);
    image = static_cast<const char*>(p.a) + static_cast<i64>(task.tile.group) * p.depth.by * kBytes;
    place = Shares::place_of(thread);
  }
  WT_DEVICE Block block(const Arguments& p, const PortableTask& task) const {
    Block result;
    WaveletCursor at = walk.at;
    WT_UNROLL for (int v = 0; v < kVectors; ++v) {
      if (v > 0) at.step(kVector, p.run.length, task.tile);
      result.at[v] = Places::at(p, task.tile, at);
    }
    return result;
  }
  WT_DEVICE const char* source(const Arguments& p, const Block& block, int i, int v, bool& inside) const {
    inside = Places::inside(p, row[i], block.at[v]);
    return Places::address(image, row[i], block.at[v]);
  }
  WT_DEVICE static const void* origin(const Arguments& p) { return p.a; }
  WT_DEVICE u32 address(int i) const { return place + static_cast<u32>(i * kStep * kSpan); }
  WT_DEVICE void next(const Arguments& p, const PortableTask& task) { walk.next(p, task.tile); }
};

// B of forward: the numbers of an output channel's filter follow each other in memory as they do along k.
template <KernelConfig kConfig>
struct FilterRows : RowShares<kConfig, kConfig.gemm.tile.n> {
  using Shares = RowShares<kConfig, kConfig.gemm.tile.n>;
  using Arguments = typename PortableProblem<kConfig>::Arguments;
  using Shares::kBytes, Shares::kCount, Shares::kStep, Shares::kSpan;
  static constexpr int kVector = kConfig.gemm.vector_b, kVectors = Shares::kChunk / kVector;

  struct Block {};

  const char* from;  // the thread's first row, at its number
  i32 rows;          // of the tile that exist, from the thread's first on
  i32 number;
  u32 place;

  WT_DEVICE void start(const Arguments& p, const PortableTask& task, int thread) {
    const i32 column = task.tile.column + Shares::row_of(thread);
    number = Shares::chunk_of(thread) * Shares::kChunk;
    from = static_cast<const char*>(p.b) +
           ((static_cast<i64>(task.tile.group) * p.columns + column) * p.filter_pitch + number) * kBytes;
    rows = p.columns - column;
    place = Shares::place_of(thread);
  }
  WT_DEVICE Block block(const Arguments&, const PortableTask&) const { return {}; }
  WT_DEVICE const char* source(const Arguments& p, const Block&, int i, int v, bool& inside) const {
    inside = i * kStep < rows && number + v * kVector < p.filter_pitch;
    return from + (static_cast<i64>(i * kStep) * p.filter_pitch + v * kVector) * kBytes;
  }
  WT_DEVICE static const void* origin(const Arguments& p) { return p.b; }
  WT_DEVICE u32 address(int i) const { return place + static_cast<u32>(i * kStep * kSpan); }
  WT_DEVICE void next(const Arguments&, const PortableTask&) {
    number += kConfig.gemm.tile.k;
    from += kConfig.gemm.tile.k * kBytes;
  }
};

}  // namespace wt
