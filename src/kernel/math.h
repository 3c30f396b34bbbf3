// SPDX-License-Identifier: Apache-2.0
// kernel/math.h - the functions behind the activations, in fp32.
//
// WHY our own: freestanding device compilers have no math library, and one text gives every target the same bits up to
// contraction. How accurate they must be is problem/tolerance.h; kernels with activations are verified against it.
#pragma once

#include "target/target.h"

namespace wt::math {

WT_DEVICE float absolute(float x) { return number::float_of(number::bits_of(x) & 0x7fffffffu); }
WT_DEVICE float minimum(float a, float b) { return b < a ? b : a; }  // a where a is NaN
WT_DEVICE float maximum(float a, float b) { return b > a ? b : a; }

// 2^n for integral n in [-126, 127].
WT_DEVICE float power_of_two(int n) { return number::float_of(static_cast<u32>(n + 127) << 23); }

// e^x: x = n ln2 + r, |r| <= ln2 / 2.
WT_DEVICE float exponential(float x) {
  if (x != x) return x;
  if (x > 88.72284f) return number::float_of(0x7f800000u);
  if (x < -103.97208f) return 0;
  const float scaled = x * 1.44269504f;
  const int n = static_cast<int>(scaled + (scaled < 0 ? -0.5f : 0.5f));
  float r = device::multiply_add(static_cast<float>(n), -0.693359375f, x);
  r = device::multiply_add(static_cast<float>(n), 2.12194440e-4f, r);
  float p = 1.9875691500e-4f;
  p = device::multiply_add(p, r, 1.3981999507e-3f);
  p = device::multiply_add(p, r, 8.3334519073e-3f);
  p = device::multiply_add(p, r, 4.1665795894e-2f);
  p = device::multiply_add(p, r, 1.6666665459e-1f);
  p = device::multiply_add(p, r, 5.0000001201e-1f);
  p = device::multiply_add(p, r * r, r) + 1;
  // WHY two factors: 2^n itself leaves the normal range where the result is subnormal or near the top.
  const int half = n / 2;
  return p * power_of_two(half) * power_of_two(n - half);
}

WT_DEVICE float sigmoid(float x) {
  // Both branches divide by a number in [1, 2], so neither overflows.
  if (x >= 0) return 1 / (1 + exponential(-x));
  const float e = exponential(x);
  return e / (1 + e);
}

WT_DEVICE float hyperbolic_tangent(float x) {
  const float magnitude = absolute(x);
  if (magnitude < 0.625f) {  // odd polynomial: the quotient below would cancel
    const float s = x * x;
    float p = -5.70498872745e-3f;
    p = device::multiply_add(p, s, 2.06390887954e-2f);
    p = device::multiply_add(p, s, -5.37397155531e-2f);
    p = device::multiply_add(p, s, 1.33314422036e-1f);
    p = device::multiply_add(p, s, -3.33332819422e-1f);
    return device::multiply_add(p * s, x, x);
  }
  const float tail = 1 - 2 / (exponential(2 * magnitude) + 1);
  return x < 0 ? -tail : tail;
}

// 1 - erf(x), kept accurate where it is small: 1 minus a quotient of polynomials near zero, else e^-x^2 times a
// polynomial in 1 / (1 + x/2).
WT_DEVICE float complementary_error(float x) {
  const float magnitude = absolute(x);
  if (magnitude < 0.84375f) {  // erf(x) = x + x P(x^2) / Q(x^2)
    const float s = x * x;
    float p = -2.37630166566501626084e-05f;
    p = device::multiply_add(p, s, -5.77027029648944159157e-03f);
    p = device::multiply_add(p, s, -2.84817495755985104766e-02f);
    p = device::multiply_add(p, s, -3.25042107247001499370e-01f);
    p = device::multiply_add(p, s, 1.28379167095512558561e-01f);
    float q = -3.96022827877536812320e-06f;
    q = device::multiply_add(q, s, 1.32494738004321644526e-04f);
    q = device::multiply_add(q, s, 5.08130628187576562776e-03f);
    q = device::multiply_add(q, s, 6.50222499887672944485e-02f);
    q = device::multiply_add(q, s, 3.97917223959155352819e-01f);
    q = device::multiply_add(q, s, 1.0f);
    return 1 - device::multiply_add(x, p / q, x);
  }
  if (x != x) return x;
  const float t = 1 / device::multiply_add(0.5f, magnitude, 1.0f);
  float p = 0.17087277f;
  p = device::multiply_add(p, t, -0.82215223f);
  p = device::multiply_add(p, t, 1.48851587f);
  p = device::multiply_add(p, t, -1.13520398f);
  p = device::multiply_add(p, t, 0.27886807f);
  p = device::multiply_add(p, t, -0.18628806f);
  p = device::multiply_add(p, t, 0.09678418f);
  p = device::multiply_add(p, t, 0.37409196f);
  p = device::multiply_add(p, t, 1.00002368f);
  p = device::multiply_add(p, t, -1.26551223f);
  const float tail = t * exponential(device::multiply_add(-magnitude, magnitude, p));
  return x < 0 ? 2 - tail : tail;
}

}  // namespace wt::math
