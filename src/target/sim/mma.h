// SPDX-License-Identifier: Apache-2.0
// target/sim/mma.h - matrix instructions of one warp: (kM, kK) by (kN, kK)^T into fp32.
//
// Interface: target/cuda/mma.h. The layouts here are what kernels are compiled with; runtime/sim/mma.cc holds the
// emulation's own, written from the vendors' manuals, and a test compares the two.
#pragma once

#include "target/fma_tile.h"
#include "target/sim/arithmetic.h"

namespace wt::device {

// NVIDIA mma.sync m16n8k16, fp16 and bf16.
template <class Half, sim::MmaKind kKind> struct MmaSyncHalf {
  using Operand = Half;
  static constexpr int kA = 8, kB = 4, kC = 4, kRun = 2;
  static constexpr int a_row(int lane, int e) { return lane / 4 + 8 * ((e >> 1) & 1); }
  static constexpr int a_k(int lane, int e) { return lane % 4 * 2 + (e & 1) + 8 * (e >> 2); }
  static constexpr int b_col(int lane, int) { return lane / 4; }
  static constexpr int b_k(int lane, int e) { return lane % 4 * 2 + (e & 1) + 8 * (e >> 1); }
  static constexpr int c_row(int lane, int e) { return lane / 4 + 8 * (e >> 1); }
  static constexpr int c_col(int lane, int e) { return lane % 4 * 2 + (e & 1); }

  WT_DEVICE static void multiply(float (&c)[4], const Half (&a)[8], const Half (&b)[4], WT_SITE) {
    sim::table->mma(kKind, c, a, b, site);
  }
};

// NVIDIA mma.sync m16n8k8, tf32: operands already rounded.
struct MmaSyncTf32 {
  using Operand = float;
  static constexpr int kA = 4, kB = 2, kC = 4, kRun = 1;
  static constexpr int a_row(int lane, int e) { return lane / 4 + 8 * (e & 1); }
  static constexpr int a_k(int lane, int e) { return lane % 4 + 4 * (e >> 1); }
  static constexpr int b_col(int lane, int) { return lane / 4; }
  static constexpr int b_k(int lane, int e) { return lane % 4 + 4 * e; }
  static constexpr int c_row(int lane, int e) { return lane / 4 + 8 * (e >> 1); }
  static constexpr int c_col(int lane, int e) { return lane % 4 * 2 + (e & 1); }

  WT_DEVICE static void multiply(float (&c)[4], const float (&a)[4], const float (&b)[2], WT_SITE) {
    sim::table->mma(sim::MmaKind::kM16n8k8Tf32, c, a, b, site);
  }
};

// AMD CDNA matrix cores, 64 lanes; kSize is 32 or 16, and a lane holds kRuns consecutive values along k.
template <class T, int kSize, int kRuns, sim::MmaKind kKind> struct Mfma {
  using Operand = T;
  static constexpr int kA = kRuns, kB = kRuns, kC = kSize * kSize / 64, kRun = kRuns;
  static constexpr int a_row(int lane, int) { return lane % kSize; }
  static constexpr int a_k(int lane, int e) { return lane / kSize * kRuns + e; }
  static constexpr int b_col(int lane, int) { return lane % kSize; }
  static constexpr int b_k(int lane, int e) { return lane / kSize * kRuns + e; }
  static constexpr int c_row(int lane, int e) { return e / 4 * (4 * 64 / kSize) + lane / kSize * 4 + e % 4; }
  static constexpr int c_col(int lane, int) { return lane % kSize; }

  WT_DEVICE static void multiply(float (&c)[kC], const T (&a)[kA], const T (&b)[kB], WT_SITE) {
    sim::table->mma(kKind, c, a, b, site);
  }
};

// AMD RDNA3: both halves of the wave hold A and B in full.
template <class Half, sim::MmaKind kKind> struct WmmaReplicated {
  using Operand = Half;
  static constexpr int kA = 16, kB = 16, kC = 8, kRun = 16;
  static constexpr int a_row(int lane, int) { return lane % 16; }
  static constexpr int a_k(int, int e) { return e; }
  static constexpr int b_col(int lane, int) { return lane % 16; }
  static constexpr int b_k(int, int e) { return e; }
  static constexpr int c_row(int lane, int e) { return 2 * e + lane / 16; }
  static constexpr int c_col(int lane, int) { return lane % 16; }

  WT_DEVICE static void multiply(float (&c)[8], const Half (&a)[16], const Half (&b)[16], WT_SITE) {
    sim::table->mma(kKind, c, a, b, site);
  }
};

// AMD RDNA4: the halves of the wave share the values along k.
template <class Half, sim::MmaKind kKind> struct WmmaSplit {
  using Operand = Half;
  static constexpr int kA = 8, kB = 8, kC = 8, kRun = 8;
  static constexpr int a_row(int lane, int) { return lane % 16; }
  static constexpr int a_k(int lane, int e) { return lane / 16 * 8 + e; }
  static constexpr int b_col(int lane, int) { return lane % 16; }
  static constexpr int b_k(int lane, int e) { return lane / 16 * 8 + e; }
  static constexpr int c_row(int lane, int e) { return lane / 16 * 8 + e; }
  static constexpr int c_col(int lane, int) { return lane % 16; }

  WT_DEVICE static void multiply(float (&c)[8], const Half (&a)[8], const Half (&b)[8], WT_SITE) {
    sim::table->mma(kKind, c, a, b, site);
  }
};

inline constexpr bool kNvidia = kTarget == Target::kSm80 || kTarget == Target::kSm90a || kTarget == Target::kSm100a;
inline constexpr bool kCdna = kWarpSize == 64;
inline constexpr bool kRdna3 = kTarget == Target::kGfx1100;
inline constexpr bool kRdna4 = kTarget == Target::kGfx1201;

// An instruction that the target lacks stays undefined, as it is on the real target.
template <bool kPresent, class Instruction> struct Present;
template <class Instruction> struct Present<true, Instruction> { using Type = Instruction; };
template <DataType kType, int kM, int kN, int kK> struct MmaOf;
template <DataType kType, int kM, int kN, int kK> struct Mma : MmaOf<kType, kM, kN, kK>::Type {};

template <> struct MmaOf<DataType::kF16, 16, 8, 16>
    : Present<kNvidia, MmaSyncHalf<F16, sim::MmaKind::kM16n8k16F16>> {};
template <> struct MmaOf<DataType::kBf16, 16, 8, 16>
    : Present<kNvidia, MmaSyncHalf<Bf16, sim::MmaKind::kM16n8k16Bf16>> {};
template <> struct MmaOf<DataType::kTf32, 16, 8, 8> : Present<kNvidia, MmaSyncTf32> {};
template <> struct MmaOf<DataType::kF32, 16, 8, 8> : Present<kWarpSize == 32, FmaTile<16, 8, 8>> {};

template <> struct MmaOf<DataType::kF16, 32, 32, 8> : Present<kCdna, Mfma<F16, 32, 4, sim::MmaKind::kMfma32x32x8F16>> {};
template <> struct MmaOf<DataType::kBf16, 32, 32, 8>
    : Present<kCdna, Mfma<Bf16, 32, 4, sim::MmaKind::kMfma32x32x8Bf16>> {};
template <> struct MmaOf<DataType::kF32, 16, 16, 4> : Present<kCdna, Mfma<float, 16, 1, sim::MmaKind::kMfma16x16x4F32>> {};

// 16x16x16 has a different layout in every generation.
template <class Half, sim::MmaKind kCdnaKind, sim::MmaKind kRdna3Kind, sim::MmaKind kRdna4Kind> struct Mma16x16x16 {
  static constexpr auto choose() {
    if constexpr (kCdna) return Present<true, Mfma<Half, 16, 4, kCdnaKind>>{};
    else if constexpr (kRdna3) return Present<true, WmmaReplicated<Half, kRdna3Kind>>{};
    else return Present<kRdna4, WmmaSplit<Half, kRdna4Kind>>{};
  }
  using Type = typename decltype(choose())::Type;
};
template <> struct MmaOf<DataType::kF16, 16, 16, 16>
    : Mma16x16x16<F16, sim::MmaKind::kMfma16x16x16F16, sim::MmaKind::kWmma16x16x16F16Gfx11,
                  sim::MmaKind::kWmma16x16x16F16Gfx12> {};
template <> struct MmaOf<DataType::kBf16, 16, 16, 16>
    : Mma16x16x16<Bf16, sim::MmaKind::kMfma16x16x16Bf16, sim::MmaKind::kWmma16x16x16Bf16Gfx11,
                  sim::MmaKind::kWmma16x16x16Bf16Gfx12> {};

}  // namespace wt::device
