// SPDX-License-Identifier: Apache-2.0
// tests/problem/activations_test.cc - the table's facts against the reference, and the reference's derivatives against
// differences of its values.
#include "problem/activations.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <limits>

#include "base/files.h"
#include "problem/reference.h"
#include "tests/places.h"

namespace wt {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

double value(Activation activation, double v) {
  return activate({.activation = activation, .slope = 0.25f, .low = 0.5f, .high = 1.5f}, v);
}
double derivative(Activation activation, double v) {
  return activation_derivative({.gradient = activation, .slope = 0.25f, .low = 0.5f, .high = 1.5f}, v);
}

TEST(Activations, DerivativesAreTheSlopesOfTheValues) {
  constexpr double kStep = 0x1p-16;
  for (const ActivationFacts& facts : kActivations) {
    double steepest = 0;
    for (double v = -12.03; v < 12; v += 0.0625) {  // no kink lies on these
      const double slope = (value(facts.activation, v + kStep) - value(facts.activation, v - kStep)) / (2 * kStep);
      EXPECT_NEAR(derivative(facts.activation, v), slope, 1e-7) << facts.name << " at " << v;
      steepest = std::fmax(steepest, std::fabs(slope));
    }
    EXPECT_LE(steepest, facts.slope + 1e-7) << facts.name;
    EXPECT_GE(steepest, 0.9 * facts.slope) << facts.name << " has a bound that is too wide";
  }
}

TEST(Activations, FactsAreTheReferences) {
  for (const ActivationFacts& facts : kActivations) {
    EXPECT_EQ(value(facts.activation, 0) == 0, facts.zero_at_zero) << facts.name;
    EXPECT_EQ(std::isnan(derivative(facts.activation, kNan)), facts.derivative == Derivative::kSmooth) << facts.name;
    EXPECT_TRUE(std::isnan(value(facts.activation, kNan))) << facts.name;
    EXPECT_GE(facts.special, 0);
    if (facts.derivative != Derivative::kConstant) continue;
    for (const double v : {-2.5, -1.5, -0.5, 0.75, 1.25, 2.5}) {
      EXPECT_EQ(derivative(facts.activation, v), derivative(facts.activation, v + 0.125)) << facts.name;
    }
  }
}

TEST(Activations, HaveTheirLimitsAtInfinity) {
  for (const ActivationFacts& facts : kActivations) {
    for (const double end : {-kInf, kInf}) {
      const double far = std::copysign(1e5, end), there = value(facts.activation, end);
      EXPECT_EQ(std::isinf(there), std::fabs(value(facts.activation, far)) > 100) << facts.name << " at " << end;
      if (std::isfinite(there)) {
        EXPECT_EQ(there, value(facts.activation, far)) << facts.name << " at " << end;
      }
      EXPECT_EQ(derivative(facts.activation, end), derivative(facts.activation, far)) << facts.name << " at " << end;
    }
  }
}

TEST(Activations, SurviveTheText) {
  for (const ActivationFacts& facts : kActivations) {
    if (facts.activation == Activation::kNone) continue;
    for (const bool gradient : {false, true}) {
      ConvProblem problem = *parse_problem("bwd_data bf16 c8 k8 i8x8");
      (gradient ? problem.epilogue.gradient : problem.epilogue.activation) = facts.activation;
      const std::string text = to_text(problem);
      EXPECT_NE(text.find(std::string(gradient ? "+grad_" : "+") + facts.name), std::string::npos) << text;
      for (const std::string& form : {text, canonical_text(problem).substr(canonical_text(problem).find(' ') + 1)}) {
        const auto parsed = parse_problem(form);
        ASSERT_TRUE(parsed.ok()) << form << ": " << parsed.status().message();
        EXPECT_EQ(*parsed, problem) << form;
      }
    }
  }
}

// The public headers have every activation under its number, and the page on texts has its word.
TEST(Activations, ArePublic) {
  const auto contents = [](const char* name) {
    const auto text = read_file(std::string(places::kSourceTree) + name);
    EXPECT_TRUE(text.ok()) << text.status().message();
    return text.ok() ? *text : "";
  };
  const std::string c = contents("/include/wavetile/wavetile.h"), cpp = contents("/include/wavetile/enums.hpp"),
                    page = contents("/docs/problem-text.md"), python = contents("/python/wavetile/names.py");
  for (const ActivationFacts& facts : kActivations) {
    std::string constant = "WAVETILE_ACTIVATION_";
    for (const char* at = facts.name; *at; ++at) constant += static_cast<char>(std::toupper(*at));
    const std::string number = std::to_string(static_cast<int>(facts.activation));
    EXPECT_NE(c.find(constant + " = " + number), std::string::npos) << constant << " = " << number;
    EXPECT_NE(cpp.find(std::string(facts.enumerator) + " = " + constant + ","), std::string::npos) << constant;
    EXPECT_NE(python.find(std::string("\"") + facts.name + "\""), std::string::npos) << facts.name;
    if (facts.activation == Activation::kNone) continue;
    EXPECT_NE(page.find(std::string("`+") + facts.name), std::string::npos) << facts.name;
    EXPECT_NE(page.find(std::string("\"") + facts.name + "\""), std::string::npos) << facts.name;
  }
}

}  // namespace
}  // namespace wt
