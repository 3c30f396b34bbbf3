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
  double lost = 1;        // what an instruction's truncation takes, in units of the last partial sum
  double unit = kUnit;    // error of its accumulation, relative to the partial sum
  double input_unit = 0;  // rounding of one input
};

MatrixUnit matrix_unit(DataType input) {
  switch (input) {
    case DataType::kF32:
      // Three products of tf32 parts over 8 terms, each sum truncated. WHY 0.4: a truncation takes 0.72 units of the
      // partial sum in the mean, and the partial sums of positive numbers are half the last one in the mean, of signed
      // ones less. A bound of 1 would let through what was computed as tf32.
      return {8.0 / 3, 0.4, kUnit, 0};
    case DataType::kTf32:
      return {8, 1, kUnit, 0x1p-10};  // truncated inputs; rounded ones are twice as good
    case DataType::kF16:
    case DataType::kBf16:
      return {16, 1, kUnit, 0};
    case DataType::kE4m3:
    case DataType::kE5m2:
      return {32, 1, 0x1p-13, 0};  // Hopper's fp8 sums keep about 13 bits of fraction
    case DataType::kE2m1:
      return {64, 1, 0x1p-13, 0};  // as fp8, of which nothing else is known
    case DataType::kI8:
      return {1, 0, 0, 0};  // int32 sums are exact
  }
  return {};
}

// Beyond it activations have their limits, at infinities and NaN too.
constexpr double kFar = 128;

// How much the activation multiplies an error.
double slope_of(const Epilogue& e) {
  const double slope = facts_of(e.activation).slope;
  return e.activation == Activation::kLeakyRelu ? std::max(slope, std::fabs(static_cast<double>(e.slope))) : slope;
}

// What its own arithmetic adds; where an exponential is beyond fp32, a result below the argument times fp32's least
// normal number is zero.
double own_error(const Epilogue& e, const ReferenceElement& element) {
  const ActivationFacts& facts = facts_of(e.activation);
  const double before = std::fmin(std::fabs(element.before), kFar), value = std::fabs(element.value);
  if (facts.error == 0) return 0;
  const double flushed = facts.special > 0 ? (1 + before) * std::numeric_limits<float>::min() : 0;
  const double growth = element.before < 0 ? std::pow(before, facts.growth) : 0;
  return facts.error * (1 + growth) * value + flushed;
}

// What passes, and the derivative's own error: two roundings where it is constant, else a few units of numbers up to
// one, whose exp loses more as v grows.
double gradient_bound(const Epilogue& e, const ReferenceElement& element, double before) {
  const ActivationFacts& facts = facts_of(e.gradient);
  const double saved = element.inputs.aux[static_cast<size_t>(e.added)];
  const double passed = std::fabs(activation_derivative(e, saved)) * before;
  if (facts.error == 0) return passed;
  if (facts.derivative == Derivative::kConstant) return passed + 2 * kUnit * std::fabs(element.activated);
  return passed + 0x1p-20 * (1 + std::fmin(std::fabs(saved), kFar)) * (std::fabs(element.before) + before);
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

// Every step is the same to the bit but an activation that is an approximation. Rounded to int8, its error moves the
// result to a neighbour or not at all.
double int8_bound(const ConvProblem& problem, const ReferenceElement& element) {
  const Epilogue& e = problem.epilogue;
  if (facts_of(e.activation).error == 0 || e.activation == Activation::kLeakyRelu) return 0;
  ReferenceElement real = element;
  real.value = element.activated;
  const double error = own_error(e, real) + kUnit * std::fabs(element.activated);
  if (problem.y != DataType::kI8) return error;
  const double low = std::nearbyint(element.activated - error), high = std::nearbyint(element.activated + error);
  return std::max(std::nearbyint(element.activated) - low, high - std::nearbyint(element.activated));
}

}  // namespace

double sum_bound(const ConvProblem& problem, const ReferenceElement& element, const ErrorModel& model) {
  if (model.exact || problem.first_type() == DataType::kI8) return 0;
  const MatrixUnit matrix = matrix_unit(problem.first_type());
  const double splits = std::max(1, model.splits);
  const double terms = std::max(1.0, static_cast<double>(element.terms) / splits);
  const double steps = std::ceil(terms / matrix.terms);
  const double spread = std::sqrt(element.square_sum);
  const double partial = std::fabs(element.dot) + 2 * spread;
  const double relative =
      kUnit * (4 * std::sqrt(terms) + splits) + matrix.unit * (matrix.lost * steps + 4 * std::sqrt(steps));
  const double inputs = matrix.input_unit * (2 * std::fabs(element.dot) + 4 * spread);
  // Products below fp32's normal numbers may be flushed to zero.
  const double flushed = static_cast<double>(element.terms) * std::numeric_limits<float>::min();
  return relative * partial + inputs + flushed;
}

namespace {

double epilogue_bound(const ConvProblem& problem, const ReferenceElement& element, const ErrorModel& model) {
  const Epilogue& e = problem.epilogue;
  const bool steps = e.alpha != 1 || e.scale || e.bias || e.residual || e.added > 0;
  const double sum = sum_bound(problem, element, model) * element.gain;
  const double before = sum + (steps ? (6 + 2 * e.added) * kUnit * element.magnitude : 0);
  const double activated =
      e.has_saved() ? gradient_bound(e, element, before) : slope_of(e) * before + own_error(e, element);
  return e.expression.empty() ? activated : expression_bound(e, element, activated);
}

}  // namespace

double error_bound(const ConvProblem& problem, const ReferenceElement& element, const ErrorModel& model) {
  if (problem.first_type() == DataType::kI8) return int8_bound(problem, element);
  if (model.exact && epilogue_is_exact(problem)) return 0;
  const double bound = epilogue_bound(problem, element, model);
  if (!problem.reads_new_history()) return bound;
  // What was stored before the gradient of the new history was added may be another neighbour of its value; the sum of
  // both is rounded in fp32 too.
  const DataType type = problem.output_type();
  const double low = round_to(type, element.stored - bound), high = round_to(type, element.stored + bound);
  return std::max(bound, high - low) + kUnit * std::fabs(element.value);
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
