// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05/device/kernel.h - implicit GEMM on Blackwell: forward and backward data.
//
//   global --load warp: TMA im2col / tiled--> ring of stages --multiply warp: tcgen05--> tensor memory
//          --four store warps: epilogue--> global
//
// Roles are warps: four store, each its quarter of tensor memory's lanes, one asks launch control for tiles, one loads,
// one multiplies, one loads the residual. Two accumulators let a tile be stored while the next one is multiplied. Two
// blocks may multiply a tile of 256 rows together, and tiles of a cluster may share an operand by multicast. Work is a
// list of regions, as on Hopper (kernels/tma/device/arguments.h), or patches of an image (kernels/tcgen05_halo):
// `Tiles` says what a tile is, how many stages it has and what they load.
#pragma once

#include "kernels/tcgen05/device/product.h"
#include "kernels/tcgen05/device/region_tiles.h"
#include "kernels/tcgen05/device/roles.h"
#include "kernels/tcgen05/device/scales.h"
#include "kernels/tcgen05/device/schedule.h"
#include "kernels/tcgen05/device/sink.h"
#include "kernels/tma/device/depth_steps.h"
#include "kernels/tma/device/remainder.h"

namespace wt {

template <KernelConfig kConfig, class Tiles = RegionTiles<kConfig>>
struct Tcgen05Gemm {
  using Params = typename Tiles::Params;
  static constexpr int kThreads = tcgen05_layout::threads(kConfig);
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    TensorRoles<kConfig>::run([&] { Tiles::prefetch(p), device::tma_prefetch(p.b); },
                              [&](const Shared& shared) { Tiles::clear(p, shared); },
                              [&](const Shared& shared, u32 tensor) { store(p, shared, tensor); },
                              [&](const Shared& shared) { load(p, shared); },
                              [&](const Shared& shared, u32 tensor) { multiply(p, shared, tensor); },
                              [&](const Shared& shared, int warp) {
                                if (warp == tcgen05_layout::kScheduleWarp) {
                                  if constexpr (kTakes) {
                                    if (Shared::rank() == 0) schedule_tiles<kConfig>(p, shared);
                                  }
                                } else if (warp == tcgen05_layout::kResidualWarp) {
                                  load_residual(p, shared);
                                } else if constexpr (kScaled) {
                                  bring_scales(p, shared);
                                } else {
                                  part_numbers(p, shared);
                                }
                              });
  }

 private:
  using Shared = Tcgen05Shared<kConfig>;
  using Sink = Tcgen05Sink<kConfig, Tiles>;
  using Walk = TileWalk<kConfig>;
  using Cursor = typename Shared::SlotRing::Cursor;
  static constexpr int kBlocks = Shared::kBlocks;
  static constexpr int kBoxes = tcgen05_layout::stage_boxes(kConfig), kSteps = kConfig.gemm.swizzle_a / 32;
  static constexpr bool kTakes = tcgen05_layout::takes_clusters(kConfig), kScaled = Shared::kScaled;

  WT_DEVICE static void load(const Params& p, const Shared& shared) {
    constexpr i32 kStages = kConfig.gemm.stages;
    Cursor slot;
    typename Shared::AnswerCursor begun;
    bool first = true;
    for (Walk walk(p); walk.more(); walk.next(shared)) {
      const Work work = walk.work();
      const StageRange range = Sink::stages(p, work);
      if (device::elect()) {
        if (kTakes && Shared::rank() == 0) {
          device::mbarrier_wait(shared.asked(begun.slot), begun.phase ^ 1);
          device::mbarrier_arrive(shared.begun(begun.slot));
        }
        const i32 ahead = range.count < kStages ? range.count : kStages;
        Tiles::load(p, shared, work, range, slot, [&](i32 stage) {
          if constexpr (tcgen05_layout::copies_residual(kConfig)) {
            if (first && stage + 1 == ahead) device::mbarrier_arrive(shared.ordered());
          }
        });
      }
      first = false;
      device::sync_warp();
      slot.skip(range.count);
      begun.next();
    }
    // Products give slots back in all blocks of the cluster: not after the end of one.
    for (int i = 0; i < kStages; ++i, slot.next()) shared.ring.wait_empty(slot);
  }

  // One warp in each block of a tile walks; one thread of the first one's multiplies.
  WT_DEVICE static void multiply(const Params& p, const Shared& shared, u32 tensor) {
    Cursor slot;
    typename Shared::SumCursor sum;
    for (Walk walk(p); walk.more();) {
      const Work work = walk.work();
      walk.next(shared);  // ahead of the products, so that nobody waits for this warp
      const StageRange range = Sink::stages(p, work);
      if (range.count == 0) continue;
      if (Shared::in_tile() == 0) {
        device::mbarrier_wait(shared.taken(sum.slot), sum.phase ^ 1);
        device::tensor_fence_after();
        const u32 d = tensor + static_cast<u32>(sum.slot * kConfig.gemm.tile.n);
        DepthSteps<kConfig> boxes(p, range.first > 0 ? range.first % p.depth_blocks : 0);
        for (i32 stage = 0; stage < range.count; ++stage) {
          const i32 steps = tma_layout::skips_steps(kConfig) ? boxes.next(p.depth_blocks) : kSteps;
          shared.ready().wait_full(slot);
          if constexpr (kScaled) shared.changed.wait_full(slot);
          device::tensor_fence_after();
          if (device::elect()) {
            if constexpr (kScaled) {
              static_assert(kBlocks == 1 && kBoxes == 1);
              const u32 scales = tensor + static_cast<u32>(tcgen05_layout::sum_columns(kConfig));
              TensorScales<kConfig>::copy(shared.scales(slot.slot), scales);
              for (int step = 0; step < steps; ++step)
                TensorScales<kConfig>::multiply(d, shared.a_box(slot.slot, 0), shared.b_box(slot.slot, 0), scales, step,
                                                stage > 0 || step > 0);
            } else {
              WT_UNROLL for (int box = 0; box < kBoxes; ++box) {
                for (int step = 0; step < steps; ++step)
                  TensorProduct<kConfig>::add(d, shared.a_box(slot.slot, box), shared.b_box(slot.slot, box), step,
                                              stage > 0 || box > 0 || step > 0);
              }
            }
            Shared::commit(shared.ring.empty(slot.slot), true);
            if (stage + 1 == range.count) Shared::commit(shared.summed(sum.slot), false);
          }
          device::sync_warp();
          slot.next();
        }
      }
      sum.next();
    }
  }

  WT_DEVICE static void store(const Params& p, const Shared& shared, u32 tensor) {
    Sink sink{p, shared, tensor};
    for (Walk walk(p); walk.more();) {
      const Work work = walk.work();
      walk.next(shared);
      sink.take(work, Sink::stages(p, work).count > 0);
    }
    sink.finish();
  }

  WT_DEVICE static void load_residual(const Params& p, const Shared& shared) {
    if constexpr (tcgen05_layout::copies_residual(kConfig)) {
      typename Shared::OutCursor to;
      bool first = true;
      for (Walk walk(p); walk.more(); walk.next(shared)) {
        const Work work = walk.work();
        if (device::elect()) {
          // WHY: what the products wait for goes first.
          if (first) device::mbarrier_wait(shared.ordered(), 0);
          Sink::fetch(p, shared, work, to);
        }
        first = false;
        device::sync_warp();
        if (!Sink::past_edge(p, work)) to.skip(Sink::kChunks);
      }
    }
  }

  // Beside the copies: a slot's scales. A warp has always the same slots, of which it sees every phase: one that is not
  // seen cannot be told from the next but one.
  WT_DEVICE static void bring_scales(const Params& p, const Shared& shared) {
    using Scales = TensorScales<kConfig>;
    constexpr int kWarps = tcgen05_layout::scale_warps(kConfig);
    const int warp = device::warp_index() - tcgen05_layout::kScaleWarp;
    Cursor slot;
    for (Walk walk(p); walk.more(); walk.next(shared)) {
      const Work work = walk.work();
      const StageRange range = Sink::stages(p, work);
      if (range.count == 0) continue;
      const auto [region, first] = Tiles::rows(p, work);
      const typename Scales::Rows rows = Scales::rows_of(region, first);
      const i32 column = static_cast<i32>(work.tile.n) * kConfig.gemm.tile.n;
      TapCursor at(region.taps);
      at.seek(region.taps, p.depth_blocks, range.first);
      for (i32 stage = range.count; stage > 0; --stage) {
        if (slot.slot % kWarps == warp) {
          typename Scales::Held held;
          Scales::gather(p, rows, at, at.box * p.box_channels, work.tile.group, column, held);
          shared.ring.wait_empty(slot);
          Scales::put(held, shared.scales(slot.slot));
          device::fence_async_shared();  // copies into tensor memory read what these lanes wrote
          device::sync_warp();
          if (device::lane_index() == 0) device::mbarrier_arrive(shared.changed.full(slot.slot));
        }
        at.next(region.taps, p.depth_blocks);
        slot.next();
      }
    }
  }

  // Between copies and products: a slot's numbers become tf32, with their low parts behind.
  WT_DEVICE static void part_numbers(const Params& p, const Shared& shared) {
    if constexpr (Shared::kChanges) {
      static_assert(kBlocks == 1 && 32 * tcgen05_layout::change_warps(kConfig) == tma_layout::kRemainderThreads);
      const int thread = device::thread_index() - 32 * tcgen05_layout::kChangeWarp;
      Cursor slot;
      for (Walk walk(p); walk.more(); walk.next(shared)) {
        const Work work = walk.work();
        for (i32 stage = Sink::stages(p, work).count; stage > 0; --stage) {
          shared.ring.wait_full(slot);
          const SharedAddress a = shared.a_box(slot.slot, 0), b = shared.b_box(slot.slot, 0);
          WT_UNROLL for (int box = 0; box < kBoxes; ++box) {
            const SharedAddress rows = a + tcgen05_layout::a_box_at(kConfig, box);
            split_numbers(rows, rows + Shared::kLow, p.copied_rows * kConfig.gemm.swizzle_a, thread);
          }
          split_numbers(b, b + Shared::kLow, kBoxes * tcgen05_layout::b_box_bytes(kConfig), thread);
          device::fence_async_shared();  // products read what these threads wrote
          device::sync_warp();
          if (device::lane_index() == 0) device::mbarrier_arrive(shared.changed.full(slot.slot));
          slot.next();
        }
      }
    }
  }
};

}  // namespace wt
