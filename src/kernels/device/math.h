// SPDX-License-Identifier: Apache-2.0
// kernels/device/math.h - the functions behind activations and the user's text, in fp32, without branches.
//
// WHY our own: freestanding device compilers have no math library, and one text gives every target the same arithmetic.
// They rest on two instructions that every GPU has, 2^x and 1/x, each good to a unit or two (target/*/arithmetic.h);
// all else is multiply-adds. Errors are relative to the result unless said otherwise; u = 2^-24. problem/activations.h
// has what they come to in an activation, and tests compare both with double precision.
#pragma once

#include "target/target.h"

namespace wt::math {

WT_DEVICE float absolute(float x) { return number::float_of(number::bits_of(x) & 0x7fffffffu); }
WT_DEVICE float minimum(float a, float b) { return b < a ? b : a; }  // a where a is NaN
WT_DEVICE float maximum(float a, float b) { return b > a ? b : a; }

inline constexpr float kLog2E = 1.44269504f;

// e^x within (6 + 1.3 |x|) u: the argument's rounding shows as x grows. Zero below -87.3, where results are subnormal.
WT_DEVICE float exp(float x) { return device::approximate_exp2(x * kLog2E); }

WT_DEVICE float reciprocal(float x) { return device::approximate_reciprocal(x); }

// 1 / (1 + e^-x) within (8 + 1.3 |x|) u. Zero below -87.3.
WT_DEVICE float sigmoid(float x) { return device::approximate_reciprocal(1 + device::approximate_exp2(x * -kLog2E)); }

// Within 12 u: 1 - 2 / (e^2|x| + 1), and below 0.6, where that would cancel, an odd polynomial.
WT_DEVICE float hyperbolic_tangent(float x) {
  const float size = absolute(x), s = x * x;
  float p = 0.0156404655685f;
  p = device::multiply_add(p, s, -0.0522310953765f);
  p = device::multiply_add(p, s, 0.133135204584f);
  p = device::multiply_add(p, s, -0.333326215845f);
  const float small = device::multiply_add(p * s, x, x);
  const float rest = device::approximate_reciprocal(device::approximate_exp2(size * (2 * kLog2E)) + 1);
  const float large = device::multiply_add(-2.0f, rest, 1.0f);
  const float with_sign = number::float_of(number::bits_of(large) | (number::bits_of(x) & 0x80000000u));
  return size < 0.6f ? small : with_sign;
}

// e^x - 1 for x <= 0, within 12 u: above -0.5, where the difference would cancel, a polynomial.
WT_DEVICE float expm1(float x) {
  float p = 0.00112592292843f;
  p = device::multiply_add(p, x, 0.00819329574615f);
  p = device::multiply_add(p, x, 0.0416320486145f);
  p = device::multiply_add(p, x, 0.166662887629f);
  p = device::multiply_add(p, x, 0.499999864705f);
  const float near = device::multiply_add(p * x, x, x);
  const float far = exp(x) - 1;
  return x > -0.5f ? near : far;
}

// log(1 + e^-x) for x >= 0, within (8 + 1.3 x) u: e times a polynomial in e.
WT_DEVICE float softplus_tail(float x) {
  const float e = exp(-x);
  float p = 0.00523257920391f;
  p = device::multiply_add(p, e, -0.0295048009154f);
  p = device::multiply_add(p, e, 0.0782252855293f);
  p = device::multiply_add(p, e, -0.136631943679f);
  p = device::multiply_add(p, e, 0.191059858874f);
  p = device::multiply_add(p, e, -0.248429781813f);
  p = device::multiply_add(p, e, 0.33319096594f);
  p = device::multiply_add(p, e, -0.499994931594f);
  p = device::multiply_add(p, e, 0.999999969886f);
  return e * p;
}

// The normal distribution's tail from x >= 0 on, erfc(x / sqrt 2) / 2, within (12 + 2 x^2) u: e^(-x^2/2) times a
// polynomial in t = 1 / (1 + 0.2316419 x), fitted for the least relative error.
WT_DEVICE float normal_tail(float x) {
  const float t = device::approximate_reciprocal(device::multiply_add(0.2316419f, x, 1.0f));
  float p = -0.070929130759f;
  p = device::multiply_add(p, t, 0.249861616412f);
  p = device::multiply_add(p, t, -0.205559295295f);
  p = device::multiply_add(p, t, 0.229016122051f);
  p = device::multiply_add(p, t, 0.0114449675922f);
  p = device::multiply_add(p, t, 0.103333509414f);
  p = device::multiply_add(p, t, 0.0903015245913f);
  p = device::multiply_add(p, t, 0.0925307382004f);
  return p * t * device::approximate_exp2(x * x * (-0.5f * kLog2E));
}

// 2^n for integral n in [-126, 127].
WT_DEVICE float power_of_two(int n) { return number::float_of(static_cast<u32>(n + 127) << 23); }

// e^x within 8 u over the whole range, subnormal results too, for the user's text: x = n ln2 + r, |r| <= ln2 / 2.
WT_DEVICE float exponential(float x) {
  const float held = minimum(maximum(x, -104.0f), 89.0f);
  // Adding 1.5 * 2^23 leaves the nearest integer in the lowest bits.
  const float shifted = device::multiply_add(held, kLog2E, 12582912.0f), whole = shifted - 12582912.0f;
  float r = device::multiply_add(whole, -0.693359375f, held);
  r = device::multiply_add(whole, 2.12194440e-4f, r);
  const float p = exp(r);
  // WHY two factors: 2^n itself leaves the normal range where the result is subnormal or near the top. NaN leaves any
  // bits in n, and p is NaN then.
  const int bits = static_cast<int>(number::bits_of(shifted) & 0x1ffu), n = bits < 256 ? bits : bits - 512;
  const int half = n / 2;
  return p * power_of_two(half) * power_of_two(n - half);
}

}  // namespace wt::math

namespace wt {

// What kernels/device/activation.h asks for.
struct DeviceMath {
  WT_DEVICE static float exp(float x) { return math::exp(x); }
  WT_DEVICE static float reciprocal(float x) { return math::reciprocal(x); }
  WT_DEVICE static float sigmoid(float x) { return math::sigmoid(x); }
  WT_DEVICE static float tanh(float x) { return math::hyperbolic_tangent(x); }
  WT_DEVICE static float expm1(float x) { return math::expm1(x); }
  WT_DEVICE static float softplus_tail(float x) { return math::softplus_tail(x); }
  WT_DEVICE static float normal_tail(float x) { return math::normal_tail(x); }
};

}  // namespace wt
