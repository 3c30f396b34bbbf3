// SPDX-License-Identifier: Apache-2.0
// target/sim/wgmma.h - asynchronous matrix products of a warpgroup. Words: target/cuda/wgmma.h.
#pragma once

#include "target/sim/barrier.h"
#include "target/sim/matrix.h"
#include "target/sim/mma.h"
#include "target/warpgroup_mma.h"

namespace wt::device {

WT_DEVICE void wgmma_fence(WT_SITE) {
  if constexpr (has_wgmma(kTarget)) sim::table->wgmma_fence(site);
}
WT_DEVICE void wgmma_commit(WT_SITE) {
  if constexpr (has_wgmma(kTarget)) sim::table->wgmma_commit(site);
}
template <int kPending>
WT_DEVICE void wgmma_wait(WT_SITE) {
  if constexpr (has_wgmma(kTarget)) {
    sim::table->wgmma_wait(kPending, site);
  } else {
    sync_warp(site);  // as target/cuda/warpgroup_mma.h has it
  }
}
template <int kCount>
WT_DEVICE void wgmma_hold(float (&d)[kCount]) {
  asm volatile("" : : "r"(&d[0]) : "memory");
}

WT_DEVICE float wgmma_copy(float from) { return from; }

template <DataType kA, DataType kB, int kN>
struct WgmmaInstruction {
  static constexpr bool kHalf = kA == DataType::kBf16 || kA == DataType::kF16;
  static constexpr bool kEight = kA == DataType::kE4m3 || kA == DataType::kE5m2;
  static_assert(kN % 8 == 0 && kN >= 8 && kN <= 256, "N is a multiple of 8 up to 256");
  static_assert(kHalf || kEight || kA == DataType::kTf32, "A is bf16, fp16, tf32 or fp8");
  static_assert(kA == kB || (kEight && (kB == DataType::kE4m3 || kB == DataType::kE5m2)), "only fp8 types mix");

  template <Major kMajorA, Major kMajorB>
  WT_DEVICE static void multiply(float (&d)[kN / 2], u64 desc_a, u64 desc_b, bool accumulate, WT_SITE) {
    static_assert(kHalf || (kMajorA == Major::kK && kMajorB == Major::kK), "only 16-bit types have MN-major operands");
    sim::table->wgmma(
        {kA, kB, kN, kMajorA == Major::kMn, kMajorB == Major::kMn, accumulate, nullptr, desc_a, desc_b, d}, site);
  }
  template <Major kMajorB>
  WT_DEVICE static void multiply(float (&d)[kN / 2], const u32 (&a_regs)[4], u64 desc_b, bool accumulate, WT_SITE) {
    static_assert(kHalf || kMajorB == Major::kK, "only 16-bit types have MN-major operands");
    sim::table->wgmma({kA, kB, kN, false, kMajorB == Major::kMn, accumulate, a_regs, 0, desc_b, d}, site);
  }
};

template <DataType kA, DataType kB, int kN>
struct Wgmma : Either<has_wgmma(kTarget), WgmmaInstruction<kA, kB, kN>, WarpgroupMma<kA, kB, kN>> {};

}  // namespace wt::device
