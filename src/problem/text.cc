// SPDX-License-Identifier: Apache-2.0
// problem/text.cc - a problem to text and back; the grammar is in docs/problem-text.md.
#include <algorithm>

#include "problem/gemm.h"
#include "problem/problem.h"
#include "problem/text_parser.h"

namespace wt {
namespace {

// The sizes of the used dimensions, "3x3"; one alone where it speaks for all.
std::string sizes_text(const Spatial& lower, const Spatial& upper, int dims, bool shorten, bool ranges) {
  const auto one = [&](int i) {
    return ranges || lower[i] != upper[i] ? fmt::format("{}:{}", lower[i], upper[i]) : fmt::format("{}", lower[i]);
  };
  const int first = kMaxDims - dims;
  std::string text = one(first);
  bool same = true;
  for (int i = first + 1; i < kMaxDims; ++i) {
    same = same && lower[i] == lower[first] && upper[i] == upper[first];
    text += 'x' + one(i);
  }
  return shorten && same ? one(first) : text;
}

bool all_are(const Spatial& values, int64_t value) {
  return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == value; });
}

std::string types_text(DataType first, DataType second, DataType output, bool complete) {
  std::string text = name_of(first);
  if (complete || first != second) text += std::string("*") + name_of(second);
  const DataType implied = first == DataType::kTf32 ? DataType::kF32 : first;
  if (complete || first != second || output != implied) text += std::string(">") + name_of(output);
  return text;
}

std::string types_text(const ConvProblem& problem, bool complete) {
  return types_text(problem.first_type(), problem.second_type(), problem.output_type(), complete);
}

std::string numbers_text(std::span<const float> numbers, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("{}{}", i > 0 ? ":" : "", numbers[static_cast<size_t>(i)]);
  return text;
}

// fp32 leaves no word, so that older keys keep their meaning.
std::string channel_type_text(DataType type) {
  return type == DataType::kF32 ? std::string() : std::string("=") + name_of(type);
}

std::string epilogue_text(const Epilogue& epilogue, bool complete) {
  std::string text;
  if (complete || epilogue.alpha != 1) text += fmt::format("+alpha={}", epilogue.alpha);
  if (epilogue.scale) text += "+scale" + channel_type_text(epilogue.scale_type);
  if (epilogue.bias) text += "+bias" + channel_type_text(epilogue.bias_type);
  if (epilogue.residual)
    text += complete || epilogue.beta != 1 ? fmt::format("+residual={}", epilogue.beta) : "+residual";
  if (epilogue.added > 0) text += "+add=" + numbers_text(epilogue.betas, epilogue.added);
  const Activation activation = epilogue.has_saved() ? epilogue.gradient : epilogue.activation;
  if (activation != Activation::kNone)
    text += (epilogue.has_saved() ? "+grad_" : "+") + std::string(name_of(activation));
  const Epilogue defaults;
  if (activation == Activation::kLeakyRelu && (complete || epilogue.slope != defaults.slope)) {
    text += fmt::format("={}", epilogue.slope);
  }
  if (activation == Activation::kClamp &&
      (complete || epilogue.low != defaults.low || epilogue.high != defaults.high)) {
    text += fmt::format("={}:{}", epilogue.low, epilogue.high);
  }
  if (epilogue.inputs > 0) text += fmt::format("+aux={}", epilogue.inputs);
  if (epilogue.outputs > 0) text += fmt::format("+out={}", epilogue.outputs);
  if (epilogue.scalar_count > 0) text += "+scalars=" + numbers_text(epilogue.scalars, epilogue.scalar_count);
  if (!epilogue.expression.empty()) text += "+f=" + quoted_text(epilogue.expression);
  if (epilogue.amax) text += "+amax";
  if (!epilogue.store.empty()) text += "+store=" + quoted_text(epilogue.store);
  return text;
}

std::string gemm_text(const GemmProblem& gemm) {
  std::string text =
      fmt::format("gemm {} m{} n{} k{}", types_text(gemm.a, gemm.b, gemm.d, false), gemm.m, gemm.n, gemm.k);
  if (gemm.batch != 1) text += fmt::format(" b{}", gemm.batch);
  if (gemm.form != GemmForm::kNt) text += std::string(" ") + name_of(gemm.form);
  if (gemm.interleaved) text += " interleaved";
  if (const std::string steps = epilogue_text(gemm.epilogue, false); !steps.empty()) text += " " + steps;
  return text;
}

// What is not there leaves no word, so that older keys keep their meaning.
std::string extra_text(const ConvProblem& problem) {
  std::string text;
  if (problem.history) text += " history";
  if (problem.new_history) text += " new_history";
  if (problem.x_zero != 0) text += fmt::format(" x_zero={}", problem.x_zero);
  if (problem.y_zero != 0) text += fmt::format(" y_zero={}", problem.y_zero);
  if (problem.bias_gradient != BiasGradient::kNone) text += " bias_gradient";
  if (problem.bias_gradient == BiasGradient::kOfX) text += "=x";
  if (problem.has_scales()) text += fmt::format(" scales={}", name_of(problem.scales));
  return text;
}

}  // namespace

Result<ConvProblem> parse_problem(std::string_view text) {
  WT_TRY_ASSIGN(const ConvProblem problem, TextParser(text).parse());
  WT_TRY(validate(problem));
  return problem;
}

std::string to_text(const ConvProblem& p) {
  if (const std::optional<GemmProblem> gemm = to_gemm(p)) return gemm_text(*gemm);
  std::string text = fmt::format("{} {} n{} c{} k{}", name_of(p.direction), types_text(p, false), p.n, p.c, p.k);
  if (p.g != 1) text += fmt::format(" g{}", p.g);
  text += " i" + sizes_text(p.in, p.in, p.dims, false, false);
  text += " f" + sizes_text(p.filter, p.filter, p.dims, false, false);
  if (!all_are(p.stride, 1)) text += " s" + sizes_text(p.stride, p.stride, p.dims, true, false);
  if (!all_are(p.pad_lower, 0) || !all_are(p.pad_upper, 0)) {
    text += " p" + sizes_text(p.pad_lower, p.pad_upper, p.dims, true, false);
  }
  if (!all_are(p.dilation, 1)) text += " d" + sizes_text(p.dilation, p.dilation, p.dims, true, false);
  if (p.layout != Layout::kChannelsLast) text += std::string(" ") + layout_name(p.layout, p.dims);
  text += extra_text(p);
  if (const std::string steps = epilogue_text(p.epilogue, false); !steps.empty()) text += " " + steps;
  return text;
}

std::string canonical_text(const ConvProblem& p) {
  return fmt::format(
      "v{} {} {} acc={} {} n{} c{} k{} g{} i{} f{} s{} p{} d{}{} {}", kTextVersion, name_of(p.direction),
      types_text(p, true), name_of(p.acc), layout_name(p.layout, p.dims), p.n, p.c, p.k, p.g,
      sizes_text(p.in, p.in, p.dims, false, false), sizes_text(p.filter, p.filter, p.dims, false, false),
      sizes_text(p.stride, p.stride, p.dims, false, false), sizes_text(p.pad_lower, p.pad_upper, p.dims, false, true),
      sizes_text(p.dilation, p.dilation, p.dims, false, false), extra_text(p), epilogue_text(p.epilogue, true));
}

}  // namespace wt
