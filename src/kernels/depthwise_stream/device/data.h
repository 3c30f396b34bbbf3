// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_stream/device/data.h - depthwise backward data by ordinary multiply-adds, down the rows of a strip.
//
//   rows of dy --prefetch--> registers --times weights--> accumulators of the rows of dx in flight --> dx
//
// Rows of dx are counted from its padded edge: row step * u + phase, phase in [0, step). Row p of dy meets u = p,
// p+1, .., p+kPhaseRows-1, which sum[0], sum[1], .. hold, and completes u = p. Columns alike, so that each stride phase
// knows its taps at compile time.
#pragma once

#include "kernels/device/direct/output.h"
#include "kernels/device/direct/strip.h"

namespace wt {

template <KernelConfig kConfig>
struct StreamData {
  using Params = StreamArguments;
  using Shape = StreamShape<kConfig>;
  static constexpr int kThreads = Shape::kThreads;
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const StripThread at = StripThread::make<kThreads, kWidth>(p.blocks, p.channels);
    const i64 index = at.block * at.slots + at.slot;
    const bool useful = at.useful && index < p.strips;
    const Strip strip = Strip::make(p, useful ? index : 0, p.to.size[0]);
    const i32 column = p.pad[2] / Shape::kStepCols + strip.column_tile * Shape::kColumns;  // in steps of the stride
    const Reader reader = Reader::make(p.from, p.first, strip.image, at.channel, column - (Shape::kPhaseCols - 1));
    ChannelOutput<kConfig, kWidth> output;

    const i32 all = (p.to.size[1] - 1 + p.pad[1]) / Shape::kStepRows + 1;
    const i32 row = p.pad[1] / Shape::kStepRows + strip.row_tile * p.rows;
    const i32 end = row + p.rows < all ? row + p.rows : all;
    const i64 out = strip.image * p.to.n + strip.plane * p.to.spatial[0] + at.channel * p.to.channel;

    // WHY before the weights: a short walk waits for memory twice otherwise.
    Step ahead[kRing ? 1 : Shape::kAhead];
    StripCursor next{row - (Shape::kPhaseRows - 1), 0};
    StepRing<kConfig> ring = StepRing<kConfig>::make();
    WT_UNROLL for (int i = 0; i < Shape::kAhead; ++i) {
      if constexpr (kRing) {
        if (useful) copy_step(reader, row - (Shape::kPhaseRows - 1) + i, end, ring.at(i));
      } else {
        if (useful) ahead[i].read(p, reader, strip.plane, next.step, next.plane);
        next.advance<Shape::kPlanes>(p.filter_d);
      }
    }
    StripWeights<kConfig> weights;
    weights.stage(p, at);
    if (!useful) return;

    Sums sum = {};
    const auto finish = [&](i32 step) {
      if (step < row) return;
      output.prepare(p.epilogue, at.channel);
      store(p, output, sum, out, step, column);
    };
    // WHY a loop of its own without planes: one for both takes more registers.
    if constexpr (kRing) {
      for (i32 step = row - (Shape::kPhaseRows - 1); step < end; ++step) {
        copy_step(reader, step + Shape::kAhead, end, ring.next());
        device::copy_async_wait<Shape::kAhead>();
        Step now;
        ring.read(ring.at(ring.slot), 0, now.pixel);
        ring.advance();
        multiply<true>(now, weights, 0, sum);
        finish(step);
      }
    } else if constexpr (!Shape::kPlanes) {
      for (i32 first = row - (Shape::kPhaseRows - 1); first < end; first += Shape::kAhead) {
        WT_UNROLL for (int i = 0; i < Shape::kAhead; ++i) {
          const i32 step = first + i;
          if (step >= end) break;
          const Step now = ahead[i];
          if (step + Shape::kAhead < end) ahead[i].read(p, reader, strip.plane, step + Shape::kAhead, 0);
          multiply<true>(now, weights, 0, sum);
          finish(step);
        }
      }
    } else {
      for (StripCursor now_at{row - (Shape::kPhaseRows - 1), 0}; now_at.step < end;) {
        WT_UNROLL for (int i = 0; i < Shape::kAhead; ++i) {
          const i32 step = now_at.step;
          if (step >= end) break;
          const Step now = ahead[i];
          if (next.step < end) {
            ahead[i].read(p, reader, strip.plane, next.step, next.plane);
            next.advance<true>(p.filter_d);
          }
          if (now_at.plane == 0) {
            multiply<true>(now, weights, 0, sum);
          } else {
            multiply<false>(now, weights, now_at.plane, sum);
          }
          now_at.advance<true>(p.filter_d);
          if (now_at.step != step) finish(step);
        }
      }
    }
    output.finish(p.epilogue);
  }

 private:
  static constexpr int kWidth = Shape::kWidth;
  static constexpr int kInputs = Shape::kColumns + Shape::kPhaseCols - 1;
  static constexpr bool kRing = stream_has_ring(kConfig);
  using Reader = RowReader<Storage<kConfig.y>, kWidth, kInputs>;
  using Sums = float[Shape::kPhaseRows][Shape::kStepRows][Shape::kColumns * Shape::kStepCols][kWidth];

  struct Step {
    typename Reader::Pixel pixel[kInputs];

    // What plane `out` of dx meets with the filter's plane `plane`.
    WT_DEVICE void read(const Params& p, const Reader& reader, i32 out, i32 row, i32 plane) {
      const i32 scaled = Shape::kPlanes ? out + p.pad[0] - plane * p.dilation_d : 0;
      const i32 at = Shape::kPlanes ? scaled / p.stride_d : 0;
      const bool exists = !Shape::kPlanes || (scaled >= 0 && at * p.stride_d == scaled && at < p.from.size[0]);
      reader.read(pixel, row, exists, at * p.from.spatial[0]);
    }
  };

  // A step's row on its way; a group of copies also where there is none, so that counting them tells which have landed.
  WT_DEVICE static void copy_step(const Reader& reader, i32 step, i32 end, SharedAddress to) {
    if (step < end) StepRing<kConfig>::copy(reader, to, 0, step, true, 0);
    device::copy_async_commit();
  }

  // kFirst: the filter's first plane, where the sums move on.
  template <bool kFirst>
  WT_DEVICE static void multiply(const Step& now, const StripWeights<kConfig>& weights, i32 plane, Sums& sum) {
    float y[kInputs][kWidth];
    WT_UNROLL for (int j = 0; j < kInputs; ++j) {
      WT_UNROLL for (int e = 0; e < kWidth; ++e) y[j][e] = now.pixel[j].value(e);
    }
    // Upwards, so that sum[ahead + 1] is still the one of the step before.
    WT_UNROLL for (int ahead = 0; ahead < Shape::kPhaseRows; ++ahead) {
      WT_UNROLL for (int i = 0; i < Shape::kStepRows; ++i) {
        const int r = ahead * Shape::kStepRows + i;
        WT_UNROLL for (int phase = 0; phase < Shape::kStepCols; ++phase) {
          if (kFirst) advance(sum, ahead, i, phase);
          if (r >= Shape::kRows) continue;
          WT_UNROLL for (int back = 0; back < Shape::kPhaseCols; ++back) {
            const int s = back * Shape::kStepCols + phase;
            if (s >= Shape::kCols) continue;
            float weight[kWidth];
            weights.get(plane, r * Shape::kCols + s, weight);
            WT_UNROLL for (int j = 0; j < Shape::kColumns; ++j) {
              WT_UNROLL for (int e = 0; e < kWidth; ++e) {
                float& target = sum[ahead][i][j * Shape::kStepCols + phase][e];
                target = device::multiply_add(y[j - back + Shape::kPhaseCols - 1][e], weight[e], target);
              }
            }
          }
        }
      }
    }
  }
  // The next row's sum of the step before becomes this row's; the compiler renames registers instead of moving them.
  WT_DEVICE static void advance(Sums& sum, int ahead, int i, int phase) {
    WT_UNROLL for (int j = 0; j < Shape::kColumns; ++j) {
      WT_UNROLL for (int e = 0; e < kWidth; ++e) {
        const int at = j * Shape::kStepCols + phase;
        sum[ahead][i][at][e] =
            ahead + 1 < Shape::kPhaseRows ? sum[ahead + 1 < Shape::kPhaseRows ? ahead + 1 : 0][i][at][e] : 0;
      }
    }
  }

  WT_DEVICE static void store(const Params& p, ChannelOutput<kConfig, kWidth>& output, const Sums& sum, i64 out,
                              i32 step, i32 column) {
    WT_UNROLL for (int i = 0; i < Shape::kStepRows; ++i) {
      const i32 row = step * Shape::kStepRows + i - p.pad[1];
      if (row < 0 || row >= p.to.size[1]) continue;
      WT_UNROLL for (int j = 0; j < Shape::kColumns * Shape::kStepCols; ++j) {
        const i32 at = column * Shape::kStepCols + j - p.pad[2];
        if (at >= 0 && at < p.to.size[2])
          output.store(p.epilogue, p.out, out + row * p.to.spatial[1] + at * p.to.spatial[2], sum[0][i][j]);
      }
    }
  }
};

}  // namespace wt
