// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_stream/device/forward.h - depthwise forward by ordinary multiply-adds, down the rows of a strip.
//
//   rows of x --prefetch--> registers --times weights--> accumulators of the output rows in flight --> y
//
// At step g the stride's rows of x, step * g - pad and on, meet output rows g, g-1, .., g-kPhaseRows+1, which sum[0],
// sum[1], .. hold. They move on by one each step at no cost: the first product of a row adds to its predecessor's sum.
#pragma once

#include "kernels/device/direct/output.h"
#include "kernels/device/direct/strip.h"

namespace wt {

template <KernelConfig kConfig>
struct StreamForward {
  using Params = StreamArguments;
  using Shape = StreamShape<kConfig>;
  static constexpr int kThreads = Shape::kThreads;
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const StripThread at = StripThread::make<kThreads, kWidth>(p.blocks, p.channels);
    const i64 index = at.block * at.slots + at.slot;
    const bool useful = at.useful && index < p.strips;
    const Strip strip = Strip::make(p, useful ? index : 0, p.to.size[0]);
    const i32 column = strip.column_tile * Shape::kColumns;
    Reader reader = Reader::make(p.from, p.first, strip.image, at.channel, column * Shape::kStepCols - p.pad[2]);
    if constexpr (kConfig.direct.history) reader.set_history(p.history, strip.image, at.channel);
    ChannelOutput<kConfig, kWidth> output;

    const i32 row = strip.row_tile * p.rows;
    const i32 end = row + p.rows < p.to.size[1] ? row + p.rows : p.to.size[1];
    const i32 last = end - 1 + Shape::kPhaseRows - 1;
    i64 out =
        strip.image * p.to.n + strip.plane * p.to.spatial[0] + column * p.to.spatial[2] + at.channel * p.to.channel;
    out += static_cast<i64>(row - (Shape::kPhaseRows - 1)) * p.to.spatial[1];

    // WHY before the weights: a short walk waits for memory twice otherwise.
    Step ahead[kRing ? 1 : Shape::kAhead];
    StripCursor next{row, 0};
    StepRing<kConfig> ring = StepRing<kConfig>::make();
    WT_UNROLL for (int i = 0; i < Shape::kAhead; ++i) {
      if constexpr (kRing) {
        if (useful) copy_step(p, reader, row + i, last, ring.at(i));
      } else {
        if (useful) ahead[i].read(p, reader, strip.plane, next.step, next.plane);
        next.advance<Shape::kPlanes>(p.filter_d);
      }
    }
    StripWeights<kConfig> weights;
    weights.stage(p, at);
    if (!useful) return;

    float sum[Shape::kPhaseRows][Shape::kColumns][kWidth] = {};
    const auto finish = [&](i32 step) {
      if (step - (Shape::kPhaseRows - 1) >= row) {
        output.prepare(p.epilogue, at.channel);
        WT_UNROLL for (int j = 0; j < Shape::kColumns; ++j) {
          if (column + j < p.to.size[2])
            output.store(p.epilogue, p.out, out + j * p.to.spatial[2], sum[Shape::kPhaseRows - 1][j]);
        }
      }
      out += p.to.spatial[1];
    };
    // WHY a loop of its own without planes: one for both takes more registers.
    if constexpr (kRing) {
      for (i32 step = row; step <= last; ++step) {
        copy_step(p, reader, step + Shape::kAhead, last, ring.next());
        device::copy_async_wait<Shape::kAhead>();
        Step now;
        WT_UNROLL for (int i = 0; i < Shape::kStepRows; ++i) ring.read(ring.at(ring.slot), i * kInputs, now.pixel[i]);
        ring.advance();
        multiply<true>(now, weights, 0, sum);
        finish(step);
      }
    } else if constexpr (!Shape::kPlanes) {
      for (i32 first = row; first <= last; first += Shape::kAhead) {
        WT_UNROLL for (int i = 0; i < Shape::kAhead; ++i) {
          const i32 step = first + i;
          if (step > last) break;
          const Step now = ahead[i];
          if (step + Shape::kAhead <= last) ahead[i].read(p, reader, strip.plane, step + Shape::kAhead, 0);
          multiply<true>(now, weights, 0, sum);
          finish(step);
        }
      }
    } else {
      for (StripCursor now_at{row, 0}; now_at.step <= last;) {
        WT_UNROLL for (int i = 0; i < Shape::kAhead; ++i) {
          const i32 step = now_at.step;
          if (step > last) break;
          const Step now = ahead[i];
          if (next.step <= last) {
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
  static constexpr int kInputs = (Shape::kColumns - 1) * Shape::kStepCols + Shape::kCols;
  static constexpr bool kRing = stream_has_ring(kConfig);
  using Reader = RowReader<Storage<kConfig.x>, kWidth, kInputs, kConfig.direct.history>;

  struct Step {
    typename Reader::Pixel pixel[Shape::kStepRows][kInputs];

    // What plane `out` of y meets with the filter's plane `plane`.
    WT_DEVICE void read(const Params& p, const Reader& reader, i32 out, i32 step, i32 plane) {
      const i32 at = Shape::kPlanes ? out * p.stride_d - p.pad[0] + plane * p.dilation_d : 0;
      const bool exists = !Shape::kPlanes || (at >= 0 && at < p.from.size[0]);
      WT_UNROLL for (int i = 0; i < Shape::kStepRows; ++i) {
        reader.read(pixel[i], step * Shape::kStepRows + i - p.pad[1], exists, at * p.from.spatial[0]);
      }
    }
  };

  // The rows of a step on their way; a group of copies also where there is none, so that counting them tells which have
  // landed.
  WT_DEVICE static void copy_step(const Params& p, const Reader& reader, i32 step, i32 last, SharedAddress to) {
    if (step <= last) {
      WT_UNROLL for (int i = 0; i < Shape::kStepRows; ++i) {
        StepRing<kConfig>::copy(reader, to, i * kInputs, step * Shape::kStepRows + i - p.pad[1], true, 0);
      }
    }
    device::copy_async_commit();
  }

  // kFirst: the filter's first plane, whose first products move the sums on.
  template <bool kFirst>
  WT_DEVICE static void multiply(const Step& now, const StripWeights<kConfig>& weights, i32 plane,
                                 float (&sum)[Shape::kPhaseRows][Shape::kColumns][kWidth]) {
    WT_UNROLL for (int i = 0; i < Shape::kStepRows; ++i) {
      float x[kInputs][kWidth];
      WT_UNROLL for (int j = 0; j < kInputs; ++j) {
        WT_UNROLL for (int e = 0; e < kWidth; ++e) x[j][e] = now.pixel[i][j].value(e);
      }
      // Downwards, so that sum[back - 1] is still the one of the step before.
      WT_UNROLL for (int back = Shape::kPhaseRows - 1; back >= 0; --back) {
        const int r = back * Shape::kStepRows + i;
        if (r >= Shape::kRows) continue;
        WT_UNROLL for (int s = 0; s < Shape::kCols; ++s) {
          float weight[kWidth];
          weights.get(plane, r * Shape::kCols + s, weight);
          WT_UNROLL for (int j = 0; j < Shape::kColumns; ++j) {
            WT_UNROLL for (int e = 0; e < kWidth; ++e) {
              float before = sum[back][j][e];
              if (kFirst && i == 0 && s == 0) before = back > 0 ? sum[back > 0 ? back - 1 : 0][j][e] : 0;
              sum[back][j][e] = device::multiply_add(x[j * Shape::kStepCols + s][e], weight[e], before);
            }
          }
        }
      }
    }
  }
};

}  // namespace wt
