// SPDX-License-Identifier: Apache-2.0
// kernels/portable/device/columns.h - operands that lie across k: the filter backward, and both tensors of a weight
// gradient.
//
//   (tile.k, tile.m or tile.n columns)   a thread owns one chunk of columns, and some rows of k
//
// Rows along k: rows.h.
#pragma once

#include "kernels/portable/device/rows.h"

namespace wt {

// How the load threads share a tile of kExtent columns. In shared memory blocks of up to 128 bytes of columns follow
// each other.
template <KernelConfig kConfig, int kExtent>
struct ColumnShares {
  static constexpr bool kWalks = is_amd(kConfig.target);
  static constexpr int kBytes = portable_layout::element_bytes(kConfig), kChunk = portable_layout::chunk(kConfig);
  static constexpr int kSpan = portable_layout::across_span(kConfig, kExtent), kDepth = kConfig.gemm.tile.k;
  static constexpr int kAcross = kExtent / kChunk;  // chunks of a row
  static constexpr int kStep = portable_layout::load_threads(kConfig) / kAcross;
  static constexpr int kCount = kDepth / kStep;  // rows of a thread
  static_assert(kCount * kStep == kDepth, "the load threads must share the tile evenly");

  // Where copies fill shared memory a wave at a time, in the order of lanes, a wave has whole rows of one block.
  static constexpr bool kWaves = portable_layout::copies_waves(kConfig);
  static constexpr int kBlocks = kAcross * portable_layout::kChunkBytes / kSpan;  // of columns
  static constexpr int kAbreast = kSpan / portable_layout::kChunkBytes;           // chunks of a block's row
  static constexpr int kWaveRows = device::kWarpSize / kAbreast;
  static_assert(!kWaves || kStep % 8 == 0, "a thread's rows share their place in the swizzle");
  static_assert(!kWaves || kStep * kBlocks * kAbreast % device::kWarpSize == 0, "waves share the blocks evenly");

  WT_DEVICE static int row_of(int thread) {
    if constexpr (kWaves) {
      return thread / device::kWarpSize / kBlocks * kWaveRows + thread % device::kWarpSize / kAbreast;
    }
    return thread / kAcross;
  }
  WT_DEVICE static int block_of(int thread) { return thread / device::kWarpSize % kBlocks; }
  WT_DEVICE static int column_of(int thread) {
    if constexpr (kWaves) {
      const u32 at = static_cast<u32>(row_of(thread) * kSpan + thread % kAbreast * portable_layout::kChunkBytes);
      return block_of(thread) * (kSpan / kBytes) + static_cast<int>(swizzled<kSpan>(at) % kSpan) / kBytes;
    }
    return thread % kAcross * kChunk;
  }
  WT_DEVICE static u32 address(int thread, int i) {
    if constexpr (kWaves) {
      return static_cast<u32>(block_of(thread) * (kDepth * kSpan) + (row_of(thread) + i * kStep) * kSpan +
                              thread % kAbreast * portable_layout::kChunkBytes);
    }
    const u32 byte = static_cast<u32>(thread % kAcross * portable_layout::kChunkBytes);
    return byte / kSpan * (kDepth * kSpan) +
           swizzled<kSpan>(static_cast<u32>((row_of(thread) + i * kStep) * kSpan) + byte % kSpan);
  }
};

// How rows of the filter move on with the place in the sum: by addition, as their offset does. A product is one of
// AMD's slowest instructions.
struct FilterSteps {
  i32 offset;   // of an advance
  i32 over[3];  // what the carry from h to d, from w to h and from channels to w adds to it

  template <class Arguments>
  WT_DEVICE void start(const Arguments& p, const WaveletTile& tile, const i32 (&taps)[3]) {
    offset = p.advance.numbers * p.filter_pitch;
    WT_UNROLL for (int d = 0; d < 3; ++d) offset += taps[d] * p.filter_step[d];
    over[2] = p.filter_step[2] - p.run.length * p.filter_pitch;
    WT_UNROLL for (int d = 0; d < 2; ++d) over[d] = p.filter_step[d] - tile.taps[d + 1] * p.filter_step[d + 1];
  }
  // WaveletCursor::move by tile.k.
  template <class Arguments>
  WT_DEVICE void next(const Arguments& p, const WaveletTile& tile, WaveletWalk& walk, i32& at) const {
    WaveletCursor& cursor = walk.at;
    at += offset;
    cursor.number += p.advance.numbers;
    bool carry = cursor.number >= p.run.length;
    cursor.number -= carry ? p.run.length : 0;
    at += carry ? over[2] : 0;
    WT_UNROLL for (int d = 2; d > 0; --d) {
      cursor.tap[d] += walk.taps[d] + (carry ? 1 : 0);
      carry = cursor.tap[d] >= tile.taps[d];
      cursor.tap[d] -= carry ? tile.taps[d] : 0;
      at += carry ? over[d - 1] : 0;
    }
    cursor.tap[0] += walk.taps[0] + (carry ? 1 : 0);
  }
};

// B of backward data: rows of k are taps and output channels, columns input channels.
template <KernelConfig kConfig>
struct FilterColumns : ColumnShares<kConfig, kConfig.gemm.tile.n> {
  using Shares = ColumnShares<kConfig, kConfig.gemm.tile.n>;
  using Arguments = typename PortableProblem<kConfig>::Arguments;
  using Shares::kBytes, Shares::kCount, Shares::kStep;
  static constexpr int kVector = kConfig.gemm.vector_b, kVectors = Shares::kChunk / kVector;

  struct Block {
    i32 offset[kCount];  // elements before the row; -1: it is zero
  };

  WaveletWalk walk[kCount];
  const char* from;  // the group's filter at the thread's first column
  i32 columns;       // that exist from there on
  int thread;
  FilterSteps steps;     // kWalks: offsets move on by addition
  i32 standing[kCount];  // what they are

  WT_DEVICE void start(const Arguments& p, const PortableTask& task, int of) {
    thread = of;
    const i32 column = task.tile.column + Shares::column_of(of);
    from = static_cast<const char*>(p.b) +
           (static_cast<i64>(task.tile.group) * p.depth.by * p.filter_pitch + column) * kBytes;
    columns = p.columns - column;
    WT_UNROLL for (int i = 0; i < kCount; ++i) walk[i].start(p, task.tile, Shares::row_of(of) + i * kStep);
    if constexpr (Shares::kWalks) {
      steps.start(p, task.tile, walk[0].taps);
      WT_UNROLL for (int i = 0; i < kCount; ++i) standing[i] = offset_of(p, task, walk[i].at);
    }
  }
  WT_DEVICE Block block(const Arguments& p, const PortableTask& task) const {
    Block result;
    if constexpr (Shares::kWalks) {
      WT_UNROLL for (int i = 0; i < kCount; ++i) { result.offset[i] = walk[i].at.ended(task.tile) ? -1 : standing[i]; }
      return result;
    }
    i32 first = 0;  // of the phase's taps
    WT_UNROLL for (int d = 0; d < 3; ++d) first += p.phases[task.tile.phase[d]].filter;
    WT_UNROLL for (int i = 0; i < kCount; ++i) {
      const WaveletCursor& at = walk[i].at;
      i32 tap = first;
      WT_UNROLL for (int d = 0; d < 3; ++d) tap += at.tap[d] * p.filter_step[d];
      result.offset[i] = at.ended(task.tile) ? -1 : at.number * p.filter_pitch + tap;
    }
    return result;
  }
  WT_DEVICE static i32 offset_of(const Arguments& p, const PortableTask& task, const WaveletCursor& at) {
    i32 result = at.number * p.filter_pitch;
    WT_UNROLL for (int d = 0; d < 3; ++d) {
      result += p.phases[task.tile.phase[d]].filter + at.tap[d] * p.filter_step[d];
    }
    return result;
  }
  WT_DEVICE const char* source(const Arguments&, const Block& block, int i, int v, bool& inside) const {
    inside = block.offset[i] >= 0 && v * kVector < columns;
    // WHY not the offset itself: even a copy of no bytes wants an aligned address.
    const i32 offset = block.offset[i] >= 0 ? block.offset[i] : 0;
    return from + (static_cast<i64>(offset) + v * kVector) * kBytes;
  }
  WT_DEVICE static const void* origin(const Arguments& p) { return p.b; }
  WT_DEVICE u32 address(int i) const { return Shares::address(thread, i); }
  WT_DEVICE void next(const Arguments& p, const PortableTask& task) {
    WT_UNROLL for (int i = 0; i < kCount; ++i) {
      if constexpr (Shares::kWalks) {
        steps.next(p, task.tile, walk[i], standing[i]);
      } else {
        walk[i].next(p, task.tile);
      }
    }
  }
};

// Backward weight: pixels as they lie, columns channels. A: dy, output channels. B of an explicit GEMM (filters of one
// tap, stride 1, no padding): x, input channels.
template <KernelConfig kConfig, bool kOfA>
struct PlainColumns : ColumnShares<kConfig, kOfA ? kConfig.gemm.tile.m : kConfig.gemm.tile.n> {
  using Shares = ColumnShares<kConfig, kOfA ? kConfig.gemm.tile.m : kConfig.gemm.tile.n>;
  using Arguments = WaveletWeightArguments;
  using Shares::kBytes, Shares::kCount, Shares::kStep;
  static constexpr int kVector = kOfA ? kConfig.gemm.vector_a : kConfig.gemm.vector_b;
  static constexpr int kVectors = Shares::kChunk / kVector;

  struct Block {};

  const char* from;  // the thread's first pixel at its first column
  i32 pixels;        // that exist from there on
  i32 columns;
  int thread;

  WT_DEVICE void start(const Arguments& p, const PortableTask& task, int of) {
    thread = of;
    const i32 pixel = task.first * Shares::kDepth + Shares::row_of(of);
    const i32 column = (kOfA ? static_cast<i32>(task.tile.row) : task.tile.column) + Shares::column_of(of);
    const i32 width = kOfA ? p.walk.columns : p.numbers;  // channels of a group
    from = static_cast<const char*>(kOfA ? p.walk.b : p.walk.a) +
           (static_cast<i64>(pixel) * pitch(p) + static_cast<i64>(task.tile.group) * width + column) * kBytes;
    pixels = p.pixels - pixel;
    columns = width - column;
  }
  WT_DEVICE Block block(const Arguments&, const PortableTask&) const { return {}; }
  WT_DEVICE const char* source(const Arguments& p, const Block&, int i, int v, bool& inside) const {
    inside = i * kStep < pixels && v * kVector < columns;
    return from + (static_cast<i64>(i * kStep) * pitch(p) + v * kVector) * kBytes;
  }
  WT_DEVICE static const void* origin(const Arguments& p) { return kOfA ? p.walk.b : p.walk.a; }
  WT_DEVICE u32 address(int i) const { return Shares::address(thread, i); }
  WT_DEVICE void next(const Arguments& p, const PortableTask&) {
    from += static_cast<i64>(Shares::kDepth) * pitch(p) * kBytes;
    pixels -= Shares::kDepth;
  }

 private:
  // Elements of a pixel. Without a stride the walk's step along w is one pixel of x.
  WT_DEVICE static i32 pitch(const Arguments& p) { return kOfA ? p.plain_pitch : p.walk.step[2]; }
};

// How pixels of a walk over one phase move on: by addition, with a carry from row to plane to image. A division is
// several of AMD's slowest instructions.
template <int kDims>
struct PixelSteps {
  static constexpr int kFirst = 3 - kDims;  // of the dimensions d, h, w
  i32 advance[3], offset;                   // of positions d, h, w, and of what they make
  i32 end[3], length[3];                    // positions where a row, plane or image ends, and how far they go back then
  i32 step[2], over[3];                     // what the carry adds to d and h, and to the offset

  WT_DEVICE void start(const WaveletArguments<3>& p, const WaveletTile& tile, u32 pixels) {
    u32 rest = pixels;
    const i32 stride[3] = {p.image_stride[1], p.image_stride[2], 1};
    offset = 0;
    WT_UNROLL for (int i = 2; i >= kFirst; --i) {
      const WaveletPhase& phase = p.phases[tile.phase[i]];
      const u32 outer = quotient(rest, phase.size);
      advance[i] = static_cast<i32>(rest - outer * phase.size.by) * p.step[i];
      offset += advance[i] * stride[i];
      length[i] = static_cast<i32>(phase.size.by) * p.step[i];
      end[i] = phase.start + length[i];
      over[i] = (i > kFirst ? p.step[i - 1] * stride[i - 1] : p.image_stride[0]) - length[i] * stride[i];
      rest = outer;
    }
    offset += static_cast<i32>(rest) * p.image_stride[0];
    step[0] = p.step[0];
    step[1] = p.step[1];
  }
  // wavelet_row of a pixel that need not exist.
  WT_DEVICE static WaveletRow row(const WaveletArguments<3>& p, const WaveletTile& tile, u32 pixel) {
    WaveletTile all = tile;
    all.rows = 0xffffffff;
    return wavelet_row(p, all, pixel);
  }
  WT_DEVICE void next(WaveletRow& at) const {
    at.offset += offset;
    WT_UNROLL for (int i = 2; i >= kFirst; --i) {
      at.at[i] += advance[i];
      const bool carry = at.at[i] >= end[i];
      at.at[i] -= carry ? length[i] : 0;
      at.offset += carry ? over[i] : 0;
      if (i > kFirst) at.at[i - 1] += carry ? step[i - 1] : 0;
    }
  }
};

// B of backward weight: x under the taps, columns taps and input channels, which stay the same over all k-blocks.
template <KernelConfig kConfig>
struct GatheredColumns : ColumnShares<kConfig, kConfig.gemm.tile.n> {
  using Shares = ColumnShares<kConfig, kConfig.gemm.tile.n>;
  using Arguments = WaveletWeightArguments;
  using Places = ImagePlaces<kConfig>;
  using Shares::kBytes, Shares::kCount, Shares::kStep;
  static constexpr int kVector = kConfig.gemm.vector_b, kVectors = Shares::kChunk / kVector;

  struct Block {
    WaveletRow pixel[kCount];
  };

  typename Places::Place places[kVectors];
  const char* image;
  u32 pixel;  // the thread's first
  int thread;
  // WHY not on RDNA: pixels that stand in registers are the ones too many, and a division delays its WMMA less.
  static constexpr bool kStands = Shares::kWalks && portable_layout::warp_size(kConfig.target) == 64;
  using Steps = PixelSteps<kConfig.dims>;
  Steps steps;                  // kStands: pixels move on by addition
  WaveletRow standing[kCount];  // where they are

  WT_DEVICE void start(const Arguments& p, const PortableTask& task, int of) {
    thread = of;
    WaveletWalk walk;
    walk.start(p.walk, task.tile, task.tile.column + Shares::column_of(of));
    WT_UNROLL for (int v = 0; v < kVectors; ++v) {
      if (v > 0) walk.at.step(kVector, p.walk.run.length, task.tile);
      places[v] = Places::at(p.walk, task.tile, walk.at);
    }
    image = static_cast<const char*>(p.walk.a) + static_cast<i64>(task.tile.group) * p.walk.depth.by * kBytes;
    pixel = static_cast<u32>(task.first * Shares::kDepth + Shares::row_of(of));
    if constexpr (kStands) {
      steps.start(p.walk, task.tile, Shares::kDepth);
      WT_UNROLL for (int i = 0; i < kCount; ++i) {
        standing[i] = Steps::row(p.walk, task.tile, pixel + static_cast<u32>(i * kStep));
      }
    }
  }
  WT_DEVICE Block block(const Arguments& p, const PortableTask& task) const {
    Block result;
    WT_UNROLL for (int i = 0; i < kCount; ++i) {
      const u32 at = pixel + static_cast<u32>(i * kStep);
      if constexpr (Shares::kWalks) {
        result.pixel[i] = kStands ? standing[i] : Steps::row(p.walk, task.tile, at);
        result.pixel[i].at[2] = at < task.tile.rows ? result.pixel[i].at[2] : kOutside;
      } else {
        result.pixel[i] = wavelet_row(p.walk, task.tile, at);
      }
    }
    return result;
  }
  WT_DEVICE const char* source(const Arguments& p, const Block& block, int i, int v, bool& inside) const {
    inside = Places::inside(p.walk, block.pixel[i], places[v]);
    return Places::address(image, block.pixel[i], places[v]);
  }
  WT_DEVICE static const void* origin(const Arguments& p) { return p.walk.a; }
  WT_DEVICE u32 address(int i) const { return Shares::address(thread, i); }
  WT_DEVICE void next(const Arguments&, const PortableTask&) {
    pixel += Shares::kDepth;
    if constexpr (kStands) {
      WT_UNROLL for (int i = 0; i < kCount; ++i) steps.next(standing[i]);
    }
  }
};

}  // namespace wt
