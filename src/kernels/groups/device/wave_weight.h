// SPDX-License-Identifier: Apache-2.0
// kernels/groups/device/wave_weight.h - backward weight of small groups on AMD's matrix instructions: partial sums of
// dw.
//
//   rows of x and dy --registers--> two stages (LDS) --channels read down the positions--> A (16 channels of dy, 16
//   positions) x B (16 positions, 16 channels of x)
//
// A wave has 16 output channels of one bundle and the whole filter of them in registers. weight.h says why positions
// that do not exist read zeros on both sides, rows of dy that do not exist are not multiplied, and products between
// groups are dropped.
#pragma once

#include "kernels/device/overlap.h"
#include "kernels/groups/device/tile.h"
#include "kernels/groups/device/wave_rows.h"

namespace wt {

template <KernelConfig kConfig>
struct WaveGroupsWeight {
  using Params = GroupsArguments;
  static constexpr int kThreads = kConfig.direct.block_size;
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const i32 channel_block = device::block_index().x % p.channel_blocks;
    const RowRange range = RowRange::make(p);
    const i32 positions = groups::window(kConfig, p.columns) * p.group_segments;
    const u32 row_bytes = static_cast<u32>(groups::in_row_bytes(kConfig, positions));
    const u32 stage_bytes = static_cast<u32>(groups::stage_bytes(kConfig, positions));
    const SharedAddress ring = device::shared_base();
    Rows::clear_tails(ring, positions, row_bytes, stage_bytes);

    Walk fetched{range.first, range.end}, walk{range.first, range.end};
    Rows rows;
    rows.prepare(p, channel_block);
    if (fetch_next(p, rows, fetched)) rows.put(ring, row_bytes);
    device::sync_block();
    Tile tile;
    tile.prepare();
    Places places;
    Sums sum = {};
    Held held = {};
    int slot = 0;
    while (walk.settle(p.height)) {
      if (walk.row == walk.first) places.find(p, walk.group, positions, tile);
      const bool more = fetch_next(p, rows, fetched);
      const SharedAddress stage = ring + slot * stage_bytes;
      const i32 stop = walk.last - (kReachRows - 1);  // the item's last row of dy
      take_dy(stage + kInRows * row_bytes, places, walk.row <= stop, held);
      multiply(stage, row_bytes, places, walk.row - walk.first, walk.row - stop, held, sum);
      // WHY safe: the barrier of the step before says that every wave is done with the other stage.
      slot ^= 1;
      if (more) rows.put(ring + slot * stage_bytes, row_bytes);
      device::sync_block();
      ++walk.row;
    }
    write(p, tile, RowRange::index(p), channel_block * groups::channels(kConfig), sum);
  }

 private:
  using Element = Storage<kConfig.x>;
  using Tile = GroupTile<kConfig>;
  using Mma = device::Mma<kConfig.x, 16, 16, 16>;
  using Fragment = WaveFragment<Mma>;
  using Rows = WaveRows<kConfig>;
  static constexpr int kRows = Tile::kRows, kCols = Tile::kCols, kReachRows = Tile::kReachRows;
  static constexpr int kInRows = Rows::kInRows, kTiles = Tile::kTiles, kSteps = Tile::kBundle / 16;
  static constexpr int kInPitch = groups::pitch(kConfig, groups::in_cols(kConfig));
  static constexpr int kOutPitch = groups::pitch(kConfig, 1);
  static_assert(kConfig.direct.prefetch == 2 && groups::position_warps(kConfig) == 1 && Tile::kOutputs == 16);
  using Walk = RowWalk<kReachRows>;
  using Held = Fragment[kReachRows][kTiles];
  using Sums = float[kRows][kCols][kSteps][Mma::kC];

  WT_DEVICE static bool fetch_next(const Params& p, Rows& rows, Walk& walk) {
    if (!walk.settle(p.height)) return false;
    if (walk.row == walk.first) {
      rows.enter(p, walk.group);
      rows.enter_out(p, walk.group);
    }
    rows.fetch(p, walk.row);
    rows.fetch_out(p, walk.row, walk.row <= walk.last - (kReachRows - 1));
    ++walk.row;
    return true;
  }

  // Where the lane's positions of the item's segments lie in rows of x and of dy, at its channel of either.
  struct Places {
    u32 both[kTiles][Fragment::kCount];  // x, and dy in the upper half

    WT_DEVICE SharedAddress x(int t, int e) const { return both[t][e] & 0xffff; }
    WT_DEVICE SharedAddress dy(int t, int e) const { return both[t][e] >> 16; }

    WT_DEVICE void find(const Params& p, i32 group, i32 positions, const Tile& tile) {
      const i32 lane = device::lane_index() % 16;
      // WHY kept: clang would find every position's segment before the walk, and hold it in registers all along.
      const auto first = static_cast<i32>(device::keep(static_cast<u32>(tile.first_position + Fragment::first())));
      WT_UNROLL for (int t = 0; t < kTiles; ++t) {
        WT_UNROLL for (int e = 0; e < Fragment::kCount; ++e) {
          const i32 at = first + t * kTilePositions + e, segment = at / p.columns;
          const i32 index = group * p.group_segments + segment;
          const i32 column = index % p.segment_tiles * p.columns + at - segment * p.columns;
          const bool exists = segment < p.group_segments && index < p.segments && column < p.to.size[2];
          const i32 in = exists ? tile.place(p, at) : positions * kInPitch;
          const i32 out = exists ? at * kOutPitch + tile.first_output * 2 : kConfig.direct.tile_w * kOutPitch;
          both[t][e] = static_cast<u32>(in + lane * 2) | static_cast<u32>(out + lane * 2) << 16;
        }
      }
    }
  };
  static_assert((groups::most_positions(kConfig) + groups::reach_cols(kConfig)) * kInPitch < 1 << 16);

  // The rows held move on by one; the newest is A of every tile.
  WT_DEVICE static void take_dy(SharedAddress row, const Places& places, bool exists, Held& held) {
    WT_UNROLL for (int t = 0; t < kTiles; ++t) {
      WT_UNROLL for (int back = kReachRows - 1; back > 0; --back) held[back][t] = held[back - 1][t];
      if (!exists) continue;
      held[0][t].gather([&](int e) { return device::load_shared<Element>(row + places.dy(t, e)); });
    }
  }

  // `age` counts the item's rows of dy so far, `late` those that have not been for lack of more.
  WT_DEVICE static void multiply(SharedAddress stage, u32 row_bytes, const Places& places, i32 age, i32 late,
                                 const Held& held, Sums& sum) {
    WT_UNROLL for (int i = 0; i < kInRows; ++i) {
      WT_UNROLL for (int t = 0; t < kTiles; ++t) {
        Fragment x[kCols][kSteps];
        WT_UNROLL for (int column = 0; column < kCols; ++column) {
          WT_UNROLL for (int s = 0; s < kSteps; ++s) {
            const auto offset = static_cast<u32>(Tile::chunk_offset(column * Tile::kBundleChunks + 2 * s));
            x[column][s].gather(
                [&](int e) { return device::load_shared<Element>(stage + i * row_bytes + places.x(t, e) + offset); });
          }
        }
        // WHY one branch for all products of a row of dy: a branch for each had clang read everything before the first.
        WT_UNROLL for (int back = 0; back < kReachRows; ++back) {
          const int r = back * Tile::kStepRows + i;
          if (r >= kRows || back > age || back < late) continue;
          WT_UNROLL for (int column = 0; column < kCols; ++column) {
            WT_UNROLL for (int s = 0; s < kSteps; ++s)
                Fragment::multiply(sum[r < kRows ? r : 0][column][s], held[back][t], x[column][s]);
          }
        }
      }
    }
  }

  // A lane has channel lane % 16 of each 16 of x, and some of the output channels.
  WT_DEVICE static void write(const Params& p, const Tile& tile, i32 range, i32 block_channel, const Sums& sum) {
    constexpr int kTaps = kRows * kCols;
    const i32 lane = device::lane_index(), per_group = p.channels_per_group;
    auto* partials = static_cast<float*>(p.out) + static_cast<i64>(range) * p.channels * kTaps * per_group;
    // WHY taps inside: addresses of all of them at once would not fit the registers.
    WT_UNROLL for (int s = 0; s < kSteps; ++s) {
      WT_UNROLL for (int e = 0; e < Mma::kC; ++e) {
        const i32 c = s * 16 + lane % 16;                       // of the bundle
        const i32 k = tile.first_output + Mma::c_row(lane, e);  // of the block
        const i32 inner = c - k % Tile::kBundle / per_group * per_group;
        if (block_channel + k >= p.channels || inner < 0 || inner >= per_group) continue;
        float* row = partials + static_cast<i64>(block_channel + k) * kTaps * per_group + inner;
        WT_UNROLL for (int tap = 0; tap < kTaps; ++tap) {
          device::store_global(row, sum[tap / kCols][tap % kCols][s][e]);
          row += per_group;
        }
      }
    }
  }
};

}  // namespace wt
