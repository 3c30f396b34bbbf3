// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_banded/device/product.h - what a banded kernel does with a row, however it came: products with
// every row of the filter, and the completed row through the epilogue into the staging row.
//
//   row in shared memory --fragments--> mma --> sums of the output rows in flight --> staged row
#pragma once

#include "kernels/depthwise_banded/device/tile.h"
#include "kernels/device/epilogue.h"
#include "kernels/device/gemm/storage.h"

namespace wt {

template <KernelConfig kConfig>
struct BandedProduct {
  using Params = BandedArguments;
  using Element = Storage<kConfig.x>;
  using Tile = BandedTile<kConfig>;
  using Mma = typename Tile::Mma;
  using Rows = BandedRows<kConfig>;
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
  static constexpr int kRows = kConfig.fixed.filter_h, kCols = kConfig.fixed.filter_w;
  static constexpr int kDepth = Rows::kDepth;
  static constexpr int kStages = kConfig.direct.prefetch;
  static constexpr int kChannels = Tile::kChannels;
  static constexpr bool kFlip = kConfig.direction == Direction::kBackwardData;
  // Input rows of a step, and columns between neighbouring outputs: with a stride, each of its column phases has a
  // window and bands of its own.
  static constexpr int kStep = banded::step(kConfig);
  static constexpr int kPhaseRows = banded::phase_rows(kConfig);
  static_assert(kCols <= kBandedMaxFilter && kStages >= 2);
  using Walk = ImageWalk<kPhaseRows>;
  using Band = Element[kRows][kChannels][Mma::kB];  // of a plane or of a phase
  using Sums = float[kPhaseRows][kChannels][Mma::kC];

  // The steps that have rows of the image.
  WT_DEVICE static ImageRows image_rows(const Params& p) {
    if constexpr (kStep == 1) return {p.pad_h, p.from.size[1]};
    const i32 first = p.pad_h / kStep;
    return {first, (p.pad_h + p.from.size[1] - 1) / kStep - first + 1};
  }

  WT_DEVICE static void clear(Sums& sum) {
    WT_UNROLL for (int r = 0; r < kPhaseRows; ++r) {
      WT_UNROLL for (int c = 0; c < kChannels; ++c) { WT_UNROLL for (int e = 0; e < Mma::kC; ++e) sum[r][c][e] = 0; }
    }
  }

  // B: pixel j + 4q of the window meets output `out` with tap j + 4q - out, of those that the phase has. WHY not a load
  // for each q: most of them have no tap, and short walks feel the loads.
  WT_DEVICE static void load_band(const Params& p, i32 channel, int plane, int phase, const BandedLane& lane,
                                  Band& band) {
    constexpr int kRuns = ((kCols + kStep - 1) / kStep + 3) / 4;
    const auto* weights =
        static_cast<const Element*>(p.second) + (kFlip ? kDepth - 1 - plane : plane) * (kRows * kCols);
    const int out = lane.strip / 2 + 4 * (lane.strip % 2);
    const int first = (out - lane.pixel + 3) / 4, first_tap = lane.pixel - out + 4 * first;  // q, and its tap
    WT_UNROLL for (int r = 0; r < kRows; ++r) {
      WT_UNROLL for (int c = 0; c < kChannels; ++c) {
        Element taps[kRuns];
        WT_UNROLL for (int i = 0; i < kRuns; ++i) {
          const int s = kStep * (first_tap + 4 * i) + phase;
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

  using Fragments = typename Tile::Pairs;  // of a row

  // Row `row` of a step. `moves`: the first plane's or phase's row, with which the sums move on.
  WT_DEVICE static void multiply(const Fragments& a, const Band& band, int row, bool moves, Sums& sum) {
    WT_UNROLL for (int r = kPhaseRows - 1; r >= 0; --r) {
      const int tap = r * kStep + row;
      if (tap >= kRows) continue;
      WT_UNROLL for (int c = 0; c < kChannels; ++c) {
        WT_UNROLL for (int e = 0; e < Mma::kC && moves; ++e) sum[r][c][e] = r > 0 ? sum[r > 0 ? r - 1 : 0][c][e] : 0;
        Element pixels[Mma::kA];
        WT_UNROLL for (int e = 0; e < Mma::kA; ++e) pixels[e].bits = static_cast<u16>(a[c][e / 2] >> 16 * (e % 2));
        Mma::multiply(sum[r][c], pixels, band[tap < kRows ? tap : 0][c]);
      }
    }
  }
  WT_DEVICE static void multiply(const Tile& tile, const typename Strips::Windows& windows, const Band& band, int row,
                                 bool moves, Sums& sum) {
    Fragments a;
    tile.read_row(windows.strip, a);
    multiply(a, band, row, moves, sum);
  }

  // A completed row through the epilogue into the staging row.
  WT_DEVICE static void finish_row(const Params& p, const BandedLane& lane, const Tile& tile, const Strips& strips,
                                   i32 channel, i32 group, i32 row, SharedAddress staged,
                                   const float (&sum)[kChannels][Mma::kC], Steps& steps) {
    // WHY apart: most layers only round, and products with 1 and roundings one by one were a fifth of a step.
    const bool rounds = kRounds && p.epilogue.alpha == 1;
    WT_UNROLL for (int i = 0; i < 2; ++i) {
      if (!strips.exists[i]) continue;
      u32 packed[2][kChannels / 2];
      WT_UNROLL for (int half = 0; half < 2; ++half) {
        if (rounds) {
          WT_UNROLL for (int w = 0; w < kChannels / 2; ++w) {
            packed[half][w] = device::from_floats<Element>(sum[2 * w][2 * i + half], sum[2 * w + 1][2 * i + half]);
          }
        } else {
          apply(p, strips, i, lane.pixel + 4 * half, channel, group, row, sum, 2 * i + half, steps, packed[half]);
        }
      }
      tile.stage(lane, staged + static_cast<u32>(strips.out[i]) * Rows::kPixelBytes, packed);
    }
  }

 private:
  // Steps that look at nothing but the sum; and none at all.
  static constexpr bool kPlain =
      !kConfig.epilogue.scale && !kConfig.epilogue.bias && !kConfig.epilogue.placed() && !kConfig.epilogue.amax;
  static constexpr bool kRounds = kPlain && kConfig.epilogue.activation == Activation::kNone;

  // The channels of pixel `pixel` of the lane's strip `strip`, which element `element` of the sums holds.
  WT_DEVICE static void apply(const Params& p, const Strips& strips, int strip, int pixel, i32 channel, i32 group,
                              i32 row, const float (&sum)[kChannels][Mma::kC], int element, Steps& steps,
                              u32 (&packed)[kChannels / 2]) {
    const i32 index = group * p.group_segments + strips.segment[strip];
    const i32 column = index % p.segment_tiles * (kBandedRows * kBandedPixels) + strips.column[strip] + pixel;
    const bool exists = index < p.segments && column < p.to.size[2];
    const i64 at = index / p.segment_tiles * p.to.n + row * p.to.spatial[1] + column * p.to.spatial[2] + channel;
    Element value[kChannels];
    WT_UNROLL for (int c = 0; c < kChannels; ++c) {
      value[c] = Element{0};
      // WHY: amax must not see what is not stored, and residual and bias must not be read there.
      if (kPlain || (exists && channel + c < p.channels))
        value[c] = steps.apply(p.epilogue, sum[c][element], at + c, i64{channel} + c);
    }
    WT_UNROLL for (int w = 0; w < kChannels / 2; ++w) {
      packed[w] = static_cast<u32>(value[2 * w].bits) | static_cast<u32>(value[2 * w + 1].bits) << 16;
    }
  }
};

}  // namespace wt
