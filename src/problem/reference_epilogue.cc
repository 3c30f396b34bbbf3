// SPDX-License-Identifier: Apache-2.0
// problem/reference_epilogue.cc - the steps after the sum, in double: activations, their derivatives, the user's f.
// Those of int8 are in fp32, step by step.
#include <cmath>

#include "problem/reference.h"

namespace wt {
namespace {

// Beyond it every exponential in double is zero or one, so what is held there has its limit, for infinities too.
// NaN passes.
constexpr double kFar = 1e4;
double held(double v) { return v < -kFar ? -kFar : v > kFar ? kFar : v; }
double held_below(double v) { return v < -kFar ? -kFar : v; }

double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }
double softplus(double v) { return v > 0 ? v + std::log1p(std::exp(-v)) : std::log1p(std::exp(v)); }
double hardsigmoid(double v) { return v <= -3 ? 0 : v >= 3 ? 1 : (v + 3) / 6; }

// sqrt(2/pi) (v + 0.044715 v^3), the argument of tanh in gelu_tanh, and its derivative.
const double kGelu = std::sqrt(2 / M_PI);
double gelu_argument(double v) { return kGelu * (v + 0.044715 * v * v * v); }
double gelu_argument_slope(double v) { return kGelu * (1 + 3 * 0.044715 * v * v); }

}  // namespace

double activate(const Epilogue& epilogue, double v) {
  switch (epilogue.activation) {
    case Activation::kNone:
      return v;
    case Activation::kRelu:
      return v < 0 ? 0 : v;
    case Activation::kLeakyRelu:
      return v < 0 ? v * static_cast<double>(epilogue.slope) : v;
    case Activation::kClamp:
      return v < static_cast<double>(epilogue.low)    ? static_cast<double>(epilogue.low)
             : v > static_cast<double>(epilogue.high) ? static_cast<double>(epilogue.high)
                                                      : v;
    case Activation::kSilu:
      return held_below(v) * sigmoid(v);
    case Activation::kGelu:
      return held_below(v) / 2 * std::erfc(-v / std::sqrt(2.0));
    case Activation::kSigmoid:
      return sigmoid(v);
    case Activation::kTanh:
      return std::tanh(v);
    case Activation::kHardswish:
      return held_below(v) * hardsigmoid(v);
    case Activation::kHardsigmoid:
      return hardsigmoid(v);
    case Activation::kElu:
      return v > 0 ? v : std::expm1(v);
    case Activation::kSoftplus:
      return softplus(v);
    case Activation::kMish:
      return held_below(v) * std::tanh(softplus(v));
    case Activation::kGeluTanh:  // (1 + tanh(u)) / 2 without the difference
      return held_below(v) * sigmoid(2 * gelu_argument(v));
  }
  return v;
}

double activation_derivative(const Epilogue& epilogue, double at) {
  const double v = held(at), s = sigmoid(v);
  switch (epilogue.gradient) {
    case Activation::kNone:
      return 1;
    case Activation::kRelu:
      return v > 0 ? 1 : 0;
    case Activation::kLeakyRelu:
      return v > 0 ? 1 : static_cast<double>(epilogue.slope);
    case Activation::kClamp:
      return at > static_cast<double>(epilogue.low) && at < static_cast<double>(epilogue.high) ? 1 : 0;
    case Activation::kSilu:
      return s + v * s * (1 - s);
    case Activation::kGelu:
      return (1 + std::erf(v / std::sqrt(2.0))) / 2 + v * std::exp(-v * v / 2) / std::sqrt(2 * M_PI);
    case Activation::kSigmoid:
      return s * (1 - s);
    case Activation::kTanh:
      return 1 - std::tanh(v) * std::tanh(v);
    case Activation::kHardswish:
      return v > -3 ? (v < 3 ? v / 3 + 0.5 : 1) : 0;
    case Activation::kHardsigmoid:
      return v > -3 && v < 3 ? 1.0 / 6 : 0;
    case Activation::kElu:
      return v > 0 ? 1 : std::exp(v);
    case Activation::kSoftplus:
      return s;
    case Activation::kMish: {
      const double t = std::tanh(softplus(v));
      return t + v * (1 - t * t) * s;
    }
    case Activation::kGeluTanh: {
      const double t = std::tanh(gelu_argument(v));
      return (1 + t) / 2 + v / 2 * (1 - t * t) * gelu_argument_slope(v);
    }
  }
  return 1;
}

namespace {

float as_float(double value) { return static_cast<float>(value); }

// int8 has its steps in fp32, each rounded, so that the result is the same to the bit wherever it is computed. Products
// and sums of two floats in double round to float as if at once: a double has more than twice a float's bits.
ReferenceElement finish_int8(const ConvProblem& problem, const ReferenceElement& sums, const EpilogueInputs& inputs) {
  const Epilogue& e = problem.epilogue;
  const auto product = [](double a, double b) { return as_float(a * b); };
  ReferenceElement element = sums;
  element.inputs = inputs;
  float value = product(e.alpha, as_float(sums.dot));
  if (e.scale) value = product(value, inputs.scale);
  if (e.bias) value = as_float(static_cast<double>(value) + inputs.bias);
  if (e.residual) value = std::fma(e.beta, inputs.residual, value);
  for (size_t i = 0; i < static_cast<size_t>(e.added); ++i) value = std::fma(e.betas[i], inputs.aux[i], value);
  element.gain = 0;  // the sum has no error
  element.before = value;
  element.magnitude = std::fabs(element.before);
  element.activated = as_float(activate(e, element.before));
  element.value = problem.y == DataType::kI8 ? std::nearbyint(element.activated) + problem.y_zero : element.activated;
  return element;
}

}  // namespace

ReferenceElement finish_element(const ConvProblem& problem, const ReferenceElement& sums,
                                const EpilogueInputs& inputs) {
  if (problem.first_type() == DataType::kI8) return finish_int8(problem, sums, inputs);
  const Epilogue& epilogue = problem.epilogue;
  ReferenceElement element = sums;
  element.inputs = inputs;
  const double factor = static_cast<double>(epilogue.alpha) * (epilogue.scale ? inputs.scale : 1.0f);
  element.gain = std::fabs(factor);
  element.before = factor * element.dot;
  element.magnitude = std::fabs(element.before);
  const auto add = [&](double term) {
    element.before += term;
    element.magnitude += std::fabs(term);
  };
  if (epilogue.bias) add(inputs.bias);
  if (epilogue.residual) add(static_cast<double>(epilogue.beta) * inputs.residual);
  for (size_t i = 0; i < static_cast<size_t>(epilogue.added); ++i)
    add(static_cast<double>(epilogue.betas[i]) * inputs.aux[i]);
  element.activated = activate(epilogue, element.before);
  if (epilogue.has_saved()) {
    const double passes = activation_derivative(epilogue, inputs.aux[static_cast<size_t>(epilogue.added)]);
    element.activated = passes == 0 ? 0 : element.before * passes;
  }
  element.value = element.activated;
  if (!epilogue.expression.empty()) {
    element.value =
        apply_expression(epilogue, *inputs.code, static_cast<float>(element.activated), inputs.at, inputs.aux);
  }
  return element;
}

}  // namespace wt
