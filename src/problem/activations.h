// SPDX-License-Identifier: Apache-2.0
// problem/activations.h - the activations, and what is known of each: the one table that every other room asks.
//
//   names --> text, JSON, messages     zero_at_zero, derivative --> kernels     slope, error --> tolerance.cc
//
// What they compute stands in kernels/device/activation.h, and once more, in double and apart from it, in
// reference_epilogue.cc.
// Freestanding: device compilers read this file too, so it includes nothing.
#pragma once

namespace wt {

// The C API has the same numbers; new activations go to the end.
enum class Activation : unsigned char {
  kNone,
  kRelu,
  kLeakyRelu,    // slope below zero
  kClamp,        // between low and high
  kSilu,         // x sigmoid(x)
  kGelu,         // x Phi(x) = x/2 (1 + erf(x / sqrt 2))
  kSigmoid,      // 1 / (1 + e^-x)
  kTanh,         //
  kHardswish,    // x hardsigmoid(x)
  kHardsigmoid,  // x/6 + 1/2, between 0 and 1
  kElu,          // x, and e^x - 1 below zero
  kSoftplus,     // log(1 + e^x)
  kMish,         // x tanh(softplus(x))
  kGeluTanh,     // x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
};

enum class Derivative : unsigned char {
  kConstant,  // in pieces
  kBounded,   // a finite number wherever it is asked for, at NaN and at the infinities too
  kSmooth,    // NaN at NaN
};

struct ActivationFacts {
  Activation activation;
  const char* name;        // in texts; the C API writes it in capitals after WAVETILE_ACTIVATION_
  const char* enumerator;  // in generated sources
  bool zero_at_zero;
  Derivative derivative;
  int special;  // exponentials and reciprocals per value, which GPUs execute at an eighth of the rate of additions
  // The largest |derivative|, by which an error of the argument grows. leaky_relu: at least, see tolerance.cc.
  double slope;
  // What the arithmetic in fp32 adds: at most error times the result, and below zero, where results vanish by an
  // exponential, error (1 + |v|^growth) times it. Zero: nothing, on any data.
  double error;
  int growth;
};

inline constexpr ActivationFacts kActivations[] = {
    {Activation::kNone, "none", "kNone", true, Derivative::kConstant, 0, 1, 0, 0},
    {Activation::kRelu, "relu", "kRelu", true, Derivative::kConstant, 0, 1, 0, 0},
    {Activation::kLeakyRelu, "leaky_relu", "kLeakyRelu", true, Derivative::kConstant, 0, 1, 0x1p-24, 0},
    {Activation::kClamp, "clamp", "kClamp", false, Derivative::kConstant, 0, 1, 0, 0},
    {Activation::kSilu, "silu", "kSilu", true, Derivative::kSmooth, 2, 1.1, 0x1p-20, 1},
    {Activation::kGelu, "gelu", "kGelu", true, Derivative::kSmooth, 2, 1.13, 0x1p-20, 2},
    {Activation::kSigmoid, "sigmoid", "kSigmoid", false, Derivative::kSmooth, 2, 0.25, 0x1p-21, 1},
    {Activation::kTanh, "tanh", "kTanh", true, Derivative::kSmooth, 2, 1, 0x1p-20, 0},
    {Activation::kHardswish, "hardswish", "kHardswish", true, Derivative::kBounded, 0, 1.5, 0x1p-22, 0},
    {Activation::kHardsigmoid, "hardsigmoid", "kHardsigmoid", false, Derivative::kConstant, 0, 0.17, 0x1p-22, 0},
    {Activation::kElu, "elu", "kElu", true, Derivative::kSmooth, 1, 1, 0x1p-20, 0},
    {Activation::kSoftplus, "softplus", "kSoftplus", false, Derivative::kSmooth, 1, 1, 0x1p-20, 1},
    {Activation::kMish, "mish", "kMish", true, Derivative::kSmooth, 2, 1.1, 0x1p-20, 1},
    {Activation::kGeluTanh, "gelu_tanh", "kGeluTanh", true, Derivative::kSmooth, 2, 1.13, 0x1p-20, 3},
};
inline constexpr int kActivationCount = sizeof(kActivations) / sizeof(ActivationFacts);
inline constexpr Activation kLastActivation = kActivations[kActivationCount - 1].activation;

constexpr const ActivationFacts& facts_of(Activation activation) { return kActivations[static_cast<int>(activation)]; }

namespace activations {
constexpr bool are_in_order() {
  for (int i = 0; i < kActivationCount; ++i)
    if (static_cast<int>(kActivations[i].activation) != i) return false;
  return true;
}
static_assert(are_in_order(), "the table has its rows in the order of the enumeration");
}  // namespace activations

}  // namespace wt
