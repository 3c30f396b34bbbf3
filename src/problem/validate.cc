// SPDX-License-Identifier: Apache-2.0
// problem/validate.cc - the rules of a valid problem, one message a fault.
//
// Order matters: a rule may rely on those above it (no division by zero, no overflow in the sizes).
#include <cmath>
#include <initializer_list>
#include <limits>

#include "problem/measures.h"
#include "problem/problem.h"
#include "problem/validate_types.h"

namespace wt {
namespace {

constexpr const char* kDimNames[] = {"d", "h", "w"};

// The product, or nothing where it leaves 63 bits.
std::optional<int64_t> checked_product(std::initializer_list<int64_t> factors) {
  int64_t result = 1;
  for (const int64_t factor : factors) {
    if (factor == 0) return 0;
  }
  for (const int64_t factor : factors) {
    if (__builtin_mul_overflow(result, factor, &result)) return std::nullopt;
  }
  return result;
}

// Enumerators can hold any number when they come through the C API.
Status validate_choices(const ConvProblem& p) {
  if (p.direction > Direction::kBackwardWeight) {
    return bad_input("direction {} does not exist; use fwd, bwd_data or bwd_weight", static_cast<int>(p.direction));
  }
  if (p.dims < 1 || p.dims > kMaxDims) {
    return bad_input("dims={} is not 1, 2 or 3; a convolution has one to three spatial dimensions", p.dims);
  }
  if (p.layout > Layout::kChannelsFirst) {
    return bad_input("layout {} does not exist; use channels-last or channels-first", static_cast<int>(p.layout));
  }
  const std::pair<const char*, DataType> types[] = {{"x", p.x},
                                                    {"w", p.w},
                                                    {"y", p.y},
                                                    {"acc", p.acc},
                                                    {"scale", p.epilogue.scale_type},
                                                    {"bias", p.epilogue.bias_type}};
  for (const auto& [name, type] : types) {
    if (type > DataType::kI8) {
      return bad_input("the type {} of {} does not exist; use fp32, tf32, fp16, bf16, e4m3, e5m2, e2m1 or int8",
                       static_cast<int>(type), name);
    }
  }
  if (p.scales > BlockScales::kNv) {
    return bad_input("scales {} do not exist; use none, mx or nv", static_cast<int>(p.scales));
  }
  const std::pair<const char*, Activation> activations[] = {{"activation", p.epilogue.activation},
                                                            {"gradient", p.epilogue.gradient}};
  for (const auto& [name, activation] : activations) {
    if (activation > kLastActivation) {
      return bad_input("{} {} does not exist; use none, {}", name, static_cast<int>(activation), activation_names());
    }
  }
  return {};
}

Status validate_counts(const ConvProblem& p) {
  if (p.n < 0) return bad_input("n={} is negative; use 0 for an empty batch or a positive batch size", p.n);
  if (p.g < 1) return bad_input("g={} must be at least 1; use g1 for a dense convolution", p.g);
  if (p.c < 1) return bad_input("c={} must be at least 1: the input channels, counted over all groups", p.c);
  if (p.k < 1) return bad_input("k={} must be at least 1: the output channels, counted over all groups", p.k);
  if (p.c % p.g != 0) {
    return bad_input("c={} is not a multiple of g={}; channels are totals over the groups, so use c={} or another g",
                     p.c, p.g,
                     p.c > std::numeric_limits<int64_t>::max() - p.g ? p.c / p.g * p.g : (p.c / p.g + 1) * p.g);
  }
  if (p.k % p.g != 0) {
    return bad_input("k={} is not a multiple of g={}; channels are totals over the groups, so use k={} or another g",
                     p.k, p.g,
                     p.k > std::numeric_limits<int64_t>::max() - p.g ? p.k / p.g * p.g : (p.k / p.g + 1) * p.g);
  }
  return {};
}

Status validate_blocks(const ConvProblem& p) {
  const int block = scale_block(p.scales);
  if (!p.has_scales() || p.c_per_group() % block == 0) return {};
  return bad_input(
      "c={}{} is no multiple of {}, of which scales={} have one each; pad the channels with zeros to {} a group", p.c,
      p.g == 1 ? "" : fmt::format(" in {} groups, {} each,", p.g, p.c_per_group()), block, name_of(p.scales),
      p.c_per_group() / block * block + block);
}

Status validate_unused(const ConvProblem& p, int i) {
  const std::pair<const char*, std::pair<int64_t, int64_t>> values[] = {
      {"input size", {p.in[i], 1}},     {"filter", {p.filter[i], 1}},           {"stride", {p.stride[i], 1}},
      {"dilation", {p.dilation[i], 1}}, {"lower padding", {p.pad_lower[i], 0}}, {"upper padding", {p.pad_upper[i], 0}},
  };
  for (const auto& [name, value] : values) {
    if (value.first != value.second) {
      return bad_input("{} {}={} in a problem of {} dimension{}, which does not use {}; set it to {} or raise dims",
                       name, kDimNames[i], value.first, p.dims, p.dims == 1 ? "" : "s", kDimNames[i], value.second);
    }
  }
  return {};
}

Status validate_dimension(const ConvProblem& p, int i) {
  const char* d = kDimNames[i];
  if (p.in[i] < 1) return bad_input("input size {}={} must be at least 1", d, p.in[i]);
  if (p.filter[i] < 1) return bad_input("filter size {}={} must be at least 1", d, p.filter[i]);
  if (p.stride[i] < 1) {
    return bad_input("stride {}={} must be at least 1; use 1 to visit every pixel", d, p.stride[i]);
  }
  if (p.dilation[i] < 1) {
    return bad_input("dilation {}={} must be at least 1; 1 is a filter without holes", d, p.dilation[i]);
  }
  if (p.pad_lower[i] < 0) {
    return bad_input("lower padding {}={} is negative; crop the input instead", d, p.pad_lower[i]);
  }
  if (p.pad_upper[i] < 0) {
    return bad_input("upper padding {}={} is negative; crop the input instead", d, p.pad_upper[i]);
  }
  int64_t padded = 0, reach = 0;
  if (__builtin_add_overflow(p.in[i], p.pad_lower[i], &padded) ||
      __builtin_add_overflow(padded, p.pad_upper[i], &padded)) {
    return bad_input("the padded input {}={}+{}+{} does not fit in 64 bits; use a smaller input or padding", d, p.in[i],
                     p.pad_lower[i], p.pad_upper[i]);
  }
  if (__builtin_mul_overflow(p.dilation[i], p.filter[i] - 1, &reach) || __builtin_add_overflow(reach, 1, &reach)) {
    return bad_input("the filter's reach {}={}*({}-1)+1 does not fit in 64 bits; use a smaller filter or dilation", d,
                     p.dilation[i], p.filter[i]);
  }
  if (reach > padded) {
    return bad_input(
        "no output pixels: the filter reaches over {} pixels in {} (size {}, dilation {}), the input with its padding "
        "has {}; use a padding of at least {} in all, a larger input or a smaller filter",
        reach, d, p.filter[i], p.dilation[i], padded, reach - p.in[i]);
  }
  return {};
}

Status validate_sizes(const ConvProblem& p) {
  const Spatial out = p.out();
  struct Product {
    const char* what;
    std::optional<int64_t> value;
  };
  const Product products[] = {
      {"x", checked_product({p.n, p.c, p.in[0], p.in[1], p.in[2], size_of(p.x)})},
      {"w", checked_product({p.k, p.c / p.g, p.filter[0], p.filter[1], p.filter[2], size_of(p.w)})},
      {"y", checked_product({p.n, p.k, out[0], out[1], out[2], size_of(p.y)})},
  };
  for (const Product& product : products) {
    if (!product.value) {
      return bad_input("the bytes of tensor {} do not fit in 64 bits; use a smaller batch, image or channel count",
                       product.what);
    }
  }
  if (!checked_product({p.n, p.k, out[0], out[1], out[2], p.c / p.g, p.filter[0], p.filter[1], p.filter[2]})) {
    return bad_input("the multiply-adds of the problem do not fit in 64 bits; split it into smaller ones");
  }
  return {};
}

constexpr size_t kLongestText = 1 << 16;

Status validate_text(const char* name, const std::string& text) {
  if (text.size() > kLongestText) {
    return bad_input("the text of {} has {} characters; {} are enough for any epilogue", name, text.size(),
                     kLongestText);
  }
  if (text.find_first_not_of(" \t\n") == text.npos && !text.empty()) return bad_input("the text of {} is blank", name);
  return {};
}

// Counts, factors and texts of what needs tensors beside output and residual.
Status validate_auxiliaries(const Epilogue& e) {
  WT_TRY(validate_text("f", e.expression));
  WT_TRY(validate_text("store", e.store));
  for (const int count : {e.added, e.inputs, e.outputs}) {
    if (count < 0 || count > kMaxAuxiliary) {
      return bad_input("added={}, inputs={} and outputs={} must be 0 to {} each", e.added, e.inputs, e.outputs,
                       kMaxAuxiliary);
    }
  }
  if (e.auxiliaries() > kMaxAuxiliary) {
    return bad_input("{} added tensors, {} saved, {} inputs and {} outputs are more than {} auxiliary tensors in all",
                     e.added, int{e.has_saved()}, e.inputs, e.outputs, kMaxAuxiliary);
  }
  for (int i = 0; i < kMaxAuxiliary; ++i) {
    const float beta = e.betas[static_cast<size_t>(i)];
    if (i >= e.added && beta != 0) return bad_input("betas[{}]={} has no tensor; there are {}", i, beta, e.added);
    if (i < e.added && (!std::isfinite(beta) || beta == 0)) {
      return bad_input("the factor {} of added tensor {} must be finite and not 0; leave the tensor out", beta, i);
    }
  }
  if (e.inputs > 0 && e.expression.empty()) return bad_input("aux={} has no reader; add f", e.inputs);
  if (e.outputs > 0 && e.store.empty()) return bad_input("out={} has no writer; add store", e.outputs);
  if (e.scalar_count < 0 || e.scalar_count > kMaxScalars) {
    return bad_input("{} scalars; there may be 0 to {}", e.scalar_count, kMaxScalars);
  }
  if (e.scalar_count > 0 && e.expression.empty()) return bad_input("scalars have no reader; add f");
  for (int i = 0; i < kMaxScalars; ++i) {
    const float scalar = e.scalars[static_cast<size_t>(i)];
    if (!std::isfinite(scalar)) return bad_input("scalar {} is {}; use finite numbers", i, scalar);
    if (i >= e.scalar_count && scalar != 0)
      return bad_input("scalar {}={} is beyond the {} given", i, scalar, e.scalar_count);
  }
  return {};
}

Status validate_epilogue(const Epilogue& e, Direction direction) {
  const Epilogue defaults;
  if (!std::isfinite(e.alpha)) return bad_input("alpha={} is not finite; use a finite factor", e.alpha);
  if (e.residual && !std::isfinite(e.beta)) return bad_input("beta={} is not finite; use a finite factor", e.beta);
  if (e.residual && e.beta == 0) {
    return bad_input("beta=0 would read the residual for nothing; leave the residual out");
  }
  if (!e.residual && e.beta != defaults.beta) {
    return bad_input("beta={} has no residual to multiply; add the residual or leave beta at 1", e.beta);
  }
  WT_TRY(validate_auxiliaries(e));
  if (e.has_saved() && direction == Direction::kBackwardWeight) {
    return bad_input("grad_{} passes a gradient through an activation of pixels; a weight gradient has none",
                     name_of(e.gradient));
  }
  if (e.has_saved() && e.activation != Activation::kNone) {
    return bad_input("{} and grad_{} together are no chain of a network; use one of them", name_of(e.activation),
                     name_of(e.gradient));
  }
  const Activation activation = e.has_saved() ? e.gradient : e.activation;
  const bool leaky = activation == Activation::kLeakyRelu, clamp = activation == Activation::kClamp;
  if (leaky && !std::isfinite(e.slope)) {
    return bad_input("leaky_relu slope {} is not finite; 0.01 is usual", e.slope);
  }
  if (!leaky && e.slope != defaults.slope) {
    return bad_input("slope={} without leaky_relu has no effect; use leaky_relu or leave the slope at 0.01", e.slope);
  }
  if (clamp && !(std::isfinite(e.low) && std::isfinite(e.high))) {
    return bad_input("clamp bounds {}:{} are not finite; use relu for a lower bound of 0, or large finite bounds",
                     e.low, e.high);
  }
  if (clamp && e.low > e.high) {
    return bad_input("clamp lower bound {} is above its upper bound {}; swap them", e.low, e.high);
  }
  if (!clamp && (e.low != defaults.low || e.high != defaults.high)) {
    return bad_input("bounds {}:{} without clamp have no effect; use clamp or leave them at 0:6", e.low, e.high);
  }
  return {};
}

Status validate_bias_gradient(const ConvProblem& p) {
  if (p.bias_gradient > BiasGradient::kOfX) {
    return bad_input("bias_gradient {} does not exist; use none, of y or of x", static_cast<int>(p.bias_gradient));
  }
  if (p.bias_gradient != BiasGradient::kNone && p.direction != Direction::kBackwardWeight) {
    return bad_input("bias_gradient belongs to bwd_weight, which reads dy; {} has none", name_of(p.direction));
  }
  return {};
}

// The next call's windows go on where this one's end, and its history holds x as it is.
Status validate_new_history(const ConvProblem& p) {
  const int time = p.time();
  if (p.direction == Direction::kBackwardWeight) {
    return bad_input("new_history belongs to fwd, and to bwd_data for its gradient; leave it out of bwd_weight");
  }
  if (p.in[time] % p.stride[time] != 0) {
    return bad_input(
        "new_history after {} rows with stride {}: the next call's first window would begin {} rows before its first "
        "row's; use a multiple of the stride, or leave new_history out of the last call",
        p.in[time], p.stride[time], p.stride[time] - p.in[time] % p.stride[time]);
  }
  if (p.direction == Direction::kForward) return {};
  const Epilogue& e = p.epilogue;
  if (e.scale || e.bias || e.activation != Activation::kNone || e.has_saved() || e.has_text() || e.amax) {
    return bad_input(
        "new_history of bwd_data adds the gradient of the new history to dx once it is stored; of the epilogue only "
        "alpha, residual and add can go before that");
  }
  return {};
}

// y[t] depends on x[t - reach] .. x[t], and reach rows of history stand before x[0].
Status validate_history(const ConvProblem& p) {
  if (!p.history) {
    if (p.new_history) return bad_input("new_history continues a history; add history, filled with zeros at the start");
    return {};
  }
  const int time = p.time();
  if (p.history_length() == 0) {
    return bad_input("a filter of size 1 along {} reaches no history; leave history out", kDimNames[time]);
  }
  if (p.pad_lower[time] != p.history_length() || p.pad_upper[time] != 0) {
    return bad_input("history stands in the place of causal padding, {}:0 along {} here, not {}:{}; use pcausal",
                     p.history_length(), kDimNames[time], p.pad_lower[time], p.pad_upper[time]);
  }
  Spatial joined = p.in;
  joined[time] += p.history_length();  // fits: it is the padded input
  if (!checked_product({p.n, p.c, joined[0], joined[1], joined[2], size_of(p.x)})) {
    return bad_input("the bytes of history and x do not fit in 64 bits; use a smaller batch or filter");
  }
  if (p.bias_gradient == BiasGradient::kOfX) {
    return bad_input("bias_gradient=x with a history: its pixels are no gradients of a transposed convolution");
  }
  return p.new_history ? validate_new_history(p) : Status{};
}

}  // namespace

Status validate(const ConvProblem& problem) {
  WT_TRY(validate_choices(problem));
  WT_TRY(validate_types(problem));
  WT_TRY(validate_counts(problem));
  WT_TRY(validate_blocks(problem));
  const int first = kMaxDims - problem.dims;
  for (int i = 0; i < first; ++i) WT_TRY(validate_unused(problem, i));
  for (int i = first; i < kMaxDims; ++i) WT_TRY(validate_dimension(problem, i));
  WT_TRY(validate_sizes(problem));
  WT_TRY(validate_bias_gradient(problem));
  WT_TRY(validate_history(problem));
  WT_TRY(validate_int8(problem));
  return validate_epilogue(problem.epilogue, problem.direction);
}

}  // namespace wt
