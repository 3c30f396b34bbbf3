// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_banded/device/weight.h - depthwise backward weight of stride 1 on matrix instructions: partial sums
// of dw.
//
//   rows of x and dy --cp.async--> ring (shared) --> A (16 pixels of a window, 16 strips) x B (16 strips, 8 pixels of
//   dy)
//
// C holds the products of window pixel i with dy pixel j, summed over strips and rows; tap s is its diagonal i - j = s,
// which is added up once at the end. A row of x meets the last rows of dy while both are in registers.
// WHY finite_only: C holds pixels that no tap pairs, which is harmless, but strips that do not exist are multiplied by
// zero.
#pragma once

#include "kernels/depthwise_banded/device/tile.h"
#include "kernels/device/overlap.h"

namespace wt {

template <KernelConfig kConfig>
struct DirectBandedWeight {
  using Params = BandedArguments;
  static constexpr int kThreads = kConfig.direct.block_size;
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const i32 channel_block = device::block_index().x % p.channel_blocks;
    const RowRange range = RowRange::make(p);
    Walk copied{range.first, range.end}, walk{range.first, range.end};
    Rows rows;
    rows.prepare(p, channel_block, device::shared_base());
    const u32 row_bytes = static_cast<u32>(banded::row_bytes(kConfig, p.column_blocks, p.group_segments));
    const u32 stage_bytes =
        kDepth * row_bytes + static_cast<u32>(banded::out_bytes(kConfig, p.column_blocks, p.group_segments));
    const SharedAddress zero = device::keep(device::shared_base() + banded::table_bytes(kConfig));
    const SharedAddress ring = zero + banded::kZeroBytes;
    if (device::thread_index() == 0) device::store_shared(zero, Vector<u32, 4>{{0, 0, 0, 0}});
    // WHY rolled: a short walk waits for its instructions, too, and the code of a copy is long.
    WT_ROLLED for (int i = 0; i < kStages - 1; ++i) copy_next(p, rows, copied, ring + i * stage_bytes, row_bytes);

    const int warp = device::thread_index() / device::kWarpSize;
    Strips strips;
    strips.prepare(p, warp);
    Sums sum = {};
    Held held = {};
    int slot = 0;
    while (walk.template settle_pairs<kClips>(p.to.size[1], image_rows(p))) {
      if (walk.entered) forget(held);
      walk.entered = false;
      device::copy_async_wait<kStages - 2>();
      device::sync_block();
      // WHY here: the barrier says that every warp is done with the rows before, whose place these copies take.
      copy_next(p, rows, copied, ring + (slot == 0 ? kStages - 1 : slot - 1) * stage_bytes, row_bytes);
      const SharedAddress stage = ring + slot * stage_bytes;
      shift(held);
      if (walk.template has_pair<kClips>()) strips.read_dy(stage + kDepth * row_bytes, zero, held[0]);
      if (image_rows(p).has(walk.row)) {
        WT_UNROLL for (int z = 0; z < kDepth; ++z) multiply(strips, stage + z * row_bytes, held, sum[z]);
      }
      slot = slot + 1 == kStages ? 0 : slot + 1;
      ++walk.row;
    }
    let_sum_start<kConfig>();
    device::copy_async_wait<0>();
    device::sync_block();
    const i32 channel = channel_block * banded::channels(kConfig) + warp * kChannels;
    add_diagonals(p, ring + warp * (banded::matrix_bytes(kConfig) / (kThreads / device::kWarpSize)), RowRange::index(p),
                  channel, sum);
  }

 private:
  using Element = Storage<kConfig.x>;
  using Mma = device::Mma<kConfig.x, 16, 8, 16>;
  using Rows = BandedRows<kConfig>;
  static constexpr int kRows = kConfig.fixed.filter_h, kCols = kConfig.fixed.filter_w;
  static constexpr int kDepth = Rows::kDepth;
  static constexpr int kStages = kConfig.direct.prefetch;
  static constexpr int kChannels = 4;  // of a warp
  static constexpr bool kShared = kConfig.direct.images == 1;
  static constexpr bool kClips = kDepth == 1;
  static_assert(kCols <= kBandedMaxFilter && kStages >= 2 && kConfig.direct.vector_in == kChannels);
  using Walk = ImageWalk<kRows>;
  using Pixel = Vector<u32, 2>;  // four channels
  using Pairs = u32[kChannels][Mma::kB / 2];
  using Held = u32[kRows][kChannels][Mma::kB / 2];  // rows of dy
  using PlaneSums = float[kRows][kChannels][Mma::kC];
  using Sums = PlaneSums[kDepth];

  WT_DEVICE static ImageRows image_rows(const Params& p) { return {p.pad_h, p.from.size[1]}; }

  WT_DEVICE static void copy_next(const Params& p, Rows& rows, Walk& walk, SharedAddress to, u32 row_bytes) {
    if (walk.template settle_pairs<kClips>(p.to.size[1], image_rows(p))) {
      if (walk.entered) {
        rows.enter(p, walk.group);
        rows.enter_out(p, walk.group);
      }
      walk.entered = false;
      if (image_rows(p).has(walk.row)) rows.read(p, walk.row, to, row_bytes);
      if (walk.template has_pair<kClips>()) rows.read_out(p, walk.row, to + kDepth * row_bytes);
      ++walk.row;
    }
    device::copy_async_commit();
  }

  WT_DEVICE static void forget(Held& held) {
    WT_UNROLL for (int r = 0; r < kRows; ++r) {
      WT_UNROLL for (int c = 0; c < kChannels; ++c) held[r][c][0] = held[r][c][1] = 0;
    }
  }
  WT_DEVICE static void shift(Held& held) {
    WT_UNROLL for (int r = kRows - 1; r >= 0; --r) {
      WT_UNROLL for (int c = 0; c < kChannels; ++c) {
        WT_UNROLL for (int i = 0; i < 2; ++i) held[r][c][i] = r > 0 ? held[r > 0 ? r - 1 : 0][c][i] : 0;
      }
    }
  }
  // Channel `channel` of a pixel of two strips, the pair along k.
  WT_DEVICE static u32 pair_of(const Pixel& one, const Pixel& two, int channel) {
    return device::permute_bytes(one.at[channel / 2], two.at[channel / 2], channel % 2 ? 0x7632 : 0x5410);
  }

  // The lane's four strips, 4 * (lane % 4) and on, and its pixel lane / 4 of each.
  struct Strips {
    u32 window[4], next[4], out[4];  // from a row's start: the pixel, the one 8 further, the pixel of dy
    bool exists[4];

    WT_DEVICE void prepare(const Params& p, int warp) {
      const int lane = device::lane_index(), bytes = warp * kChannels * 2;
      WT_UNROLL for (int i = 0; i < 4; ++i) {
        const i32 strip = lane % 4 * 4 + i, segment = strip / p.block_rows;
        i32 block = strip % p.block_rows;
        exists[i] = block < p.column_blocks;
        if (!exists[i]) block = 0;
        const i32 column = block * kBandedPixels + lane / 4;
        const i32 at = segment * banded::window(p.column_blocks) + column;
        window[i] = Rows::place(at, bytes);
        next[i] = Rows::place(at + kBandedPixels, bytes);
        out[i] = Rows::place(segment * p.column_blocks * kBandedPixels + column, bytes);
      }
    }
    WT_DEVICE void read_dy(SharedAddress row, SharedAddress zero, Pairs& to) const {
      Pixel pixel[4];
      WT_UNROLL for (int i = 0; i < 4; ++i) pixel[i] = device::load_shared<Pixel>(exists[i] ? row + out[i] : zero);
      WT_UNROLL for (int c = 0; c < kChannels; ++c) {
        to[c][0] = pair_of(pixel[0], pixel[1], c);
        to[c][1] = pair_of(pixel[2], pixel[3], c);
      }
    }
    WT_DEVICE void read_x(SharedAddress row, Element (&a)[kChannels][Mma::kA]) const {
      Pixel near[4], far[4];
      WT_UNROLL for (int i = 0; i < 4; ++i) near[i] = device::load_shared<Pixel>(row + window[i]);
      WT_UNROLL for (int i = 0; i < 4; ++i) {
        // The strip after an even one is its neighbour where it exists; where not, dy is zero.
        far[i] = kShared && i % 2 == 0 && exists[i + 1] ? near[i + 1] : device::load_shared<Pixel>(row + next[i]);
      }
      WT_UNROLL for (int c = 0; c < kChannels; ++c) {
        WT_UNROLL for (int half = 0; half < 2; ++half) {
          put(pair_of(near[2 * half], near[2 * half + 1], c), a[c] + 4 * half);
          put(pair_of(far[2 * half], far[2 * half + 1], c), a[c] + 4 * half + 2);
        }
      }
    }
  };
  WT_DEVICE static void put(u32 both, Element* to) {
    to[0].bits = static_cast<u16>(both);
    to[1].bits = static_cast<u16>(both >> 16);
  }

  WT_DEVICE static void multiply(const Strips& strips, SharedAddress row, const Held& held, PlaneSums& sum) {
    Element a[kChannels][Mma::kA];
    strips.read_x(row, a);
    WT_UNROLL for (int r = 0; r < kRows; ++r) {
      WT_UNROLL for (int c = 0; c < kChannels; ++c) {
        Element b[Mma::kB];
        put(held[r][c][0], b);
        put(held[r][c][1], b + 2);
        Mma::multiply(sum[r][c], a[c], b);
      }
    }
  }

  // The matrices of a row of the filter through the warp's shared memory; a quarter of the lanes has a channel, whose
  // lane s adds the diagonal of tap s in order.
  WT_DEVICE static void add_diagonals(const Params& p, SharedAddress matrices, i32 range, i32 channel,
                                      const Sums& sum) {
    constexpr int kTaps = kDepth * kRows * kCols, kMatrix = kBandedRows * banded::kMatrixPitch * 4;
    constexpr int kChannelLanes = device::kWarpSize / kChannels;
    const int lane = device::lane_index(), mine = lane / kChannelLanes;
    auto* partials = static_cast<float*>(p.out) + static_cast<i64>(range) * p.channels * kTaps;
    WT_UNROLL for (int row = 0; row < kDepth * kRows; ++row) {
      device::sync_warp();
      WT_UNROLL for (int c = 0; c < kChannels; ++c) {
        WT_UNROLL for (int e = 0; e < Mma::kC; ++e) {
          const int at = Mma::c_row(lane, e) * banded::kMatrixPitch + Mma::c_col(lane, e);
          device::store_shared(matrices + c * kMatrix + 4 * at, sum[row / kRows][row % kRows][c][e]);
        }
      }
      device::sync_warp();
      if (channel + mine >= p.channels) continue;
      for (int s = lane % kChannelLanes; s < kCols; s += kChannelLanes) {
        float total = 0;
        WT_UNROLL for (int j = 0; j < kBandedPixels; ++j) {
          total += device::load_shared<float>(matrices + mine * kMatrix + 4 * ((j + s) * banded::kMatrixPitch + j));
        }
        device::store_global(partials + static_cast<i64>(channel + mine) * kTaps + row * kCols + s, total);
      }
    }
  }
};

}  // namespace wt
