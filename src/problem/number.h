// SPDX-License-Identifier: Apache-2.0
// problem/number.h - exact conversions between float and the stored number formats, one by one and in bulk.
//
// To float: exact, for every bit pattern. From float: rounded to nearest, ties to even, denormals kept. Beyond the
// largest finite value fp16 and bf16 become infinite (IEEE 754); e4m3 and e5m2 saturate to 448 and 57344, infinities
// too. int8 saturates at -128 and 127, and NaN becomes 0; elsewhere NaN stays NaN with its sign. tf32 is stored as
// fp32, bit for bit: rounding it is the multiplication's business.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "problem/enums.h"

namespace wt {

inline float bf16_to_float(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
inline float fp16_to_float(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t magnitude = bits & 0x7fff;
  if (magnitude >= 0x7c00) {  // infinite or NaN, which becomes quiet as the hardware makes it
    const uint32_t quiet = magnitude > 0x7c00 ? 0x400000u : 0u;
    return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ff) << 13) | quiet);
  }
  const float value = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | sign);
}
float e4m3_to_float(uint8_t bits);
float e5m2_to_float(uint8_t bits);
float e2m1_to_float(uint8_t bits);  // of the low half

uint16_t float_to_bf16(float value);
uint16_t float_to_fp16(float value);
uint8_t float_to_e4m3(float value);
uint8_t float_to_e5m2(float value);
uint8_t float_to_e2m1(float value);  // into the low half; saturates at 6, and NaN becomes 6 (there is none)
int8_t float_to_int8(float value);
float round_to_tf32(float value);  // 10 bits of fraction; overflow becomes infinite

// `value` after a round trip through `type`; the identity for fp32 and tf32 (which is stored as fp32).
float round_to(DataType type, float value);

// The same from double with one rounding, so that a double reference is not rounded twice.
float round_to(DataType type, double value);

// A scale of blocks, exact.
float scale_to_float(BlockScales scales, uint8_t byte);

// Distance between 1 and the next number: 2^-23, 2^-10 (tf32, fp16), 2^-7, 2^-3, 2^-2, 2^-1 (e2m1); of int8 what makes
// 2 / epsilon the end of its integers, 2^-6.
double epsilon_of(DataType type);
double largest_of(DataType type);  // finite

// Element `index` of an array of `type`.
float load(DataType type, const void* array, int64_t index);
void store(DataType type, void* array, int64_t index, float value);

// Whole arrays, vectorised where the machine can; the same results as one by one. No alignment is needed.
// Numbers that share a byte start with a whole one.
// The parallel forms spread the work over the machine's cores (base/parallel.h).
void to_float(DataType type, const void* source, float* target, int64_t count);
void from_float(DataType type, const float* source, void* target, int64_t count);
void parallel_to_float(DataType type, const void* source, float* target, int64_t count, int threads = 0);
void parallel_from_float(DataType type, const float* source, void* target, int64_t count, int threads = 0);

}  // namespace wt
