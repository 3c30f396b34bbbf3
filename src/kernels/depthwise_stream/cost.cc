// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_stream/cost.cc - predicted times of streaming kernels.
#include <algorithm>
#include <cmath>

#include "kernels/depthwise_stream/device/shape.h"
#include "kernels/depthwise_stream/kind.h"
#include "kernels/shared/direct_cost.h"
#include "kernels/shared/direct_geometry.h"

namespace wt {
namespace {

using namespace direct_model;

constexpr double kStreamIssue = 0.57;  // of the instructions that could be issued
// Bytes once, as far as each form stays behind the device's rate; and what sharing columns between strips adds.
constexpr double kPlaneBytes = 0.95;  // of planes with stride 1, which start later
constexpr double kPlaneUs = 1;
constexpr double kHaloBytes = 0.95;
constexpr double kRingBytes = 1.25;  // where a strided step's rows wait in shared memory
constexpr double kRingHalo = 0.2;
constexpr double kAheadBytes = 0.87;  // of a step of stride 1 with its rows there
constexpr double kAheadUs = 1;
constexpr double kApartBytes = 0.8;  // more where a thread reads one pixel of one channel at a time

// Memory of a streaming kernel, as a multiple of the bytes once: neighbouring strips read the columns between them
// twice, and a filter's planes are read one after the other.
double stream_factor(const KernelConfig& config, const ConvProblem& p) {
  const DirectConfig& direct = config.direct;
  const FixedSizes& fixed = config.fixed;
  const bool data = p.direction == Direction::kBackwardData;
  const double step = data ? 1 : fixed.stride_w;
  const double halo = data ? (fixed.filter_w + fixed.stride_w - 1) / fixed.stride_w - 1 : fixed.filter_w - step;
  const double again = std::max(0.0, halo / (direct.sub_w * step)) + 0.3 * static_cast<double>(p.filter[0] - 1);
  const auto x = static_cast<double>(p.x_elements()), y = static_cast<double>(p.y_elements());
  const double share = (data ? y : x) / (x + y);  // of the input that strips share
  const int bytes = direct.vector_in * size_of(data ? p.y : p.x);
  if (stream_has_ring(config) && fixed.stride_h > 1)
    return (kRingBytes + kRingHalo * 2 * share * again + narrow(bytes)) * (config.min_blocks > 2   ? 0.93
                                                                           : config.min_blocks < 2 ? 1.02
                                                                                                   : 1);
  const bool plane = p.dims == 2 && fixed.stride_h == 1;
  return (plane ? kPlaneBytes : kStreamBytes) + kHaloBytes * 2 * share * again +
         (config.layout == Layout::kChannelsLast ? narrow(bytes) : kApartBytes);
}

// The share of multiply-adds in the instructions of a streaming kernel, counted on one thread and step: 3x3 filters
// with 4 channels x 4 columns have 144 of 270. One thread's share of few channels and columns is mostly something else:
// x3d_dw_108 took 87 us with 2 x 2.
double stream_share(const KernelConfig& config, const ConvProblem& p) {
  const DirectConfig& direct = config.direct;
  const FixedSizes& fixed = config.fixed;
  const bool data = p.direction == Direction::kBackwardData, weight = p.direction == Direction::kBackwardWeight;
  const double width = direct.vector_in, columns = direct.sub_w, taps = fixed.filter_h * fixed.filter_w;
  const double reach_h = std::ceil(fixed.filter_h / static_cast<double>(fixed.stride_h));
  const double reach_w = std::ceil(fixed.filter_w / static_cast<double>(fixed.stride_w));
  const double inputs =
      data ? columns + reach_w - 1 : fixed.stride_h * ((columns - 1) * fixed.stride_w + fixed.filter_w);
  const double products = taps * width * columns, loads = 5 * (inputs + (weight ? columns : 0));
  const double widened = size_of(p.x) == 2 ? width * (inputs + (weight ? reach_h * columns : 0)) : 0;
  const double weights = weight || direct.register_weights ? 0 : taps * std::ceil(width / 4);
  const double outputs = weight ? 0 : columns * (data ? fixed.stride_h * fixed.stride_w : 1);
  const double stored = outputs * (1.5 * width + 6) / static_cast<double>(p.filter[0]);
  return kStreamIssue * products / (products + loads + widened + weights + stored + 15);
}

double stream_us(const KernelConfig& config, const ConvProblem& p, const Rates& rates) {
  const StreamCut cut = cut_stream(config, turned(p), rates.units);
  const double capacity = static_cast<double>(rates.units) * config.min_blocks;
  // A grid that fills its last wave badly leaves multiprocessors idle.
  const double idle = cut.waves * capacity / std::max(1.0, static_cast<double>(cut.grid));
  // Backward weight reads both images again for every plane of taps.
  const double passes = p.direction == Direction::kBackwardWeight ? static_cast<double>(p.filter[0]) : 1;
  const double memory = passes * bytes_us(p, rates) * stream_factor(config, p);
  const double products = multiply_us(p, rates, stream_share(config, p));
  const bool ahead = stream_has_ring(config) && config.fixed.stride_h == 1;
  // Among variants that the terms above do not tell apart, the first of kernels/depthwise_stream/proposals.cc.
  const bool weight = p.direction == Direction::kBackwardWeight;
  const double busy = std::max(ahead && !weight ? kAheadBytes * memory : memory, products) * std::clamp(idle, 1.0, 4.0);
  // A thread's first row of a wide filter waits for all its weights.
  constexpr double kTapUs = 0.1;
  const double taps = static_cast<double>(p.filter_taps() / p.filter[0]);
  const double start = config.fixed.stride_h == 1 ? kTapUs * std::max(0.0, taps - 9) : 0;
  return busy + start + (ahead ? kAheadUs : 0) + (p.dims == 2 && config.fixed.stride_h == 1 ? kPlaneUs : 0);
}

}  // namespace

double depthwise_stream_kind::predict(const KernelConfig& config, const View& seen, int) {
  const ConvProblem& problem = seen.problem();
  if (problem.output_elements() == 0) return launch_us(seen.rates());
  const bool wide = config.direct.sub_w * config.direct.vector_in > 8;
  // Backward weight has counted planes as passes.
  const double planes = problem.direction == Direction::kBackwardWeight ? (wide ? 0.9 : 0.65) : (wide ? 2.35 : 1.45);
  return whole_us(seen, stream_us(config, problem, seen.rates()), planes, {2.284, 0.97});
}

}  // namespace wt
