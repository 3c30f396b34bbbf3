// SPDX-License-Identifier: Apache-2.0
// problem/number_bulk.cc - arrays of numbers: the loops of number.cc, in blocks that compilers turn into vector code.
//
// WHY no target_clones: its resolvers run before a sanitizer's start-up and crash there; the choice is made by hand.
#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "problem/number.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace wt {
namespace {

constexpr int64_t kBlock = 16;

[[gnu::always_inline]] inline void bf16_block_to_float(const uint16_t* source, float* target) {
  uint16_t in[kBlock];
  uint32_t out[kBlock];
  std::memcpy(in, source, sizeof in);
  for (int i = 0; i < kBlock; ++i) out[i] = static_cast<uint32_t>(in[i]) << 16;
  std::memcpy(target, out, sizeof out);
}

// The same as float_to_bf16, without a branch.
[[gnu::always_inline]] inline void float_block_to_bf16(const float* source, uint16_t* target) {
  uint32_t in[kBlock];
  uint16_t out[kBlock];
  std::memcpy(in, source, sizeof in);
  for (int i = 0; i < kBlock; ++i) {
    const uint32_t rounded = (in[i] + 0x7fff + ((in[i] >> 16) & 1)) >> 16;
    const uint32_t quiet = (in[i] >> 16) | 0x40;
    out[i] = static_cast<uint16_t>((in[i] & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
  }
  std::memcpy(target, out, sizeof out);
}

[[gnu::always_inline]] inline void bf16_to_float_loop(const uint16_t* source, float* target, int64_t count) {
  int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) bf16_block_to_float(source + i, target + i);
  for (; i < count; ++i) target[i] = bf16_to_float(source[i]);
}

[[gnu::always_inline]] inline void float_to_bf16_loop(const float* source, uint16_t* target, int64_t count) {
  int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) float_block_to_bf16(source + i, target + i);
  for (; i < count; ++i) target[i] = float_to_bf16(source[i]);
}

void bf16_to_float_any(const uint16_t* source, float* target, int64_t count) {
  bf16_to_float_loop(source, target, count);
}
void float_to_bf16_any(const float* source, uint16_t* target, int64_t count) {
  float_to_bf16_loop(source, target, count);
}
void fp16_to_float_any(const uint16_t* source, float* target, int64_t count) {
  for (int64_t i = 0; i < count; ++i) target[i] = fp16_to_float(source[i]);
}
void float_to_fp16_any(const float* source, uint16_t* target, int64_t count) {
  for (int64_t i = 0; i < count; ++i) target[i] = float_to_fp16(source[i]);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void bf16_to_float_avx2(const uint16_t* source, float* target, int64_t count) {
  bf16_to_float_loop(source, target, count);
}
[[gnu::target("avx2")]] void float_to_bf16_avx2(const float* source, uint16_t* target, int64_t count) {
  float_to_bf16_loop(source, target, count);
}
[[gnu::target("avx,f16c")]] void fp16_to_float_f16c(const uint16_t* source, float* target, int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i in = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + i));
    _mm256_storeu_ps(target + i, _mm256_cvtph_ps(in));
  }
  for (; i < count; ++i) target[i] = fp16_to_float(source[i]);
}
[[gnu::target("avx,f16c")]] void float_to_fp16_f16c(const float* source, uint16_t* target, int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i out = _mm256_cvtps_ph(_mm256_loadu_ps(source + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(target + i), out);
  }
  for (; i < count; ++i) target[i] = float_to_fp16(source[i]);
}
bool has_avx2() { return __builtin_cpu_supports("avx2"); }
bool has_f16c() { return __builtin_cpu_supports("avx") && __builtin_cpu_supports("f16c"); }
#endif

template <class Source, class Target>
using Loop = void (*)(const Source*, Target*, int64_t);

struct Loops {
  Loop<uint16_t, float> bf16_in = bf16_to_float_any;
  Loop<float, uint16_t> bf16_out = float_to_bf16_any;
  Loop<uint16_t, float> fp16_in = fp16_to_float_any;
  Loop<float, uint16_t> fp16_out = float_to_fp16_any;

  Loops() {
#if defined(__x86_64__)
    if (has_avx2()) bf16_in = bf16_to_float_avx2, bf16_out = float_to_bf16_avx2;
    if (has_f16c()) fp16_in = fp16_to_float_f16c, fp16_out = float_to_fp16_f16c;
#endif
  }
};

const Loops& loops() {
  static const Loops chosen;
  return chosen;
}

constexpr int64_t kChunk = int64_t{1} << 18;  // elements a parallel step; large beside the cost of starting a thread

}  // namespace

void to_float(DataType type, const void* source, float* target, int64_t count) {
  if (count <= 0) return;
  const auto* halves = static_cast<const uint16_t*>(source);
  const auto* bytes = static_cast<const uint8_t*>(source);
  switch (type) {
    case DataType::kF32:
    case DataType::kTf32:
      std::memcpy(target, source, static_cast<size_t>(count) * sizeof(float));
      return;
    case DataType::kF16:
      loops().fp16_in(halves, target, count);
      return;
    case DataType::kBf16:
      loops().bf16_in(halves, target, count);
      return;
    case DataType::kE4m3:
      for (int64_t i = 0; i < count; ++i) target[i] = e4m3_to_float(bytes[i]);
      return;
    case DataType::kE5m2:
      for (int64_t i = 0; i < count; ++i) target[i] = e5m2_to_float(bytes[i]);
      return;
    case DataType::kE2m1:
      for (int64_t i = 0; i < count; ++i) target[i] = load(type, source, i);
      return;
    case DataType::kI8:
      for (int64_t i = 0; i < count; ++i) target[i] = static_cast<const int8_t*>(source)[i];
      return;
  }
}

void from_float(DataType type, const float* source, void* target, int64_t count) {
  if (count <= 0) return;
  auto* halves = static_cast<uint16_t*>(target);
  auto* bytes = static_cast<uint8_t*>(target);
  switch (type) {
    case DataType::kF32:
    case DataType::kTf32:
      std::memcpy(target, source, static_cast<size_t>(count) * sizeof(float));
      return;
    case DataType::kF16:
      loops().fp16_out(source, halves, count);
      return;
    case DataType::kBf16:
      loops().bf16_out(source, halves, count);
      return;
    case DataType::kE4m3:
      for (int64_t i = 0; i < count; ++i) bytes[i] = float_to_e4m3(source[i]);
      return;
    case DataType::kE5m2:
      for (int64_t i = 0; i < count; ++i) bytes[i] = float_to_e5m2(source[i]);
      return;
    case DataType::kE2m1:
      for (int64_t i = 0; i < count; ++i) store(type, target, i, source[i]);
      return;
    case DataType::kI8:
      for (int64_t i = 0; i < count; ++i) static_cast<int8_t*>(target)[i] = float_to_int8(source[i]);
      return;
  }
}

void parallel_to_float(DataType type, const void* source, float* target, int64_t count, int threads) {
  const auto* bytes = static_cast<const std::byte*>(source);
  parallel_for((count + kChunk - 1) / kChunk,
               [&](int64_t chunk) {
                 const int64_t begin = chunk * kChunk;
                 to_float(type, bytes + bytes_of(type, begin), target + begin, std::min(kChunk, count - begin));
               },
               threads);
}

void parallel_from_float(DataType type, const float* source, void* target, int64_t count, int threads) {
  auto* bytes = static_cast<std::byte*>(target);
  parallel_for((count + kChunk - 1) / kChunk,
               [&](int64_t chunk) {
                 const int64_t begin = chunk * kChunk;
                 from_float(type, source + begin, bytes + bytes_of(type, begin), std::min(kChunk, count - begin));
               },
               threads);
}

}  // namespace wt
