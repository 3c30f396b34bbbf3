// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_taps/device/kernel.h - depthwise backward weight of any filter, stride and dilation on matrix
// instructions whose sums are the taps: partial sums of dw.
//
//   tiles of x and dy --cp.async--> lines (shared) --> A (16 taps, 16 pixels) x B (16 pixels, 8 columns) -> C += dw
//
// For one channel and one line of x, A[tap][pixel] is x at pixel * stride + tap * dilation, and B[pixel][column] is dy
// at `pixel` of the line that the line of x meets by the filter's row `column`. So C is the gradient itself: its taps
// stay in registers from the first tile to the last, and no product but those beside the filter's edge is lost.
// A warp has 8 channels, which lie in the 16 bytes that a lane reads at a time, and 8 or 16 columns; warps beside it
// have other columns, or other lines, whose sums are added in order at the end.
// WHY finite_only: zeros beside the image and beside the filter are multiplied too.
#pragma once

#include "kernels/depthwise_taps/device/tile.h"
#include "kernels/device/overlap.h"

namespace wt {

template <KernelConfig kConfig>
struct DepthwiseTaps {
  using Params = DepthwiseTapsArguments;
  static constexpr int kThreads = kConfig.direct.block_size;
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const i32 index = device::block_index().x;
    const i32 channel = index % p.channel_blocks * kBlockChannels;
    i32 next = index / p.channel_blocks;
    const auto copy_next = [&](int buffer) {
      if (next < p.tiles) Copies::copy(p, TapsTile::make(p, next), channel, at_buffer(p, buffer));
      next += p.workers;
      device::copy_async_commit();
    };
    WT_UNROLL for (int i = 0; i < kBuffers; ++i) copy_next(i);
    for (u32 i = device::thread_index() * 16; i < p.shared.out_line_bytes; i += kThreads * 16) {
      device::store_shared(device::shared_base() + i, Vector<u32, 4>{{0, 0, 0, 0}});
    }
    const Warp warp = Warp::make(p);
    Sums sum;
    WT_UNROLL for (int m = 0; m < kMatrices; ++m) {
      WT_UNROLL for (int c = 0; c < kChannels; ++c) { WT_UNROLL for (int e = 0; e < Mma::kC; ++e) sum[m][c][e] = 0; }
    }
    int buffer = 0;
    for (i32 tile = index / p.channel_blocks; tile < p.tiles; tile += p.workers) {
      device::copy_async_wait<kBuffers - 1>();
      device::sync_block();
      add_tile(p, warp, TapsTile::make(p, tile), at_buffer(p, buffer), sum);
      device::sync_block();
      copy_next(buffer);
      buffer = buffer + 1 == kBuffers ? 0 : buffer + 1;
    }
    let_sum_start<kConfig>();
    device::copy_async_wait<0>();
    gather(p, warp, sum);
    write(p, channel, index / p.channel_blocks);
  }

 private:
  using Element = Storage<kConfig.x>;
  using Copies = TapsCopies<kConfig>;
  using Mma = device::Mma<kConfig.x, 16, 8, 16>;
  static constexpr int kBuffers = kConfig.direct.prefetch;
  static constexpr int kBlockChannels = depthwise_taps::channels(kConfig), kUnits = depthwise_taps::units(kConfig);
  static constexpr int kChannels = depthwise_taps::kWarpChannels, kMatrices = depthwise_taps::matrices(kConfig);
  static constexpr int kHalves = kConfig.direct.sub_w, kPixel = kBlockChannels * 2;
  static constexpr bool kShares = depthwise_taps::shares_pixels(kConfig);
  using Sums = float[kMatrices][kChannels][Mma::kC];
  using Pair = u32[kChannels];  // pixels t and t + 4 of the lane, of each channel: the order of k is free

  WT_DEVICE static SharedAddress at_buffer(const Params& p, int index) {
    return device::shared_base() + p.shared.buffers + static_cast<u32>(index) * p.shared.tile_bytes;
  }

  // A column of the matrices.
  struct Column {
    i32 row, plane, run;  // of the filter
    bool exists;

    WT_DEVICE static Column make(const Params& p, i32 index) {
      // WHY none: a run past the last would begin before its line.
      if (index >= p.columns) return {0, 0, 0, false};
      return {index % p.filter[1], index / p.filter[1] % p.filter[0], index / p.filter[1] / p.filter[0], true};
    }
  };
  struct Warp {
    i32 unit, group, slice;  // of the block's channels, of the columns, of the lines
    Column column[kMatrices];

    WT_DEVICE static Warp make(const Params& p) {
      Warp warp;
      const i32 index = device::warp_index(), others = index / kUnits;
      warp.unit = index % kUnits;
      warp.group = others % p.warp_groups;
      warp.slice = others / p.warp_groups;
      const int g = device::lane_index() / 4;
      WT_UNROLL for (int m = 0; m < kMatrices; ++m) warp.column[m] = Column::make(p, warp.first(m) + g);
      return warp;
    }
    // The first column of matrix m.
    WT_DEVICE i32 first(int m) const { return (group * kMatrices + m) * depthwise_taps::kColumns; }
  };

  WT_DEVICE static void add_tile(const Params& p, const Warp& warp, const TapsTile& at, SharedAddress tile, Sums& sum) {
    if (warp.slice >= p.slices) return;
    bool met[kMatrices];  // the column's plane
    WT_UNROLL for (int m = 0; m < kMatrices; ++m) {
      met[m] = warp.column[m].exists && at.out_plane(p, warp.column[m].plane) >= 0;
    }
    const i32 pieces = at.lines * p.chunks;
    WT_ROLLED for (i32 i = warp.slice; i < at.images * pieces; i += p.slices) {
      const i32 image = i / pieces, line = i % pieces / p.chunks, first = i % pieces % p.chunks * p.chunk;
      const i32 steps = p.steps - first < p.chunk ? p.steps - first : p.chunk;
      SharedAddress out[kMatrices][2];
      bool any = false;
      WT_UNROLL for (int m = 0; m < kMatrices; ++m) {
        const Column& column = warp.column[m];
        const i32 of_image = at.out_line(p, line, column.row);
        const bool inside = met[m] && static_cast<u32>(of_image) < static_cast<u32>(at.out_lines);
        any |= inside;
        const i32 index = (image * p.filter[0] + column.plane) * p.out_lines + of_image;
        const SharedAddress start =
            inside ? tile + p.shared.out_lines + static_cast<u32>(index) * p.shared.out_line_bytes
                   : device::shared_base();
        const i32 pixel = p.margin - column.run * p.run_shift + first * depthwise_taps::kWindow;
        WT_UNROLL for (int half = 0; half < 2; ++half) {
          out[m][half] = start + place(warp, pixel + device::lane_index() % 4 + 4 * half, index);
        }
      }
      if (device::ballot(any) == 0) continue;
      add_line(p, warp, tile, image * p.lines + line, first, steps, out, sum);
    }
  }
  WT_DEVICE static u32 place(const Warp& warp, i32 pixel, i32 line) {
    return static_cast<u32>(depthwise_taps::turned_unit<kUnits>(pixel, warp.unit, line) * 16);
  }

  // `steps` windows of a line of x from window `first` on, by lines of dy that begin at `out`.
  WT_DEVICE static void add_line(const Params& p, const Warp& warp, SharedAddress tile, i32 line, i32 first, i32 steps,
                                 SharedAddress (&out)[kMatrices][2], Sums& sum) {
    constexpr int kTapStarts = kShares ? 1 : kHalves;
    const int g = device::lane_index() / 4, t = device::lane_index() % 4;
    const SharedAddress start = tile + static_cast<u32>(line) * p.shared.line_bytes;
    // WHY not below: taps beyond the last would need longer lines.
    SharedAddress in[kTapStarts][2];
    WT_UNROLL for (int h = 0; h < kTapStarts; ++h) {
      i32 tap = g + 8 * h;
      if (!kShares && tap >= p.filter[2]) tap = p.filter[2] - 1;
      WT_UNROLL for (int half = 0; half < 2; ++half) {
        const i32 pixel = (first * depthwise_taps::kWindow + t + 4 * half) * p.stride[2] + tap * p.dilation[2];
        in[h][half] = start + place(warp, pixel, line);
      }
    }
    const u32 in_step = static_cast<u32>(depthwise_taps::kWindow * kPixel * p.stride[2]), in_half = in_step / 2;
    Pair x[kShares ? kHalves + 1 : 2 * kHalves];
    if constexpr (kShares && kHalves == 2) read(in[0], 0, x[0]);
    for (i32 step = 0; step < steps; ++step) {
      if constexpr (kShares) {
        WT_UNROLL for (int i = kHalves - 1; i <= kHalves; ++i) read(in[0], static_cast<u32>(i * 8 * kPixel), x[i]);
      } else {
        WT_UNROLL for (int h = 0; h < kHalves; ++h) {
          read(in[h], 0, x[h]);
          read(in[h], in_half, x[kHalves + h]);
        }
      }
      WT_UNROLL for (int m = 0; m < kMatrices; ++m) {
        Pair dy[2];
        WT_UNROLL for (int i = 0; i < 2; ++i) read(out[m], static_cast<u32>(i * 8 * kPixel), dy[i]);
        WT_UNROLL for (int half = 0; half < 2; ++half) out[m][half] += depthwise_taps::kWindow * kPixel;
        WT_UNROLL for (int c = 0; c < kChannels; ++c) {
          Element a[Mma::kA], b[Mma::kB];
          WT_UNROLL for (int i = 0; i < 2; ++i) {
            constexpr int kLater = kShares ? 1 : kHalves;  // the window's second half
            put(x[i * kLater][c], a + 4 * i);
            put(kHalves == 2 ? x[i * kLater + (kHalves - 1)][c] : 0, a + 4 * i + 2);
            put(dy[i][c], b + 2 * i);
          }
          Mma::multiply(sum[m][c], a, b);
        }
      }
      WT_UNROLL for (int h = 0; h < kTapStarts; ++h) {
        WT_UNROLL for (int half = 0; half < 2; ++half) in[h][half] += in_step;
      }
      if constexpr (kShares && kHalves == 2) {
        WT_UNROLL for (int c = 0; c < kChannels; ++c) x[0][c] = x[2][c];
      }
    }
  }
  WT_DEVICE static void read(const SharedAddress (&at)[2], u32 offset, Pair& pair) {
    const auto one = device::load_shared<Vector<u32, 4>>(at[0] + offset);
    const auto two = device::load_shared<Vector<u32, 4>>(at[1] + offset);
    WT_UNROLL for (int c = 0; c < kChannels; ++c) {
      pair[c] = device::permute_bytes(one.at[c / 2], two.at[c / 2], c % 2 ? 0x7632 : 0x5410);
    }
  }
  WT_DEVICE static void put(u32 both, Element* to) {
    to[0].bits = static_cast<u16>(both);
    to[1].bits = static_cast<u16>(both >> 16);
  }

  // The warps' sums, slice after slice, as the block's gradient (channel, tap) in shared memory.
  WT_DEVICE static void gather(const Params& p, const Warp& warp, const Sums& sum) {
    const i32 taps = p.filter[0] * p.filter[1] * p.filter[2];
    const int lane = device::lane_index();
    for (i32 slice = 0; slice < p.slices; ++slice) {
      device::sync_block();
      if (warp.slice != slice) continue;
      WT_UNROLL for (int m = 0; m < kMatrices; ++m) {
        WT_UNROLL for (int e = 0; e < Mma::kC; ++e) {
          const Column column = Column::make(p, warp.first(m) + Mma::c_col(lane, e));
          const i32 of_run = Mma::c_row(lane, e), tap = column.run * depthwise_taps::run_taps(kConfig) + of_run;
          if (!column.exists || of_run >= 8 * kHalves || tap >= p.filter[2]) continue;
          const i32 at = (column.plane * p.filter[1] + column.row) * p.filter[2] + tap;
          WT_UNROLL for (int c = 0; c < kChannels; ++c) {
            const SharedAddress to =
                device::shared_base() + static_cast<u32>((warp.unit * kChannels + c) * taps + at) * 4;
            const float before = slice == 0 ? 0 : device::load_shared<float>(to);
            device::store_shared(to, before + sum[m][c][e]);
          }
        }
      }
    }
    device::sync_block();
  }

  // By all threads: the block's part of dw.
  WT_DEVICE static void write(const Params& p, i32 channel, i32 part) {
    const i32 taps = p.filter[0] * p.filter[1] * p.filter[2];
    const i32 left = p.channels - channel, count = (left < kBlockChannels ? left : kBlockChannels) * taps;
    auto* out = static_cast<float*>(p.out) + static_cast<i64>(part) * p.channels * taps + channel * taps;
    for (i32 i = device::thread_index(); i < count; i += kThreads) {
      device::store_global(out + i, device::load_shared<float>(device::shared_base() + static_cast<u32>(i) * 4));
    }
  }
};

}  // namespace wt
