// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_strips/device/product.h - the sums of a band of output rows: lines of the tile times rows of the
// filter.
//
//   A (16 strips, 16 pixels of a step) x B (16 pixels, 8 outputs) -> C, for each of a warp's four channels
//
// The rows of a band lie so far apart that the next row of the filter meets, for each of them, the line that this one
// met for the row after it: lines stay in registers while they move up through the band.
#pragma once

#include "kernels/depthwise_strips/device/block.h"
#include "kernels/depthwise_strips/device/taps.h"

namespace wt {

template <KernelConfig kConfig>
struct StripsProduct {
  using Element = Storage<kConfig.x>;
  using Mma = device::Mma<kConfig.x, 16, 8, 16>;
  using Taps = StripsTaps<kConfig>;
  using Lines = StripsLines<kConfig, kConfig.direct.vector_in, strips::reads_apart(kConfig)>;
  static constexpr int kRows = kConfig.direct.sub_h;  // of a band
  static constexpr int kChannels = strips::kWarpChannels;
  static constexpr bool kShares = strips::shares_pixels(kConfig), kApart = strips::reads_apart(kConfig);
  static constexpr int kBlocks = kShares ? 3 : 4;  // of 8 pixels: of neighbours, or two of each strip
  static constexpr int kFold = strips::fold(kConfig), kOut = kChannels / kFold;  // channels that a warp sums
  using Sums = float[kRows][kOut][Mma::kC];

  using Block = StripsBlock<kConfig>;

  // The lane's two strips in the tile.
  struct Lane {
    i32 channel;                           // the warp's first, of the block's
    i32 row[kShares ? 1 : 2];              // the band's first
    i32 pixel[kShares ? 1 : 2];            // of a line, where the strip's window begins
    SharedAddress image[kShares ? 1 : 2];  // the first line of its image
    i32 least, most;                       // of the first rows of all the warp's bands

    WT_DEVICE static Lane make(const StripsArguments& p, SharedAddress tile, i32 matrix, i32 channel) {
      Lane lane;
      lane.channel = channel;
      WT_UNROLL for (int i = 0; i < (kShares ? 1 : 2); ++i) {
        const StripPlace strip = StripPlace::at(Block::places(p), matrix * strips::kRows + strip_of(i));
        lane.row[i] = strip.row();
        lane.pixel[i] = strip.pixel();
        lane.image[i] = tile + static_cast<u32>(strip.image) * p.shared.line_bytes;
      }
      lane.least = lane.most = lane.row[0];
      if constexpr (!kShares) {
        lane.least = lane.row[1] < lane.least ? lane.row[1] : lane.least;
        lane.most = lane.row[1] > lane.most ? lane.row[1] : lane.most;
      }
      WT_UNROLL for (int mask = 4; mask < device::kWarpSize; mask *= 2) {
        const i32 least = static_cast<i32>(device::shuffle_xor(static_cast<u32>(lane.least), mask));
        const i32 most = static_cast<i32>(device::shuffle_xor(static_cast<u32>(lane.most), mask));
        lane.least = least < lane.least ? least : lane.least;
        lane.most = most > lane.most ? most : lane.most;
      }
      return lane;
    }
  };
  // The lane's strip `i` of a matrix.
  WT_DEVICE static int strip_of(int i) {
    const int row = device::lane_index() / 4;
    return kShares ? 2 * row + i : row + 8 * i;
  }

  WT_DEVICE static void clear(Sums& sum) {
    WT_UNROLL for (int r = 0; r < kRows; ++r) {
      WT_UNROLL for (int c = 0; c < kOut; ++c) { WT_UNROLL for (int e = 0; e < Mma::kC; ++e) sum[r][c][e] = 0; }
    }
  }

  // All that the bands of a class take from the tile, for output channel `multiple` of each input channel.
  WT_DEVICE static void add(const StripsArguments& p, const Lane& lane, i32 of_class, i32 multiple, Sums& sum) {
    const i32 tasks = Block::class_tasks(p);
    WT_ROLLED for (i32 i = 0; i < tasks; ++i) {
      const StripsTask task = StripsTask::at(Block::tasks(p), of_class * tasks + i);
      if (task.lines > 0) add_task(p, lane, task, multiple, sum);
    }
  }

 private:
  // A line of both strips as the fragments of every channel.
  struct Line {
    u32 pair[kBlocks][kChannels];
  };
  // WHY pairs: put together from halves they were packed anew for every row of the band.
  using Weights = u32[kChannels][Mma::kB / 2];

  // Where the lane's pixels lie from a line's start: of each block pixel t and t + 4.
  struct Pixels {
    u32 at[kBlocks][2];

    WT_DEVICE static Pixels make(const StripsArguments& p, const Lane& lane, i32 first, i32 multiple) {
      const int t = device::lane_index() % 4;
      const i32 channel = kApart ? lane.channel * p.multiplier + multiple : lane.channel;
      Pixels pixels;
      WT_UNROLL for (int b = 0; b < kBlocks; ++b) {
        const i32 start = kShares ? lane.pixel[0] + 8 * b : lane.pixel[b % 2] + 8 * (b / 2);
        WT_UNROLL for (int half = 0; half < 2; ++half) {
          pixels.at[b][half] = Lines::place(p, start + first + t + 4 * half, channel);
        }
      }
      return pixels;
    }
  };

  WT_DEVICE static void add_task(const StripsArguments& p, const Lane& lane, const StripsTask& task, i32 multiple,
                                 Sums& sum) {
    const auto taps = Taps::offsets(Block::table(), task.step);
    const Pixels pixels = Pixels::make(p, lane, task.column, multiple);
    const u32 first_line = static_cast<u32>(task.first_line) * p.shared.line_bytes;
    // A strip that does not have this line reads zeros.
    const auto read = [&](i32 next, Line& line) {
      SharedAddress at[2];
      WT_UNROLL for (int i = 0; i < (kShares ? 1 : 2); ++i) {
        const i32 index = lane.row[i] + task.skip + next;
        const bool inside = static_cast<u32>(index) < static_cast<u32>(task.lines);
        at[i] = inside ? lane.image[i] + first_line + static_cast<u32>(index) * p.shared.line_bytes : Block::zeros(p);
      }
      WT_UNROLL for (int b = 0; b < kBlocks; ++b) {
        read_block(p, at[kShares ? 0 : b % 2], pixels.at[b], line.pair[b]);
      }
    };
    const u32 row_bytes = static_cast<u32>(strips::weight_row_bytes(kConfig, p.filter[2]));
    SharedAddress weights = Block::weights(p) + 2 * lane.channel +
                            static_cast<u32>(multiple * p.filter[0] * p.filter[1] + task.row) * row_bytes;
    const u32 next_row = static_cast<u32>(p.row_step) * row_bytes;

    // Rows of the filter that meet a line for some band: rows of padding are many under large filters. WHY found here:
    // a branch around each row's products doubled the instructions of a step.
    const i32 before = -(lane.most + task.skip + kRows - 1), after = task.lines - (lane.least + task.skip);
    i32 first = before > 0 ? before : 0;
    const i32 end = after < task.rows ? after : task.rows;
    weights += static_cast<u32>(first) * next_row;
    Line line[kRows];
    WT_UNROLL for (int i = 0; i < kRows - 1; ++i) read(first + i, line[i]);
    const auto add_row = [&](int i) {
      Weights b;
      read_weights(weights, taps, b);
      read(first + i + kRows - 1, line[(i + kRows - 1) % kRows]);
      weights += next_row;
      WT_UNROLL for (int r = 0; r < kRows; ++r) multiply(line[(i + r) % kRows], b, sum[r]);
    };
    // WHY apart from the last: without a branch between them, one row's reads pass another's products.
    WT_ROLLED for (; first + kRows <= end; first += kRows) { WT_UNROLL for (int i = 0; i < kRows; ++i) add_row(i); }
    WT_UNROLL for (int i = 0; i < kRows - 1; ++i) {
      if (first + i >= end) break;
      add_row(i);
    }
  }

  WT_DEVICE static void read_block(const StripsArguments& p, SharedAddress line, const u32 (&at)[2],
                                   u32 (&pair)[kChannels]) {
    if constexpr (kApart) {
      // Channels that meet the warp's lie `multiplier` apart.
      WT_UNROLL for (int c = 0; c < kChannels; ++c) {
        const u32 channel = static_cast<u32>(c * p.multiplier * 2);
        const u32 one = device::load_shared<u16>(line + at[0] + channel);
        pair[c] = one | static_cast<u32>(device::load_shared<u16>(line + at[1] + channel)) << 16;
      }
    } else {
      using Words = Vector<u32, kChannels / 2>;
      const Words one = device::load_shared<Words>(line + at[0]), two = device::load_shared<Words>(line + at[1]);
      WT_UNROLL for (int c = 0; c < kChannels; ++c) {
        pair[c] = device::permute_bytes(one.at[c / 2], two.at[c / 2], c % 2 ? 0x7632 : 0x5410);
      }
    }
  }

  WT_DEVICE static void read_weights(SharedAddress row, const typename Taps::Offsets& taps, Weights& b) {
    Vector<u32, kChannels / 2> words[Mma::kB];
    WT_UNROLL for (int q = 0; q < Mma::kB; ++q) {
      words[q] = device::load_shared<Vector<u32, kChannels / 2>>(row + taps.at[q]);
    }
    WT_UNROLL for (int c = 0; c < kChannels; ++c) {
      WT_UNROLL for (int half = 0; half < 2; ++half) {
        b[c][half] =
            device::permute_bytes(words[2 * half].at[c / 2], words[2 * half + 1].at[c / 2], c % 2 ? 0x7632 : 0x5410);
      }
    }
  }

  WT_DEVICE static void multiply(const Line& line, const Weights& b, float (&sum)[kOut][Mma::kC]) {
    // Fragments: both strips' first 8 pixels, then both strips' last 8.
    constexpr int kBlock[4] = {0, 1, kShares ? 1 : 2, kShares ? 2 : 3};
    WT_UNROLL for (int c = 0; c < kChannels; ++c) {
      Element a[Mma::kA];
      WT_UNROLL for (int e = 0; e < Mma::kA; ++e) {
        a[e].bits = static_cast<u16>(line.pair[kBlock[e / 2]][c] >> (16 * (e % 2)));
      }
      Element taps[Mma::kB];
      WT_UNROLL for (int e = 0; e < Mma::kB; ++e) taps[e].bits = static_cast<u16>(b[c][e / 2] >> (16 * (e % 2)));
      Mma::multiply(sum[c / kFold], a, taps);
    }
  }
};

}  // namespace wt
