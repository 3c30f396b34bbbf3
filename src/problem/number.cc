// SPDX-License-Identifier: Apache-2.0
// problem/number.cc - one number at a time; number_bulk.cc converts arrays.
#include "problem/number.h"

#include <array>
#include <cmath>
#include <limits>

namespace wt {
namespace {

// A small binary format: sign, `kExponent` bits of exponent with bias `kBias`, `kFraction` bits of fraction.
template <int kExponent, int kFraction, int kBias, bool kHasInfinity>
struct Format {
  static constexpr uint32_t kFractionMask = (1u << kFraction) - 1;
  static constexpr uint32_t kExponentMask = (1u << kExponent) - 1;

  static constexpr double to_double(uint32_t bits) {
    const uint32_t fraction = bits & kFractionMask;
    const uint32_t exponent = (bits >> kFraction) & kExponentMask;
    const bool negative = (bits >> (kExponent + kFraction)) & 1;
    double value = 0;
    if (exponent == kExponentMask && (kHasInfinity || fraction == kFractionMask)) {
      value = fraction ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
      if (!kHasInfinity) value = std::numeric_limits<double>::quiet_NaN();
    } else {
      value = exponent ? static_cast<double>(fraction | (1u << kFraction)) : static_cast<double>(fraction);
      const int power = static_cast<int>(exponent ? exponent : 1) - kBias - kFraction;
      for (int i = 0; i < power; ++i) value *= 2;
      for (int i = 0; i > power; --i) value /= 2;
    }
    return negative ? -value : value;
  }
};
using E4m3Format = Format<4, 3, 7, false>;
using E5m2Format = Format<5, 2, 15, true>;

template <class Fmt>
constexpr std::array<float, 256> make_table() {
  std::array<float, 256> table{};
  for (uint32_t bits = 0; bits < 256; ++bits) table[bits] = static_cast<float>(Fmt::to_double(bits));
  return table;
}
constexpr std::array<float, 256> kE4m3Table = make_table<E4m3Format>();
constexpr std::array<float, 256> kE5m2Table = make_table<E5m2Format>();

// To 8 bits with `kFraction` bits of fraction, saturating at the magnitude `kLargest`.
template <int kFraction, int kBias, uint8_t kLargest, uint8_t kNan>
uint8_t float_to_fp8(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint8_t sign = static_cast<uint8_t>((bits >> 24) & 0x80);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | kNan;
  constexpr int kShift = 23 - kFraction;
  constexpr uint32_t kSmallestNormal = static_cast<uint32_t>(127 - kBias + 1) << 23;
  uint32_t result = 0;
  if (magnitude >= kSmallestNormal) {
    const uint32_t rounded = magnitude + (1u << (kShift - 1)) - 1 + ((magnitude >> kShift) & 1);
    result = (rounded >> kShift) - (static_cast<uint32_t>(127 - kBias) << kFraction);
  } else {
    // WHY: adding 2^(23 - fraction bits - bias + 1) aligns the fp32 fraction with the denormal's last bit, so that the
    // addition itself rounds to nearest even.
    constexpr float kAlign = std::bit_cast<float>(static_cast<uint32_t>(127 + kShift - kBias + 1) << 23);
    const float aligned = std::bit_cast<float>(magnitude) + kAlign;
    result = std::bit_cast<uint32_t>(aligned) - std::bit_cast<uint32_t>(kAlign);
  }
  return sign | static_cast<uint8_t>(result > kLargest ? kLargest : result);
}

// Double to float rounded to odd: a later rounding to fewer bits is then as if from the double.
float to_float_odd(double value) {
  const float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || std::isnan(value)) return nearest;
  const uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (bits & 1) return nearest;
  // One of the two floats around the value is odd; nearest is the even one, so the other lies on the value's side.
  const bool away = std::fabs(value) > std::fabs(static_cast<double>(nearest));
  if (std::isinf(nearest)) return std::copysign(std::numeric_limits<float>::max(), nearest);
  if (bits << 1 == 0) return std::copysign(std::numeric_limits<float>::denorm_min(), static_cast<float>(value));
  return std::bit_cast<float>(away ? bits + 1 : bits - 1);
}

}  // namespace

float e4m3_to_float(uint8_t bits) { return kE4m3Table[bits]; }
float e5m2_to_float(uint8_t bits) { return kE5m2Table[bits]; }
float e2m1_to_float(uint8_t bits) {
  constexpr float kMagnitudes[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  const float magnitude = kMagnitudes[bits & 7];
  return bits & 8 ? -magnitude : magnitude;
}

uint16_t float_to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

uint16_t float_to_fp16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00 | ((magnitude >> 13) & 0x3ff));
  if (magnitude >= 0x47800000) return sign | 0x7c00;  // 65536 and more, infinity too
  if (magnitude >= 0x38800000) {                      // 2^-14, the smallest normal
    const uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
    return static_cast<uint16_t>(sign | ((rounded >> 13) - (112u << 10)));
  }
  // Adding 0.5 aligns the fp32 fraction with the denormal's last bit, 2^-24; the addition rounds.
  const float aligned = std::bit_cast<float>(magnitude) + 0.5f;
  return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(aligned) - 0x3f000000u));
}

uint8_t float_to_e4m3(float value) { return float_to_fp8<3, 7, 0x7e, 0x7f>(value); }
uint8_t float_to_e5m2(float value) { return float_to_fp8<2, 15, 0x7b, 0x7f>(value); }

uint8_t float_to_e2m1(float value) {
  // The middles between neighbours; a tie goes to the even code.
  constexpr float kMiddles[] = {0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5};
  const float magnitude = std::fabs(value);
  if (!(magnitude <= 5)) return static_cast<uint8_t>(std::signbit(value) ? 15 : 7);
  uint8_t code = 0;
  while (code < 7 && (magnitude > kMiddles[code] || (magnitude == kMiddles[code] && code % 2 == 1))) ++code;
  return static_cast<uint8_t>(std::signbit(value) ? code | 8 : code);
}

float scale_to_float(BlockScales scales, uint8_t byte) {
  if (scales == BlockScales::kNone) return 1;
  if (scales == BlockScales::kNv) return e4m3_to_float(byte);
  return byte == 255 ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, byte - 127);
}

int8_t float_to_int8(float value) {
  if (std::isnan(value)) return 0;
  return static_cast<int8_t>(std::nearbyint(std::fmin(std::fmax(value, -128.0f), 127.0f)));
}

float round_to_tf32(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7f800000) == 0x7f800000) return value;
  return std::bit_cast<float>((bits + 0xfff + ((bits >> 13) & 1)) & ~0x1fffu);
}

float round_to(DataType type, float value) {
  switch (type) {
    case DataType::kF32:
    case DataType::kTf32:
      return value;
    case DataType::kF16:
      return fp16_to_float(float_to_fp16(value));
    case DataType::kBf16:
      return bf16_to_float(float_to_bf16(value));
    case DataType::kE4m3:
      return e4m3_to_float(float_to_e4m3(value));
    case DataType::kE5m2:
      return e5m2_to_float(float_to_e5m2(value));
    case DataType::kE2m1:
      return e2m1_to_float(float_to_e2m1(value));
    case DataType::kI8:
      return float_to_int8(value);
  }
  return value;
}

float round_to(DataType type, double value) {
  if (type == DataType::kF32 || type == DataType::kTf32) return static_cast<float>(value);
  return round_to(type, to_float_odd(value));
}

double epsilon_of(DataType type) {
  switch (type) {
    case DataType::kF32:
      return 0x1p-23;
    case DataType::kTf32:
    case DataType::kF16:
      return 0x1p-10;
    case DataType::kBf16:
      return 0x1p-7;
    case DataType::kE4m3:
      return 0x1p-3;
    case DataType::kE5m2:
      return 0x1p-2;
    case DataType::kE2m1:
      return 0x1p-1;
    case DataType::kI8:
      return 0x1p-6;
  }
  return 0;
}

double largest_of(DataType type) {
  switch (type) {
    case DataType::kF32:
    case DataType::kTf32:
      return std::numeric_limits<float>::max();
    case DataType::kF16:
      return 65504;
    case DataType::kBf16:
      return static_cast<double>(bf16_to_float(0x7f7f));
    case DataType::kE4m3:
      return 448;
    case DataType::kE5m2:
      return 57344;
    case DataType::kE2m1:
      return 6;
    case DataType::kI8:
      return 127;
  }
  return 0;
}

float load(DataType type, const void* array, int64_t index) {
  switch (type) {
    case DataType::kF32:
    case DataType::kTf32:
      return static_cast<const float*>(array)[index];
    case DataType::kF16:
      return fp16_to_float(static_cast<const uint16_t*>(array)[index]);
    case DataType::kBf16:
      return bf16_to_float(static_cast<const uint16_t*>(array)[index]);
    case DataType::kE4m3:
      return e4m3_to_float(static_cast<const uint8_t*>(array)[index]);
    case DataType::kE5m2:
      return e5m2_to_float(static_cast<const uint8_t*>(array)[index]);
    case DataType::kE2m1:
      return e2m1_to_float(static_cast<uint8_t>(static_cast<const uint8_t*>(array)[index / 2] >> index % 2 * 4));
    case DataType::kI8:
      return static_cast<const int8_t*>(array)[index];
  }
  return 0;
}

void store(DataType type, void* array, int64_t index, float value) {
  switch (type) {
    case DataType::kF32:
    case DataType::kTf32:
      static_cast<float*>(array)[index] = value;
      return;
    case DataType::kF16:
      static_cast<uint16_t*>(array)[index] = float_to_fp16(value);
      return;
    case DataType::kBf16:
      static_cast<uint16_t*>(array)[index] = float_to_bf16(value);
      return;
    case DataType::kE4m3:
      static_cast<uint8_t*>(array)[index] = float_to_e4m3(value);
      return;
    case DataType::kE5m2:
      static_cast<uint8_t*>(array)[index] = float_to_e5m2(value);
      return;
    case DataType::kE2m1: {
      uint8_t& pair = static_cast<uint8_t*>(array)[index / 2];
      const int shift = static_cast<int>(index % 2) * 4;
      pair = static_cast<uint8_t>((pair & (0xf0 >> shift)) | float_to_e2m1(value) << shift);
      return;
    }
    case DataType::kI8:
      static_cast<int8_t*>(array)[index] = float_to_int8(value);
      return;
  }
}

}  // namespace wt
