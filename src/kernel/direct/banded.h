// SPDX-License-Identifier: Apache-2.0
// kernel/direct/banded.h - depthwise forward and backward data of stride 1 on matrix instructions.
//
//   rows of x or dy --cp.async--> ring (shared) --fragments--> mma with every row of the filter --> staged row --> y,
//   dx
//
// An input row meets every row of the filter while its fragments are in registers; the sums of the output rows in
// flight move on by one each step, as in stream_forward.h. Backward data is the same with the filter turned round.
// WHY finite_only: the band's zeros are multiplied too, and 0 x infinity reaches the other outputs of a strip.
#pragma once

#include "kernel/direct/banded_tile.h"
#include "kernel/epilogue.h"
#include "kernel/gemm/storage.h"

namespace wt {

template <KernelConfig kConfig>
struct DirectBanded {
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
    const u32 out_bytes = static_cast<u32>(banded::out_bytes(kConfig, p.column_blocks, p.group_segments));
    const u32 stage_bytes = kDepth * row_bytes;
    const SharedAddress ring = device::keep(device::shared_base() + banded::table_bytes(kConfig));
    const SharedAddress staged = ring + kStages * stage_bytes;
    // WHY rolled: a short walk waits for its instructions, too, and the code of a copy is long.
    WT_ROLLED for (int i = 0; i < kStages - 1; ++i) copy_next(p, rows, copied, ring + i * stage_bytes, row_bytes);

    const int warp = device::thread_index() / device::kWarpSize;
    const BandedLane lane = BandedLane::make();
    const i32 channel = channel_block * banded::channels(kConfig) + warp * kChannels;
    Band band[kDepth];
    WT_UNROLL for (int z = 0; z < kDepth; ++z) load_band(p, channel, z, lane, band[z]);
    Tile tile;
    tile.prepare(lane, warp);
    Strips strips;
    strips.prepare(p, lane);

    Steps steps;
    Sums sum = {};
    int slot = 0, out_slot = 0;
    i32 done_row = -1;  // staged and not yet written
    while (walk.settle(p.to.size[1])) {
      if (walk.row == walk.first) clear(sum);
      device::copy_async_wait<kStages - 2>();
      device::sync_block();
      // WHY here: the barrier says that every warp is done with the row before, whose place this copy takes.
      copy_next(p, rows, copied, ring + (slot == 0 ? kStages - 1 : slot - 1) * stage_bytes, row_bytes);
      WT_UNROLL for (int z = 0; z < kDepth; ++z) {
        multiply(tile, strips.at(ring + slot * stage_bytes + z * row_bytes), band[z], z == 0, sum);
      }
      slot = slot + 1 == kStages ? 0 : slot + 1;
      if (done_row >= 0) rows.write(p, done_row, staged + (out_slot ^ 1) * out_bytes);
      done_row = walk.row - (kRows - 1);
      if (done_row >= walk.first) {
        if (done_row == walk.first) rows.enter_out(p, walk.group);
        finish_row(p, lane, tile, strips, channel, walk.group, done_row, staged + out_slot * out_bytes, sum, steps);
        out_slot ^= 1;
      } else {
        done_row = -1;
      }
      ++walk.row;
    }
    device::sync_block();
    if (done_row >= 0) rows.write(p, done_row, staged + (out_slot ^ 1) * out_bytes);
    steps.finish(p.epilogue);
  }

 private:
  using Element = Storage<kConfig.x>;
  using Tile = BandedTile<kConfig>;
  using Mma = typename Tile::Mma;
  using Rows = BandedRows<kConfig>;
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
  static constexpr int kRows = kConfig.direct.filter_h, kCols = kConfig.direct.filter_w;
  static constexpr int kDepth = Rows::kDepth;
  static constexpr int kStages = kConfig.direct.prefetch;
  static constexpr int kChannels = Tile::kChannels;
  static constexpr bool kFlip = kConfig.direction == Direction::kBackwardData;
  static_assert(kCols <= kBandedMaxFilter && kStages >= 2);
  using Walk = RowWalk<kRows>;
  using Band = Element[kRows][kChannels][Mma::kB];  // of a plane
  using Sums = float[kRows][kChannels][Mma::kC];

  WT_DEVICE static void clear(Sums& sum) {
    WT_UNROLL for (int r = 0; r < kRows; ++r) {
      WT_UNROLL for (int c = 0; c < kChannels; ++c) { WT_UNROLL for (int e = 0; e < Mma::kC; ++e) sum[r][c][e] = 0; }
    }
  }

  // The next row of the walk, if any; a group of copies either way, so that counting them tells which have landed.
  WT_DEVICE static void copy_next(const Params& p, Rows& rows, Walk& walk, SharedAddress to, u32 row_bytes) {
    if (walk.settle(p.to.size[1])) {
      if (walk.row == walk.first) rows.enter(p, walk.group);
      rows.read(p, walk.row++, to, row_bytes);
    }
    device::copy_async_commit();
  }

  // B: pixel j + 4q of the window meets output `out` with tap j + 4q - out. WHY not a load for each q: most of them
  // have no tap, and short walks feel the loads.
  WT_DEVICE static void load_band(const Params& p, i32 channel, int plane, const BandedLane& lane, Band& band) {
    constexpr int kRuns = (kCols + 3) / 4;
    const auto* weights =
        static_cast<const Element*>(p.second) + (kFlip ? kDepth - 1 - plane : plane) * (kRows * kCols);
    const int out = lane.strip / 2 + 4 * (lane.strip % 2);
    const int first = (out - lane.pixel + 3) / 4, first_tap = lane.pixel - out + 4 * first;  // q, and its tap
    WT_UNROLL for (int r = 0; r < kRows; ++r) {
      WT_UNROLL for (int c = 0; c < kChannels; ++c) {
        Element taps[kRuns];
        WT_UNROLL for (int i = 0; i < kRuns; ++i) {
          const int s = first_tap + 4 * i;
          const int tap = kFlip ? (kRows - 1 - r) * kCols + kCols - 1 - s : r * kCols + s;
          taps[i] = Element{0};
          if (s < kCols && channel + c < p.channels)
            taps[i] = device::load_global(weights + static_cast<i64>(channel + c) * (kDepth * kRows * kCols) + tap);
        }
        WT_UNROLL for (int q = 0; q < Mma::kB; ++q) {
          band[r][c][q] = Element{0};
          WT_UNROLL for (int i = 0; i < kRuns; ++i) {
            if (q == first + i) band[r][c][q] = taps[i];
          }
        }
      }
    }
  }

  // The lane's two strips: where their windows and outputs begin.
  struct Strips {
    i32 window[2], out[2];  // pixels from a row's start
    i32 segment[2], column[2];
    bool exists[2];

    WT_DEVICE void prepare(const Params& p, const BandedLane& lane) {
      WT_UNROLL for (int i = 0; i < 2; ++i) {
        const int strip = Tile::kShared ? 2 * lane.strip + i : lane.strip + 8 * i;
        i32 block = strip % p.block_rows;
        segment[i] = strip / p.block_rows;
        exists[i] = block < p.column_blocks;
        // WHY: a strip that does not exist reads one that does, and its sums are dropped.
        if (!exists[i] && (i == 0 || !Tile::kShared)) block = 0;
        column[i] = block * kBandedPixels;
        window[i] = segment[i] * banded::window(p.column_blocks) + column[i];
        out[i] = segment[i] * p.column_blocks * kBandedPixels + column[i];
      }
    }
    struct Windows {
      SharedAddress strip[2];
    };
    WT_DEVICE Windows at(SharedAddress row) const {
      return {{row + static_cast<u32>(window[0]) * Rows::kPixelBytes,
               row + static_cast<u32>(window[1]) * Rows::kPixelBytes}};
    }
  };

  // `moves`: the first plane's row, with which the sums move on.
  WT_DEVICE static void multiply(const Tile& tile, const typename Strips::Windows& windows, const Band& band,
                                 bool moves, Sums& sum) {
    Element a[kChannels][Mma::kA];
    tile.read_row(windows.strip, a);
    WT_UNROLL for (int r = kRows - 1; r >= 0; --r) {
      WT_UNROLL for (int c = 0; c < kChannels; ++c) {
        WT_UNROLL for (int e = 0; e < Mma::kC && moves; ++e) sum[r][c][e] = r > 0 ? sum[r > 0 ? r - 1 : 0][c][e] : 0;
        Mma::multiply(sum[r][c], a[c], band[r][c]);
      }
    }
  }

  // The completed row through the epilogue into the staging row.
  WT_DEVICE static void finish_row(const Params& p, const BandedLane& lane, const Tile& tile, const Strips& strips,
                                   i32 channel, i32 group, i32 row, SharedAddress staged, const Sums& sum,
                                   Steps& steps) {
    WT_UNROLL for (int i = 0; i < 2; ++i) {
      const i32 index = group * p.group_segments + strips.segment[i];
      if (!strips.exists[i]) continue;
      Element value[2][kChannels];
      WT_UNROLL for (int half = 0; half < 2; ++half) {
        const i32 column =
            index % p.segment_tiles * (kBandedRows * kBandedPixels) + strips.column[i] + lane.pixel + 4 * half;
        const bool exists = index < p.segments && column < p.to.size[2];
        const i64 at = index / p.segment_tiles * p.to.n + row * p.to.spatial[1] + column * p.to.spatial[2] + channel;
        WT_UNROLL for (int c = 0; c < kChannels; ++c) {
          value[half][c] = Element{0};
          // WHY: amax must not see what is not stored, and residual and bias must not be read there.
          if (kPlain || (exists && channel + c < p.channels))
            value[half][c] = steps.apply(p.epilogue, sum[kRows - 1][c][2 * i + half], at + c, i64{channel} + c);
        }
      }
      tile.stage(lane, staged + static_cast<u32>(strips.out[i]) * Rows::kPixelBytes, value);
    }
  }
  static constexpr bool kPlain =
      !kConfig.epilogue.scale && !kConfig.epilogue.bias && !kConfig.epilogue.placed() && !kConfig.epilogue.amax;
};

}  // namespace wt
