// SPDX-License-Identifier: Apache-2.0
// target/number.h - number formats by bit arithmetic, for targets without an instruction for them.
//
// The host's own conversions are problem/number.h; conformance tests compare the two over every bit pattern.
#pragma once

#include "target/types.h"

namespace wt {

// The e4m3 of gfx942's matrix unit. Tensors never hold it: kernels make it from e4m3 on the way to the unit.
struct E4m3Fnuz {
  u8 bits;
};

}  // namespace wt

namespace wt::number {

constexpr u32 bits_of(float value) { return __builtin_bit_cast(u32, value); }
constexpr float float_of(u32 bits) { return __builtin_bit_cast(float, bits); }

// A small format: sign, kExponent bits, kMantissa bits. Subnormals are exact: every one is a normal float.
template <int kExponent, int kMantissa>
constexpr float widen(u32 bits, bool has_infinity) {
  constexpr u32 kBias = (1u << (kExponent - 1)) - 1;
  const u32 sign = (bits >> (kExponent + kMantissa)) << 31;
  const u32 exponent = (bits >> kMantissa) & ((1u << kExponent) - 1);
  const u32 mantissa = bits & ((1u << kMantissa) - 1);
  if (exponent == 0) {
    const float scale = float_of((127 + 1 - kBias - kMantissa) << 23);  // 2^(1 - bias - mantissa bits)
    const float magnitude = static_cast<float>(mantissa) * scale;
    return sign ? -magnitude : magnitude;
  }
  if (has_infinity && exponent == (1u << kExponent) - 1)
    return float_of(sign | 0x7f800000u | (mantissa << (23 - kMantissa)));
  return float_of(sign | (exponent + 127 - kBias) << 23 | mantissa << (23 - kMantissa));
}

// Rounds to nearest, ties to even, to a format with kMantissa bits whose smallest normal exponent is kMinExponent;
// the result's bits below the sign, before any range check.
template <int kExponent, int kMantissa>
constexpr u32 narrow_magnitude(u32 magnitude) {
  constexpr int kBias = (1 << (kExponent - 1)) - 1;
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  // Below the smallest normal exponent the unit in the last place stops shrinking.
  const int below = exponent < 1 - kBias ? 1 - kBias - exponent : 0;
  if (below > kMantissa + 1) return 0;
  const u32 significand = (magnitude & 0x7fffffu) | 0x800000u;
  const int drop = 23 - kMantissa + below;
  const u32 half = 1u << (drop - 1);
  u32 kept = significand >> drop;
  const u32 rest = significand & ((1u << drop) - 1);
  if (rest > half || (rest == half && (kept & 1))) ++kept;
  if (below) return kept;  // a carry into the exponent is the right answer as it stands
  return (static_cast<u32>(exponent + kBias) << kMantissa) + kept - (1u << kMantissa);
}

constexpr float to_float(Bf16 value) { return float_of(static_cast<u32>(value.bits) << 16); }
constexpr float to_float(F16 value) { return widen<5, 10>(value.bits, true); }
constexpr float to_float(E5m2 value) { return widen<5, 2>(value.bits, true); }
constexpr float to_float(E4m3 value) {
  if ((value.bits & 0x7f) == 0x7f) return float_of(0x7fc00000u | static_cast<u32>(value.bits & 0x80) << 24);
  return widen<4, 3>(value.bits, false);
}
// FNUZ: exponents are biased by one more than OCP's, so the same bits mean half; 0x80 is the only NaN, and there is no
// negative zero.
constexpr float to_float(E4m3Fnuz value) {
  if (value.bits == 0x80) return float_of(0x7fc00000u);
  return widen<4, 3>(value.bits, false) * 0.5f;
}
constexpr float to_float(I8 value) { return static_cast<float>(static_cast<signed char>(value.bits)); }
constexpr float to_float(float value) { return value; }
// Number 0 or 1 of a pair.
constexpr float to_float(E2m1Pair pair, int number) {
  return widen<2, 1>(static_cast<u32>(pair.bits >> 4 * number & 15), false);
}
// A scale of blocks.
constexpr float scale_to_float(BlockScales scales, u8 byte) {
  if (scales == BlockScales::kNv) return to_float(E4m3{byte});
  return byte == 255 ? float_of(0x7fc00000u) : byte == 0 ? float_of(0x400000u) : float_of(u32{byte} << 23);
}

// Four e4m3 numbers as FNUZ numbers of half their value, exactly: the bits stay, but for negative zeros, which become
// zeros, and NaNs. Every finite e4m3 number has such a half.
constexpr u32 halved_to_fnuz(u32 four) {
  const u32 magnitudes = four & 0x7f7f7f7fu;
  const u32 signs = (magnitudes + 0x7f7f7f7fu) | 0x7f7f7f7fu;  // what stays: all bits, or of a zero all but the sign
  const u32 nans = (magnitudes + 0x01010101u) & 0x80808080u;
  return (four & (signs & ~(nans - (nans >> 7)))) | nans;
}

template <class T>
struct From;
template <>
struct From<float> {
  static constexpr float rounded(float value) { return value; }
};
template <>
struct From<Bf16> {
  static constexpr Bf16 rounded(float value) {
    const u32 bits = bits_of(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return {static_cast<u16>(bits >> 16 | 0x40)};
    return {static_cast<u16>((bits + 0x7fffu + (bits >> 16 & 1)) >> 16)};
  }
};
template <>
struct From<F16> {
  static constexpr F16 rounded(float value) {
    const u32 bits = bits_of(value), magnitude = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000u;
    if (magnitude > 0x7f800000u) return {static_cast<u16>(sign | 0x7e00u)};
    if (magnitude >= 0x477ff000u) return {static_cast<u16>(sign | 0x7c00u)};  // 65520 and above round to infinity
    return {static_cast<u16>(sign | narrow_magnitude<5, 10>(magnitude))};
  }
};
template <>
struct From<E4m3> {
  static constexpr E4m3 rounded(float value) {
    const u32 bits = bits_of(value), magnitude = bits & 0x7fffffffu, sign = bits >> 24 & 0x80u;
    if (magnitude > 0x7f800000u) return {static_cast<u8>(sign | 0x7fu)};
    if (magnitude >= 0x43e00000u) return {static_cast<u8>(sign | 0x7eu)};  // 448 and above saturate
    return {static_cast<u8>(sign | narrow_magnitude<4, 3>(magnitude))};
  }
};
template <>
struct From<E4m3Fnuz> {
  static constexpr E4m3Fnuz rounded(float value) {
    const u32 bits = bits_of(value), magnitude = bits & 0x7fffffffu, sign = bits >> 24 & 0x80u;
    if (magnitude > 0x7f800000u) return {0x80};
    if (magnitude >= 0x43700000u) return {static_cast<u8>(sign | 0x7fu)};  // 240 and above saturate
    const u32 kept = narrow_magnitude<4, 3>(bits_of(float_of(magnitude) * 2));
    return {static_cast<u8>(kept ? sign | kept : 0)};
  }
};
template <>
struct From<E5m2> {
  static constexpr E5m2 rounded(float value) {
    const u32 bits = bits_of(value), magnitude = bits & 0x7fffffffu, sign = bits >> 24 & 0x80u;
    if (magnitude > 0x7f800000u) return {static_cast<u8>(sign | 0x7fu)};
    if (magnitude >= 0x47600000u) return {static_cast<u8>(sign | 0x7bu)};  // 57344 and above saturate
    return {static_cast<u8>(sign | narrow_magnitude<5, 2>(magnitude))};
  }
};

// The nearest integer, halves to even, moved by `zero` and held within int8. NaN becomes what 0 does.
constexpr I8 quantized(float value, i32 zero) {
  // WHY: adding 1.5 * 2^23 leaves the nearest integer in the lowest bits; beyond 1000 everything is held anyway.
  const float held = value < -1000 ? -1000 : value > 1000 ? 1000 : value == value ? value : 0;
  const i32 moved = static_cast<i32>(bits_of(held + 12582912.0f) - bits_of(12582912.0f)) + zero;
  return {static_cast<u8>(moved < -128 ? -128 : moved > 127 ? 127 : moved)};
}
template <>
struct From<I8> {
  static constexpr I8 rounded(float value) { return quantized(value, 0); }
};

// fp32 rounded to tf32's 10 mantissa bits, to nearest, ties away from zero, as cvt.rna.tf32 does.
constexpr float round_tf32(float value) {
  const u32 bits = bits_of(value);
  if ((bits & 0x7f800000u) == 0x7f800000u) return value;
  return float_of((bits + 0x1000u) & 0xffffe000u);
}

}  // namespace wt::number
