// SPDX-License-Identifier: Apache-2.0
// conformance/device/wgmma.h - a warpgroup's product over raw shared memory or raw registers; dumps raw accumulators.
#pragma once

#include "conformance/device/arguments.h"
#include "target/hopper.h"

namespace wt::probe {

using namespace wt::device;

// D = sum over `count` products. The input holds A's bytes as shared memory gets them, then B's. With kRegisters it
// holds each thread's four registers of A, product after product, instead. Out: each thread's kN / 2 accumulators.
template <DataType kA, DataType kB, int kN, Major kMajorA, Major kMajorB, bool kRegisters>
struct Product {
  static constexpr int kThreads = 128, kMinBlocks = 1;
  using Params = probe::Params;
  WT_DEVICE static void run(const Params& p) {
    const SharedAddress a = (shared_base() + 1023) & ~1023u;
    const SharedAddress b = kRegisters ? a : (a + static_cast<u32>(p.bytes_a) + 1023) & ~1023u;
    const int t = thread_index();
    if constexpr (!kRegisters) copy(a, p.in, p.bytes_a);
    copy(b, p.in + p.bytes_a, p.bytes - p.bytes_a);
    fence_async_shared();
    sync_block();
    float d[kN / 2];
    WT_UNROLL for (int i = 0; i < kN / 2; ++i) d[i] = 7;  // the first product overwrites it
    using Instruction = Wgmma<kA, kB, kN>;
    WT_ROLLED for (int k = 0; k < p.count; ++k) {
      const u64 desc_b = wgmma_descriptor(b + static_cast<u32>(k * p.step_b), static_cast<u32>(p.leading_b),
                                          static_cast<u32>(p.stride_b), static_cast<DescriptorSwizzle>(p.swizzle_b));
      u32 registers[4];
      if constexpr (kRegisters) {
        WT_UNROLL for (int r = 0; r < 4; ++r) registers[r] =
            load_global(reinterpret_cast<const u32*>(p.in) + (k * kThreads + t) * 4 + r);
      }
      wgmma_hold(d);
      wgmma_fence();
      if constexpr (kRegisters) {
        Instruction::template multiply<kMajorB>(d, registers, desc_b, k != 0);
      } else {
        const u64 desc_a = wgmma_descriptor(a + static_cast<u32>(k * p.step_a), static_cast<u32>(p.leading_a),
                                            static_cast<u32>(p.stride_a), static_cast<DescriptorSwizzle>(p.swizzle_a));
        Instruction::template multiply<kMajorA, kMajorB>(d, desc_a, desc_b, k != 0);
      }
      wgmma_commit();
      wgmma_wait<0>();
      wgmma_hold(d);
    }
    WT_UNROLL for (int i = 0; i < kN / 2; ++i) store_global(reinterpret_cast<float*>(p.out) + t * (kN / 2) + i, d[i]);
  }

 private:
  WT_DEVICE static void copy(SharedAddress to, const u8* from, int bytes) {
    for (int i = thread_index(); i < bytes / 4; i += kThreads)
      store_shared(to + 4 * i, load_global(reinterpret_cast<const u32*>(from) + i));
  }
};

}  // namespace wt::probe
