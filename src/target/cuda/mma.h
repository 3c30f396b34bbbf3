// SPDX-License-Identifier: Apache-2.0
// target/cuda/mma.h - mma.sync: one warp multiplies (kM, kK) by (kN, kK)^T into fp32, int8 into int32. Layouts:
// target/mma_layout.h.
#pragma once

#include "target/cuda/arithmetic.h"
#include "target/fma_tile.h"
#include "target/mma_layout.h"

namespace wt::device {

template <DataType kType, int kM, int kN, int kK>
struct Mma;

// Two neighbours along k as the register that the instruction takes.
template <class Half>
WT_DEVICE u32 pair(const Half& low, const Half& high) {
  return static_cast<u32>(low.bits) | static_cast<u32>(high.bits) << 16;
}

// Four neighbours.
WT_DEVICE u32 four(const I8& first, const I8& second, const I8& third, const I8& fourth) {
  return static_cast<u32>(first.bits) | static_cast<u32>(second.bits) << 8 | static_cast<u32>(third.bits) << 16 |
         static_cast<u32>(fourth.bits) << 24;
}

template <>
struct Mma<DataType::kI8, 16, 8, 32> : MmaSync16x8x32<I8> {
  WT_DEVICE static void multiply(i32 (&c)[4], const I8 (&a)[16], const I8 (&b)[8]) {
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(four(a[0], a[1], a[2], a[3])), "r"(four(a[4], a[5], a[6], a[7])),
                   "r"(four(a[8], a[9], a[10], a[11])), "r"(four(a[12], a[13], a[14], a[15])),
                   "r"(four(b[0], b[1], b[2], b[3])), "r"(four(b[4], b[5], b[6], b[7])));
  }
};

template <>
struct Mma<DataType::kBf16, 16, 8, 16> : MmaSync16x8x16<Bf16> {
  WT_DEVICE static void multiply(float (&c)[4], const Bf16 (&a)[8], const Bf16 (&b)[4]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(pair(a[0], a[1])), "r"(pair(a[2], a[3])), "r"(pair(a[4], a[5])), "r"(pair(a[6], a[7])),
          "r"(pair(b[0], b[1])), "r"(pair(b[2], b[3])));
  }
};

template <>
struct Mma<DataType::kF16, 16, 8, 16> : MmaSync16x8x16<F16> {
  WT_DEVICE static void multiply(float (&c)[4], const F16 (&a)[8], const F16 (&b)[4]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(pair(a[0], a[1])), "r"(pair(a[2], a[3])), "r"(pair(a[4], a[5])), "r"(pair(a[6], a[7])),
          "r"(pair(b[0], b[1])), "r"(pair(b[2], b[3])));
  }
};

template <>
struct Mma<DataType::kTf32, 16, 8, 8> : MmaSync16x8x8 {
  WT_DEVICE static void multiply(float (&c)[4], const float (&a)[4], const float (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])),
          "r"(__float_as_uint(a[3])), "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
  }
};

template <>
struct Mma<DataType::kF32, 16, 8, 8> : FmaTile<16, 8, 8> {};

// c[j] += a * b[j]^T for all j. WHY a name of its own: in the simulator the lanes of a warp then meet once for all of
// them.
template <class Instruction, int kCount>
WT_DEVICE void multiply_row(Sum<typename Instruction::Operand> (&c)[kCount][Instruction::kC],
                            const typename Instruction::Operand (&a)[Instruction::kA],
                            const typename Instruction::Operand (&b)[kCount][Instruction::kB]) {
  WT_UNROLL for (int j = 0; j < kCount; ++j) Instruction::multiply(c[j], a, b[j]);
}

}  // namespace wt::device
