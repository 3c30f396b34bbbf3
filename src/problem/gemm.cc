// SPDX-License-Identifier: Apache-2.0
#include "problem/gemm.h"

#include <algorithm>
#include <iterator>

namespace wt {
namespace {

constexpr const char* kFormNames[] = {"nt", "nn", "tn"};

bool is_stacked(const GemmProblem& gemm) { return gemm.batch > 1 && !gemm.interleaved; }

// The table of gemm.h.
struct Row {
  GemmForm form;
  bool stacked;
  Direction direction;
  GemmRoles roles;
};
using enum ConvTensor;
constexpr Row kRows[] = {
    {GemmForm::kNt, false, Direction::kForward, {kX, kW, kY}},
    {GemmForm::kNn, false, Direction::kBackwardData, {kY, kW, kX}},
    {GemmForm::kTn, false, Direction::kBackwardWeight, {kY, kX, kW}},
    {GemmForm::kNt, true, Direction::kBackwardWeight, {kY, kX, kW}},
    {GemmForm::kNn, true, Direction::kForward, {kW, kX, kY}},
    {GemmForm::kTn, true, Direction::kBackwardData, {kW, kY, kX}},
};

const Row& row_of(const GemmProblem& gemm) {
  return *std::ranges::find_if(
      kRows, [&](const Row& row) { return row.form == gemm.form && row.stacked == is_stacked(gemm); });
}

// Scale and bias run over channels, which are columns of D where D is y or dx of a channels-last convolution.
bool has_channels_as_columns(const GemmProblem& gemm) { return !is_stacked(gemm) && gemm.form != GemmForm::kTn; }

// The extents of the convolution in those of the product: pixels, and the channels of a group of x and of y.
struct Extents {
  int64_t *pixels, *c, *k;
};
Extents extents_of(GemmProblem& gemm) {
  const bool stacked = is_stacked(gemm);
  if (!stacked) {
    if (gemm.form == GemmForm::kNt) return {&gemm.m, &gemm.k, &gemm.n};
    if (gemm.form == GemmForm::kNn) return {&gemm.m, &gemm.n, &gemm.k};
    return {&gemm.k, &gemm.n, &gemm.m};
  }
  if (gemm.form == GemmForm::kNt) return {&gemm.k, &gemm.n, &gemm.m};
  if (gemm.form == GemmForm::kNn) return {&gemm.n, &gemm.k, &gemm.m};
  return {&gemm.n, &gemm.m, &gemm.k};
}

template <class Problem>
auto& type_of(Problem& problem, ConvTensor tensor) {
  return tensor == kX ? problem.x : tensor == kW ? problem.w : problem.y;
}

Status check(const GemmProblem& gemm) {
  if (gemm.form > kLastGemmForm)
    return bad_input("form {} of a gemm does not exist; use nt, nn or tn", static_cast<int>(gemm.form));
  for (const auto& [letter, value] : {std::pair{'m', gemm.m}, {'n', gemm.n}, {'k', gemm.k}, {'b', gemm.batch}}) {
    if (value < 1) return bad_input("{}={} of a gemm must be at least 1", letter, value);
  }
  if ((gemm.epilogue.scale || gemm.epilogue.bias) && !has_channels_as_columns(gemm)) {
    return bad_input(
        "scale and bias run over the columns of D, which form {}{} has no kernel for; use nt or nn, and batches "
        "interleaved, or add a tensor of D's shape",
        name_of(gemm.form), is_stacked(gemm) ? " with stacked batches" : "");
  }
  return {};
}

}  // namespace

const char* name_of(GemmForm form) { return form <= kLastGemmForm ? kFormNames[static_cast<size_t>(form)] : "?"; }

std::optional<GemmForm> gemm_form_from(std::string_view name) {
  for (size_t i = 0; i < std::size(kFormNames); ++i)
    if (name == kFormNames[i]) return static_cast<GemmForm>(i);
  return std::nullopt;
}

GemmRoles roles_of(const GemmProblem& gemm) { return row_of(gemm).roles; }

Result<ConvProblem> to_convolution(const GemmProblem& gemm) {
  WT_TRY(check(gemm));
  GemmProblem own = gemm;
  const Extents extents = extents_of(own);
  const Row& row = row_of(gemm);
  ConvProblem p;
  p.direction = row.direction;
  p.dims = 1;
  p.layout = row.stacked ? Layout::kChannelsFirst : Layout::kChannelsLast;
  type_of(p, row.roles.a) = gemm.a;
  type_of(p, row.roles.b) = gemm.b;
  type_of(p, row.roles.d) = gemm.d;
  p.acc = gemm.acc;
  p.g = gemm.batch;
  p.in[2] = *extents.pixels;
  if (__builtin_mul_overflow(*extents.c, gemm.batch, &p.c) || __builtin_mul_overflow(*extents.k, gemm.batch, &p.k)) {
    return bad_input("a gemm with m={}, n={}, k={} and b={} has more than 2^63 - 1 elements; use smaller sizes", gemm.m,
                     gemm.n, gemm.k, gemm.batch);
  }
  p.epilogue = gemm.epilogue;
  WT_TRY(validate(p));
  return p;
}

std::optional<GemmProblem> to_gemm(const ConvProblem& p) {
  constexpr Spatial kOnes = {1, 1, 1}, kZeros = {0, 0, 0};
  if (p.dims != 1 || p.n != 1 || p.filter != kOnes || p.stride != kOnes || p.dilation != kOnes ||
      p.pad_lower != kZeros || p.pad_upper != kZeros)
    return std::nullopt;
  if (p.x_zero != 0 || p.y_zero != 0) return std::nullopt;
  if (p.history || p.new_history || p.has_scales() || p.bias_gradient != BiasGradient::kNone) return std::nullopt;
  const bool stacked = p.layout == Layout::kChannelsFirst;
  if (stacked && p.g == 1) return std::nullopt;  // one product lies in channels-last tensors
  const Row& row = *std::ranges::find_if(
      kRows, [&](const Row& each) { return each.direction == p.direction && each.stacked == stacked; });
  GemmProblem gemm;
  gemm.form = row.form;
  gemm.a = type_of(p, row.roles.a);
  gemm.b = type_of(p, row.roles.b);
  gemm.d = type_of(p, row.roles.d);
  gemm.acc = p.acc;
  gemm.batch = p.g;
  gemm.interleaved = p.g > 1 && !stacked;
  const Extents extents = extents_of(gemm);
  *extents.pixels = p.in[2], *extents.c = p.c_per_group(), *extents.k = p.k_per_group();
  gemm.epilogue = p.epilogue;
  if (!check(gemm).ok()) return std::nullopt;
  return gemm;
}

}  // namespace wt
