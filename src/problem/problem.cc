// SPDX-License-Identifier: Apache-2.0
#include "problem/problem.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace wt {
namespace {

int64_t product(const Spatial& sizes) { return sizes[0] * sizes[1] * sizes[2]; }

Strides make_strides(Layout layout, int64_t channels, const Spatial& size) {
  Strides strides;
  strides.outer = channels * product(size);
  const bool last = layout == Layout::kChannelsLast;
  strides.channel = last ? 1 : product(size);
  const int64_t pixel = last ? channels : 1;
  strides.spatial = {size[1] * size[2] * pixel, size[2] * pixel, pixel};
  return strides;
}

}  // namespace

Spatial ConvProblem::out() const {
  Spatial size;
  for (int i = 0; i < kMaxDims; ++i) {
    const int64_t span = in[i] + pad_lower[i] + pad_upper[i] - (dilation[i] * (filter[i] - 1) + 1);
    size[i] = span < 0 ? 0 : span / stride[i] + 1;
  }
  return size;
}

int64_t ConvProblem::x_elements() const { return n * c * product(in); }
int64_t ConvProblem::w_elements() const { return k * c_per_group() * product(filter); }
int64_t ConvProblem::y_elements() const { return n * k * product(out()); }
int64_t ConvProblem::history_elements() const { return x_elements() / in[time()] * history_length(); }
int64_t ConvProblem::filter_taps() const { return product(filter); }

int64_t ConvProblem::output_elements() const {
  switch (direction) {
    case Direction::kForward:
      return y_elements();
    case Direction::kBackwardData:
      return x_elements();
    case Direction::kBackwardWeight:
      return w_elements();
  }
  return 0;
}

int64_t ConvProblem::output_channels() const { return direction == Direction::kBackwardData ? c : k; }

int64_t ConvProblem::terms() const {
  switch (direction) {
    case Direction::kForward:
      return c_per_group() * product(filter);
    case Direction::kBackwardData:
      return k_per_group() * product(filter);
    case Direction::kBackwardWeight:
      return n * product(out());
  }
  return 0;
}

int64_t ConvProblem::bias_gradient_channels() const {
  return bias_gradient == BiasGradient::kNone ? 0 : bias_gradient == BiasGradient::kOfY ? k : c;
}

DataType ConvProblem::first_type() const { return direction == Direction::kBackwardData ? y : x; }
DataType ConvProblem::second_type() const { return direction == Direction::kBackwardWeight ? y : w; }
DataType ConvProblem::output_type() const {
  switch (direction) {
    case Direction::kForward:
      return y;
    case Direction::kBackwardData:
      return x;
    case Direction::kBackwardWeight:
      return w;
  }
  return y;
}

double ConvProblem::flops() const {
  return 2.0 * static_cast<double>(y_elements()) * static_cast<double>(c_per_group() * product(filter));
}

Strides x_strides(const ConvProblem& problem) { return make_strides(problem.layout, problem.c, problem.in); }
Strides w_strides(const ConvProblem& problem) {
  return make_strides(problem.layout, problem.c_per_group(), problem.filter);
}
Strides y_strides(const ConvProblem& problem) { return make_strides(problem.layout, problem.k, problem.out()); }

ConvProblem with_direction(const ConvProblem& problem, Direction direction) {
  if (direction == problem.direction) return problem;
  const DataType first = problem.first_type(), second = problem.second_type(), output = problem.output_type();
  ConvProblem turned = problem;
  turned.direction = direction;
  turned.epilogue = {};
  turned.bias_gradient = BiasGradient::kNone;
  turned.history = turned.new_history = false;
  turned.x_zero = turned.y_zero = 0;
  switch (direction) {
    case Direction::kForward:
      turned.x = first, turned.w = second, turned.y = output;
      break;
    case Direction::kBackwardData:
      turned.y = first, turned.w = second, turned.x = output;
      break;
    case Direction::kBackwardWeight:
      turned.x = first, turned.y = second, turned.w = output;
      break;
  }
  return turned;
}

void set_same_padding(ConvProblem& problem) {
  for (int i = 0; i < kMaxDims; ++i) {
    const int64_t out = (problem.in[i] + problem.stride[i] - 1) / problem.stride[i];
    const int64_t span = (out - 1) * problem.stride[i] + problem.dilation[i] * (problem.filter[i] - 1) + 1;
    const int64_t total = std::max<int64_t>(0, span - problem.in[i]);
    problem.pad_lower[i] = total / 2;
    problem.pad_upper[i] = total - total / 2;
  }
}

void set_valid_padding(ConvProblem& problem) { problem.pad_lower = problem.pad_upper = {0, 0, 0}; }

void set_causal_padding(ConvProblem& problem) {
  set_same_padding(problem);
  const int time = kMaxDims - problem.dims;
  problem.pad_lower[time] = problem.dilation[time] * (problem.filter[time] - 1);
  problem.pad_upper[time] = 0;
}

namespace {

constexpr std::pair<const char*, Direction> kDirections[] = {
    {"fwd", Direction::kForward}, {"bwd_data", Direction::kBackwardData}, {"bwd_weight", Direction::kBackwardWeight}};
constexpr std::pair<const char*, DataType> kTypes[] = {
    {"fp32", DataType::kF32},  {"tf32", DataType::kTf32}, {"fp16", DataType::kF16},  {"bf16", DataType::kBf16},
    {"e4m3", DataType::kE4m3}, {"e5m2", DataType::kE5m2}, {"e2m1", DataType::kE2m1}, {"int8", DataType::kI8}};
constexpr std::pair<const char*, BlockScales> kBlockScales[] = {
    {"none", BlockScales::kNone}, {"mx", BlockScales::kMx}, {"nv", BlockScales::kNv}};

template <class Table, class Value>
const char* name_in(const Table& table, Value value) {
  for (const auto& [name, item] : table) {
    if (item == value) return name;
  }
  return "?";
}

template <class Value, size_t kCount>
std::optional<Value> value_in(const std::pair<const char*, Value> (&table)[kCount], std::string_view name) {
  for (const auto& [text, item] : table) {
    if (name == text) return item;
  }
  return std::nullopt;
}

}  // namespace

const char* name_of(Direction direction) { return name_in(kDirections, direction); }
const char* name_of(DataType type) { return name_in(kTypes, type); }
const char* name_of(BlockScales scales) { return name_in(kBlockScales, scales); }
const char* name_of(Activation activation) { return activation > kLastActivation ? "?" : facts_of(activation).name; }
std::optional<Direction> direction_from(std::string_view name) { return value_in(kDirections, name); }
std::optional<DataType> data_type_from(std::string_view name) { return value_in(kTypes, name); }
std::optional<BlockScales> block_scales_from(std::string_view name) {
  const std::optional<BlockScales> found = value_in(kBlockScales, name);
  return found == BlockScales::kNone ? std::nullopt : found;
}
std::optional<Activation> activation_from(std::string_view name) {
  for (const ActivationFacts& facts : kActivations) {
    if (facts.activation != Activation::kNone && name == facts.name) return facts.activation;
  }
  return std::nullopt;
}

std::string activation_names(std::string_view between, std::string_view last) {
  std::string text;
  for (const ActivationFacts& facts : kActivations) {
    if (facts.activation == Activation::kNone) continue;
    if (!text.empty()) text += facts.activation == kLastActivation ? last : between;
    text += facts.name;
  }
  return text;
}

const char* layout_name(Layout layout, int dims) {
  WT_CHECK(dims >= 1 && dims <= kMaxDims, "dims={}", dims);
  constexpr const char* kLast[] = {"NWC", "NHWC", "NDHWC"};
  constexpr const char* kFirst[] = {"NCW", "NCHW", "NCDHW"};
  return (layout == Layout::kChannelsLast ? kLast : kFirst)[dims - 1];
}

}  // namespace wt
