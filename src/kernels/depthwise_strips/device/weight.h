// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_strips/device/weight.h - depthwise backward weight of any filter, stride, dilation and multiplier
// on matrix instructions: partial sums of dw.
//
//   tiles of x and dy --cp.async--> lines (shared) --> A (16 pixels of a step, 16 strips) x B (16 strips, 8 pixels of
//   dy)
//
// C holds the products of pixel i of a window with pixel j of dy, summed over strips and rows; a tap is one of its
// diagonals. A line of x meets the last rows of dy, one for each of `sub_h` rows of the filter, while both are in
// registers. WHY finite_only: pixels of no tap are multiplied by zeros.
#pragma once

#include "kernels/depthwise_strips/device/block.h"
#include "kernels/device/overlap.h"

namespace wt {

template <KernelConfig kConfig>
struct DepthwiseStripsWeight {
  using Params = StripsArguments;
  static constexpr int kThreads = kConfig.direct.block_size;
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    Block block = Block::make(p);
    WT_UNROLL for (int i = 0; i < kBuffers; ++i) block.copy_next(p, i);
    Block::clear_zeros(p);
    const i32 rows = p.multiplier * p.filter[0] * p.filter[1];
    for (i32 i = device::thread_index(); i < rows * p.filter[2] * kBlockChannels; i += kThreads) {
      device::store_shared(Block::weights(p) + 4 * i, 0.0f);
    }
    // Where all taps are one matrix, its sums stay in registers from tile to tile.
    const bool lone = rows <= kRows && p.phases == 1 && p.steps == 1 && p.filter[0] * p.multiplier == 1;
    const i32 channel = device::warp_index() * kChannels;
    Sums sum;
    clear(sum);
    int buffer = 0;
    for (i32 tile = block.tile - kBuffers * p.workers; tile < p.tiles; tile += p.workers) {
      const StripsTile at = StripsTile::make(p, tile);
      Block::enter(p, at);
      device::copy_async_wait<kBuffers - 1>();
      device::sync_block();
      add_tile(p, Block::buffer(p, buffer), channel, lone, sum);
      device::sync_block();
      block.copy_next(p, buffer);
      buffer = buffer + 1 == kBuffers ? 0 : buffer + 1;
    }
    let_sum_start<kConfig>();
    if (lone) add_diagonals(p, channel, p.step_column[0], 0, p.phase[0].count, sum);
    device::sync_block();
    write(p, block);
  }

 private:
  using Element = Storage<kConfig.x>;
  using Block = StripsBlock<kConfig>;
  using Lines = typename Block::Lines;
  using OutLines = typename Block::OutLines;
  using Mma = device::Mma<kConfig.x, 16, 8, 16>;
  static constexpr int kBuffers = kConfig.direct.prefetch, kRows = kConfig.direct.sub_h;
  static constexpr int kChannels = strips::kWarpChannels, kBlockChannels = strips::channels(kConfig);
  static constexpr bool kShares = strips::shares_pixels(kConfig), kSingle = strips::single(kConfig);
  static constexpr int kStrips = 4;                    // of a lane
  static constexpr int kHeld = kShares ? 1 : kStrips;  // lines of them
  using Pixel = Vector<u32, kChannels / 2>;
  using Sums = float[kRows][kChannels][Mma::kC];
  using Row = u32[kChannels][Mma::kB / 2];  // of dy

  WT_DEVICE static void clear(Sums& sum) {
    WT_UNROLL for (int r = 0; r < kRows; ++r) {
      WT_UNROLL for (int c = 0; c < kChannels; ++c) { WT_UNROLL for (int e = 0; e < Mma::kC; ++e) sum[r][c][e] = 0; }
    }
  }

  WT_DEVICE static void add_tile(const Params& p, SharedAddress tile, i32 channel, bool lone, Sums& sum) {
    const i32 tasks = Block::class_tasks(p), filter_rows = p.filter[0] * p.filter[1];
    WT_ROLLED for (i32 i = 0; i < tasks * p.multiplier; ++i) {
      const StripsTask task = StripsTask::at(Block::tasks(p), i % tasks);
      const i32 multiple = i / tasks;
      if (task.lines == 0) continue;
      WT_ROLLED for (i32 first = 0; first < task.rows; first += kRows) {
        if (!lone) clear(sum);
        const i32 rows = task.rows - first < kRows ? task.rows - first : kRows;
        WT_ROLLED for (i32 matrix = 0; matrix < p.class_tiles; ++matrix) {
          add_matrix(p, tile, matrix, task, first, rows, channel, multiple, sum);
        }
        if (!lone) {
          add_diagonals(p, channel, task.column, multiple * filter_rows + task.row + first * p.row_step, rows, sum);
        }
      }
    }
  }

  // The lane's strips 4t, 4t + 1, .. and of each pixel g and g + 8 of the window and pixel g of dy. A line meets
  // `count` rows of the filter.
  WT_DEVICE static void add_matrix(const Params& p, SharedAddress tile, i32 matrix, const StripsTask& task, i32 first,
                                   i32 count, i32 channel, i32 multiple, Sums& sum) {
    const int g = device::lane_index() / 4, t = device::lane_index() % 4;
    constexpr int kReads = kShares ? kStrips + 1 : 2 * kStrips;
    const i32 image_lines = p.planes * p.groups * p.lines;
    const SharedAddress out_tile = tile + static_cast<u32>(p.tile_images * image_lines) * p.shared.line_bytes;
    u32 pixel[kReads], out[kStrips];
    i32 row[kHeld], rows[kHeld];
    SharedAddress start[kHeld], out_start[kHeld];
    const i32 out_channel = kSingle ? channel : channel * p.multiplier + multiple;
    WT_UNROLL for (int i = 0; i < kHeld; ++i) {
      const StripPlace strip = StripPlace::at(Block::places(p), matrix * strips::kRows + t * kStrips + i);
      row[i] = strip.row() + task.skip + first;
      rows[i] = strip.rows();
      start[i] = tile + static_cast<u32>(strip.image + task.first_line) * p.shared.line_bytes;
      const i32 out_line = strip.image / image_lines * (p.tile_bands * p.band_rows) + strip.row();
      out_start[i] = out_tile + static_cast<u32>(out_line) * p.shared.out_line_bytes;
      const i32 begin = strip.pixel() + task.column + g, out_begin = strip.pixel() / p.advance * 8 + g;
      if constexpr (kShares) {
        WT_UNROLL for (int b = 0; b < kReads; ++b) pixel[b] = Lines::place(p, begin + 8 * b, channel);
        WT_UNROLL for (int b = 0; b < kStrips; ++b) out[b] = OutLines::place(p, out_begin + 8 * b, out_channel);
      } else {
        pixel[i] = Lines::place(p, begin, channel);
        pixel[kStrips + i] = Lines::place(p, begin + 8, channel);
        out[i] = OutLines::place(p, out_begin, out_channel);
      }
    }
    const auto read_dy = [&](i32 next, Row& to) {
      Pixel held[kStrips];
      WT_UNROLL for (int i = 0; i < kStrips; ++i) {
        const int of = kShares ? 0 : i;
        held[i] = Pixel{};
        if (next < rows[of])
          held[i] = read_out(p, out_start[of] + static_cast<u32>(next) * p.shared.out_line_bytes + out[i]);
      }
      WT_UNROLL for (int c = 0; c < kChannels; ++c) {
        to[c][0] = pair_of(held[0], held[1], c);
        to[c][1] = pair_of(held[2], held[3], c);
      }
    };
    const auto multiply = [&](i32 next, const Row(&dy)[kRows], int newest) {
      Pixel held[kReads];
      SharedAddress at[kHeld];
      WT_UNROLL for (int i = 0; i < kHeld; ++i) {
        const i32 index = row[i] + next;
        const bool inside = static_cast<u32>(index) < static_cast<u32>(task.lines);
        at[i] = inside ? start[i] + static_cast<u32>(index) * p.shared.line_bytes : Block::zeros(p);
      }
      WT_UNROLL for (int i = 0; i < kReads; ++i) {
        held[i] = device::load_shared<Pixel>(at[kShares ? 0 : i % kStrips] + pixel[i]);
      }
      WT_UNROLL for (int c = 0; c < kChannels; ++c) {
        Element a[Mma::kA];
        WT_UNROLL for (int half = 0; half < 2; ++half) {
          constexpr int kFar = kShares ? 1 : kStrips;
          put(pair_of(held[2 * half], held[2 * half + 1], c), a + 4 * half);
          put(pair_of(held[2 * half + kFar], held[2 * half + 1 + kFar], c), a + 4 * half + 2);
        }
        WT_UNROLL for (int r = 0; r < kRows; ++r) {
          Element b[Mma::kB];
          const Row& met = dy[(newest + kRows - r) % kRows];
          put(met[c][0], b);
          put(met[c][1], b + 2);
          Mma::multiply(sum[r][c], a, b);
        }
      }
    };

    Row dy[kRows];
    WT_UNROLL for (int r = 0; r < kRows; ++r) {
      WT_UNROLL for (int c = 0; c < kChannels; ++c) dy[r][c][0] = dy[r][c][1] = 0;
    }
    // Lines that some strip has, and before them as many rows of dy as they meet: the others are rows of padding.
    i32 least = row[0], most = row[0];
    WT_UNROLL for (int i = 1; i < kHeld; ++i) {
      least = row[i] < least ? row[i] : least;
      most = row[i] > most ? row[i] : most;
    }
    WT_UNROLL for (int mask = 1; mask < 4; mask *= 2) {
      const i32 one = static_cast<i32>(device::shuffle_xor(static_cast<u32>(least), mask));
      const i32 two = static_cast<i32>(device::shuffle_xor(static_cast<u32>(most), mask));
      least = one < least ? one : least;
      most = two > most ? two : most;
    }
    const i32 met = p.band_rows + count - 1, after = task.lines - least, before = -most - (kRows - 1);
    const i32 end = after < met ? after : met;
    i32 begin = before > 0 ? before : 0;
    const auto add_line = [&](int i) {
      read_dy(begin + i, dy[i]);
      multiply(begin + i, dy, i);
    };
    // WHY apart from the last: without a branch between them, one line's reads pass another's products.
    WT_ROLLED for (; begin + kRows <= end; begin += kRows) { WT_UNROLL for (int i = 0; i < kRows; ++i) add_line(i); }
    WT_UNROLL for (int i = 0; i < kRows - 1; ++i) {
      if (begin + i >= end) break;
      add_line(i);
    }
  }

  WT_DEVICE static Pixel read_out(const Params& p, SharedAddress at) {
    if constexpr (kSingle) {
      return device::load_shared<Pixel>(at);
    } else {
      Pixel pixel{};
      WT_UNROLL for (int c = 0; c < kChannels; ++c) {
        const u32 value = device::load_shared<u16>(at + static_cast<u32>(c * p.multiplier * 2));
        pixel.at[c / 2] |= value << (16 * (c % 2));
      }
      return pixel;
    }
  }
  // Channel `channel` of a pixel of two strips, the pair along k.
  WT_DEVICE static u32 pair_of(const Pixel& one, const Pixel& two, int channel) {
    return device::permute_bytes(one.at[channel / 2], two.at[channel / 2], channel % 2 ? 0x7632 : 0x5410);
  }
  WT_DEVICE static void put(u32 both, Element* to) {
    to[0].bits = static_cast<u16>(both);
    to[1].bits = static_cast<u16>(both >> 16);
  }

  // The matrices of some rows of the filter through the warp's shared memory: a quarter of the lanes has a channel, and
  // adds its taps' diagonals, each in order. No other warp has these channels.
  WT_DEVICE static void add_diagonals(const Params& p, i32 channel, i32 column, i32 row, i32 rows, const Sums& sum) {
    constexpr int kMatrix = strips::kRows * strips::kMatrixPitch * 4, kChannelLanes = device::kWarpSize / kChannels;
    const int lane = device::lane_index(), mine = lane / kChannelLanes;
    const SharedAddress matrices = Block::staged(p) + static_cast<u32>(channel * kMatrix);
    const i32 stride = p.stride[2], dilation = p.dilation[2];
    // Taps that meet a pixel of the step.
    const i32 least = column - 7 * stride, begin = least > 0 ? (least + dilation - 1) / dilation : 0;
    const i32 last = (column + strips::kWindow - 1) / dilation, end = last < p.filter[2] ? last + 1 : p.filter[2];
    WT_UNROLL for (int r = 0; r < kRows; ++r) {
      if (r >= rows) break;
      device::sync_warp();
      WT_UNROLL for (int c = 0; c < kChannels; ++c) {
        WT_UNROLL for (int e = 0; e < Mma::kC; ++e) {
          const int at = Mma::c_row(lane, e) * strips::kMatrixPitch + Mma::c_col(lane, e);
          device::store_shared(matrices + c * kMatrix + 4 * at, sum[r][c][e]);
        }
      }
      device::sync_warp();
      const i32 filter_row = row + r * p.row_step;
      for (i32 tap = begin + lane % kChannelLanes; tap < end; tap += kChannelLanes) {
        float total = 0;
        WT_UNROLL for (int j = 0; j < strips::kColumns; ++j) {
          const i32 at = j * stride + tap * dilation - column;
          if (at >= 0 && at < strips::kWindow)
            total += device::load_shared<float>(matrices + mine * kMatrix + 4 * (at * strips::kMatrixPitch + j));
        }
        const SharedAddress to =
            Block::weights(p) +
            static_cast<u32>((filter_row * p.filter[2] + tap) * kBlockChannels + channel + mine) * 4;
        device::store_shared(to, device::load_shared<float>(to) + total);
      }
    }
  }

  // By all threads: the block's part of dw.
  WT_DEVICE static void write(const Params& p, const Block& block) {
    const i32 taps = p.filter[0] * p.filter[1] * p.filter[2], part = device::block_index().x / p.channel_blocks;
    auto* out = static_cast<float*>(p.out) + static_cast<i64>(part) * p.channels * p.multiplier * taps;
    for (i32 i = device::thread_index(); i < kBlockChannels * p.multiplier * taps; i += kThreads) {
      const i32 tap = i % taps, k = i / taps, channel = k / p.multiplier, multiple = k % p.multiplier;
      if (block.channel + channel >= p.channels) break;
      const float value = device::load_shared<float>(
          Block::weights(p) + static_cast<u32>((multiple * taps + tap) * kBlockChannels + channel) * 4);
      device::store_global(out + static_cast<i64>(block.channel * p.multiplier + k) * taps + tap, value);
    }
  }
};

}  // namespace wt
