// SPDX-License-Identifier: Apache-2.0
// target/cuda/wgmma.h - asynchronous matrix products of a warpgroup (sm_90a): D (64, kN) in registers += A * B^T.
//
// A (64, k) comes from shared memory or registers, B (kN, k) from shared memory, both named by descriptors. k is 16 for
// 16-bit types, 8 for tf32, 32 for fp8. Accumulator i of a lane: row 16 * warp + lane / 4 + 8 * (i / 2 % 2), column
// 8 * (i / 4) + 2 * (lane % 4) + i % 2. Between wgmma_fence and the wait, nothing else may touch the accumulators.
#pragma once

#include "target/cuda/identity.h"
#include "target/wgmma_descriptor.h"

namespace wt::device {

WT_DEVICE void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
WT_DEVICE void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kPending>
WT_DEVICE void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}
// Keeps the compiler from moving uses of the accumulators into the asynchronous region.
template <int kCount>
WT_DEVICE void wgmma_hold(float (&d)[kCount]) {
  WT_UNROLL for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

// An accumulator's value in a register of its own. WHY: left to itself, the compiler puts copies of accumulators that
// change places among the products, which then wait for each other.
WT_DEVICE float wgmma_copy(float from) {
  float to;
  asm volatile("mov.f32 %0, %1;" : "=f"(to) : "f"(from));
  return to;
}

template <DataType kA, DataType kB, int kN>
struct Wgmma;

// Register lists by N: the text of operands %0 .. %(N/2-1), and their constraints.
#define WT_D(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define WT_R8 "%0, %1, %2, %3"
#define WT_R16 WT_R8 ", %4, %5, %6, %7"
#define WT_R24 WT_R16 ", %8, %9, %10, %11"
#define WT_R32 WT_R24 ", %12, %13, %14, %15"
#define WT_R40 WT_R32 ", %16, %17, %18, %19"
#define WT_R48 WT_R40 ", %20, %21, %22, %23"
#define WT_R56 WT_R48 ", %24, %25, %26, %27"
#define WT_R64 WT_R56 ", %28, %29, %30, %31"
#define WT_R72 WT_R64 ", %32, %33, %34, %35"
#define WT_R80 WT_R72 ", %36, %37, %38, %39"
#define WT_R88 WT_R80 ", %40, %41, %42, %43"
#define WT_R96 WT_R88 ", %44, %45, %46, %47"
#define WT_R104 WT_R96 ", %48, %49, %50, %51"
#define WT_R112 WT_R104 ", %52, %53, %54, %55"
#define WT_R120 WT_R112 ", %56, %57, %58, %59"
#define WT_R128 WT_R120 ", %60, %61, %62, %63"
#define WT_R136 WT_R128 ", %64, %65, %66, %67"
#define WT_R144 WT_R136 ", %68, %69, %70, %71"
#define WT_R152 WT_R144 ", %72, %73, %74, %75"
#define WT_R160 WT_R152 ", %76, %77, %78, %79"
#define WT_R168 WT_R160 ", %80, %81, %82, %83"
#define WT_R176 WT_R168 ", %84, %85, %86, %87"
#define WT_R184 WT_R176 ", %88, %89, %90, %91"
#define WT_R192 WT_R184 ", %92, %93, %94, %95"
#define WT_R200 WT_R192 ", %96, %97, %98, %99"
#define WT_R208 WT_R200 ", %100, %101, %102, %103"
#define WT_R216 WT_R208 ", %104, %105, %106, %107"
#define WT_R224 WT_R216 ", %108, %109, %110, %111"
#define WT_R232 WT_R224 ", %112, %113, %114, %115"
#define WT_R240 WT_R232 ", %116, %117, %118, %119"
#define WT_R248 WT_R240 ", %120, %121, %122, %123"
#define WT_R256 WT_R248 ", %124, %125, %126, %127"
#define WT_C8 WT_D(0)
#define WT_C16 WT_C8, WT_D(4)
#define WT_C24 WT_C16, WT_D(8)
#define WT_C32 WT_C24, WT_D(12)
#define WT_C40 WT_C32, WT_D(16)
#define WT_C48 WT_C40, WT_D(20)
#define WT_C56 WT_C48, WT_D(24)
#define WT_C64 WT_C56, WT_D(28)
#define WT_C72 WT_C64, WT_D(32)
#define WT_C80 WT_C72, WT_D(36)
#define WT_C88 WT_C80, WT_D(40)
#define WT_C96 WT_C88, WT_D(44)
#define WT_C104 WT_C96, WT_D(48)
#define WT_C112 WT_C104, WT_D(52)
#define WT_C120 WT_C112, WT_D(56)
#define WT_C128 WT_C120, WT_D(60)
#define WT_C136 WT_C128, WT_D(64)
#define WT_C144 WT_C136, WT_D(68)
#define WT_C152 WT_C144, WT_D(72)
#define WT_C160 WT_C152, WT_D(76)
#define WT_C168 WT_C160, WT_D(80)
#define WT_C176 WT_C168, WT_D(84)
#define WT_C184 WT_C176, WT_D(88)
#define WT_C192 WT_C184, WT_D(92)
#define WT_C200 WT_C192, WT_D(96)
#define WT_C208 WT_C200, WT_D(100)
#define WT_C216 WT_C208, WT_D(104)
#define WT_C224 WT_C216, WT_D(108)
#define WT_C232 WT_C224, WT_D(112)
#define WT_C240 WT_C232, WT_D(116)
#define WT_C248 WT_C240, WT_D(120)
#define WT_C256 WT_C248, WT_D(124)

// One N: a, b, c, e, f, g, h number the operands after the accumulators.
#define WT_SHARED_SHARED(n, types, k, tail, a, b, c, ...)                                                       \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #c                                                          \
               ", 0;\n"                                                                                         \
               "wgmma.mma_async.sync.aligned.m64n" #n "k" #k ".f32." types " {" WT_R##n "}, %" #a ", %" #b      \
                                                                                        ", p, 1, 1" tail ";\n}" \
               : WT_C##n                                                                                        \
               : "l"(desc_a), "l"(desc_b), "r"(static_cast<int>(accumulate))__VA_OPT__(, ) __VA_ARGS__)
#define WT_REGISTERS_SHARED(n, types, k, tail, a, b, c, e, f, g, ...)                         \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #g                                        \
               ", 0;\n"                                                                       \
               "wgmma.mma_async.sync.aligned.m64n" #n "k" #k ".f32." types " {" WT_R##n       \
               "}, {%" #a ", %" #b ", %" #c ", %" #e "}, %" #f ", p, 1, 1" tail ";\n}"        \
               : WT_C##n                                                                      \
               : "r"(a_regs[0]), "r"(a_regs[1]), "r"(a_regs[2]), "r"(a_regs[3]), "l"(desc_b), \
                 "r"(static_cast<int>(accumulate))__VA_OPT__(, ) __VA_ARGS__)

#define WT_WGMMA_HALF(type, text, n, a, b, c, e, f, g, h)                                                    \
  template <>                                                                                                \
  struct Wgmma<DataType::type, DataType::type, n> {                                                          \
    template <Major kMajorA, Major kMajorB>                                                                  \
    WT_DEVICE static void multiply(float (&d)[n / 2], u64 desc_a, u64 desc_b, bool accumulate) {             \
      WT_SHARED_SHARED(n, text "." text, 16, ", %" #e ", %" #f, a, b, c, "n"(static_cast<int>(kMajorA)),     \
                       "n"(static_cast<int>(kMajorB)));                                                      \
    }                                                                                                        \
    template <Major kMajorB>                                                                                 \
    WT_DEVICE static void multiply(float (&d)[n / 2], const u32 (&a_regs)[4], u64 desc_b, bool accumulate) { \
      WT_REGISTERS_SHARED(n, text "." text, 16, ", %" #h, a, b, c, e, f, g, "n"(static_cast<int>(kMajorB))); \
    }                                                                                                        \
  };
#define WT_WGMMA_OTHER(type_a, type_b, text, k, n, a, b, c, e, f, g, h)                                        \
  template <>                                                                                                  \
  struct Wgmma<DataType::type_a, DataType::type_b, n> {                                                        \
    template <Major kMajorA, Major kMajorB>                                                                    \
    WT_DEVICE static void multiply(float (&d)[n / 2], u64 desc_a, u64 desc_b, bool accumulate) {               \
      static_assert(kMajorA == Major::kK && kMajorB == Major::kK, "only 16-bit types have MN-major operands"); \
      WT_SHARED_SHARED(n, text, k, "", a, b, c);                                                               \
    }                                                                                                          \
    template <Major kMajorB>                                                                                   \
    WT_DEVICE static void multiply(float (&d)[n / 2], const u32 (&a_regs)[4], u64 desc_b, bool accumulate) {   \
      static_assert(kMajorB == Major::kK, "only 16-bit types have MN-major operands");                         \
      WT_REGISTERS_SHARED(n, text, k, "", a, b, c, e, f, g);                                                   \
    }                                                                                                          \
  };
#define WT_WGMMA(n, ...)                                        \
  WT_WGMMA_HALF(kBf16, "bf16", n, __VA_ARGS__)                  \
  WT_WGMMA_HALF(kF16, "f16", n, __VA_ARGS__)                    \
  WT_WGMMA_OTHER(kTf32, kTf32, "tf32.tf32", 8, n, __VA_ARGS__)  \
  WT_WGMMA_OTHER(kE4m3, kE4m3, "e4m3.e4m3", 32, n, __VA_ARGS__) \
  WT_WGMMA_OTHER(kE4m3, kE5m2, "e4m3.e5m2", 32, n, __VA_ARGS__) \
  WT_WGMMA_OTHER(kE5m2, kE4m3, "e5m2.e4m3", 32, n, __VA_ARGS__) \
  WT_WGMMA_OTHER(kE5m2, kE5m2, "e5m2.e5m2", 32, n, __VA_ARGS__)

WT_WGMMA(8, 4, 5, 6, 7, 8, 9, 10)
WT_WGMMA(16, 8, 9, 10, 11, 12, 13, 14)
WT_WGMMA(24, 12, 13, 14, 15, 16, 17, 18)
WT_WGMMA(32, 16, 17, 18, 19, 20, 21, 22)
WT_WGMMA(40, 20, 21, 22, 23, 24, 25, 26)
WT_WGMMA(48, 24, 25, 26, 27, 28, 29, 30)
WT_WGMMA(56, 28, 29, 30, 31, 32, 33, 34)
WT_WGMMA(64, 32, 33, 34, 35, 36, 37, 38)
WT_WGMMA(72, 36, 37, 38, 39, 40, 41, 42)
WT_WGMMA(80, 40, 41, 42, 43, 44, 45, 46)
WT_WGMMA(88, 44, 45, 46, 47, 48, 49, 50)
WT_WGMMA(96, 48, 49, 50, 51, 52, 53, 54)
WT_WGMMA(104, 52, 53, 54, 55, 56, 57, 58)
WT_WGMMA(112, 56, 57, 58, 59, 60, 61, 62)
WT_WGMMA(120, 60, 61, 62, 63, 64, 65, 66)
WT_WGMMA(128, 64, 65, 66, 67, 68, 69, 70)
WT_WGMMA(136, 68, 69, 70, 71, 72, 73, 74)
WT_WGMMA(144, 72, 73, 74, 75, 76, 77, 78)
WT_WGMMA(152, 76, 77, 78, 79, 80, 81, 82)
WT_WGMMA(160, 80, 81, 82, 83, 84, 85, 86)
WT_WGMMA(168, 84, 85, 86, 87, 88, 89, 90)
WT_WGMMA(176, 88, 89, 90, 91, 92, 93, 94)
WT_WGMMA(184, 92, 93, 94, 95, 96, 97, 98)
WT_WGMMA(192, 96, 97, 98, 99, 100, 101, 102)
WT_WGMMA(200, 100, 101, 102, 103, 104, 105, 106)
WT_WGMMA(208, 104, 105, 106, 107, 108, 109, 110)
WT_WGMMA(216, 108, 109, 110, 111, 112, 113, 114)
WT_WGMMA(224, 112, 113, 114, 115, 116, 117, 118)
WT_WGMMA(232, 116, 117, 118, 119, 120, 121, 122)
WT_WGMMA(240, 120, 121, 122, 123, 124, 125, 126)
WT_WGMMA(248, 124, 125, 126, 127, 128, 129, 130)
WT_WGMMA(256, 128, 129, 130, 131, 132, 133, 134)

#undef WT_WGMMA
#undef WT_WGMMA_HALF
#undef WT_WGMMA_OTHER
#undef WT_SHARED_SHARED
#undef WT_REGISTERS_SHARED

}  // namespace wt::device
