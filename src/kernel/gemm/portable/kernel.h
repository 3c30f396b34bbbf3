// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/portable/kernel.h - implicit GEMM in three directions for every target with a matrix instruction of one
// warp: mma.sync, MFMA, WMMA, or multiply-adds.
//
//   global --movement--> buffers (shared) --product--> registers --output--> global
//
// A block computes one tile. The pipelines differ in their main loop alone.
#pragma once

#include "kernel/gemm/portable/output.h"
#include "kernel/gemm/portable/pipeline.h"
#include "kernel/split_sum.h"

namespace wt {

// Which loop a pipeline is, a line each.
template <KernelConfig kConfig, Pipeline kPipeline = kConfig.gemm.pipeline>
struct LoopOf;
template <KernelConfig kConfig>
struct LoopOf<kConfig, Pipeline::kBasicV2> : OneBuffer<kConfig> {};
template <KernelConfig kConfig>
struct LoopOf<kConfig, Pipeline::kMem> : OneBuffer<kConfig> {};
template <KernelConfig kConfig>
struct LoopOf<kConfig, Pipeline::kCompV3> : FragmentsAhead<kConfig> {};
template <KernelConfig kConfig>
struct LoopOf<kConfig, Pipeline::kCompV4> : BufferRing<kConfig> {};
template <KernelConfig kConfig>
struct LoopOf<kConfig, Pipeline::kCompV5> : WaveGroups<kConfig> {};
template <KernelConfig kConfig>
struct LoopOf<kConfig, Pipeline::kCompV6> : BufferRing<kConfig> {};
template <KernelConfig kConfig>
struct LoopOf<kConfig, Pipeline::kCompAsync> : Asynchronous<kConfig> {};
template <KernelConfig kConfig>
struct LoopOf<kConfig, Pipeline::kBasicAsyncV1> : Asynchronous<kConfig> {};
template <KernelConfig kConfig>
struct LoopOf<kConfig, Pipeline::kWavelet> : Roles<kConfig> {};

template <KernelConfig kConfig>
struct PortableGemm {
  using Problem = PortableProblem<kConfig>;
  using Params = typename Problem::Arguments;
  static constexpr int kThreads = portable_layout::threads(kConfig);
  static constexpr int kMinBlocks = kConfig.min_blocks;
  static_assert(portable_layout::warp_size(kConfig.target) == device::kWarpSize);

  WT_DEVICE static void run(const Params& p) {
    const PortableTask task = Problem::task(p, static_cast<u32>(device::block_index().x));
    if (Problem::is_empty(task)) return;
    Product product;
    product.clear();
    int group = 0;  // of the accumulators; -1: a thread that has none
    if constexpr (kConfig.gemm.load_warps > 0) {
      group = run_role(p, task, product);
    } else if constexpr (kConfig.gemm.wave_groups > 1) {
      group = device::warp_index() / kWarps;
      Movement<kConfig> moves(p, task, device::thread_index() % kGroupThreads);
      LoopOf<kConfig>::run(moves, product, group);
    } else {
      Movement<kConfig> moves(p, task, device::thread_index());
      LoopOf<kConfig>::run(moves, product);
    }
    PortableOutput<kConfig>::store(p, task, product, group);
  }

 private:
  using Product = PortableProduct<kConfig>;
  static constexpr int kWarps = kConfig.gemm.warps.m * kConfig.gemm.warps.n;
  static constexpr int kGroupThreads = portable_layout::math_threads(kConfig);

  WT_DEVICE static int run_role(const Params& p, const PortableTask& task, Product& product) {
    if (device::warp_index() >= kWarps) {
      Movement<kConfig> moves(p, task, device::thread_index() - kGroupThreads);
      LoopOf<kConfig>::load(moves);
      return -1;
    }
    LoopOf<kConfig>::multiply(task.count, product);
    return 0;
  }
};

}  // namespace wt
