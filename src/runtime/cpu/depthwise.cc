// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/depthwise.h"

#include <algorithm>
#include <cstring>

#include "runtime/cpu/workers.h"

namespace wt::cpu {

namespace {

constexpr int64_t kMaxTaps = 512;       // of int8, 512 * 255 * 128 is exact in fp32
constexpr int64_t kChunkFloats = 8192;  // taps x channels of a chunk: 32 KiB
constexpr int64_t kRowPixels = 512;     // sums of a row piece, which stay in the first cache over all taps
constexpr int64_t kItemPixels = 64;     // at least, of a channels-last item, so that its weights are loaded for many

bool inside(int64_t at, int64_t size) { return at >= 0 && at < size; }
int64_t divide_up(int64_t value, int64_t step) { return (value + step - 1) / step; }

}  // namespace

bool Depthwise::accepts(const ConvProblem& problem) {
  return problem.c == problem.g && problem.k == problem.g &&
         problem.filter[0] * problem.filter[1] * problem.filter[2] <= kMaxTaps;
}

Depthwise::Depthwise(const ConvProblem& problem, int threads)
    : problem_(problem), geometry_(problem), threads_(threads) {}

int64_t Depthwise::chunk() const { return geometry_.taps * 64 <= kChunkFloats ? 64 : 16; }

void Depthwise::run(const Inputs& inputs, const Finisher& finisher) const {
  const bool last = problem_.layout == Layout::kChannelsLast;
  const auto floats = [](const Source& source) { return static_cast<const float*>(source.data); };
  if (problem_.direction == Direction::kBackwardWeight) {
    if (last) return weight_channels_last(floats(inputs.x), floats(inputs.y), finisher);
    return weight_channels_first(floats(inputs.x), floats(inputs.y), finisher);
  }
  const float* source = floats(problem_.direction == Direction::kForward ? inputs.x : inputs.y);
  if (last) return data_channels_last(source, inputs.w, finisher);
  data_channels_first(source, inputs.w, finisher);
}

// An item is a few rows of pixels times a chunk of channels.
void Depthwise::data_channels_last(const float* source, const Source& weights, const Finisher& finisher) const {
  const int64_t channels = problem_.g, width = chunk(), chunks = divide_up(channels, width);
  const Spatial &size = geometry_.source, &walked = geometry_.walked;
  const auto sum = kernels().sum_products;
  for (const Phase& phase : geometry_.phases) {
    const int64_t rows = problem_.n * phase.rows();
    const int64_t rows_per_item = divide_up(kItemPixels, phase.count[2]);
    const int64_t items = divide_up(rows, rows_per_item);
    for_each_item(items * chunks, threads_, [&](int64_t item, int) {
      const int64_t first = item % chunks * width, count = std::min(width, channels - first);
      const int64_t row_end = std::min(rows, (item / chunks + 1) * rows_per_item);
      float by_tap[kChunkFloats];  // (taps of the phase, width)
      for (int64_t i = 0; i < count; ++i)
        for (size_t t = 0; t < phase.taps.size(); ++t)
          by_tap[static_cast<int64_t>(t) * width + i] =
              read_one(weights, (first + i) * geometry_.taps + phase.taps[t].filter);
      const float* x[kMaxTaps];
      const float* w[kMaxTaps];
      float sums[64];
      for (int64_t row = item / chunks * rows_per_item; row < row_end; ++row) {
        const int64_t h = row % phase.count[1], d = row / phase.count[1] % phase.count[0], n = row / phase.rows();
        const int64_t out_row = (n * walked[0] + phase.origin[0] + d * phase.spacing[0]) * walked[1] + phase.origin[1] +
                                h * phase.spacing[1];
        // Between these pixels every tap of the row is inside, and the pointers only move on.
        Range whole{0, phase.count[2]};
        for (const Tap& tap : phase.taps) {
          const Range valid = valid_range(tap.base[2], phase.step[2], size[2], 0, phase.count[2]);
          whole = {std::max(whole.lower, valid.lower), std::min(whole.upper, valid.upper)};
        }
        int64_t taps = 0;
        for (int64_t i = 0; i < phase.count[2]; ++i) {
          if (i > whole.lower && i < whole.upper) {
            for (int64_t t = 0; t < taps; ++t) x[t] += phase.step[2] * channels;
          } else {
            taps = 0;
            for (size_t t = 0; t < phase.taps.size(); ++t) {
              const Tap& tap = phase.taps[t];
              const int64_t sd = tap.base[0] + d * phase.step[0], sh = tap.base[1] + h * phase.step[1];
              const int64_t sw = tap.base[2] + i * phase.step[2];
              if (!inside(sd, size[0]) || !inside(sh, size[1]) || !inside(sw, size[2])) continue;
              x[taps] = source + (((n * size[0] + sd) * size[1] + sh) * size[2] + sw) * channels + first;
              w[taps++] = by_tap + static_cast<int64_t>(t) * width;
            }
          }
          sum(sums, x, w, taps, count);
          const int64_t pixel = out_row * walked[2] + phase.origin[2] + i * phase.spacing[2];
          finisher.finish(sums,
                          {.offset = pixel * channels + first, .count = count, .channel = first, .channel_step = 1});
        }
      }
    });
  }
}

// An item is a piece of a row of pixels of one channel.
void Depthwise::data_channels_first(const float* source, const Source& weights, const Finisher& finisher) const {
  const int64_t channels = problem_.g;
  const Spatial &size = geometry_.source, &walked = geometry_.walked;
  const auto add = kernels().add_scaled;
  for (const Phase& phase : geometry_.phases) {
    const int64_t pieces = divide_up(phase.count[2], kRowPixels);
    const int64_t units = phase.rows() * pieces;  // of one channel of one image
    // Enough pixels an item that handing it out costs little.
    const int64_t per_item = std::clamp<int64_t>(4096 / std::min(kRowPixels, phase.count[2]), 1, units);
    const int64_t items = divide_up(units, per_item);
    for_each_item(problem_.n * channels * items, threads_, [&](int64_t item, int) {
      const int64_t plane = item / items, channel = plane % channels;
      const float* image = source + plane * size[0] * size[1] * size[2];
      float factors[kMaxTaps];
      read(weights, channel * geometry_.taps, factors, geometry_.taps);
      float sums[kRowPixels];
      const int64_t end = std::min(units, (item % items + 1) * per_item);
      for (int64_t unit = item % items * per_item; unit < end; ++unit) {
        const int64_t first = unit % pieces * kRowPixels, count = std::min(kRowPixels, phase.count[2] - first);
        const int64_t h = unit / pieces % phase.count[1], d = unit / pieces / phase.count[1];
        std::memset(sums, 0, static_cast<size_t>(count) * sizeof(float));
        for (const Tap& tap : phase.taps) {
          const int64_t sd = tap.base[0] + d * phase.step[0], sh = tap.base[1] + h * phase.step[1];
          if (!inside(sd, size[0]) || !inside(sh, size[1])) continue;
          const int64_t base = tap.base[2] + first * phase.step[2];
          const Range valid = valid_range(base, phase.step[2], size[2], 0, count);
          if (valid.lower == valid.upper) continue;
          add(sums + valid.lower, image + (sd * size[1] + sh) * size[2] + base + valid.lower * phase.step[2],
              phase.step[2], factors[tap.filter], valid.upper - valid.lower);
        }
        const int64_t row = (plane * walked[0] + phase.origin[0] + d * phase.spacing[0]) * walked[1] + phase.origin[1] +
                            h * phase.spacing[1];
        finisher.finish(sums, {.offset = row * walked[2] + phase.origin[2] + first * phase.spacing[2],
                               .count = count,
                               .stride = phase.spacing[2],
                               .channel = channel});
      }
    });
  }
}

// An item is a chunk of channels over all pixels. Sums of one row of pixels are added up first: a single running sum
// over millions of pixels would lose the small ones.
void Depthwise::weight_channels_last(const float* x, const float* dy, const Finisher& finisher) const {
  const Phase& phase = geometry_.phases.front();
  const Spatial& size = geometry_.source;
  const int64_t channels = problem_.g;
  const int64_t width = channels >= 64 * threads_ ? chunk() : 16;
  const auto add = kernels().add_products;
  for_each_item(divide_up(channels, width), threads_, [&](int64_t item, int) {
    const int64_t first = item * width, count = std::min(width, channels - first);
    float total[kChunkFloats] = {};  // (taps, width)
    float of_row[kChunkFloats];
    for (int64_t row = 0; row < problem_.n * phase.rows(); ++row) {
      const int64_t h = row % phase.count[1], d = row / phase.count[1] % phase.count[0], n = row / phase.rows();
      std::memset(of_row, 0, static_cast<size_t>(geometry_.taps * width) * sizeof(float));
      for (int64_t i = 0; i < phase.count[2]; ++i) {
        const float* gradient = dy + (row * phase.count[2] + i) * channels + first;
        for (const Tap& tap : phase.taps) {
          const int64_t sd = tap.base[0] + d * phase.step[0], sh = tap.base[1] + h * phase.step[1];
          const int64_t sw = tap.base[2] + i * phase.step[2];
          if (!inside(sd, size[0]) || !inside(sh, size[1]) || !inside(sw, size[2])) continue;
          add(of_row + tap.filter * width, gradient,
              x + (((n * size[0] + sd) * size[1] + sh) * size[2] + sw) * channels + first, count);
        }
      }
      for (int64_t i = 0; i < geometry_.taps * width; ++i) total[i] += of_row[i];
    }
    for (int64_t i = 0; i < count; ++i) {
      float filter[kMaxTaps];
      for (int64_t t = 0; t < geometry_.taps; ++t) filter[t] = total[t * width + i];
      finisher.finish(filter, {.offset = (first + i) * geometry_.taps, .count = geometry_.taps, .channel = first + i});
    }
  });
}

// An item is one channel; every tap is a sum of dot products along rows.
void Depthwise::weight_channels_first(const float* x, const float* dy, const Finisher& finisher) const {
  const Phase& phase = geometry_.phases.front();
  const Spatial& size = geometry_.source;
  const auto dot = kernels().dot;
  for_each_item(problem_.g, threads_, [&](int64_t channel, int) {
    float total[kMaxTaps] = {};
    for (int64_t n = 0; n < problem_.n; ++n) {
      const int64_t plane = n * problem_.g + channel;
      const float* image = x + plane * size[0] * size[1] * size[2];
      for (int64_t row = 0; row < phase.rows(); ++row) {
        const int64_t h = row % phase.count[1], d = row / phase.count[1];
        for (const Tap& tap : phase.taps) {
          const int64_t sd = tap.base[0] + d * phase.step[0], sh = tap.base[1] + h * phase.step[1];
          if (!inside(sd, size[0]) || !inside(sh, size[1])) continue;
          for (int64_t first = 0; first < phase.count[2]; first += kRowPixels) {
            const int64_t base = tap.base[2] + first * phase.step[2];
            const Range valid =
                valid_range(base, phase.step[2], size[2], 0, std::min(kRowPixels, phase.count[2] - first));
            if (valid.lower == valid.upper) continue;
            total[tap.filter] += dot(
                image + (sd * size[1] + sh) * size[2] + base + valid.lower * phase.step[2], phase.step[2],
                dy + (plane * phase.rows() + row) * phase.count[2] + first + valid.lower, valid.upper - valid.lower);
          }
        }
      }
    }
    finisher.finish(total, {.offset = channel * geometry_.taps, .count = geometry_.taps, .channel = channel});
  });
}

}  // namespace wt::cpu
