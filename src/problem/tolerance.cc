// SPDX-License-Identifier: Apache-2.0
#include "problem/tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "problem/number.h"

namespace wt {
namespace {

constexpr double kUnit = 0x1p-24;  // rounding of one fp32 operation, relative

struct MatrixUnit {
  double terms = 1;       // of one instruction
  double unit = kUnit;    // error of its accumulation, relative to the partial sum
  double input_unit = 0;  // rounding of one input
};

MatrixUnit matrix_unit(DataType input) {
  switch (input) {
    case DataType::kF32:
      return {1, kUnit, 0};
    case DataType::kTf32:
      return {8, kUnit, 0x1p-10};  // truncated inputs; rounded ones are twice as good
    case DataType::kF16:
    case DataType::kBf16:
      return {16, kUnit, 0};
    case DataType::kE4m3:
    case DataType::kE5m2:
      return {32, 0x1p-13, 0};  // Hopper's fp8 sums keep about 13 bits of fraction
  }
  return {};
}

// How much the activation multiplies an error, and what its own arithmetic adds.
double slope_of(const Epilogue& e) {
  switch (e.activation) {
    case Activation::kLeakyRelu:
      return std::max(1.0, std::fabs(static_cast<double>(e.slope)));
    case Activation::kSilu:
      return 1.1;
    case Activation::kGelu:
      return 1.13;
    case Activation::kSigmoid:
      return 0.25;
    default:
      return 1;
  }
}

// exp and erf on devices are good to a few units, and exp loses more as its argument grows.
double own_error(const Epilogue& e, const ReferenceElement& element) {
  const double before = std::fabs(element.before), value = std::fabs(element.value);
  switch (e.activation) {
    case Activation::kLeakyRelu:
      return kUnit * value;
    case Activation::kSilu:
    case Activation::kSigmoid:
      // Where exp(-v) is beyond fp32, the result is zero instead of v over it.
      return (1 + before) * (0x1p-21 * value + std::numeric_limits<float>::min());
    case Activation::kGelu:
      return 0x1p-21 * (value + before);
    case Activation::kTanh:
      return 0x1p-21 * (value + std::min(1.0, before));
    default:
      return 0;
  }
}

// What passes, and the derivative's own error: a few units of numbers up to one, whose exp loses more as v grows.
double gradient_bound(const Epilogue& e, const ReferenceElement& element, double before) {
  const double saved = element.inputs.aux[static_cast<size_t>(e.added)];
  const double passed = std::fabs(activation_derivative(e, saved)) * before;
  switch (e.gradient) {
    case Activation::kRelu:
    case Activation::kClamp:
      return passed;
    case Activation::kLeakyRelu:
      return passed + kUnit * std::fabs(element.activated);
    default:
      return passed + 0x1p-20 * (1 + std::fabs(saved)) * (std::fabs(element.before) + before);
  }
}

// The user's f at both ends of what its argument may be, and some units for arithmetic that we know nothing of.
double expression_bound(const Epilogue& e, const ReferenceElement& element, double argument) {
  const EpilogueInputs& in = element.inputs;
  const auto at = [&](double v) {
    return static_cast<double>(apply_expression(e, *in.code, static_cast<float>(v), in.at, in.aux));
  };
  const double reach = argument + kUnit * std::fabs(element.activated);
  double largest = std::fabs(element.activated) + std::fabs(element.value);
  for (const float number : in.aux) largest += std::fabs(static_cast<double>(number));
  for (const float number : e.scalars) largest += std::fabs(static_cast<double>(number));
  const double moved = std::max(std::fabs(at(element.activated - reach) - element.value),
                                std::fabs(at(element.activated + reach) - element.value));
  return moved + 0x1p-20 * largest;
}

}  // namespace

double sum_bound(const ConvProblem& problem, const ReferenceElement& element, const ErrorModel& model) {
  if (model.exact) return 0;
  const MatrixUnit matrix = matrix_unit(problem.first_type());
  const double splits = std::max(1, model.splits);
  const double terms = std::max(1.0, static_cast<double>(element.terms) / splits);
  const double steps = std::ceil(terms / matrix.terms);
  const double spread = std::sqrt(element.square_sum);
  const double partial = std::fabs(element.dot) + 2 * spread;
  double relative = kUnit * (4 * std::sqrt(terms) + splits);
  if (matrix.terms > 1) relative += matrix.unit * (steps + 4 * std::sqrt(steps));
  const double inputs = matrix.input_unit * (2 * std::fabs(element.dot) + 4 * spread);
  // Products below fp32's normal numbers may be flushed to zero.
  const double flushed = static_cast<double>(element.terms) * std::numeric_limits<float>::min();
  return relative * partial + inputs + flushed;
}

double error_bound(const ConvProblem& problem, const ReferenceElement& element, const ErrorModel& model) {
  if (model.exact && epilogue_is_exact(problem)) return 0;
  const Epilogue& e = problem.epilogue;
  const bool steps = e.alpha != 1 || e.scale || e.bias || e.residual || e.added > 0;
  const double sum = sum_bound(problem, element, model) * element.gain;
  const double before = sum + (steps ? (6 + 2 * e.added) * kUnit * element.magnitude : 0);
  const double activated =
      e.has_saved() ? gradient_bound(e, element, before) : slope_of(e) * before + own_error(e, element);
  return e.expression.empty() ? activated : expression_bound(e, element, activated);
}

double channel_sum_bound(double total, double square_sum, int64_t terms, const ErrorModel& model) {
  if (model.exact) return 0;
  const double steps = std::sqrt(std::max(1.0, static_cast<double>(terms)));
  return kUnit * 4 * steps * (std::fabs(total) + 2 * std::sqrt(square_sum));
}

bool within(DataType type, double expected, double bound, float got) {
  return got >= round_to(type, expected - bound) && got <= round_to(type, expected + bound);
}

double share_of_bound(DataType type, double expected, double bound, float got) {
  if (got == round_to(type, expected)) return 0;
  const double farthest = round_to(type, got > expected ? expected + bound : expected - bound);
  const double share = std::fabs(got - expected) / std::fabs(farthest - expected);
  if (std::isfinite(share) && std::isfinite(farthest)) return share;
  return within(type, expected, bound, got) ? 1 : std::numeric_limits<double>::infinity();
}

}  // namespace wt
