// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_step/device/kernel.h - a few new tokens of every sequence: depthwise causal outputs and the next
// state in one launch.
//
//   history, x --each pixel once--> registers --taps--> y
//                                            \--------> the new history, which may lie over the history
//
// A thread has neighbouring channels of one sequence from its first pixel to its last, so that no other thread reads
// what it writes.
#pragma once

#include "kernels/depthwise_step/device/arguments.h"
#include "kernels/device/direct/output.h"

namespace wt {

template <KernelConfig kConfig>
struct DepthwiseStep {
  using Params = StepArguments;
  static constexpr int kThreads = kConfig.direct.block_size;
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    ChannelOutput<kConfig, kWidth> output;
    const i64 step = static_cast<i64>(device::grid_size().x) * kThreads;
    for (i64 i = static_cast<i64>(device::block_index().x) * kThreads + device::thread_index(); i < p.threads;
         i += step) {
      const Line line = Line::make(p, i / p.vectors, static_cast<i32>(i % p.vectors) * kWidth);
      output.prepare(p.epilogue, line.channel);
      if (p.tokens == 1) {
        one_token(p, line, output);
      } else {
        several_tokens(p, line, output);
      }
    }
    output.finish(p.epilogue);
  }

 private:
  static constexpr int kWidth = kConfig.direct.vector_out;
  static constexpr int kTaps = kConfig.fixed.filter_h;  // 0: a run-time value
  static constexpr int kBatch = kTaps > 0 ? kTaps : 4;  // pixels that are on their way together
  using In = Storage<kConfig.x>;
  using Weight = Storage<kConfig.w>;
  using Pixel = Channels<In, kWidth>;
  using Output = ChannelOutput<kConfig, kWidth>;

  // The pixels of a thread's channels: history, then x.
  struct Line {
    const In* history;
    const In* x;
    In* next;
    i64 out;
    i32 channel;

    WT_DEVICE static Line make(const Params& p, i64 image, i32 channel) {
      const i64 past = image * p.from_history.n + channel * p.from_history.channel;
      return {static_cast<const In*>(p.history) + past,
              static_cast<const In*>(p.x) + image * p.from_x.n + channel * p.from_x.channel,
              p.new_history ? static_cast<In*>(p.new_history) + past : nullptr, image * p.to.n + channel * p.to.channel,
              channel};
    }
    WT_DEVICE Pixel load(const Params& p, i32 at, bool exists) const {
      const In* from = at < p.length ? history + at * p.from_history.pixel : x + (at - p.length) * p.from_x.pixel;
      return Pixel::load(from, exists);
    }
    WT_DEVICE void keep(const Params& p, i32 at, const Pixel& pixel) const {
      pixel.store(next + at * p.from_history.pixel);
    }
  };

  // Weights of a thread's channels, whose taps lie together: whole vectors where their count is compiled in.
  struct Weights {
    Channels<Weight, kWidth> piece[kTaps > 0 ? kTaps : 1];
    const Weight* first;

    WT_DEVICE static Weights make(const Params& p, i32 channel) {
      Weights weights;
      weights.first = static_cast<const Weight*>(p.w) + static_cast<i64>(channel) * p.taps;
      if constexpr (kTaps > 0) {
        WT_UNROLL for (int i = 0; i < kTaps; ++i) {
          weights.piece[i] = Channels<Weight, kWidth>::load(weights.first + i * kWidth, true);
        }
      }
      return weights;
    }
    // `known`: the tap where it is compiled in.
    WT_DEVICE float at(const Params& p, int channel, i32 tap, int known) const {
      if constexpr (kTaps > 0) {
        const int index = channel * kTaps + known;
        return piece[index / kWidth].value(index % kWidth);
      } else {
        return device::to_float(device::load_global(first + static_cast<i64>(channel) * p.taps + tap));
      }
    }
  };

  // Pixel i of the line becomes pixel i - 1 of the next history, and tap i / dilation multiplies it.
  WT_DEVICE static void one_token(const Params& p, const Line& line, Output& output) {
    float sum[kWidth] = {};
    const Weights weights = Weights::make(p, line.channel);
    for (i32 first = 0; first <= p.length; first += kBatch) {
      Pixel batch[kBatch];
      WT_UNROLL for (int j = 0; j < kBatch; ++j) {
        batch[j] = line.load(p, first + j <= p.length ? first + j : 0, first + j <= p.length);
      }
      WT_UNROLL for (int j = 0; j < kBatch; ++j) {
        const i32 at = first + j;
        if (at > p.length) break;
        const i32 tap = kTaps > 0 ? at : at / p.dilation;
        if (kTaps > 0 || at == tap * p.dilation) multiply(p, weights, batch[j], tap, j, sum);
        if (line.next && at > 0) line.keep(p, at - 1, batch[j]);
      }
      if constexpr (kTaps > 0) break;
    }
    output.store(p.epilogue, p.y, line.out, sum);
  }

  WT_DEVICE static void several_tokens(const Params& p, const Line& line, Output& output) {
    const Weights weights = Weights::make(p, line.channel);
    for (i32 i = 0; i < p.outputs; ++i) {
      float sum[kWidth] = {};
      for (i32 first = 0; first < p.taps; first += kBatch) {
        Pixel batch[kBatch];
        WT_UNROLL for (int j = 0; j < kBatch; ++j) {
          const bool exists = first + j < p.taps;
          batch[j] = line.load(p, i * p.stride + (exists ? first + j : 0) * p.dilation, exists);
        }
        WT_UNROLL for (int j = 0; j < kBatch; ++j) {
          if (first + j < p.taps) multiply(p, weights, batch[j], first + j, j, sum);
        }
        if constexpr (kTaps > 0) break;
      }
      output.store(p.epilogue, p.y, line.out + i * p.to.pixel, sum);
    }
    if (!line.next) return;
    // WHY in order: pixel `i` is written after it and all before it have been read.
    for (i32 i = 0; i < p.length; ++i) line.keep(p, i, line.load(p, p.tokens + i, true));
  }

  WT_DEVICE static void multiply(const Params& p, const Weights& weights, const Pixel& pixel, i32 tap, int known,
                                 float (&sum)[kWidth]) {
    WT_UNROLL for (int e = 0; e < kWidth; ++e) {
      sum[e] = device::multiply_add(pixel.value(e), weights.at(p, e, tap, known), sum[e]);
    }
  }
};

}  // namespace wt
