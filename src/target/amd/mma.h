// SPDX-License-Identifier: Apache-2.0
// target/amd/mma.h - MFMA (CDNA) and WMMA (RDNA): one wave multiplies into fp32, int8 into int32. Layouts:
// target/mma_layout.h.
#pragma once

#include "target/amd/arithmetic.h"
#include "target/fma_tile.h"
#include "target/mma_layout.h"
#include "target/number.h"

namespace wt::device {

template <DataType kType, int kM, int kN, int kK>
struct Mma;

template <class T, int kCount>
using Simd = T __attribute__((ext_vector_type(kCount)));

// A fragment as the vector that the builtin takes, and the accumulator back and forth.
template <class V, class T, int kCount>
WT_DEVICE V packed(const T (&fragment)[kCount]) {
  static_assert(sizeof(V) == sizeof(T) * kCount);
  V result;
  __builtin_memcpy(&result, fragment, sizeof result);
  return result;
}
template <class V, class T, int kCount>
WT_DEVICE void unpack(const V& from, T (&to)[kCount]) {
  static_assert(sizeof(V) == sizeof(T) * kCount);
  __builtin_memcpy(to, &from, sizeof from);
}

#define WT_MMA(type, m, n, k, layout, operand, builtin, ...)                                                \
  template <>                                                                                               \
  struct Mma<DataType::type, m, n, k> : layout {                                                            \
    WT_DEVICE static void multiply(Sum<Operand> (&c)[kC], const Operand (&a)[kA], const Operand (&b)[kB]) { \
      unpack(builtin(packed<operand>(a), packed<operand>(b),                                                \
                     packed<Simd<Sum<Operand>, kC>>(c) __VA_OPT__(, ) __VA_ARGS__),                         \
             c);                                                                                            \
    }                                                                                                       \
  };

// gfx1250's take a sign for each operand before it, and whether A or B is the last instruction's behind them; all zero:
// as they are.
#define WT_SIGNED_MMA(type, m, n, k, layout, operand, builtin)                                               \
  template <>                                                                                                \
  struct Mma<DataType::type, m, n, k> : layout {                                                             \
    WT_DEVICE static void multiply(float (&c)[kC], const Operand (&a)[kA], const Operand (&b)[kB]) {         \
      unpack(builtin(0, packed<operand>(a), 0, packed<operand>(b), 0, packed<Simd<float, kC>>(c), 0, 0), c); \
    }                                                                                                        \
  };

// int8's say first of each operand that it has a sign, and last that nothing is held within int32.
#define WT_INTEGER_MMA(m, n, k, layout, operand, builtin)                                                      \
  template <>                                                                                                  \
  struct Mma<DataType::kI8, m, n, k> : layout {                                                                \
    WT_DEVICE static void multiply(i32 (&c)[kC], const Operand (&a)[kA], const Operand (&b)[kB]) {             \
      unpack(builtin(true, packed<operand>(a), true, packed<operand>(b), packed<Simd<i32, kC>>(c), false), c); \
    }                                                                                                          \
  };

// Its fp8 has no signs of A and B.
#define WT_PLAIN_MMA(type, m, n, k, layout, operand, builtin)                                          \
  template <>                                                                                          \
  struct Mma<DataType::type, m, n, k> : layout {                                                       \
    WT_DEVICE static void multiply(float (&c)[kC], const Operand (&a)[kA], const Operand (&b)[kB]) {   \
      unpack(builtin(packed<operand>(a), packed<operand>(b), 0, packed<Simd<float, kC>>(c), 0, 0), c); \
    }                                                                                                  \
  };

#define WT_COMMA ,
#if defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__)
WT_MMA(kF16, 32, 32, 8, Mfma32x32x8<F16>, Simd<_Float16 WT_COMMA 4>, __builtin_amdgcn_mfma_f32_32x32x8f16, 0, 0, 0)
WT_MMA(kF16, 16, 16, 16, Mfma16x16x16<F16>, Simd<_Float16 WT_COMMA 4>, __builtin_amdgcn_mfma_f32_16x16x16f16, 0, 0, 0)
WT_MMA(kBf16, 32, 32, 8, Mfma32x32x8<Bf16>, Simd<short WT_COMMA 4>, __builtin_amdgcn_mfma_f32_32x32x8bf16_1k, 0, 0, 0)
WT_MMA(kBf16, 16, 16, 16, Mfma16x16x16<Bf16>, Simd<short WT_COMMA 4>, __builtin_amdgcn_mfma_f32_16x16x16bf16_1k, 0, 0,
       0)
#if defined(__gfx90a__)
WT_MMA(kI8, 32, 32, 8, Mfma32x32x8<I8>, int, __builtin_amdgcn_mfma_i32_32x32x8i8, 0, 0, 0)
WT_MMA(kI8, 16, 16, 16, Mfma16x16x16<I8>, int, __builtin_amdgcn_mfma_i32_16x16x16i8, 0, 0, 0)
#else
WT_MMA(kI8, 32, 32, 16, Mfma32x32x16<I8>, long, __builtin_amdgcn_mfma_i32_32x32x16_i8, 0, 0, 0)
WT_MMA(kI8, 16, 16, 32, Mfma16x16x32<I8>, long, __builtin_amdgcn_mfma_i32_16x16x32_i8, 0, 0, 0)
#endif
#if defined(__gfx942__)
WT_MMA(kE4m3, 32, 32, 16, Mfma32x32x16<E4m3Fnuz>, long, __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8, 0, 0, 0)
WT_MMA(kE4m3, 16, 16, 32, Mfma16x16x32<E4m3Fnuz>, long, __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8, 0, 0, 0)
#elif defined(__gfx950__)
WT_MMA(kE4m3, 32, 32, 16, Mfma32x32x16<E4m3>, long, __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8, 0, 0, 0)
WT_MMA(kE4m3, 16, 16, 32, Mfma16x16x32<E4m3>, long, __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8, 0, 0, 0)
// Formats of both operands (0: e4m3), then byte and value of A's and B's block scales; all zero: the form without.
WT_MMA(kE4m3, 32, 32, 64, Mfma32x32x64<E4m3>, Simd<int WT_COMMA 8>, __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4, 0,
       0, 0, 0, 0, 0)
WT_MMA(kE4m3, 16, 16, 128, Mfma16x16x128<E4m3>, Simd<int WT_COMMA 8>, __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4,
       0, 0, 0, 0, 0, 0)
WT_MMA(kF16, 32, 32, 16, Mfma32x32x16<F16>, Simd<_Float16 WT_COMMA 8>, __builtin_amdgcn_mfma_f32_32x32x16_f16, 0, 0, 0)
WT_MMA(kF16, 16, 16, 32, Mfma16x16x32<F16>, Simd<_Float16 WT_COMMA 8>, __builtin_amdgcn_mfma_f32_16x16x32_f16, 0, 0, 0)
WT_MMA(kBf16, 32, 32, 16, Mfma32x32x16<Bf16>, Simd<__bf16 WT_COMMA 8>, __builtin_amdgcn_mfma_f32_32x32x16_bf16, 0, 0, 0)
WT_MMA(kBf16, 16, 16, 32, Mfma16x16x32<Bf16>, Simd<__bf16 WT_COMMA 8>, __builtin_amdgcn_mfma_f32_16x16x32_bf16, 0, 0, 0)
#endif
template <>
struct Mma<DataType::kF32, 16, 16, 4> : Mfma16x16x4 {
  WT_DEVICE static void multiply(float (&c)[kC], const float (&a)[kA], const float (&b)[kB]) {
    unpack(__builtin_amdgcn_mfma_f32_16x16x4f32(a[0], b[0], packed<Simd<float, kC>>(c), 0, 0, 0), c);
  }
};
// WHY the same unit: these targets have no tf32 matrix instruction (gfx942's xf32 rounds differently), and fp32
// products of operands rounded to tf32 are exact.
template <>
struct Mma<DataType::kTf32, 16, 16, 4> : Mma<DataType::kF32, 16, 16, 4> {};
#elif defined(__GFX11__)
WT_MMA(kF16, 16, 16, 16, Wmma16x16x16Rdna3<F16>, Simd<_Float16 WT_COMMA 16>, __builtin_amdgcn_wmma_f32_16x16x16_f16_w32)
WT_MMA(kBf16, 16, 16, 16, Wmma16x16x16Rdna3<Bf16>, Simd<short WT_COMMA 16>, __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32)
WT_INTEGER_MMA(16, 16, 16, Wmma16x16x16Rdna3<I8>, Simd<int WT_COMMA 4>, __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32)
#elif defined(__gfx1250__)
template <>
struct Mma<DataType::kI8, 16, 16, 4> : FmaTile<16, 16, 4, I8> {};
WT_SIGNED_MMA(kF16, 16, 16, 32, Wmma16x16x32<F16>, Simd<_Float16 WT_COMMA 16>, __builtin_amdgcn_wmma_f32_16x16x32_f16)
WT_SIGNED_MMA(kBf16, 16, 16, 32, Wmma16x16x32<Bf16>, Simd<__bf16 WT_COMMA 16>, __builtin_amdgcn_wmma_f32_16x16x32_bf16)
WT_PLAIN_MMA(kE4m3, 16, 16, 64, Wmma16x16x64<E4m3>, Simd<int WT_COMMA 8>, __builtin_amdgcn_wmma_f32_16x16x64_fp8_fp8)
WT_PLAIN_MMA(kE5m2, 16, 16, 64, Wmma16x16x64<E5m2>, Simd<int WT_COMMA 8>, __builtin_amdgcn_wmma_f32_16x16x64_bf8_bf8)
#else
WT_INTEGER_MMA(16, 16, 16, Wmma16x16x16Rdna4<I8>, Simd<int WT_COMMA 2>,
               __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12)
WT_MMA(kE4m3, 16, 16, 16, Wmma16x16x16Rdna4<E4m3>, Simd<int WT_COMMA 2>,
       __builtin_amdgcn_wmma_f32_16x16x16_fp8_fp8_w32_gfx12)
WT_MMA(kE5m2, 16, 16, 16, Wmma16x16x16Rdna4<E5m2>, Simd<int WT_COMMA 2>,
       __builtin_amdgcn_wmma_f32_16x16x16_bf8_bf8_w32_gfx12)
WT_MMA(kF16, 16, 16, 16, Wmma16x16x16Rdna4<F16>, Simd<_Float16 WT_COMMA 8>,
       __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12)
WT_MMA(kBf16, 16, 16, 16, Wmma16x16x16Rdna4<Bf16>, Simd<short WT_COMMA 8>,
       __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12)
#endif
#if !defined(__GFX9__)
template <>
struct Mma<DataType::kF32, 16, 16, 4> : FmaTile<16, 16, 4> {};
template <>
struct Mma<DataType::kTf32, 16, 16, 4> : FmaTile<16, 16, 4> {};
#endif
#undef WT_COMMA
#undef WT_INTEGER_MMA
#undef WT_SIGNED_MMA
#undef WT_PLAIN_MMA
#undef WT_MMA

// c[j] += a * b[j]^T for all j. WHY a name of its own: in the simulator the lanes of a warp then meet once for all of
// them.
template <class Instruction, int kCount>
WT_DEVICE void multiply_row(Sum<typename Instruction::Operand> (&c)[kCount][Instruction::kC],
                            const typename Instruction::Operand (&a)[Instruction::kA],
                            const typename Instruction::Operand (&b)[kCount][Instruction::kB]) {
  WT_UNROLL for (int j = 0; j < kCount; ++j) Instruction::multiply(c[j], a, b[j]);
}

}  // namespace wt::device
