// SPDX-License-Identifier: Apache-2.0
// tests/runtime/activation_math_test.cc - the arithmetic of kernels, on instructions that are as inexact as a GPU's may
// be, against the reference in double: every activation and its gradient over the whole range of fp32.
#define WT_SIM 1
#define WT_SIM_TARGET 0

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/device/activation.h"
#include "kernels/device/math.h"
#include "problem/tolerance.h"

namespace wt {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

// The same sampled values for every activation: all exponents and both signs, then what is special to some.
template <class Visit>
void for_numbers(const Visit& visit) {
  for (u32 bits = 0; bits < 0x7f800000u; bits += 16411) {
    visit(number::float_of(bits));
    visit(number::float_of(bits | 0x80000000u));
  }
  for (const float v : {3.0f, 1.5f, 0.6f, 0.5f, 12.0f, 20.0f, 88.0f, 104.0f, 128.0f, 3e38f, kInf}) {
    visit(v);
    visit(-v);
  }
  visit(kNan);
}

std::string fault(const ConvProblem& problem, const ReferenceElement& right, float got) {
  if (std::isnan(right.value)) return std::isnan(got) ? "" : "a NaN got lost";
  if (std::isinf(right.value)) return static_cast<double>(got) == right.value ? "" : "an infinity got lost";
  const double bound = error_bound(problem, right, {.exact = true});
  return within(DataType::kF32, right.value, bound, got) ? "" : "beyond the bound";
}

struct Worst {
  std::string fault;
  float at = 0, got = 0;
  double right = 0;
  int count = 0;
};

template <Activation kActivation>
void expect_values() {
  ConvProblem problem;
  problem.epilogue = {.activation = kActivation, .slope = 0.3f, .low = -0.7f, .high = 0.9f};
  Worst worst;
  for_numbers([&](float v) {
    const ReferenceElement right = finish_element(problem, {.dot = static_cast<double>(v)}, {});
    const float got = activation_value<kActivation, DeviceMath>(v, problem.epilogue);
    const std::string what = fault(problem, right, got);
    if (!what.empty() && worst.count++ == 0) worst = {what, v, got, right.value, 1};
  });
  EXPECT_EQ(worst.count, 0) << name_of(kActivation) << "(" << worst.at << ") = " << worst.right << ", got " << worst.got
                            << ": " << worst.fault;
}

template <Activation kActivation>
void expect_gradients() {
  ConvProblem problem;
  problem.direction = Direction::kBackwardData;
  problem.epilogue = {.gradient = kActivation, .slope = 0.3f, .low = -0.7f, .high = 0.9f};
  Worst worst;
  for_numbers([&](float saved) {
    constexpr float kPasses = 1.375f;
    EpilogueInputs inputs;
    inputs.aux[0] = saved;
    const ReferenceElement right = finish_element(problem, {.dot = static_cast<double>(kPasses)}, inputs);
    const float got = activation_gradient<kActivation, DeviceMath>(kPasses, saved, problem.epilogue);
    // At an infinity the bound, which grows with the saved number, would allow anything.
    const bool limit = std::isinf(saved) && std::isfinite(right.value);
    const std::string what = !limit                                                     ? fault(problem, right, got)
                             : std::fabs(static_cast<double>(got) - right.value) < 1e-6 ? ""
                                                                                        : "not the limit";
    if (!what.empty() && worst.count++ == 0) worst = {what, saved, got, right.value, 1};
  });
  EXPECT_EQ(worst.count, 0) << "grad_" << name_of(kActivation) << "(" << worst.at << ") = " << worst.right << ", got "
                            << worst.got << ": " << worst.fault;
}

template <size_t... kIndex>
void expect_all(std::index_sequence<kIndex...>) {
  (expect_values<static_cast<Activation>(kIndex)>(), ...);
  (expect_gradients<static_cast<Activation>(kIndex)>(), ...);
}

TEST(ActivationMath, KeepsItsBoundsOverAllNumbers) { expect_all(std::make_index_sequence<kActivationCount>()); }

// What docs/user-epilogue.md promises of exp, over results from subnormal ones to the largest.
TEST(ActivationMath, ExponentialOfUserTexts) {
  for (float x = -103; x < 88.7f; x += 0.0137f) {
    const double right = std::exp(static_cast<double>(x));
    EXPECT_NEAR(math::exponential(x), right, 8 * 0x1p-24 * right + 0x1p-149) << x;
  }
  EXPECT_EQ(math::exponential(kInf), kInf);
  EXPECT_EQ(math::exponential(-kInf), 0);
  EXPECT_TRUE(std::isnan(math::exponential(kNan)));
}

// The instructions are off by as much as they may be, or these tests would show less than a GPU does.
TEST(ActivationMath, InstructionsAreInexactWithinTheirBounds) {
  double exp2 = 0, reciprocal = 0;
  for (float x = -125.9f; x < 127.5f; x += 0.0173f) {
    exp2 = std::fmax(exp2, std::fabs(device::approximate_exp2(x) / std::exp2(static_cast<double>(x)) - 1));
    if (x != 0)
      reciprocal = std::fmax(reciprocal, std::fabs(device::approximate_reciprocal(x) * static_cast<double>(x) - 1));
  }
  EXPECT_LE(exp2, 0x1p-22);
  EXPECT_GT(exp2, 0.9 * 0x1p-22);
  EXPECT_LE(reciprocal, 0x1p-23);
  EXPECT_GT(reciprocal, 0.9 * 0x1p-23);
  EXPECT_EQ(device::approximate_exp2(-kInf), 0);
  EXPECT_EQ(device::approximate_exp2(kInf), kInf);
  EXPECT_EQ(device::approximate_exp2(-126.5f), 0);
  EXPECT_EQ(device::approximate_reciprocal(kInf), 0);
  EXPECT_EQ(device::approximate_reciprocal(0x1p-130f), kInf);
  EXPECT_TRUE(std::isnan(device::approximate_reciprocal(kNan)) && std::isnan(device::approximate_exp2(kNan)));
}

}  // namespace
}  // namespace wt
