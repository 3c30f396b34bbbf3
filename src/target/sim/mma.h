// SPDX-License-Identifier: Apache-2.0
// target/sim/mma.h - matrix instructions of one warp: (kM, kK) by (kN, kK)^T into fp32, int8 into int32. Layouts:
// target/mma_layout.h.
//
// runtime/sim/mma.cc holds the emulation's own layouts, written from the vendors' manuals; a test compares the two.
#pragma once

#include "target/fma_tile.h"
#include "target/mma_layout.h"
#include "target/number.h"
#include "target/sim/arithmetic.h"

namespace wt::device {

inline constexpr bool kNvidia = is_nvidia(kTarget);
inline constexpr bool kCdna = kWarpSize == 64;
inline constexpr bool kFnuz = kTarget == Target::kGfx942;  // whose matrix unit reads FNUZ numbers
inline constexpr bool kCdna3 = kTarget == Target::kGfx942 || kTarget == Target::kGfx950;  // or later
inline constexpr bool kCdna4 = kTarget == Target::kGfx950;
inline constexpr bool kRdna3 = kTarget == Target::kGfx1100;
inline constexpr bool kRdna4 = kTarget == Target::kGfx1201;
inline constexpr bool kGfx1250 = kTarget == Target::kGfx1250;

template <class Layout, sim::MmaKind kKind>
struct MmaInstruction : Layout {
  using Sums = Sum<typename Layout::Operand>;
  WT_DEVICE static void multiply(Sums (&c)[Layout::kC], const typename Layout::Operand (&a)[Layout::kA],
                                 const typename Layout::Operand (&b)[Layout::kB], WT_SITE) {
    sim::table->mma(kKind, 1, sums(c), a, b, site);
  }
  // kCount products that share A. WHY: lanes meet once instead of kCount times, which is most of the cost here.
  template <int kCount>
  WT_DEVICE static void multiply_row(Sums (&c)[kCount][Layout::kC], const typename Layout::Operand (&a)[Layout::kA],
                                     const typename Layout::Operand (&b)[kCount][Layout::kB], WT_SITE) {
    sim::table->mma(kKind, kCount, sums(c[0]), a, b[0], site);
  }

 private:
  // WHY: 32 bits each; the emulation knows by the instruction what they are.
  static float* sums(Sums (&c)[Layout::kC]) { return reinterpret_cast<float*>(c); }
};

// An instruction that the simulated target lacks stays undefined, as it is on the target itself.
template <bool kPresent, class Instruction>
struct Present {};
template <class Instruction>
struct Present<true, Instruction> {
  using Type = Instruction;
};
template <bool kFirst, class First, class Second>
struct Either : First {};
template <class First, class Second>
struct Either<false, First, Second> : Second {};

template <DataType kType, int kM, int kN, int kK>
struct MmaOf;
template <DataType kType, int kM, int kN, int kK>
struct Mma : MmaOf<kType, kM, kN, kK>::Type {};

using sim::MmaKind;

// c[j] += a * b[j]^T for all j: one call of the instruction's own multiply_row where it has one.
template <class Instruction, int kCount>
WT_DEVICE void multiply_row(Sum<typename Instruction::Operand> (&c)[kCount][Instruction::kC],
                            const typename Instruction::Operand (&a)[Instruction::kA],
                            const typename Instruction::Operand (&b)[kCount][Instruction::kB], WT_SITE) {
  if constexpr (requires { Instruction::multiply_row(c, a, b, site); }) {
    Instruction::multiply_row(c, a, b, site);
  } else {
    for (int j = 0; j < kCount; ++j) Instruction::multiply(c[j], a, b[j]);
  }
}

template <>
struct MmaOf<DataType::kF16, 16, 8, 16> : Present<kNvidia, MmaInstruction<MmaSync16x8x16<F16>, MmaKind::kM16n8k16F16>> {
};
template <>
struct MmaOf<DataType::kBf16, 16, 8, 16>
    : Present<kNvidia, MmaInstruction<MmaSync16x8x16<Bf16>, MmaKind::kM16n8k16Bf16>> {};
template <>
struct MmaOf<DataType::kTf32, 16, 8, 8> : Present<kNvidia, MmaInstruction<MmaSync16x8x8, MmaKind::kM16n8k8Tf32>> {};
template <>
struct MmaOf<DataType::kF32, 16, 8, 8> : Present<kNvidia, FmaTile<16, 8, 8>> {};

template <>
struct MmaOf<DataType::kF16, 32, 32, 8> : Present<kCdna, MmaInstruction<Mfma32x32x8<F16>, MmaKind::kMfma32x32x8F16>> {};
template <>
struct MmaOf<DataType::kBf16, 32, 32, 8>
    : Present<kCdna, MmaInstruction<Mfma32x32x8<Bf16>, MmaKind::kMfma32x32x8Bf16>> {};
template <>
struct MmaOf<DataType::kE4m3, 32, 32, 16>
    : Either<kFnuz, Present<true, MmaInstruction<Mfma32x32x16<E4m3Fnuz>, MmaKind::kMfma32x32x16E4m3Fnuz>>,
             Present<kCdna4, MmaInstruction<Mfma32x32x16<E4m3>, MmaKind::kMfma32x32x16E4m3>>> {};
template <>
struct MmaOf<DataType::kE4m3, 16, 16, 32>
    : Either<kFnuz, Present<true, MmaInstruction<Mfma16x16x32<E4m3Fnuz>, MmaKind::kMfma16x16x32E4m3Fnuz>>,
             Present<kCdna4, MmaInstruction<Mfma16x16x32<E4m3>, MmaKind::kMfma16x16x32E4m3>>> {};
template <>
struct MmaOf<DataType::kE4m3, 32, 32, 64>
    : Present<kCdna4, MmaInstruction<Mfma32x32x64<E4m3>, MmaKind::kMfma32x32x64E4m3>> {};
template <>
struct MmaOf<DataType::kE4m3, 16, 16, 128>
    : Present<kCdna4, MmaInstruction<Mfma16x16x128<E4m3>, MmaKind::kMfma16x16x128E4m3>> {};
template <>
struct MmaOf<DataType::kF16, 32, 32, 16>
    : Present<kCdna4, MmaInstruction<Mfma32x32x16<F16>, MmaKind::kMfma32x32x16F16>> {};
template <>
struct MmaOf<DataType::kF16, 16, 16, 32>
    : Either<kCdna4, Present<true, MmaInstruction<Mfma16x16x32<F16>, MmaKind::kMfma16x16x32F16>>,
             Present<kGfx1250, MmaInstruction<Wmma16x16x32<F16>, MmaKind::kWmma16x16x32F16>>> {};
template <>
struct MmaOf<DataType::kBf16, 32, 32, 16>
    : Present<kCdna4, MmaInstruction<Mfma32x32x16<Bf16>, MmaKind::kMfma32x32x16Bf16>> {};
template <>
struct MmaOf<DataType::kBf16, 16, 16, 32>
    : Either<kCdna4, Present<true, MmaInstruction<Mfma16x16x32<Bf16>, MmaKind::kMfma16x16x32Bf16>>,
             Present<kGfx1250, MmaInstruction<Wmma16x16x32<Bf16>, MmaKind::kWmma16x16x32Bf16>>> {};
template <>
struct MmaOf<DataType::kE4m3, 16, 16, 64>
    : Present<kGfx1250, MmaInstruction<Wmma16x16x64<E4m3>, MmaKind::kWmma16x16x64E4m3>> {};
template <>
struct MmaOf<DataType::kE5m2, 16, 16, 64>
    : Present<kGfx1250, MmaInstruction<Wmma16x16x64<E5m2>, MmaKind::kWmma16x16x64E5m2>> {};
template <>
struct MmaOf<DataType::kE4m3, 16, 16, 16>
    : Present<kRdna4, MmaInstruction<Wmma16x16x16Rdna4<E4m3>, MmaKind::kWmma16x16x16E4m3>> {};
template <>
struct MmaOf<DataType::kE5m2, 16, 16, 16>
    : Present<kRdna4, MmaInstruction<Wmma16x16x16Rdna4<E5m2>, MmaKind::kWmma16x16x16E5m2>> {};
// 16x16x16 is laid out differently in each of AMD's generations.
template <>
struct MmaOf<DataType::kF16, 16, 16, 16>
    : Either<kCdna, Present<true, MmaInstruction<Mfma16x16x16<F16>, MmaKind::kMfma16x16x16F16>>,
             Either<kRdna3, Present<true, MmaInstruction<Wmma16x16x16Rdna3<F16>, MmaKind::kWmma16x16x16F16Gfx11>>,
                    Present<kRdna4, MmaInstruction<Wmma16x16x16Rdna4<F16>, MmaKind::kWmma16x16x16F16Gfx12>>>> {};
template <>
struct MmaOf<DataType::kBf16, 16, 16, 16>
    : Either<kCdna, Present<true, MmaInstruction<Mfma16x16x16<Bf16>, MmaKind::kMfma16x16x16Bf16>>,
             Either<kRdna3, Present<true, MmaInstruction<Wmma16x16x16Rdna3<Bf16>, MmaKind::kWmma16x16x16Bf16Gfx11>>,
                    Present<kRdna4, MmaInstruction<Wmma16x16x16Rdna4<Bf16>, MmaKind::kWmma16x16x16Bf16Gfx12>>>> {};
template <>
struct MmaOf<DataType::kF32, 16, 16, 4>
    : Either<kCdna, Present<true, MmaInstruction<Mfma16x16x4, MmaKind::kMfma16x16x4F32>>,
             Present<!kNvidia, FmaTile<16, 16, 4>>> {};
template <>
struct MmaOf<DataType::kTf32, 16, 16, 4> : MmaOf<DataType::kF32, 16, 16, 4> {};

// int8: CDNA's forms differ between MI200 and later ones, RDNA's as those of other types do.
template <>
struct MmaOf<DataType::kI8, 16, 8, 32> : Present<kNvidia, MmaInstruction<MmaSync16x8x32<I8>, MmaKind::kM16n8k32I8>> {};
template <>
struct MmaOf<DataType::kI8, 32, 32, 8>
    : Present<kCdna && !kCdna3, MmaInstruction<Mfma32x32x8<I8>, MmaKind::kMfma32x32x8I8>> {};
template <>
struct MmaOf<DataType::kI8, 32, 32, 16> : Present<kCdna3, MmaInstruction<Mfma32x32x16<I8>, MmaKind::kMfma32x32x16I8>> {
};
template <>
struct MmaOf<DataType::kI8, 16, 16, 32> : Present<kCdna3, MmaInstruction<Mfma16x16x32<I8>, MmaKind::kMfma16x16x32I8>> {
};
template <>
struct MmaOf<DataType::kI8, 16, 16, 16>
    : Either<kCdna, Present<!kCdna3, MmaInstruction<Mfma16x16x16<I8>, MmaKind::kMfma16x16x16I8>>,
             Either<kRdna3, Present<true, MmaInstruction<Wmma16x16x16Rdna3<I8>, MmaKind::kWmma16x16x16I8Gfx11>>,
                    Present<kRdna4, MmaInstruction<Wmma16x16x16Rdna4<I8>, MmaKind::kWmma16x16x16I8Gfx12>>>> {};
template <>
struct MmaOf<DataType::kI8, 16, 16, 4> : Present<kGfx1250, FmaTile<16, 16, 4, I8>> {};

}  // namespace wt::device
