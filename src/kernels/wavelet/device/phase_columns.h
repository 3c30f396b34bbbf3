// SPDX-License-Identifier: Apache-2.0
// kernels/wavelet/device/phase_columns.h - strided backward data with all stride phases as columns of one product.
//
//   row: a point of the stride's lattice     column: (phase, channel)     k: (shift of dy, output channel)
//
// dy is gathered once for all phases instead of once for each; the filter's taps go to the phases they belong to. For
// few input channels, where one phase would leave most of a tile's columns empty.
#pragma once

#include "kernels/device/epilogue.h"
#include "kernels/wavelet/device/chunk.h"
#include "kernels/wavelet/device/walk.h"

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

// Operand B: (tile.k, tile.n), MN-major. Single numbers: neighbouring columns lie under other taps. Lanes take
// neighbouring columns of a row, most of which follow each other in the filter, and have several loads on their way.
template <KernelConfig kConfig>
struct PhaseColumnsFilter {
  using Arguments = WaveletArguments<3>;
  using Number = Storage<operand_b(kConfig)>;
  static constexpr int kTileK = kConfig.gemm.tile.k, kBytes = 2;
  static constexpr int kLoadThreads = wavelet_layout::load_threads(kConfig);
  static constexpr int kAbreast = kConfig.gemm.tile.n >= 64 ? 32 : kConfig.gemm.tile.n / 2;  // pairs of columns
  static constexpr int kPairs = kConfig.gemm.tile.n / 2 / kAbreast;                          // of a thread
  static constexpr int kRowStep = kLoadThreads / kAbreast, kRows = kTileK / kRowStep;
  static constexpr int kBatch = kRows < 8 ? kRows : 8;
  static constexpr int kBarrier = 1;  // of the load warps, which write the tables of tiles behind it too
  static_assert(size_of(operand_b(kConfig)) == kBytes && kConfig.gemm.vector_b == 1);
  static_assert(kTileK % kRowStep == 0 && kRows % kBatch == 0 && kTileK <= kLoadThreads);

  WaveletWalk walk;     // of the row of each k-block that this thread finds for all
  const char* filter;   // of the group
  SharedAddress table;  // of the tile's columns
  SharedAddress rows;   // two tables of a k-block's rows
  int parity;

  WT_DEVICE void start(const Arguments& p, const WaveletTile& tile, int thread) {
    filter = static_cast<const char*>(p.b) + static_cast<i64>(tile.group) * p.depth.by * p.filter_pitch * kBytes;
    walk.start(p, tile, thread < kTileK ? thread : 0);
    parity = 0;
  }

  WT_DEVICE void next(const Arguments& p, const WaveletTile& tile) { walk.next(p, tile); }

  // WHY two tables: a thread that is ahead may write the next block's while others still read this one.
  WT_DEVICE void copy(const Arguments& p, const WaveletTile& tile, SharedAddress stage) {
    const int thread = device::thread_index() % kLoadThreads;
    const SharedAddress own = rows + parity * kTileK * static_cast<int>(sizeof(WaveletRow));
    parity ^= 1;
    if (thread < kTileK) device::store_shared(own + thread * sizeof(WaveletRow), shift_of(p, tile, walk.at));
    device::sync_named(kBarrier, kLoadThreads);
    WT_UNROLL for (int pair = 0; pair < kPairs; ++pair) {
      const int column = 2 * (thread % kAbreast + pair * kAbreast);
      WaveletRow columns[2];
      WT_UNROLL for (int i = 0; i < 2; ++i) {
        columns[i] = device::load_shared<WaveletRow>(table + (column + i) * sizeof(WaveletRow));
      }
      WT_ROLLED for (int first = thread / kAbreast; first < kTileK; first += kBatch * kRowStep) {
        Vector<Number, 2> numbers[kBatch];
        WT_UNROLL for (int i = 0; i < kBatch; ++i) {
          const WaveletRow by = device::load_shared<WaveletRow>(own + (first + i * kRowStep) * sizeof(WaveletRow));
          numbers[i] = {};
          WT_UNROLL for (int j = 0; j < 2; ++j) {
            const char* from = filter + static_cast<i64>(columns[j].offset + by.offset) * kBytes;
            if (meets(p, columns[j], by)) numbers[i].at[j] = device::load_global(reinterpret_cast<const Number*>(from));
          }
        }
        WT_UNROLL for (int i = 0; i < kBatch; ++i) {
          const int row = first + i * kRowStep, chunk = column / 8;
          device::store_shared(
              stage + static_cast<u32>(chunk / 8 * kTileK * 128) +
                  swizzled<128>(static_cast<u32>(row * 128 + chunk % 8 * wavelet_layout::kChunkBytes)) +
                  static_cast<u32>(column % 8 * kBytes),
              numbers[i]);
        }
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

// Where columns go lies in a table: four divisions for each number that is stored took longer than the products.
template <KernelConfig kConfig>
struct PhaseColumnsOutput {
  using Arguments = WaveletArguments<3>;
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
  using Element = typename Steps::Element;
  static constexpr int kColumns = kConfig.gemm.tile.n;
  static constexpr int kMathThreads = 128 * wavelet_layout::groups(kConfig), kBarrier = 2;
  static constexpr bool kHasChannels = kConfig.epilogue.scale || kConfig.epilogue.bias;

  // The tile's columns: their phases, and those and the channel as an offset in dx. By all math threads.
  WT_DEVICE static void write_table(const Arguments& p, const WaveletTile& tile, SharedAddress table) {
    device::sync_named(kBarrier, kMathThreads);  // the tile before has been stored
    for (int column = device::thread_index(); column < kColumns; column += kMathThreads) {
      const auto at = PhaseColumns<kConfig>::decode(p, tile.column + column);
      WaveletRow row{at.channel, {kNowhere, kNowhere, kNowhere}};
      WT_UNROLL for (int i = 0; i < 3; ++i) {
        if (at.exists) row.at[i] = at.phase[i];
        row.offset += at.phase[i] * p.phase_columns.out_stride[i];
      }
      device::store_shared(table + column * static_cast<int>(sizeof(WaveletRow)), row);
    }
    device::sync_named(kBarrier, kMathThreads);
  }

  // 64 rows from row `first` of the tile on.
  WT_DEVICE static void store(const Arguments& p, const WaveletTile& tile, int first, const float (&d)[kColumns / 2],
                              Steps& steps, SharedAddress table) {
    const int thread = device::thread_index() % 128, lane = thread % 32;
    const Point points[2] = {Point(p, tile, first + thread / 32 * 16 + lane / 4),
                             Point(p, tile, first + thread / 32 * 16 + lane / 4 + 8)};
    WT_UNROLL for (int j = 0; j < kColumns / 8; ++j) {
      const int column = 8 * j + 2 * (lane % 4);
      WaveletRow rows[2];
      i64 channel[2] = {0, 0};
      WT_UNROLL for (int i = 0; i < 2; ++i) {
        rows[i] = device::load_shared<WaveletRow>(table + (column + i) * static_cast<int>(sizeof(WaveletRow)));
        if constexpr (kHasChannels)
          channel[i] = static_cast<i64>(tile.group) * p.phase_columns.channels.by +
                       PhaseColumns<kConfig>::decode(p, tile.column + column + i).channel;
      }
      WT_UNROLL for (int half = 0; half < 2; ++half)
          store_pair(p, points[half], rows, channel, d[4 * j + 2 * half], d[4 * j + 2 * half + 1], steps);
    }
  }

 private:
  static constexpr i32 kNowhere = 1 << 29;

  // A row of the tile: a point of the lattice, whose first phase is a pixel of dx.
  struct Point {
    i32 left[3];  // pixels of dx from there to the end
    i64 offset;

    WT_DEVICE Point(const Arguments& p, const WaveletTile& tile, int in_tile) {
      u32 row = tile.row + static_cast<u32>(in_tile);
      const bool exists = row < tile.rows;
      offset = wavelet_out(p, tile, exists ? row : 0) + static_cast<i64>(tile.group) * p.phase_columns.channels.by;
      WT_UNROLL for (int i = 2; i >= 0; --i) {
        const u32 next = quotient(row, p.phases[i].size);
        const u32 pixel = (row - next * p.phases[i].size.by) * p.phase_columns.stride[i].by;
        left[i] = exists ? p.phase_columns.size[i] - static_cast<i32>(pixel) : 0;
        row = next;
      }
    }
    WT_DEVICE bool has(const WaveletRow& column) const {
      bool inside = true;
      WT_UNROLL for (int i = 0; i < 3; ++i) {
        if (i + kConfig.dims >= 3 || i == 2) inside = inside && column.at[i] < left[i];
      }
      return inside;
    }
  };

  // Two columns, which lie next to each other in dx but where a phase ends.
  WT_DEVICE static void store_pair(const Arguments& p, const Point& point, const WaveletRow (&rows)[2],
                                   const i64 (&channel)[2], float low, float high, Steps& steps) {
    const bool has[2] = {point.has(rows[0]), point.has(rows[1])};
    const i64 at[2] = {point.offset + rows[0].offset, point.offset + rows[1].offset};
    auto* out = static_cast<Element*>(p.out);
    Vector<Element, 2> pair{};
    if (has[0]) pair.at[0] = steps.apply(p.epilogue, low, at[0], channel[0]);
    if (has[1]) pair.at[1] = steps.apply(p.epilogue, high, at[1], channel[1]);
    if (has[0] && has[1] && at[1] == at[0] + 1 && at[0] % 2 == 0) {
      Steps::write(reinterpret_cast<Vector<Element, 2>*>(out + at[0]), pair);
      return;
    }
    WT_UNROLL for (int i = 0; i < 2; ++i) {
      if (has[i]) Steps::write(out + at[i], pair.at[i]);
    }
  }
};

}  // namespace wt
