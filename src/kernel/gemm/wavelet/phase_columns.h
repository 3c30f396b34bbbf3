// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/wavelet/phase_columns.h - strided backward data with all stride phases as columns of one product.
//
//   row: a point of the stride's lattice     column: (phase, channel)     k: (shift of dy, output channel)
//
// dy is gathered once for all phases instead of once for each; the filter's taps go to the phases they belong to. For
// few input channels, where one phase would leave most of a tile's columns empty.
#pragma once

#include "kernel/epilogue.h"
#include "kernel/gemm/wavelet/chunk.h"
#include "kernel/gemm/wavelet/walk.h"

namespace wt {

template <KernelConfig kConfig>
struct PhaseColumns {
  using Arguments = WaveletArguments<3>;

  struct Column {
    bool exists;
    i32 channel;
    i32 phase[3];
  };
  WT_DEVICE static Column decode(const Arguments& p, i32 column) {
    const WaveletColumns& of = p.phase_columns;
    Column result{column < p.columns, 0, {0, 0, 0}};
    u32 rest = quotient(static_cast<u32>(column), of.channels);
    result.channel = column - static_cast<i32>(rest * of.channels.by);
    WT_UNROLL for (int i = 2; i >= 0; --i) {
      const u32 next = quotient(rest, of.stride[i]);
      result.phase[i] = static_cast<i32>(rest - next * of.stride[i].by);
      rest = next;
    }
    return result;
  }

  // A column's place in the filter under the first shift: its tap, and that and the channel as an offset.
  WT_DEVICE static WaveletRow filter_column(const Arguments& p, i32 column) {
    const Column at = decode(p, column);
    if (!at.exists) return {0, {kOutside, kOutside, kOutside}};
    WaveletRow result{at.channel, {0, 0, 0}};
    WT_UNROLL for (int i = 0; i < 3; ++i) {
      result.at[i] = at.phase[i] + p.phase_columns.base[i];
      result.offset += result.at[i] * p.phase_columns.filter_stride[i];
    }
    return result;
  }
};

// Operand B: (tile.k, tile.n), MN-major. Single numbers: neighbouring columns lie under other taps.
template <KernelConfig kConfig>
struct PhaseColumnsFilter {
  using Arguments = WaveletArguments<3>;
  static constexpr int kTileK = kConfig.gemm.tile.k, kBytes = 2, kChunk = 8;
  static constexpr int kChunks = kConfig.gemm.tile.n / kChunk;
  static constexpr int kAbreast = kConfig.gemm.tile.n >= 64 ? 8 : kChunks >= 4 ? 4 : kChunks >= 2 ? 2 : 1;
  static constexpr int kRowStep = wavelet_layout::load_threads(kConfig) / kAbreast;
  static constexpr int kRows = (kTileK + kRowStep - 1) / kRowStep;
  static_assert(size_of(operand_b(kConfig)) == kBytes && kConfig.gemm.vector_b == 1);

  WaveletWalk walk[kRows];
  const char* filter;   // of the group
  SharedAddress table;  // of the tile's columns
  int first;            // row

  WT_DEVICE void start(const Arguments& p, const WaveletTile& tile, int thread) {
    first = thread / kAbreast;
    filter = static_cast<const char*>(p.b) + static_cast<i64>(tile.group) * p.depth.by * p.filter_pitch * kBytes;
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
      const WaveletRow by = shift_of(p, tile, walk[i].at);
      WT_ROLLED for (int chunk = abreast; chunk < kChunks; chunk += kAbreast) {
        ChunkWords words;
        words.clear();
        WT_UNROLL for (int e = 0; e < kChunk; ++e) {
          const WaveletRow column = device::load_shared<WaveletRow>(table + (chunk * kChunk + e) * sizeof(WaveletRow));
          words.template load<kBytes>(e, filter + static_cast<i64>(column.offset + by.offset) * kBytes,
                                      meets(p, column, by));
        }
        words.store(stage + static_cast<u32>(chunk / 8 * kTileK * 128) +
                    swizzled<128>(static_cast<u32>(row * 128 + chunk % 8 * wavelet_layout::kChunkBytes)));
      }
    }
  }

 private:
  // How a place in the sum moves the columns' taps, and that and its output channel as an offset.
  WT_DEVICE static WaveletRow shift_of(const Arguments& p, const WaveletTile& tile, const WaveletCursor& at) {
    const i32 real = at.number - p.run.head;
    const bool exists = !at.ended(tile) && real >= 0 && real < p.run.real;
    if (!exists) return {0, {kOutside, kOutside, kOutside}};
    const u32 touching = quotient(static_cast<u32>(real), p.depth);
    const i32 channel = real - static_cast<i32>(touching * p.depth.by);
    WaveletRow result{channel * p.filter_pitch, {0, 0, 0}};
    WT_UNROLL for (int i = 0; i < 3; ++i) {
      const i32 shift = at.tap[i] + (i == 2 ? static_cast<i32>(touching) : 0);
      result.at[i] = -shift * static_cast<i32>(p.phase_columns.stride[i].by);
      result.offset += result.at[i] * p.phase_columns.filter_stride[i];
    }
    return result;
  }
  WT_DEVICE static bool meets(const Arguments& p, const WaveletRow& column, const WaveletRow& by) {
    bool result = true;
    WT_UNROLL for (int i = 0; i < 3; ++i) {
      if (i + kConfig.dims < 3) continue;
      result = result && static_cast<u32>(column.at[i] + by.at[i]) < static_cast<u32>(p.phase_columns.filter[i]);
    }
    return result;
  }
};

template <KernelConfig kConfig>
struct PhaseColumnsOutput {
  using Arguments = WaveletArguments<3>;
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
  using Element = typename Steps::Element;
  static constexpr int kColumns = kConfig.gemm.tile.n;

  // 64 rows from row `first` of the tile on.
  WT_DEVICE static void store(const Arguments& p, const WaveletTile& tile, int first, const float (&d)[kColumns / 2],
                              Steps& steps) {
    const WaveletColumns& of = p.phase_columns;
    const int thread = device::thread_index() % 128, lane = thread % 32;
    bool exists[2];
    i32 pixel[2][3];
    i64 offset[2];
    WT_UNROLL for (int half = 0; half < 2; ++half) {
      u32 row = tile.row + static_cast<u32>(first + thread / 32 * 16 + lane / 4 + 8 * half);
      exists[half] = row < tile.rows;
      offset[half] = wavelet_out(p, tile, exists[half] ? row : 0) + static_cast<i64>(tile.group) * of.channels.by;
      WT_UNROLL for (int i = 2; i >= 0; --i) {
        const u32 next = quotient(row, p.phases[i].size);
        pixel[half][i] = static_cast<i32>((row - next * p.phases[i].size.by) * of.stride[i].by);
        row = next;
      }
    }
    WT_UNROLL for (int j = 0; j < kColumns / 4; ++j) {
      const auto column = PhaseColumns<kConfig>::decode(p, tile.column + 8 * (j / 2) + 2 * (lane % 4) + j % 2);
      if (!column.exists) continue;
      const i64 channel = static_cast<i64>(tile.group) * of.channels.by + column.channel;
      WT_UNROLL for (int half = 0; half < 2; ++half) {
        bool inside = exists[half];
        i64 at = offset[half] + column.channel;
        WT_UNROLL for (int i = 0; i < 3; ++i) {
          inside = inside && pixel[half][i] + column.phase[i] < of.size[i];
          at += static_cast<i64>(column.phase[i]) * of.out_stride[i];
        }
        if (!inside) continue;
        Steps::write(static_cast<Element*>(p.out) + at,
                     steps.apply(p.epilogue, d[4 * (j / 2) + 2 * half + j % 2], at, channel));
      }
    }
  }
};

}  // namespace wt
