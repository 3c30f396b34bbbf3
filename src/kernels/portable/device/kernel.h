// SPDX-License-Identifier: Apache-2.0
// kernels/portable/device/kernel.h - implicit GEMM in three directions for every target with a matrix instruction of
// one warp: mma.sync, MFMA, WMMA, or multiply-adds.
//
//   global --movement--> buffers (shared) --product--> registers --output--> global
//
// A block computes one tile. The pipelines differ in their main loop alone.
#pragma once

#include "kernels/beside/device/merge_groups.h"
#include "kernels/beside/device/split_sum.h"
#include "kernels/portable/device/output.h"
#include "kernels/portable/device/pipeline.h"
#include "kernels/portable/device/scheduled.h"
#include "kernels/portable/device/stream.h"
#include "kernels/portable/device/wave_copies.h"

namespace wt {

template <KernelConfig kConfig, bool kWaves = portable_layout::copies_waves(kConfig)>
struct CopyLoop : Asynchronous<kConfig> {};
template <KernelConfig kConfig>
struct CopyLoop<kConfig, true> : WaveCopies<kConfig> {};

// Which loop a pipeline is, a line each; on AMD's matrix units those whose instructions have an order.
template <KernelConfig kConfig, Pipeline kPipeline = kConfig.gemm.pipeline, bool kScheduled = is_scheduled<kConfig>()>
struct LoopOf;
template <KernelConfig kConfig>
struct LoopOf<kConfig, Pipeline::kBasicV2, false> : RegistersAhead<kConfig> {};
template <KernelConfig kConfig>
struct LoopOf<kConfig, Pipeline::kMem, false> : RegistersAhead<kConfig> {};
template <KernelConfig kConfig>
struct LoopOf<kConfig, Pipeline::kCompV3, false> : FragmentsAhead<kConfig> {};
template <KernelConfig kConfig>
struct LoopOf<kConfig, Pipeline::kCompV4, false> : BufferRing<kConfig> {};
template <KernelConfig kConfig>
struct LoopOf<kConfig, Pipeline::kCompV5, false> : WaveGroups<kConfig> {};
template <KernelConfig kConfig>
struct LoopOf<kConfig, Pipeline::kCompV6, false> : TwoTilesAhead<kConfig> {};
template <KernelConfig kConfig>
struct LoopOf<kConfig, Pipeline::kCompAsync, false> : CopyLoop<kConfig> {};
template <KernelConfig kConfig>
struct LoopOf<kConfig, Pipeline::kBasicAsyncV1, false> : CopyLoop<kConfig> {};
template <KernelConfig kConfig>
struct LoopOf<kConfig, Pipeline::kWavelet, false> : Roles<kConfig> {};
template <KernelConfig kConfig>
struct LoopOf<kConfig, Pipeline::kCompV3, true> : ScheduledFragments<kConfig> {};
template <KernelConfig kConfig>
struct LoopOf<kConfig, Pipeline::kCompV4, true> : ScheduledBuffers<kConfig> {};
template <KernelConfig kConfig>
struct LoopOf<kConfig, Pipeline::kCompV5, true> : ScheduledGroups<kConfig> {};
template <KernelConfig kConfig>
struct LoopOf<kConfig, Pipeline::kWavelet, true> : ScheduledRoles<kConfig> {};

template <KernelConfig kConfig, bool kStreams = portable_layout::streams(kConfig)>
struct ParamsOf {
  using Type = typename PortableProblem<kConfig>::Arguments;
};
template <KernelConfig kConfig>
struct ParamsOf<kConfig, true> {
  using Type = PortableStreamArguments;
};

template <KernelConfig kConfig>
struct PortableGemm {
  using Problem = PortableProblem<kConfig>;
  using Params = typename ParamsOf<kConfig>::Type;
  static constexpr int kThreads = portable_layout::threads(kConfig);
  static constexpr int kMinBlocks = kConfig.min_blocks;
  static_assert(portable_layout::warp_size(kConfig.target) == device::kWarpSize);

  WT_DEVICE static void run(const Params& p) {
    const u32 block = static_cast<u32>(device::block_index().x);
    if constexpr (portable_layout::streams(kConfig)) {
      if (block >= p.whole_tiles) return stream(p, block - p.whole_tiles);
      compute(p.weight, Problem::part(p.weight, block, 0, p.weight.pixel_blocks));
    } else {
      const PortableTask task = Problem::task(p, block);
      if (!Problem::is_empty(task)) compute(p, task);
    }
  }

 private:
  using Arguments = typename Problem::Arguments;
  using Product = PortableProduct<kConfig>;
  using Output = PortableOutput<kConfig>;
  static constexpr int kSumWarps = portable_layout::sum_warps(kConfig);
  static constexpr int kGroupThreads = portable_layout::math_threads(kConfig);

  WT_DEVICE static void compute(const Arguments& p, const PortableTask& task) {
    Product product;
    const int group = multiply(p, task, product);
    Output::store(p, task, product, group);
  }

  // An even share of the streamed k-blocks, tile after tile.
  WT_DEVICE static void stream(const Params& p, i64 block) {
    const i64 begin = block * p.share, wanted = begin + p.share;
    const i64 end = wanted < p.streamed ? wanted : p.streamed;
    for (i64 at = begin; at < end;) {
      const StreamSegment segment = segment_at(p, at, end);
      const PortableTask task =
          Problem::part(p.weight, p.whole_tiles + static_cast<u32>(segment.tile), segment.first, segment.count);
      Product product;
      const int group = multiply(p.weight, task, product);
      if (segment.count == p.weight.pixel_blocks) {
        Output::store(p.weight, task, product, group);
      } else {
        Output::store_part(part_of<kConfig>(p, block, segment.first == 0), product, group);
      }
      device::sync_block();  // the next tile overwrites shared memory
      at += segment.count;
    }
  }

  // The task's product. Returns which of the block's sums this thread holds a part of; -1: none.
  WT_DEVICE static int multiply(const Arguments& p, const PortableTask& task, Product& product) {
    product.clear();
    if constexpr (kConfig.gemm.load_warps > 0) {
      if (device::warp_index() >= kSumWarps * kConfig.gemm.warps.k) {
        Movement<kConfig> moves(p, task, device::thread_index() - kGroupThreads);
        LoopOf<kConfig>::load(moves);
        return -1;
      }
      LoopOf<kConfig>::multiply(task.count, product);
      return Product::part();
    } else if constexpr (kConfig.gemm.wave_groups > 1) {
      const int group = device::warp_index() / kSumWarps;
      Movement<kConfig> moves(p, task, device::thread_index() % kGroupThreads);
      LoopOf<kConfig>::run(moves, product, group);
      return group;
    } else {
      Movement<kConfig> moves(p, task, device::thread_index());
      LoopOf<kConfig>::run(moves, product);
      return Product::part();
    }
  }
};

}  // namespace wt
