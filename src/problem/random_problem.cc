// SPDX-License-Identifier: Apache-2.0
#include "problem/random_problem.h"

#include <algorithm>

#include "base/check.h"
#include "problem/measures.h"

namespace wt {
namespace {

template <class T>
T pick_or(Random& random, const std::vector<T>& some, std::initializer_list<T> all) {
  return some.empty() ? random.pick(all) : random.pick(std::span<const T>(some));
}

void draw_types(Random& random, const RandomLimits& limits, ConvProblem& p) {
  using enum DataType;
  DataType first = pick_or(random, limits.types, {kF32, kTf32, kF16, kBf16, kE4m3, kE5m2, kI8});
  const bool forward = limits.directions.empty() || std::ranges::count(limits.directions, Direction::kForward) > 0;
  if (first == kI8 && !forward && limits.types.empty()) first = kF32;  // int8 has no backward passes
  DataType second = first;
  DataType output = first == kTf32 ? kF32 : first;
  if (limits.mixed_types && is_fp8(first) && random.chance(0.3)) second = first == kE4m3 ? kE5m2 : kE4m3;
  if (limits.mixed_types && (first != second || random.chance(0.3))) {
    output = random.pick({kF32, kF16, kBf16});
    if (first == kI8) output = random.pick({kI8, kF32, kF16, kBf16});
    if (is_fp8(first) && random.chance(0.3)) output = random.pick({kE4m3, kE5m2});
  }
  p.direction = Direction::kForward;
  p.x = first, p.w = second, p.y = output;
  if (first == kI8) {
    if (random.chance(0.5)) p.x_zero = static_cast<int>(random.between(-128, 127));
    if (output == kI8 && random.chance(0.5)) p.y_zero = static_cast<int>(random.between(-128, 127));
    return;  // has no backward passes
  }
  p = with_direction(p, pick_or(random, limits.directions,
                                {Direction::kForward, Direction::kBackwardData, Direction::kBackwardWeight}));
}

// Groups first, so that c and k are multiples of them: dense, some groups, or depthwise (with a multiplier).
void draw_channels(Random& random, const RandomLimits& limits, ConvProblem& p) {
  const int64_t most = std::max<int64_t>(1, limits.max_channels);
  const double kind = random.real();
  p.g = kind < 0.5 ? 1 : random.between(1, std::min<int64_t>(most, kind < 0.8 ? 8 : most));
  p.c = p.g * (kind < 0.8 ? random.between(1, most / p.g) : 1);
  p.k = p.g * (kind < 0.8 ? random.between(1, most / p.g) : random.between(1, std::min<int64_t>(2, most / p.g)));
}

// Channels of whole blocks.
void draw_scales(Random& random, ConvProblem& p) {
  using enum DataType;
  p.direction = Direction::kForward;
  p.layout = Layout::kChannelsLast;
  p.scales = random.pick({BlockScales::kMx, BlockScales::kNv});
  const bool pairs = p.scales == BlockScales::kNv || random.chance(0.3);
  p.x = pairs ? kE2m1 : random.pick({kE4m3, kE5m2});
  p.w = pairs ? kE2m1 : random.pick({kE4m3, kE5m2});
  p.y = random.pick({kF32, kF16, kBf16});
  p.g = random.between(1, 2);
  p.c = p.g * scale_block(p.scales) * random.between(1, 5);
  p.k = p.g * random.between(1, 24);
}

void draw_dimension(Random& random, const RandomLimits& limits, ConvProblem& p, int i) {
  p.in[i] = random.between(1, limits.max_in);
  p.filter[i] = random.chance(0.3) ? 1 : random.between(1, limits.max_filter);
  p.stride[i] = random.chance(0.5) ? 1 : random.between(1, limits.max_stride);
  p.dilation[i] = random.chance(0.6) ? 1 : random.between(1, limits.max_dilation);
  const int64_t reach = p.dilation[i] * (p.filter[i] - 1) + 1;
  p.pad_lower[i] = random.chance(0.3) ? 0 : random.between(0, reach);
  p.pad_upper[i] = random.chance(0.6) ? p.pad_lower[i] : random.between(0, reach);
}

// Before and after x, along the outermost dimension.
void draw_history(Random& random, ConvProblem& p) {
  const int time = p.time();
  if (p.filter[time] == 1) p.filter[time] = random.between(2, 5);  // one reaches no history
  p.pad_lower[time] = p.history_length();
  p.pad_upper[time] = 0;
  p.history = true;
  if (p.direction == Direction::kBackwardWeight || random.chance(0.4)) return;
  p.new_history = true;
  p.in[time] = (p.in[time] + p.stride[time] - 1) / p.stride[time] * p.stride[time];
}

void draw_epilogue(Random& random, Epilogue& e) {
  const auto real = [&] { return static_cast<float>(random.real() * 4 - 2); };
  if (random.chance(0.3)) e.alpha = random.chance(0.5) ? 0.5f : real();
  e.scale = random.chance(0.3);
  e.bias = random.chance(0.4);
  e.residual = random.chance(0.3);
  if (e.residual && random.chance(0.5)) e.beta = real() + 3;
  if (random.chance(0.6)) e.activation = static_cast<Activation>(random.between(0, kActivationCount - 1));
  if (e.activation == Activation::kLeakyRelu && random.chance(0.5)) e.slope = real();
  if (e.activation == Activation::kClamp && random.chance(0.5)) e.low = real() - 2, e.high = real() + 2;
  e.amax = random.chance(0.2);
  for (const auto& [present, type] : {std::pair{e.scale, &e.scale_type}, std::pair{e.bias, &e.bias_type}})
    if (present && random.chance(0.5)) *type = random.chance(0.5) ? DataType::kBf16 : DataType::kF16;
}

}  // namespace

ConvProblem random_problem(Random& random, const RandomLimits& limits) {
  for (int attempt = 0; attempt < 100000; ++attempt) {
    ConvProblem p;
    p.dims = pick_or(random, limits.dims, {1, 2, 3});
    p.layout = pick_or(random, limits.layouts, {Layout::kChannelsLast, Layout::kChannelsFirst});
    draw_types(random, limits, p);
    p.n = limits.empty_batch && random.chance(0.05) ? 0 : random.between(1, std::max<int64_t>(1, limits.max_batch));
    draw_channels(random, limits, p);
    if (limits.scaled && random.chance(0.1)) draw_scales(random, p);
    for (int i = kMaxDims - p.dims; i < kMaxDims; ++i) draw_dimension(random, limits, p, i);
    if (limits.history) draw_history(random, p);
    if (limits.epilogues && random.chance(0.5)) draw_epilogue(random, p.epilogue);
    if (validate(p).ok() && p.flops() / 2 <= static_cast<double>(limits.max_multiply_adds)) return p;
  }
  WT_CHECK(false, "no valid problem within these limits: max_multiply_adds={}", limits.max_multiply_adds);
  return {};
}

}  // namespace wt
