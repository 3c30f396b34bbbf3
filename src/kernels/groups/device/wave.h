// SPDX-License-Identifier: Apache-2.0
// kernels/groups/device/wave.h - forward and backward data of small groups on AMD's matrix instructions, 16x16x16.
//
//   rows of x or dy --registers--> two stages (LDS) --fragments--> products with every row of the filter --> staged
//   rows --> y, dx
//
// The walk of kernel.h. An instruction multiplies 16 output channels (A, the filter, in registers) by 16 positions (B):
// a lane's sums are then neighbouring channels of one position. Bundles are 16 or 32 channels. WHY exact: an
// instruction sums over channels of one group. Bundles of several groups multiply zeros of the filter, and are
// finite_only.
#pragma once

#include "kernels/device/epilogue.h"
#include "kernels/device/gemm/storage.h"
#include "kernels/groups/device/tile.h"
#include "kernels/groups/device/wave_rows.h"

namespace wt {

template <KernelConfig kConfig>
struct WaveGroups {
  using Params = GroupsArguments;
  static constexpr int kThreads = kConfig.direct.block_size;
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const i32 channel_block = device::block_index().x % p.channel_blocks;
    const RowRange range = RowRange::make(p);
    const i32 block_channel = channel_block * groups::channels(kConfig);
    const SharedAddress ring = device::shared_base();
    const i32 positions = groups::window(kConfig, p.columns) * p.group_segments;
    const u32 row_bytes = static_cast<u32>(groups::in_row_bytes(kConfig, positions));
    const u32 stage_bytes = kInRows * row_bytes;
    const SharedAddress staged = ring + kStages * stage_bytes;

    Walk fetched{range.first, range.end}, walk{range.first, range.end};
    Rows rows;
    rows.prepare(p, channel_block);
    const bool any = fetch_next(p, rows, fetched);
    Tile tile;
    tile.prepare();
    tile.place_positions(p);
    Outputs outputs;
    outputs.prepare(p, block_channel + tile.first_output);
    Filter weights;
    load_filter(p, tile, block_channel, weights);
    if (any) rows.put(ring, row_bytes);
    device::sync_block();

    Sums sum = {};
    int slot = 0, out_slot = 0;
    i32 done = -1;  // staged and not yet written
    while (walk.settle(p.height)) {
      if (walk.row == walk.first) clear(sum);
      // WHY before the products: they hide the way of the next step's rows.
      const bool more = fetch_next(p, rows, fetched);
      multiply(tile, ring + slot * stage_bytes, row_bytes, weights, sum);
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
      // WHY safe: the barrier of the step before says that every wave is done with the other stage.
      slot ^= 1;
      if (more) rows.put(ring + slot * stage_bytes, row_bytes);
      device::sync_block();
      ++walk.row;
    }
    if (done >= 0) rows.write(p, done, staged + (out_slot ^ 1) * kOutBytes);
    outputs.steps.finish(p.epilogue);
  }

 private:
  using Element = Storage<kConfig.x>;
  using Tile = GroupTile<kConfig>;
  using Mma = device::Mma<kConfig.x, 16, 16, 16>;
  using Fragment = WaveFragment<Mma>;
  using Rows = WaveRows<kConfig>;
  static constexpr bool kData = Tile::kData;
  static constexpr int kRows = Tile::kRows, kCols = Tile::kCols, kReachRows = Tile::kReachRows;
  static constexpr int kInRows = Rows::kInRows, kOutRows = Rows::kOutRows, kPhases = Tile::kPhases;
  static constexpr int kTiles = Tile::kTiles, kBundle = Tile::kBundle, kColumns = Tile::kColumns;
  static constexpr int kParts = Tile::kOutputs / 16, kSteps = kBundle / 16;  // of outputs and of input channels
  static constexpr int kStages = kConfig.direct.prefetch;
  static constexpr int kOutBytes = kOutRows * groups::out_row_bytes(kConfig);
  static constexpr bool kBundled = kConfig.finite_only;  // several groups a bundle
  static_assert(kStages == 2 && kBundle % 16 == 0 && Tile::kOutputs % 16 == 0);
  using Walk = RowWalk<kReachRows>;
  using Filter = Fragment[kRows][kCols][kSteps][kParts];
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

  // The next step's rows, if any.
  WT_DEVICE static bool fetch_next(const Params& p, Rows& rows, Walk& walk) {
    if (!walk.settle(p.height)) return false;
    if (walk.row == walk.first) rows.enter(p, walk.group);
    rows.fetch(p, walk.row++);
    return true;
  }

  // A of every tap and step of 16 channels. Forward a lane's row is one output channel of w (k, taps, c of a group);
  // backward it is one input channel, whose weights lie a filter apart.
  WT_DEVICE static void load_filter(const Params& p, const Tile& tile, i32 block_channel, Filter& weights) {
    constexpr int kTaps = kRows * kCols;
    const auto* w = static_cast<const Element*>(p.second);
    const i32 row = device::lane_index() % 16, per_group = kBundled ? p.channels_per_group : kBundle;
    WT_UNROLL for (int tap = 0; tap < kTaps; ++tap) {
      WT_UNROLL for (int s = 0; s < kSteps; ++s) {
        WT_UNROLL for (int j = 0; j < kParts; ++j) {
          Fragment& a = weights[tap / kCols][tap % kCols][s][j];
          const i32 mine = tile.first_output + j * 16 + row;  // channel of the block
          if constexpr (!kData && !kBundled) {
            a.clear();
            if (block_channel + mine < p.channels)
              a.read(w + ((block_channel + mine) * kTaps + tap) * kBundle + s * 16);
          } else {
            a.gather([&](int e) {
              const i32 other = tile.first_channel() + s * 16 + Fragment::first() + e;
              const i32 k = kData ? other : mine, c = kData ? mine : other;
              const i32 own = c % kBundle - k % kBundle / per_group * per_group;
              Element value{0};
              if (block_channel + k < p.channels && own >= 0 && own < per_group)
                value = device::load_global(w + ((block_channel + k) * kTaps + tap) * per_group + own);
              return value;
            });
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
        Fragment pixel[kColumns][kSteps];
        const SharedAddress at = stage + i * row_bytes + tile.address[t];
        WT_UNROLL for (int column = 0; column < kColumns; ++column) {
          WT_UNROLL for (int s = 0; s < kSteps; ++s) pixel[column][s].read(
              at + Tile::chunk_offset(column * Tile::kBundleChunks + 2 * s));
        }
        // Downwards, so that sum[back - 1] is still the one of the step before.
        WT_UNROLL for (int back = kReachRows - 1; back >= 0; --back) {
          WT_UNROLL for (int o = 0; o < kOutRows; ++o) {
            WT_UNROLL for (int f = 0; f < kPhases; ++f) {
              float(&to)[kParts][Mma::kC] = sum[back][o][f][t];
              WT_UNROLL for (int j = 0; j < kParts && i == 0; ++j) {
                WT_UNROLL for (int e = 0; e < Mma::kC; ++e) to[j][e] =
                    back > 0 ? sum[back > 0 ? back - 1 : 0][o][f][t][j][e] : 0;
              }
              if (const int r = tap_row(back, i, o); r < kRows) add_row(pixel, weights[r], f, to);
            }
          }
        }
      }
    }
  }
  // The products of one row of the filter for pixels of phase `phase`.
  WT_DEVICE static void add_row(const Fragment (&pixel)[kColumns][kSteps], const Fragment (&row)[kCols][kSteps][kParts],
                                int phase, float (&sum)[kParts][Mma::kC]) {
    WT_UNROLL for (int column = 0; column < kColumns; ++column) {
      const int tap = Tile::tap_of(phase, column * Tile::kBundleChunks);
      if (tap >= kCols) continue;
      WT_UNROLL for (int s = 0; s < kSteps; ++s) {
        WT_UNROLL for (int j = 0; j < kParts; ++j) Fragment::multiply(sum[j], row[tap][s][j], pixel[column][s]);
      }
    }
  }

  // The way of completed rows through the epilogue into the staging rows.
  struct Outputs {
    using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
    // WHY: amax must not see what is not stored, and the residual must not be read there.
    static constexpr bool kPlaced = kConfig.epilogue.placed() || kConfig.epilogue.amax;
    // Neighbouring channels among a lane's sums.
    static constexpr int kRun = Mma::c_row(0, 1) == 1 ? 4 : 1, kRuns = Mma::kC / kRun;
    using Run = Channels<Element, kRun>;

    Steps steps;
    float scale[kParts][Mma::kC], bias[kParts][Mma::kC];
    i32 first;                                               // channel of the wave's first output
    i32 place[kPlaced ? kTiles : 1][kPlaced ? kPhases : 1];  // of its pixels in row 0 of the output; -1: no such pixel

    // A lane's channel of the wave's outputs.
    WT_DEVICE static i32 channel(int j, int e) { return j * 16 + Mma::c_row(device::lane_index(), e); }

    WT_DEVICE void prepare(const Params& p, i32 first_channel) {
      first = first_channel;
      WT_UNROLL for (int j = 0; j < kParts; ++j) {
        WT_UNROLL for (int e = 0; e < Mma::kC; ++e) {
          scale[j][e] = 1;
          bias[j][e] = 0;
          if (first + channel(j, e) >= p.channels) continue;
          scale[j][e] = Steps::scale_of(p.epilogue, first + channel(j, e));
          bias[j][e] = Steps::bias_of(p.epilogue, first + channel(j, e));
        }
      }
    }

    WT_DEVICE void enter(const Params& p, const Tile& tile, i32 group) {
      if constexpr (kPlaced) {
        WT_UNROLL for (int t = 0; t < kTiles; ++t) {
          WT_UNROLL for (int f = 0; f < kPhases; ++f) place[t][f] = Tile::place_of(p, tile.position(t), f, group);
        }
      }
    }

    WT_DEVICE void finish(const Params& p, const Tile& tile, i32 step, SharedAddress staged, const Outcome& sum) {
      constexpr int kPitch = groups::pitch(kConfig, kPhases);
      WT_UNROLL for (int o = 0; o < kOutRows; ++o) {
        const i32 row = step * kOutRows + o + p.out_row;
        const SharedAddress to = staged + o * groups::out_row_bytes(kConfig) + tile.first_output * 2;
        WT_UNROLL for (int t = 0; t < kTiles; ++t) {
          WT_UNROLL for (int f = 0; f < kPhases; ++f) {
            const SharedAddress pixel = to + tile.position(t) * kPitch + f * (Rows::kChunks * 16);
            WT_UNROLL for (int j = 0; j < kParts; ++j) {
              WT_UNROLL for (int run = 0; run < kRuns; ++run) {
                const Run value = apply(p, row, kPlaced ? place[t][f] : 0, j, run * kRun, sum[o][f][t][j]);
                device::store_shared(pixel + channel(j, run * kRun) * 2, value.piece[0]);
              }
            }
          }
        }
      }
    }

   private:
    // The run of a lane's sums that begins with its e-th, of the pixel at `at`.
    WT_DEVICE Run apply(const Params& p, i32 row, i32 at, int j, int e, const float (&sum)[Mma::kC]) {
      Run residual = Run::zero(), result = Run::zero();
      i64 offset = 0;
      if constexpr (kPlaced) {
        const i32 channels = first + channel(j, e);
        if (at < 0 || row < 0 || row >= p.to.size[1] || channels >= p.channels) return result;
        offset = at + row * p.to.spatial[1] + channels;
        if constexpr (kConfig.epilogue.residual)
          residual = Run::load(static_cast<const Element*>(p.epilogue.residual) + offset, true);
      }
      WT_UNROLL for (int i = 0; i < kRun; ++i) {
        result.set(i,
                   steps.apply(p.epilogue, sum[e + i], scale[j][e + i], bias[j][e + i], residual.value(i), offset + i));
      }
      return result;
    }
  };
};

}  // namespace wt
