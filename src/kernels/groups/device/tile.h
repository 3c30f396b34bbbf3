// SPDX-License-Identifier: Apache-2.0
// kernels/groups/device/tile.h - what the kernels for small groups share: where a warp stands, and chunks of rows as
// matrix fragments.
//
// A chunk is 8 channels of a column that the filter reaches. An instruction multiplies two chunks at once, whatever
// they are: two columns of 8 channels, or two halves of 16. Where their number is odd, the last has zeros for a
// partner.
#pragma once

#include "kernels/groups/device/rows.h"

namespace wt {

template <KernelConfig kConfig>
struct GroupTile {
  using Element = Storage<kConfig.x>;
  using Mma = device::Mma<kConfig.x, 16, 8, 16>;
  using Rows = GroupRows<kConfig>;
  static constexpr bool kData = groups::is_data(kConfig);
  static constexpr int kBundle = groups::bundle(kConfig), kBundleChunks = kBundle / kChunkChannels;
  static constexpr int kOutputs = groups::warp_outputs(kConfig), kParts = kOutputs / 8;
  static constexpr int kTiles = groups::warp_tiles(kConfig);
  static constexpr int kRows = kConfig.fixed.filter_h, kCols = kConfig.fixed.filter_w;
  static constexpr int kReachRows = groups::reach_rows(kConfig), kReachCols = groups::reach_cols(kConfig);
  static constexpr int kStepRows = kConfig.fixed.stride_h, kStepCols = kConfig.fixed.stride_w;
  static constexpr int kColumns = kData ? kReachCols : kCols;  // of the input that a position meets
  static constexpr int kChunks = kColumns * kBundleChunks;     // that it meets in one row
  // Backward data: pixels of each column phase meet every stride-th tap; their chunks are the first of a row's.
  static constexpr int kPhases = groups::out_cols(kConfig);
  static_assert(kBundle % kChunkChannels == 0 && kBundle % kOutputs == 0 && kOutputs % 8 == 0);

  static constexpr int phase_chunks(int phase) {
    return kData ? (kCols - phase + kStepCols - 1) / kStepCols * kBundleChunks : kChunks;
  }
  static constexpr int phase_pairs(int phase) { return (phase_chunks(phase) + 1) / 2; }
  static constexpr int first_pair(int phase) { return phase == 0 ? 0 : first_pair(phase - 1) + phase_pairs(phase - 1); }
  static constexpr int kPairs = first_pair(kPhases - 1) + phase_pairs(kPhases - 1);
  // The tap along w that a phase's chunk meets.
  static constexpr int tap_of(int phase, int chunk) {
    const int column = chunk / kBundleChunks;
    return kData ? column * kStepCols + phase : column;
  }
  // Where a chunk lies from the position's start.
  static constexpr int chunk_offset(int chunk) {
    const int column = chunk / kBundleChunks, bytes = chunk % kBundleChunks * 16;
    if (kData) return (kReachCols - 1 - column) * groups::pitch(kConfig, 1) + bytes;
    constexpr int kIn = groups::in_cols(kConfig);
    return column / kIn * groups::pitch(kConfig, kIn) + column % kIn * Rows::kChunks * 16 + bytes;
  }

  i32 first_output;     // channel of the block that the warp's outputs begin with
  i32 first_position;   // of the block's row
  i32 upper;            // 1 where the lane gives addresses of a pair's second chunk
  i32 address[kTiles];  // of the lane's position in each tile, from a row's start, at its bundle

  WT_DEVICE void prepare() {
    const i32 warp = device::thread_index() / device::kWarpSize, lane = device::lane_index();
    first_output = warp % groups::channel_warps(kConfig) * kOutputs;
    first_position = warp / groups::channel_warps(kConfig) * (kTiles * kTilePositions);
    upper = lane / 16;
  }
  WT_DEVICE i32 first_channel() const { return first_output / kBundle * kBundle; }  // of the bundle

  // The lane's position of tile `tile` as ldmatrix wants it.
  WT_DEVICE i32 position(int tile) const {
    return first_position + tile * kTilePositions + device::lane_index() % kTilePositions;
  }
  // Positions of a block's row that do not exist read the first one, and their sums are dropped.
  WT_DEVICE void place_positions(const GroupsArguments& p) {
    WT_UNROLL for (int t = 0; t < kTiles; ++t) {
      i32 at = position(t);
      if (at >= p.columns * p.group_segments) at = 0;
      address[t] = place(p, at);
    }
  }
  WT_DEVICE i32 place(const GroupsArguments& p, i32 at) const {
    const i32 segment = at / p.columns;
    return (at + segment * (kReachCols - 1)) * groups::pitch(kConfig, groups::in_cols(kConfig)) + first_channel() * 2;
  }

  // Where the pixel of a position and phase lies in row 0 of the output; -1: no such pixel.
  WT_DEVICE static i32 place_of(const GroupsArguments& p, i32 position, int phase, i32 group) {
    const i32 segment = position / p.columns, index = group * p.group_segments + segment;
    const i32 n = index / p.segment_tiles;
    const i32 column =
        ((index - n * p.segment_tiles) * p.columns + position - segment * p.columns) * kPhases + phase + p.out_column;
    if (segment >= p.group_segments || index >= p.segments || column < 0 || column >= p.to.size[2]) return -1;
    return static_cast<i32>(n * p.to.n + column * p.to.spatial[2]);
  }

  // Every chunk that tile `tile` meets in the row at `row`: its positions 0 to 7 and 8 to 15.
  template <bool kTransposed>
  WT_DEVICE void read(SharedAddress row, int tile, u32 (&chunk)[kChunks][2]) const {
    const SharedAddress at = row + address[tile];
    WT_UNROLL for (int q = 0; q < kChunks; q += 2) {
      if (q + 1 < kChunks) {
        u32 both[4];
        device::load_matrix<kTransposed>(
            both, at + chunk_offset(q) + upper * (chunk_offset(q + 1 < kChunks ? q + 1 : q) - chunk_offset(q)));
        chunk[q][0] = both[0];
        chunk[q][1] = both[1];
        chunk[q + 1 < kChunks ? q + 1 : q][0] = both[2];
        chunk[q + 1 < kChunks ? q + 1 : q][1] = both[3];
      } else {
        device::load_matrix<kTransposed>(chunk[q], at + chunk_offset(q));
      }
    }
  }

  // Registers of two 16-bit numbers as the instruction's operand.
  template <int kCount>
  WT_DEVICE static void put(const u32 (&from)[kCount], Element (&to)[2 * kCount]) {
    WT_UNROLL for (int i = 0; i < kCount; ++i) {
      to[2 * i].bits = static_cast<u16>(from[i]);
      to[2 * i + 1].bits = static_cast<u16>(from[i] >> 16);
    }
  }
};

}  // namespace wt
