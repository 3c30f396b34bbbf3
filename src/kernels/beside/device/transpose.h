// SPDX-License-Identifier: Apache-2.0
// kernels/beside/device/transpose.h - matrices turned round: between channels-first and channels-last tensors, and
// their filters.
//
//   16 bytes of a row, of as many rows as fill a word --words of a column--> tile (shared) --16 bytes of a column-->
//
// Elements are moved, not read, so that the size is all that matters: a word of the tile has one element of 4 bytes, or
// those of two or four rows that lie below each other. Rows whose length is no multiple of 16 bytes are moved in the
// widest pieces that it allows.
#pragma once

#include "kernels/beside/device/transpose_arguments.h"
#include "kernels/device/raw.h"
#include "target/role.h"

namespace wt {

// kWaited: the launch behind may start early, and waits for this one by itself (kernels/tma/device/roles.h).
template <int kBytes, bool kWaited = false>
struct Transpose {
  using Params = TransposeArguments;
  static constexpr int kThreads = kTransposeThreads;
  static constexpr int kMinBlocks = 1;

  WT_DEVICE static void run(const Params& p) {
    if constexpr (kWaited) device::launch_dependents();
    const SharedAddress tile = device::shared_base();
    const int in_width = width_of(p.columns), out_width = width_of(p.pitch);
    for (i64 index = device::block_index().x; index < p.tiles; index += device::grid_size().x) {
      const i64 line = index / p.tiles_columns, matrix = line / p.tiles_rows;
      const i64 row = (line - matrix * p.tiles_rows) * kEdge, column = (index - line * p.tiles_columns) * kEdge;
      const int rows = of_tile(p.rows - row), columns = of_tile(p.columns - column);
      load(p, tile, (matrix * p.rows + row) * p.columns + column, rows, columns, in_width);
      device::sync_block();
      store(p, tile, (matrix * p.columns + column) * p.pitch + row, rows, columns, out_width);
      device::sync_block();  // the next tile comes to the same place
    }
  }

 private:
  using Chunk = Vector<u32, 4>;
  static constexpr int kEdge = transpose_edge(kBytes);
  static constexpr int kRows = 4 / kBytes, kWide = 16 / kBytes;          // rows of a word, elements of a chunk
  static constexpr int kLines = kEdge / kRows, kChunks = kEdge / kWide;  // of words in the tile, of a row
  // WHY odd: a column's words then lie in different banks.
  static constexpr int kPitch = kEdge + 1;
  static_assert(kLines * kChunks % kThreads == 0);

  WT_DEVICE static int of_tile(i64 left) { return left < kEdge ? static_cast<int>(left) : kEdge; }
  WT_DEVICE static SharedAddress at(SharedAddress tile, int line, int column) {
    return tile + static_cast<u32>((line * kPitch + column) * 4);
  }

  // The widest access, in bytes, that rows of so many elements are whole multiples of. Tensors start at 16.
  WT_DEVICE static int width_of(i64 elements) {
    const auto bytes = static_cast<int>(elements * kBytes & 15);
    return bytes == 0 ? 16 : bytes & -bytes;
  }

  // kWide lanes side by side take neighbouring lines, the others neighbouring chunks: their words then lie in all
  // banks.
  WT_DEVICE static void load(const Params& p, SharedAddress tile, i64 first, int rows, int columns, int width) {
    const char* in = static_cast<const char*>(p.in) + first * kBytes;
    constexpr int kAcross = 32 / kWide, kRest = kChunks / kAcross;
    WT_UNROLL for (int task = 0; task < kLines * kChunks; task += kThreads) {
      const int index = task + device::thread_index(), group = index / 32, lane = index % 32;
      const int chunk = group % kRest * kAcross + lane % kAcross, line = group / kRest * kWide + lane / kAcross;
      const int left = columns - chunk * kWide;
      if (line * kRows >= rows || left <= 0) continue;
      Chunk row[kRows];
      WT_UNROLL for (int r = 0; r < kRows; ++r) {
        const int from = line * kRows + r;
        row[r] = load_chunk(in + (from * p.columns + chunk * kWide) * kBytes, from < rows ? left : 0, width);
      }
      u32 words[kWide];
      turn(row, words);
      WT_UNROLL for (int i = 0; i < kWide; ++i) device::store_shared(at(tile, line, chunk * kWide + i), words[i]);
    }
  }

  // Eight lanes side by side write a column.
  WT_DEVICE static void store(const Params& p, SharedAddress tile, i64 first, int rows, int columns, int width) {
    char* out = static_cast<char*>(p.out) + first * kBytes;
    constexpr int kAlong = 8, kRest = kLines / 4 / kAlong;
    WT_UNROLL for (int task = 0; task < kEdge * kLines / 4; task += kThreads) {
      const int index = task + device::thread_index(), group = index / 32, lane = index % 32;
      const int chunk = group % kRest * kAlong + lane % kAlong, column = group / kRest * 4 + lane / kAlong;
      const int left = rows - chunk * kWide;
      if (column >= columns || left <= 0) continue;
      Chunk words{};
      WT_UNROLL for (int j = 0; j < 4; ++j) {
        if (j * kRows < left) words.at[j] = device::load_shared<u32>(at(tile, 4 * chunk + j, column));
      }
      store_chunk(out + (column * p.pitch + chunk * kWide) * kBytes, words, left, width);
    }
  }

  // Word i has the rows' elements of column i.
  WT_DEVICE static void turn(const Chunk (&row)[kRows], u32 (&words)[kWide]) {
    WT_UNROLL for (int i = 0; i < 4; ++i) {
      if constexpr (kBytes == 4) {
        words[i] = row[0].at[i];
      } else if constexpr (kBytes == 2) {
        words[2 * i] = device::permute_bytes(row[0].at[i], row[1].at[i], 0x5410);
        words[2 * i + 1] = device::permute_bytes(row[0].at[i], row[1].at[i], 0x7632);
      } else {
        const u32 low[2] = {device::permute_bytes(row[0].at[i], row[1].at[i], 0x5140),
                            device::permute_bytes(row[2].at[i], row[3].at[i], 0x5140)};
        const u32 high[2] = {device::permute_bytes(row[0].at[i], row[1].at[i], 0x7362),
                             device::permute_bytes(row[2].at[i], row[3].at[i], 0x7362)};
        words[4 * i] = device::permute_bytes(low[0], low[1], 0x5410);
        words[4 * i + 1] = device::permute_bytes(low[0], low[1], 0x7632);
        words[4 * i + 2] = device::permute_bytes(high[0], high[1], 0x5410);
        words[4 * i + 3] = device::permute_bytes(high[0], high[1], 0x7632);
      }
    }
  }

  // `left` of its elements exist; a row ends with a whole piece.
  WT_DEVICE static Chunk load_chunk(const char* from, int left, int width) {
    if (width == 16) return load_pieces<16>(from, left);
    if (width == 8) return load_pieces<8>(from, left);
    if (kBytes == 4 || width == 4) return load_pieces<4>(from, left);
    if (kBytes == 2 || width == 2) return load_pieces<2>(from, left);
    return load_pieces<1>(from, left);
  }
  template <int kWidth>
  WT_DEVICE static Chunk load_pieces(const char* from, int left) {
    Chunk chunk{};
    WT_UNROLL for (int i = 0; i < 16; i += kWidth) {
      if (i >= left * kBytes) continue;
      const auto piece = device::load_global(reinterpret_cast<const typename RawOf<kWidth>::Type*>(from + i));
      if constexpr (kWidth >= 8) {
        WT_UNROLL for (int j = 0; j < kWidth / 4; ++j) chunk.at[i / 4 + j] = piece.at[j];
      } else {
        chunk.at[i / 4] |= static_cast<u32>(piece) << i % 4 * 8;
      }
    }
    return chunk;
  }

  WT_DEVICE static void store_chunk(char* to, const Chunk& chunk, int left, int width) {
    if (width == 16) return store_pieces<16>(to, chunk, left);
    if (width == 8) return store_pieces<8>(to, chunk, left);
    if (kBytes == 4 || width == 4) return store_pieces<4>(to, chunk, left);
    if (kBytes == 2 || width == 2) return store_pieces<2>(to, chunk, left);
    store_pieces<1>(to, chunk, left);
  }
  template <int kWidth>
  WT_DEVICE static void store_pieces(char* to, const Chunk& chunk, int left) {
    using Piece = typename RawOf<kWidth>::Type;
    // Where the pitch is wider than the rows, the last piece may be no whole one.
    const bool whole = left * kBytes % kWidth == 0;
    WT_UNROLL for (int i = 0; i < 16; i += kWidth) {
      if (i >= left * kBytes) continue;
      if (!whole && i + kWidth > left * kBytes) {
        store_elements(to + i, chunk, i / kBytes, left);
        continue;
      }
      Piece piece{};
      if constexpr (kWidth >= 8) {
        WT_UNROLL for (int j = 0; j < kWidth / 4; ++j) piece.at[j] = chunk.at[i / 4 + j];
      } else {
        piece = static_cast<Piece>(chunk.at[i / 4] >> i % 4 * 8);
      }
      device::store_global(reinterpret_cast<Piece*>(to + i), piece);
    }
  }
  // Elements of the chunk from `begin` to `end`, one by one.
  WT_DEVICE static void store_elements(char* to, const Chunk& chunk, int begin, int end) {
    using Element = typename RawOf<kBytes>::Type;
    WT_UNROLL for (int e = 0; e < kWide; ++e) {
      if (e < begin || e >= end) continue;
      device::store_global(reinterpret_cast<Element*>(to) + (e - begin),
                           static_cast<Element>(chunk.at[e / kRows] >> e % kRows * kBytes * 8));
    }
  }
};

}  // namespace wt
