// SPDX-License-Identifier: Apache-2.0
// kernels/device/activation.h - every activation and its derivative, for kernels and for the CPU.
//
//   Math: exp, reciprocal, sigmoid, tanh, expm1, softplus_tail, normal_tail in fp32, each as its machine does it best
//         (kernels/device/math.h, runtime/cpu/epilogue.cc)
//   P:    slope, low and high
//
// Written without branches: what costs is computed before it is selected. At an infinity an activation and its
// derivative have their limits, for which an argument is held where the factor beside it has long been zero. NaN stays
// NaN, but for derivatives that are not smooth. Freestanding, and constexpr so that HIP compiles it for the device.
// problem/activations.h has the errors.
#pragma once

#include "problem/activations.h"

namespace wt {

namespace activations {

inline constexpr float kFar = 128;  // e^-128 is zero in fp32

// Bounds that NaN passes.
constexpr float within(float x, float low, float high) { return x < low ? low : x > high ? high : x; }
// Bounds that NaN does not pass: cheaper, for values whose factor is NaN then.
constexpr float at_least(float x, float low) { return x > low ? x : low; }
// WHY no &&: it would be a branch.
constexpr bool inside(float x, float low, float high) { return bool((x > low) & (x < high)); }
constexpr float magnitude(float x) { return __builtin_bit_cast(float, __builtin_bit_cast(unsigned, x) & 0x7fffffffu); }

// sigmoid(x) and sigmoid(-x), neither by a difference.
struct Sides {
  float of, rest;
};
template <class Math>
constexpr Sides sides(float x) {
  const float e = Math::exp(-magnitude(x)), larger = Math::reciprocal(1 + e), smaller = e * larger;
  return x < 0 ? Sides{smaller, larger} : Sides{larger, smaller};
}

constexpr float hardsigmoid(float x) { return within(x + 3, 0, 6) * (1.0f / 6); }

// tanh(softplus(x)) = n / (n + 2), n = e^x (e^x + 2). Beyond 20 it is 1, and n would overflow.
inline constexpr float kMishEnd = 20;

// The argument of tanh in gelu_tanh, twice: x (kGeluLinear + kGeluCubic x^2); sigmoid of it is (1 + tanh) / 2.
inline constexpr float kGeluLinear = 1.595769122f, kGeluCubic = 0.07135481627f;

}  // namespace activations

template <Activation kActivation, class Math, class P>
constexpr float activation_value(float x, const P& p) {
  using namespace activations;
  if constexpr (kActivation == Activation::kRelu) return x < 0 ? 0 : x;
  if constexpr (kActivation == Activation::kLeakyRelu) return x < 0 ? x * p.slope : x;
  if constexpr (kActivation == Activation::kClamp) return within(x, p.low, p.high);
  if constexpr (kActivation == Activation::kSilu) return at_least(x, -kFar) * Math::sigmoid(x);
  if constexpr (kActivation == Activation::kGelu) {
    const float size = magnitude(x);
    return at_least(x, 0) - (size < kFar ? size : kFar) * Math::normal_tail(size);
  }
  if constexpr (kActivation == Activation::kSigmoid) return Math::sigmoid(x);
  if constexpr (kActivation == Activation::kTanh) return Math::tanh(x);
  if constexpr (kActivation == Activation::kHardswish) return at_least(x, -3) * hardsigmoid(x);
  if constexpr (kActivation == Activation::kHardsigmoid) return hardsigmoid(x);
  if constexpr (kActivation == Activation::kElu) {
    const float below = Math::expm1(x);
    return x > 0 ? x : below;
  }
  if constexpr (kActivation == Activation::kSoftplus) return at_least(x, 0) + Math::softplus_tail(magnitude(x));
  if constexpr (kActivation == Activation::kMish) {
    const float e = Math::exp(within(x, -kFar, kMishEnd)), n = e * (e + 2);
    return at_least(x, -kFar) * (n * Math::reciprocal(n + 2));
  }
  if constexpr (kActivation == Activation::kGeluTanh)
    return at_least(x, -kFar) * Math::sigmoid(x * (kGeluCubic * (x * x) + kGeluLinear));
  return x;
}

// The gradient `value` of an activation's output, as that of its input, which was `x`. Where a piece of the derivative
// is zero, an infinity does not pass either.
template <Activation kActivation, class Math, class P>
constexpr float activation_gradient(float value, float x, const P& p) {
  using namespace activations;
  if constexpr (kActivation == Activation::kRelu) return x > 0 ? value : 0;
  if constexpr (kActivation == Activation::kLeakyRelu) return x > 0 ? value : value * p.slope;
  if constexpr (kActivation == Activation::kClamp) return inside(x, p.low, p.high) ? value : 0;
  if constexpr (kActivation == Activation::kSilu) {
    const Sides s = sides<Math>(x);
    return value * (s.of * (1 + within(x, -kFar, kFar) * s.rest));
  }
  if constexpr (kActivation == Activation::kGelu) {
    const float tail = Math::normal_tail(magnitude(x)), density = 0.39894228f * Math::exp(-0.5f * x * x);
    return value * ((x < 0 ? tail : 1 - tail) + within(x, -kFar, kFar) * density);
  }
  if constexpr (kActivation == Activation::kSigmoid) {
    const Sides s = sides<Math>(x);
    return value * (s.of * s.rest);
  }
  if constexpr (kActivation == Activation::kTanh) {
    const Sides s = sides<Math>(2 * x);
    return value * (4 * s.of * s.rest);
  }
  if constexpr (kActivation == Activation::kHardswish)
    return x > -3 ? (x < 3 ? value * (x * (1.0f / 3) + 0.5f) : value) : 0;
  if constexpr (kActivation == Activation::kHardsigmoid) return inside(x, -3, 3) ? value * (1.0f / 6) : 0;
  if constexpr (kActivation == Activation::kElu) {
    const float below = value * Math::exp(x);
    return x > 0 ? value : below;
  }
  if constexpr (kActivation == Activation::kSoftplus) return value * Math::sigmoid(x);
  if constexpr (kActivation == Activation::kMish) {
    const float held = within(x, -kFar, kMishEnd), e = Math::exp(held), n = e * (e + 2);
    const float r = Math::reciprocal(n + 2);
    return value * (r * (n + 4 * held * e * (1 + e) * r));
  }
  if constexpr (kActivation == Activation::kGeluTanh) {
    const float held = within(x, -12, 12), square = held * held;  // where one side is zero in fp32
    const Sides s = sides<Math>(held * (kGeluCubic * square + kGeluLinear));
    return value * (s.of + held * s.of * s.rest * (3 * kGeluCubic * square + kGeluLinear));
  }
  return value;
}

}  // namespace wt
