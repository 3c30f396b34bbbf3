// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_stream/device/weight.h - depthwise backward weight by ordinary multiply-adds: partial sums of dw.
//
//   rows of x and dy --> registers --> every tap's sum of a thread --block's strips added in order--> workspace
//
// A block takes one plane of taps and every splits-th group of strips; kernels/device/direct/sum.h adds the splits. Row
// g of dy is kept for kPhaseRows steps, since the rows of x that it meets come one after the other.
#pragma once

#include "kernels/device/direct/strip.h"
#include "kernels/device/overlap.h"

namespace wt {

template <KernelConfig kConfig>
struct StreamWeight {
  using Params = StreamArguments;
  using Shape = StreamShape<kConfig>;
  static constexpr int kThreads = Shape::kThreads;
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const StripThread at = StripThread::make<kThreads, kWidth>(p.blocks, p.channels);
    const i32 plane = static_cast<i32>(at.block % p.filter_d), split = static_cast<i32>(at.block / p.filter_d);
    Sums sum = {};
    if (at.useful) {
      const i64 step = static_cast<i64>(p.splits) * at.slots;
      for (i64 index = static_cast<i64>(split) * at.slots + at.slot; index < p.strips; index += step) {
        add_strip(p, Strip::make(p, index, p.to.size[0]), at.channel, plane, sum);
      }
    }
    let_sum_start<kConfig>();
    reduce(p, at, plane, split, sum);
  }

 private:
  static constexpr int kWidth = Shape::kWidth;
  static constexpr int kInputs = (Shape::kColumns - 1) * Shape::kStepCols + Shape::kCols;
  using ReaderX = RowReader<Storage<kConfig.x>, kWidth, kInputs, kConfig.direct.history>;
  using ReaderY = RowReader<Storage<kConfig.y>, kWidth, Shape::kColumns>;
  using Sums = float[Shape::kRows][Shape::kCols][kWidth];
  using RowY = typename ReaderY::Pixel[Shape::kColumns];
  static constexpr bool kRing = stream_has_ring(kConfig);

  struct Step {
    typename ReaderX::Pixel x[Shape::kStepRows][kInputs];
    RowY y;

    WT_DEVICE void read(const Params& p, const ReaderX& from_x, const ReaderY& from_y, i32 step, i32 end, bool exists,
                        i64 plane_x, i64 plane_y) {
      WT_UNROLL for (int i = 0; i < Shape::kStepRows; ++i) {
        from_x.read(x[i], step * Shape::kStepRows + i - p.pad[1], exists, plane_x);
      }
      from_y.read(y, step, step < end, plane_y);
    }
  };

  WT_DEVICE static void add_strip(const Params& p, const Strip& strip, i32 channel, i32 tap_plane, Sums& sum) {
    const i32 column = strip.column_tile * Shape::kColumns;
    ReaderX from_x = ReaderX::make(p.from, p.first, strip.image, channel, column * Shape::kStepCols - p.pad[2]);
    if constexpr (kConfig.direct.history) from_x.set_history(p.history, strip.image, channel);
    const ReaderY from_y = ReaderY::make(p.to, p.second, strip.image, channel, column);
    const i32 plane = Shape::kPlanes ? strip.plane * p.stride_d - p.pad[0] + tap_plane * p.dilation_d : 0;
    const bool exists = plane >= 0 && plane < p.from.size[0];
    if (!exists) return;
    const i64 plane_x = plane * p.from.spatial[0], plane_y = strip.plane * p.to.spatial[0];
    const i32 row = strip.row_tile * p.rows;
    const i32 end = row + p.rows < p.to.size[1] ? row + p.rows : p.to.size[1];
    const i32 last = end - 1 + Shape::kPhaseRows - 1;

    RowY held[Shape::kPhaseRows];
    WT_UNROLL for (int i = 0; i < Shape::kPhaseRows; ++i) {
      WT_UNROLL for (int j = 0; j < Shape::kColumns; ++j) held[i][j] = ReaderY::Pixel::zero();
    }
    const auto take = [&](const Step& now) {
      WT_UNROLL for (int back = Shape::kPhaseRows - 1; back >= 0; --back) {
        WT_UNROLL for (int j = 0; j < Shape::kColumns; ++j) {
          held[back][j] = back > 0 ? held[back > 0 ? back - 1 : 0][j] : now.y[j];
        }
      }
      multiply(now, held, sum);
    };
    if constexpr (kRing) {
      StepRing<kConfig> ring = StepRing<kConfig>::make();
      const auto copy = [&](i32 step, SharedAddress to) {
        if (step <= last) {
          WT_UNROLL for (int i = 0; i < Shape::kStepRows; ++i) {
            ring.copy(from_x, to, i * kInputs, step * Shape::kStepRows + i - p.pad[1], true, plane_x);
          }
          ring.copy(from_y, to, Shape::kStepRows * kInputs, step, step < end, plane_y);
        }
        device::copy_async_commit();
      };
      WT_UNROLL for (int i = 0; i < Shape::kAhead; ++i) copy(row + i, ring.at(i));
      for (i32 step = row; step <= last; ++step) {
        copy(step + Shape::kAhead, ring.next());
        device::copy_async_wait<Shape::kAhead>();
        Step now;
        const SharedAddress at = ring.at(ring.slot);
        WT_UNROLL for (int i = 0; i < Shape::kStepRows; ++i) ring.read(at, i * kInputs, now.x[i]);
        ring.read(at, Shape::kStepRows * kInputs, now.y);
        ring.advance();
        take(now);
      }
      return;
    }
    Step ahead[Shape::kAhead];
    WT_UNROLL for (int i = 0; i < Shape::kAhead; ++i) {
      ahead[i].read(p, from_x, from_y, row + i, end, true, plane_x, plane_y);
    }
    for (i32 first = row; first <= last; first += Shape::kAhead) {
      WT_UNROLL for (int i = 0; i < Shape::kAhead; ++i) {
        const i32 step = first + i;
        if (step > last) break;
        const Step now = ahead[i];
        if (step + Shape::kAhead <= last)
          ahead[i].read(p, from_x, from_y, step + Shape::kAhead, end, true, plane_x, plane_y);
        take(now);
      }
    }
  }

  WT_DEVICE static void multiply(const Step& now, const RowY (&held)[Shape::kPhaseRows], Sums& sum) {
    WT_UNROLL for (int i = 0; i < Shape::kStepRows; ++i) {
      float x[kInputs][kWidth];
      WT_UNROLL for (int j = 0; j < kInputs; ++j) {
        WT_UNROLL for (int e = 0; e < kWidth; ++e) x[j][e] = now.x[i][j].value(e);
      }
      WT_UNROLL for (int back = 0; back < Shape::kPhaseRows; ++back) {
        const int r = back * Shape::kStepRows + i;
        if (r >= Shape::kRows) continue;
        WT_UNROLL for (int j = 0; j < Shape::kColumns; ++j) {
          WT_UNROLL for (int e = 0; e < kWidth; ++e) {
            const float y = held[back][j].value(e);
            WT_UNROLL for (int s = 0; s < Shape::kCols; ++s) {
              sum[r][s][e] = device::multiply_add(x[j * Shape::kStepCols + s][e], y, sum[r][s][e]);
            }
          }
        }
      }
    }
  }

  static constexpr i32 kFewSlots = 16;
  static constexpr int kRun = kWidth < 4 ? kWidth : 4;  // sums of an access to shared memory
  using Run = Vector<float, kRun>;

  // Adds the upper half of the strips to the lower until few are left, whose number comes back; the order is fixed.
  WT_DEVICE static i32 fold(const StripThread& at, SharedAddress mine, i32 pitch) {
    i32 slots = at.slots;
    while (slots > kFewSlots) {
      const i32 half = (slots + 1) / 2;
      if (at.slot < slots - half) {
        WT_UNROLL for (int tap = 0; tap < Shape::kTaps; ++tap) {
          WT_UNROLL for (int e = 0; e < kWidth; e += kRun) {
            const SharedAddress to = mine + 4 * (tap * pitch + e);
            Run low = device::load_shared<Run>(to);
            const Run high = device::load_shared<Run>(to + 4 * half * Shape::kTaps * pitch);
            WT_UNROLL for (int i = 0; i < kRun; ++i) low.at[i] += high.at[i];
            device::store_shared(to, low);
          }
        }
      }
      device::sync_block();
      slots = half;
    }
    return slots;
  }

  // Every strip of the block lays its sums side by side, then each sum is added up in order.
  WT_DEVICE static void reduce(const Params& p, const StripThread& at, i32 plane, i32 split, const Sums& sum) {
    const i32 width = p.blocks.lanes * kWidth, first = at.channel - at.lane * kWidth, pitch = stream_sum_pitch(width);
    const SharedAddress base = device::shared_base();
    const SharedAddress mine = base + 4 * (at.slot * Shape::kTaps * pitch + at.lane * kWidth);
    device::sync_block();
    if (at.slot < at.slots) {
      WT_UNROLL for (int tap = 0; tap < Shape::kTaps; ++tap) {
        WT_UNROLL for (int e = 0; e < kWidth; e += kRun) {
          Run run;
          WT_UNROLL for (int i = 0; i < kRun; ++i) run.at[i] = sum[tap / Shape::kCols][tap % Shape::kCols][e + i];
          device::store_shared(mine + 4 * (tap * pitch + e), run);
        }
      }
    }
    device::sync_block();
    const i32 slots = fold(at, mine, pitch);
    const i64 taps = static_cast<i64>(p.filter_d) * Shape::kTaps;
    auto* partials = static_cast<float*>(p.out) + split * taps * p.channels + first * taps + plane * Shape::kTaps;
    const i32 channels = first + width < p.channels ? width : p.channels - first;
    for (i32 i = device::thread_index(); i < Shape::kTaps * channels; i += kThreads) {
      const i32 channel = i / Shape::kTaps, tap = i % Shape::kTaps;
      const SharedAddress from = base + 4 * (tap * pitch + channel);
      float total = 0;
      for (i32 slot = 0; slot < slots; ++slot)
        total += device::load_shared<float>(from + 4 * slot * Shape::kTaps * pitch);
      device::store_global(partials + channel * taps + tap, total);
    }
  }
};

}  // namespace wt
