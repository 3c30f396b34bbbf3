// SPDX-License-Identifier: Apache-2.0
// kernels/wavelet/device/output.h - a warpgroup's accumulators on their way to global memory, for outputs of any
// alignment.
//
//   registers --epilogue--> pairs of columns --exchange in quads of lanes--> 16 bytes of a row --> global
//
// Accumulator i of a lane: row 16 * warp + lane / 4 + 8 * (i / 2 % 2), column 8 * (i / 4) + 2 * (lane % 4) + i % 2.
#pragma once

#include "kernels/device/epilogue.h"
#include "kernels/wavelet/device/walk.h"
#include "target/hopper.h"

namespace wt {

// Lane l of each quad gives word[j] to lane j, and gets from it into word[j] what that had in word[l].
WT_DEVICE void transpose_quad(u32 (&word)[4]) {
  const int lane = device::lane_index();
  WT_UNROLL for (int distance = 1; distance <= 2; distance *= 2) {
    const bool upper = (lane & distance) != 0;
    WT_UNROLL for (int i = 0; i < 4; ++i) {
      if (i & distance) continue;
      const u32 given = upper ? word[i] : word[i + distance];
      const u32 taken = device::shuffle_xor(given, distance);
      if (upper) {
        word[i] = taken;
      } else {
        word[i + distance] = taken;
      }
    }
  }
}

template <KernelConfig kConfig>
struct WaveletOutput {
  using Arguments = WaveletArguments<wavelet_layout::phases(kConfig)>;
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
  using Element = typename Steps::Element;
  static constexpr int kColumns = kConfig.gemm.tile.n, kBlocks = kColumns / 8;

  // 64 rows from row `first` of the tile on.
  WT_DEVICE static void store(const Arguments& p, const WaveletTile& tile, int first, const float (&d)[kColumns / 2],
                              Steps& steps) {
    const int thread = device::thread_index() % 128, lane = thread % 32;
    const i32 left = p.columns - tile.column;
    const i64 channel = static_cast<i64>(tile.group) * p.columns + tile.column;
    WT_UNROLL for (int half = 0; half < 2; ++half) {
      const u32 row = tile.row + static_cast<u32>(first + thread / 32 * 16 + lane / 4 + 8 * half);
      Line line{row < tile.rows, 0, channel, left};
      if (line.exists) line.offset = wavelet_out(p, tile, row) + channel;
      if constexpr (sizeof(Element) == 2) {
        WT_UNROLL for (int block = 0; block < kBlocks; block += 4) store_quad(p, line, block, half, d, steps);
      } else {
        if (!line.exists) continue;
        WT_UNROLL for (int block = 0; block < kBlocks; ++block) store_pair(p, line, block, half, d, steps);
      }
    }
  }

 private:
  struct Line {  // a row of the tile
    bool exists;
    i64 offset;   // of its first column, in the output
    i64 channel;  // of its first column
    i32 columns;  // that exist
  };

  WT_DEVICE static Vector<Element, 2> pair_of(const Arguments& p, const Line& line, i32 column, float low, float high,
                                              Steps& steps) {
    Vector<Element, 2> pair{};
    if (!line.exists || column >= line.columns) return pair;
    pair.at[0] = steps.apply(p.epilogue, low, line.offset + column, line.channel + column);
    if (column + 1 < line.columns) {
      pair.at[1] = steps.apply(p.epilogue, high, line.offset + column + 1, line.channel + column + 1);
    }
    return pair;
  }

  // Four blocks of eight columns: a lane computes a pair of each and stores one whole block.
  WT_DEVICE static void store_quad(const Arguments& p, const Line& line, int block, int half,
                                   const float (&d)[kColumns / 2], Steps& steps) {
    const int lane = device::lane_index() % 4;
    u32 word[4] = {0, 0, 0, 0};
    WT_UNROLL for (int b = 0; b < 4; ++b) {
      if (block + b >= kBlocks) continue;
      const int i = 4 * (block + b) + 2 * half;
      word[b] = __builtin_bit_cast(u32, pair_of(p, line, 8 * (block + b) + 2 * lane, d[i], d[i + 1], steps));
    }
    transpose_quad(word);
    const i32 column = 8 * (block + lane);
    if (!line.exists || block + lane >= kBlocks || column >= line.columns) return;
    auto* out = static_cast<Element*>(p.out) + line.offset + column;
    const i32 left = line.columns - column;
    if (p.out_vector == 8) {
      Steps::write(reinterpret_cast<Vector<u32, 4>*>(out), Vector<u32, 4>{{word[0], word[1], word[2], word[3]}});
    } else if (p.out_vector == 4) {
      Steps::write(reinterpret_cast<Vector<u32, 2>*>(out), Vector<u32, 2>{{word[0], word[1]}});
      if (left > 4) {
        Steps::write(reinterpret_cast<Vector<u32, 2>*>(out + 4), Vector<u32, 2>{{word[2], word[3]}});
      }
    } else if (p.out_vector == 2) {
      WT_UNROLL for (int i = 0; i < 4; ++i) {
        if (2 * i < left) Steps::write(reinterpret_cast<u32*>(out + 2 * i), word[i]);
      }
    } else {
      WT_UNROLL for (int i = 0; i < 8; ++i) {
        const Element value = __builtin_bit_cast(Vector<Element, 2>, word[i / 2]).at[i % 2];
        if (i < left) Steps::write(out + i, value);
      }
    }
  }

  WT_DEVICE static void store_pair(const Arguments& p, const Line& line, int block, int half,
                                   const float (&d)[kColumns / 2], Steps& steps) {
    const i32 column = 8 * block + 2 * (device::lane_index() % 4);
    if (column >= line.columns) return;
    const int i = 4 * block + 2 * half;
    const Vector<Element, 2> pair = pair_of(p, line, column, d[i], d[i + 1], steps);
    auto* out = static_cast<Element*>(p.out) + line.offset + column;
    if (p.out_vector >= 2) return Steps::write(reinterpret_cast<Vector<Element, 2>*>(out), pair);
    Steps::write(out, pair.at[0]);
    if (column + 1 < line.columns) Steps::write(out + 1, pair.at[1]);
  }
};

}  // namespace wt
