// SPDX-License-Identifier: Apache-2.0
// kernels/groups/device/kernel.h - forward and backward data of small groups on matrix instructions.
//
//   rows of x or dy --cp.async--> ring (shared) --ldmatrix--> mma with every row of the filter --> staged rows --> y,
//   dx
//
// A block has 64 channels (48 in bundles of 24) of some columns and walks down the rows; a warp has one bundle, or some
// of its outputs, with the filter in registers. A row's fragments meet every row of the filter that reaches it; the
// sums of the output rows in flight move on by one each step, as in stream_forward.h. Backward data takes one row of dy
// a step and completes the stride's rows of dx, every phase of them. WHY exact: an instruction sums over channels of
// one group and taps of one output; where chunks are odd, zero meets zero. Bundles of several groups multiply zeros of
// the filter, and are finite_only.
#pragma once

#include "kernels/device/epilogue.h"
#include "kernels/device/gemm/storage.h"
#include "kernels/groups/device/tile.h"

namespace wt {

template <KernelConfig kConfig>
struct DirectGroups {
  using Params = GroupsArguments;
  static constexpr int kThreads = kConfig.direct.block_size;
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const i32 channel_block = device::block_index().x % p.channel_blocks;
    const RowRange range = RowRange::make(p);
    const i32 block_channel = channel_block * groups::channels(kConfig);
    const SharedAddress filter = device::keep(device::shared_base()), ring = filter + groups::filter_bytes(kConfig);
    const i32 positions = groups::window(kConfig, p.columns) * p.group_segments;
    const u32 row_bytes = static_cast<u32>(groups::in_row_bytes(kConfig, positions));
    const u32 stage_bytes = kInRows * row_bytes;
    const SharedAddress staged = ring + kStages * stage_bytes;
    stage_filter(p, block_channel, filter);
    device::copy_async_commit();

    Walk copied{range.first, range.end}, walk{range.first, range.end};
    Rows rows;
    rows.prepare(p, channel_block);
    // WHY rolled: a short walk waits for its instructions, too, and the code of a copy is long.
    WT_ROLLED for (int i = 0; i < kStages - 1; ++i) copy_next(p, rows, copied, ring + i * stage_bytes, row_bytes);
    Tile tile;
    tile.prepare();
    tile.place_positions(p);
    Outputs outputs;
    outputs.prepare(p, block_channel + tile.first_output);
    device::copy_async_wait<kStages - 1>();
    device::sync_block();
    Filter weights;
    load_filter(tile, filter, weights);

    Sums sum = {};
    int slot = 0, out_slot = 0;
    i32 done = -1;  // staged and not yet written
    while (walk.settle(p.height)) {
      if (walk.row == walk.first) clear(sum);
      device::copy_async_wait<kStages - 2>();
      device::sync_block();
      // WHY here: the barrier says that every warp is done with the rows before, whose place these copies take.
      copy_next(p, rows, copied, ring + (slot == 0 ? kStages - 1 : slot - 1) * stage_bytes, row_bytes);
      multiply(tile, ring + slot * stage_bytes, row_bytes, weights, sum);
      slot = slot + 1 == kStages ? 0 : slot + 1;
      if (done >= 0) rows.write(p, done, staged + (out_slot ^ 1) * kOutBytes);
      done = walk.row - (kReachRows - 1);
      if (done >= walk.first) {
        if (done == walk.first) {
          rows.enter_out(p, walk.group);
          outputs.enter(p, tile, walk.group);
        }
        outputs.finish(p, tile, done, staged + out_slot * kOutBytes, sum[kReachRows - 1]);
        out_slot ^= 1;
      } else {
        done = -1;
      }
      ++walk.row;
    }
    device::sync_block();
    if (done >= 0) rows.write(p, done, staged + (out_slot ^ 1) * kOutBytes);
    outputs.steps.finish(p.epilogue);
  }

 private:
  using Element = Storage<kConfig.x>;
  using Tile = GroupTile<kConfig>;
  using Mma = typename Tile::Mma;
  using Rows = GroupRows<kConfig>;
  static constexpr bool kData = Tile::kData;
  static constexpr int kRows = Tile::kRows, kCols = Tile::kCols, kReachRows = Tile::kReachRows;
  static constexpr int kInRows = Rows::kInRows, kOutRows = Rows::kOutRows, kPhases = Tile::kPhases;
  static constexpr int kTiles = Tile::kTiles, kParts = Tile::kParts, kBundle = Tile::kBundle;
  static constexpr int kStages = kConfig.direct.prefetch;
  static constexpr int kOutBytes = kOutRows * groups::out_row_bytes(kConfig);
  static constexpr bool kBundled = kConfig.finite_only;  // several groups a bundle
  static_assert(kStages >= 2);
  using Walk = RowWalk<kReachRows>;
  using Filter = u32[kRows][Tile::kPairs][kParts][2];
  using Outcome = float[kOutRows][kPhases][kTiles][kParts][Mma::kC];
  using Sums = Outcome[kReachRows];

  WT_DEVICE static void clear(Sums& sum) {
    WT_UNROLL for (int b = 0; b < kReachRows; ++b) {
      WT_UNROLL for (int o = 0; o < kOutRows; ++o) {
        WT_UNROLL for (int f = 0; f < kPhases; ++f) {
          WT_UNROLL for (int t = 0; t < kTiles; ++t) {
            WT_UNROLL for (int j = 0; j < kParts; ++j) {
              WT_UNROLL for (int e = 0; e < Mma::kC; ++e) sum[b][o][f][t][j][e] = 0;
            }
          }
        }
      }
    }
  }

  // The next step's rows, if any; a group of copies either way, so that counting them tells which have landed.
  WT_DEVICE static void copy_next(const Params& p, Rows& rows, Walk& walk, SharedAddress to, u32 row_bytes) {
    if (walk.settle(p.height)) {
      if (walk.row == walk.first) rows.enter(p, walk.group);
      rows.read(p, walk.row++, to, row_bytes);
    }
    device::copy_async_commit();
  }

  // The filter of the block's output channels of w (k), a row each: (taps, bundle), zeros between groups of a bundle.
  WT_DEVICE static void stage_filter(const Params& p, i32 block_channel, SharedAddress to) {
    constexpr int kPitch = groups::filter_pitch(kConfig), kTaps = kRows * kCols;
    const auto* weights = static_cast<const Element*>(p.second);
    if constexpr (!kBundled) {
      constexpr int kRowChunks = kTaps * kBundle / kChunkChannels;
      for (i32 i = device::thread_index(); i < groups::channels(kConfig) * kRowChunks; i += kThreads) {
        const i32 row = i / kRowChunks, chunk = i % kRowChunks;
        const bool exists = block_channel + row < p.channels;
        const i64 from =
            exists ? static_cast<i64>(block_channel + row) * (kTaps * kBundle) + chunk * kChunkChannels : 0;
        device::copy_async<16>(to + row * kPitch + chunk * 16, weights + from, exists ? 16 : 0);
      }
    } else {
      // WHY batches: each load would wait for the one before otherwise.
      constexpr int kAll = groups::channels(kConfig) * kTaps * kBundle, kBatch = 6;
      WT_ROLLED for (i32 begin = device::thread_index(); begin < kAll; begin += kBatch * kThreads) {
        Element value[kBatch];
        WT_UNROLL for (int j = 0; j < kBatch; ++j) {
          const i32 i = begin + j * kThreads, row = i / (kTaps * kBundle), at = i % (kTaps * kBundle);
          const i32 own = at % kBundle - row % kBundle / p.channels_per_group * p.channels_per_group;
          value[j] = Element{0};
          if (i < kAll && block_channel + row < p.channels && own >= 0 && own < p.channels_per_group) {
            value[j] = device::load_global(
                weights + (static_cast<i64>(block_channel + row) * kTaps + at / kBundle) * p.channels_per_group + own);
          }
        }
        WT_UNROLL for (int j = 0; j < kBatch; ++j) {
          const i32 i = begin + j * kThreads;
          if (i < kAll) device::store_shared(to + i / (kTaps * kBundle) * kPitch + i % (kTaps * kBundle) * 2, value[j]);
        }
      }
    }
  }

  // B of every tap row and pair of chunks. Forward its columns are rows of the staged filter; backward they lie along
  // them, and are transposed on the way.
  WT_DEVICE static void load_filter(const Tile& tile, SharedAddress filter, Filter& weights) {
    constexpr int kPitch = groups::filter_pitch(kConfig);
    const i32 lane = device::lane_index(), row = lane % 8;
    const bool second = lane / 8 % 2 == 1;
    WT_UNROLL for (int r = 0; r < kRows; ++r) {
      WT_UNROLL for (int f = 0; f < kPhases; ++f) {
        WT_UNROLL for (int pair = 0; pair < Tile::phase_pairs(f); ++pair) {
          const int left = 2 * pair, right = left + 1 < Tile::phase_chunks(f) ? left + 1 : left;
          WT_UNROLL for (int j = 0; j < kParts; ++j) {
            const auto offset = [&](int chunk) {
              const int tap = r * kCols + Tile::tap_of(f, chunk), inner = chunk % Tile::kBundleChunks * kChunkChannels;
              if (kData)
                return (tile.first_channel() + inner) * kPitch + (tap * kBundle + j * 8) * 2 +
                       (tile.first_output - tile.first_channel()) * 2;
              return (tile.first_output + j * 8) * kPitch + (tap * kBundle + inner) * 2;
            };
            u32(&b)[2] = weights[r][Tile::first_pair(f) + pair][j];
            device::load_matrix<kData>(b, filter + row * kPitch + (second ? offset(right) : offset(left)));
            if (right == left) b[1] = 0;
          }
        }
      }
    }
  }

  // Row of the filter between input row i of a step and output row o of the step `back` before it; kRows: none.
  static constexpr int tap_row(int back, int i, int o) {
    const int r = kData ? (kReachRows - 1 - back) * Tile::kStepRows + o : back * Tile::kStepRows + i;
    return r < kRows ? r : kRows;
  }

  WT_DEVICE static void multiply(const Tile& tile, SharedAddress stage, u32 row_bytes, const Filter& weights,
                                 Sums& sum) {
    WT_UNROLL for (int i = 0; i < kInRows; ++i) {
      WT_UNROLL for (int t = 0; t < kTiles; ++t) {
        u32 chunk[Tile::kChunks][2];
        tile.template read<false>(stage + i * row_bytes, t, chunk);
        // Downwards, so that sum[back - 1] is still the one of the step before.
        WT_UNROLL for (int back = kReachRows - 1; back >= 0; --back) {
          WT_UNROLL for (int o = 0; o < kOutRows; ++o) {
            WT_UNROLL for (int f = 0; f < kPhases; ++f) {
              float(&to)[kParts][Mma::kC] = sum[back][o][f][t];
              WT_UNROLL for (int j = 0; j < kParts && i == 0; ++j) {
                WT_UNROLL for (int e = 0; e < Mma::kC; ++e) to[j][e] =
                    back > 0 ? sum[back > 0 ? back - 1 : 0][o][f][t][j][e] : 0;
              }
              if (const int r = tap_row(back, i, o); r < kRows) add_row(chunk, weights[r], f, to);
            }
          }
        }
      }
    }
  }
  // The products of one row of the filter for pixels of phase `phase`.
  WT_DEVICE static void add_row(const u32 (&chunk)[Tile::kChunks][2], const u32 (&weights)[Tile::kPairs][kParts][2],
                                int phase, float (&sum)[kParts][Mma::kC]) {
    WT_UNROLL for (int pair = 0; pair < Tile::phase_pairs(phase); ++pair) {
      const int left = 2 * pair, right = left + 1;
      const bool whole = right < Tile::phase_chunks(phase);
      const u32 both[4] = {chunk[left][0], chunk[left][1], whole ? chunk[whole ? right : left][0] : 0,
                           whole ? chunk[whole ? right : left][1] : 0};
      Element a[Mma::kA], b[kParts][Mma::kB];
      Tile::put(both, a);
      WT_UNROLL for (int j = 0; j < kParts; ++j) Tile::put(weights[Tile::first_pair(phase) + pair][j], b[j]);
      device::multiply_row<Mma>(sum, a, b);
    }
  }

  // The way of completed rows through the epilogue into the staging rows.
  struct Outputs {
    using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
    // WHY: amax must not see what is not stored, and the residual must not be read there.
    static constexpr bool kPlaced = kConfig.epilogue.placed() || kConfig.epilogue.amax;
    Steps steps;
    float scale[kParts][2], bias[kParts][2];
    i32 channel;  // first of the lane's
    i32 place[kPlaced ? kTiles : 1][kPlaced ? kPhases : 1]
             [2];  // of its pixels in row 0 of the output; -1: no such pixel

    WT_DEVICE void prepare(const Params& p, i32 first_channel) {
      channel = first_channel + device::lane_index() % 4 * 2;
      WT_UNROLL for (int j = 0; j < kParts; ++j) {
        WT_UNROLL for (int e = 0; e < 2; ++e) {
          const bool exists = channel + j * 8 + e < p.channels;
          scale[j][e] = 1;
          bias[j][e] = 0;
          if (!exists) continue;
          scale[j][e] = Steps::scale_of(p.epilogue, channel + j * 8 + e);
          bias[j][e] = Steps::bias_of(p.epilogue, channel + j * 8 + e);
        }
      }
    }

    WT_DEVICE void enter(const Params& p, const Tile& tile, i32 group) {
      if constexpr (kPlaced) {
        WT_UNROLL for (int t = 0; t < kTiles; ++t) {
          WT_UNROLL for (int f = 0; f < kPhases; ++f) {
            WT_UNROLL for (int half = 0; half < 2; ++half) place[t][f][half] =
                Tile::place_of(p, row_of(tile, t, half), f, group);
          }
        }
      }
    }

    WT_DEVICE void finish(const Params& p, const Tile& tile, i32 step, SharedAddress staged, const Outcome& sum) {
      constexpr int kPitch = groups::pitch(kConfig, kPhases);
      WT_UNROLL for (int o = 0; o < kOutRows; ++o) {
        const i32 row = step * kOutRows + o + p.out_row;
        const SharedAddress to =
            staged + o * groups::out_row_bytes(kConfig) + (tile.first_output + device::lane_index() % 4 * 2) * 2;
        WT_UNROLL for (int t = 0; t < kTiles; ++t) {
          WT_UNROLL for (int f = 0; f < kPhases; ++f) {
            WT_UNROLL for (int half = 0; half < 2; ++half) {
              WT_UNROLL for (int j = 0; j < kParts; ++j) {
                const float(&value)[Mma::kC] = sum[o][f][t][j];
                const u32 both = apply(p, row, t, f, half, j, value[2 * half], value[2 * half + 1]);
                device::store_shared(to + row_of(tile, t, half) * kPitch + f * (Rows::kChunks * 16) + j * 16, both);
              }
            }
          }
        }
      }
    }

   private:
    WT_DEVICE static i32 row_of(const Tile& tile, int t, int half) {
      return tile.first_position + t * kTilePositions + device::lane_index() / 4 + 8 * half;
    }
    WT_DEVICE u32 apply(const Params& p, i32 row, int t, int f, int half, int j, float low, float high) {
      u32 residual = 0;
      i64 offset = 0;
      if constexpr (kPlaced) {
        const i32 at = place[t][f][half], first = channel + j * 8;
        if (at < 0 || row < 0 || row >= p.to.size[1] || first >= p.channels) return 0;
        offset = at + row * p.to.spatial[1] + first;
        if constexpr (kConfig.epilogue.residual) {
          const auto* from = static_cast<const Element*>(p.epilogue.residual);
          residual = device::load_global(reinterpret_cast<const u32*>(from + offset));
        }
      }
      Element add[2];
      Tile::put({residual}, add);
      const Element one = steps.apply(p.epilogue, low, scale[j][0], bias[j][0], device::to_float(add[0]), offset);
      const Element two = steps.apply(p.epilogue, high, scale[j][1], bias[j][1], device::to_float(add[1]), offset + 1);
      return static_cast<u32>(one.bits) | static_cast<u32>(two.bits) << 16;
    }
  };
};

}  // namespace wt
