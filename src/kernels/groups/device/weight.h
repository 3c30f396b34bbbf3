// SPDX-License-Identifier: Apache-2.0
// kernels/groups/device/weight.h - backward weight of small groups on matrix instructions: partial sums of dw.
//
//   rows of x and dy --cp.async--> ring (shared) --ldmatrix, transposed--> A (two chunks of x, 16 positions) x B (16
//   positions, 8 channels of dy)
//
// A warp has 8 output channels of one bundle and the whole filter of them in registers. A row of x meets the rows of dy
// that it reaches, which stay in registers until the last has met them. Groups that share a bundle have products of
// their own that nothing else is added to, and those between groups are dropped: exact for every width. WHY zeros are
// not enough for pixels that do not exist: zero times a non-finite value is none. Such positions read zeros on both
// sides, and rows of dy that do not exist are not multiplied.
#pragma once

#include "kernels/device/overlap.h"
#include "kernels/groups/device/tile.h"

namespace wt {

template <KernelConfig kConfig>
struct DirectGroupsWeight {
  using Params = GroupsArguments;
  static constexpr int kThreads = kConfig.direct.block_size;
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const i32 channel_block = device::block_index().x % p.channel_blocks;
    const RowRange range = RowRange::make(p);
    const i32 positions = groups::window(kConfig, p.columns) * p.group_segments;
    const u32 row_bytes = static_cast<u32>(groups::in_row_bytes(kConfig, positions));
    const u32 stage_bytes = static_cast<u32>(groups::stage_bytes(kConfig, positions));
    const SharedAddress ring = device::keep(device::shared_base());
    Rows::clear_tails(ring, positions, row_bytes, stage_bytes);

    Walk copied{range.first, range.end}, walk{range.first, range.end};
    Rows rows;
    rows.prepare(p, channel_block);
    // WHY rolled: a short walk waits for its instructions, too, and the code of a copy is long.
    WT_ROLLED for (int i = 0; i < kStages - 1; ++i) copy_next(p, rows, copied, ring + i * stage_bytes, row_bytes);
    Tile tile;
    tile.prepare();
    i32 dy_address[kTiles];
    Sums sum = {};
    Held held = {};
    int slot = 0;
    while (walk.settle(p.height)) {
      if (walk.row == walk.first) place_positions(p, walk.group, positions, tile, dy_address);
      device::copy_async_wait<kStages - 2>();
      device::sync_block();
      // WHY here: the barrier says that every warp is done with the rows before, whose place these copies take.
      copy_next(p, rows, copied, ring + (slot == 0 ? kStages - 1 : slot - 1) * stage_bytes, row_bytes);
      const SharedAddress stage = ring + slot * stage_bytes;
      const i32 stop = walk.last - (kReachRows - 1);  // the item's last row of dy
      take_dy(tile, stage + kInRows * row_bytes, dy_address, walk.row <= stop, held);
      multiply(tile, stage, row_bytes, walk.row - walk.first, walk.row - stop, held, sum);
      slot = slot + 1 == kStages ? 0 : slot + 1;
      ++walk.row;
    }
    let_sum_start<kConfig>();
    write(p, tile, RowRange::index(p), channel_block * groups::channels(kConfig), sum);
  }

 private:
  using Element = Storage<kConfig.x>;
  using Tile = GroupTile<kConfig>;
  using Mma = typename Tile::Mma;
  using Rows = GroupRows<kConfig>;
  static constexpr int kRows = Tile::kRows, kCols = Tile::kCols, kReachRows = Tile::kReachRows;
  static constexpr int kInRows = Rows::kInRows, kTiles = Tile::kTiles;
  static constexpr int kStages = kConfig.direct.prefetch;
  static constexpr int kInPitch = groups::pitch(kConfig, groups::in_cols(kConfig));
  static constexpr int kOutPitch = groups::pitch(kConfig, 1);
  static_assert(kStages >= 2 && groups::position_warps(kConfig) == 1 && Tile::kOutputs == 8);
  using Walk = RowWalk<kReachRows>;
  using Held = u32[kReachRows][kTiles][2];
  using Sums = float[kRows][Tile::kPairs][Mma::kC];

  WT_DEVICE static void copy_next(const Params& p, Rows& rows, Walk& walk, SharedAddress to, u32 row_bytes) {
    if (walk.settle(p.height)) {
      if (walk.row == walk.first) {
        rows.enter(p, walk.group);
        rows.enter_out(p, walk.group);
      }
      rows.read(p, walk.row, to, row_bytes);
      if (walk.row <= walk.last - (kReachRows - 1)) rows.read_out(p, walk.row, to + kInRows * row_bytes);
      ++walk.row;
    }
    device::copy_async_commit();
  }

  // Where the lane's positions of the item's segments lie, in rows of x and of dy.
  WT_DEVICE static void place_positions(const Params& p, i32 group, i32 positions, Tile& tile,
                                        i32 (&dy_address)[kTiles]) {
    WT_UNROLL for (int t = 0; t < kTiles; ++t) {
      const i32 at = tile.position(t), segment = at / p.columns, index = group * p.group_segments + segment;
      const i32 column = index % p.segment_tiles * p.columns + at - segment * p.columns;
      const bool exists = segment < p.group_segments && index < p.segments && column < p.to.size[2];
      tile.address[t] = exists ? tile.place(p, at) : positions * kInPitch;
      dy_address[t] = exists ? at * kOutPitch + tile.first_output * 2 : kConfig.direct.tile_w * kOutPitch;
    }
  }

  // The rows held move on by one; the newest is B of every tile.
  WT_DEVICE static void take_dy(const Tile& tile, SharedAddress row, const i32 (&address)[kTiles], bool exists,
                                Held& held) {
    WT_UNROLL for (int t = 0; t < kTiles; ++t) {
      WT_UNROLL for (int back = kReachRows - 1; back > 0; --back) {
        held[back][t][0] = held[back - 1][t][0];
        held[back][t][1] = held[back - 1][t][1];
      }
      if (exists) device::load_matrix<true>(held[0][t], row + address[t]);
    }
  }

  // `age` counts the item's rows of dy so far, `late` those that have not been for lack of more.
  WT_DEVICE static void multiply(const Tile& tile, SharedAddress stage, u32 row_bytes, i32 age, i32 late,
                                 const Held& held, Sums& sum) {
    WT_UNROLL for (int i = 0; i < kInRows; ++i) {
      WT_UNROLL for (int t = 0; t < kTiles; ++t) {
        u32 chunk[Tile::kChunks][2];
        tile.template read<true>(stage + i * row_bytes, t, chunk);
        WT_UNROLL for (int back = 0; back < kReachRows; ++back) {
          const int r = back * Tile::kStepRows + i;
          if (r < kRows && back <= age && back >= late) add_row(chunk, held[back][t], sum[r < kRows ? r : 0]);
        }
      }
    }
  }
  WT_DEVICE static void add_row(const u32 (&chunk)[Tile::kChunks][2], const u32 (&dy)[2],
                                float (&sum)[Tile::kPairs][Mma::kC]) {
    Element b[Mma::kB];
    Tile::put(dy, b);
    WT_UNROLL for (int pair = 0; pair < Tile::kPairs; ++pair) {
      const int left = 2 * pair, right = left + 1;
      const bool whole = right < Tile::kChunks;
      const u32 both[4] = {chunk[left][0], whole ? chunk[whole ? right : left][0] : 0, chunk[left][1],
                           whole ? chunk[whole ? right : left][1] : 0};
      Element a[Mma::kA];
      Tile::put(both, a);
      Mma::multiply(sum[pair], a, b);
    }
  }

  // A lane has channel lane / 4 of each chunk of x and two neighbouring output channels.
  WT_DEVICE static void write(const Params& p, const Tile& tile, i32 range, i32 block_channel, const Sums& sum) {
    constexpr int kTaps = kRows * kCols;
    const i32 lane = device::lane_index(), per_group = p.channels_per_group;
    auto* partials = static_cast<float*>(p.out) + static_cast<i64>(range) * p.channels * kTaps * per_group;
    WT_UNROLL for (int r = 0; r < kRows; ++r) {
      WT_UNROLL for (int pair = 0; pair < Tile::kPairs; ++pair) {
        WT_UNROLL for (int e = 0; e < Mma::kC; ++e) {
          const int chunk = 2 * pair + e / 2;
          if (chunk >= Tile::kChunks) continue;
          const i32 c = chunk % Tile::kBundleChunks * kChunkChannels + lane / 4;  // of the bundle
          const i32 k = tile.first_output + lane % 4 * 2 + e % 2;                 // of the block
          const i32 inner = c - k % Tile::kBundle / per_group * per_group;
          if (block_channel + k >= p.channels || inner < 0 || inner >= per_group) continue;
          const i32 tap = r * kCols + Tile::tap_of(0, chunk);
          device::store_global(partials + (static_cast<i64>(block_channel + k) * kTaps + tap) * per_group + inner,
                               sum[r][pair][e]);
        }
      }
    }
  }
};

}  // namespace wt
