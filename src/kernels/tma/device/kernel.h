// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/kernel.h - implicit GEMM on Hopper: one warp loads, warpgroups multiply; forward and backward
// data.
//
//   global --Source: TMA im2col / tiled--> ring of stages (shared) --Product: wgmma--> registers --Sink--> global
//
// Blocks are persistent. Cooperative consumers share a tile's rows; ping-pong consumers take tiles in turns, so that
// one multiplies while the other stores. Work is a list of regions (arguments.h); weight gradients are kind tma_weight.
// Which copies a stage has is its source (source.h), what is multiplied its product (product.h), and where sums go its
// sink (sink.h): where tiles are few, sums are divided over a cluster (exchange.h), through the workspace
// (kernels/beside/device/split_sum.h), or by stream-K (stream.h). Two blocks of a cluster may share the tiles of an
// operand: each loads half of them for both. Pixels that no tap reaches are written by warps that have nothing else to
// do (zeros.h). A residual is copied to where the tile's results will be staged, while they are summed.
#pragma once

#include "kernels/device/overlap.h"
#include "kernels/tma/device/depth_steps.h"
#include "kernels/tma/device/product.h"
#include "kernels/tma/device/roles.h"
#include "kernels/tma/device/schedule.h"
#include "kernels/tma/device/shared.h"
#include "kernels/tma/device/sink.h"
#include "kernels/tma/device/source.h"
#include "kernels/tma/device/warm.h"
#include "kernels/tma/device/zeros.h"

namespace wt {

template <KernelConfig kConfig>
struct TmaGemm {
  static constexpr int kRegions = tma_layout::regions(kConfig);
  using Params =
      typename TmaArgumentsOf<kRegions, tma_layout::copies_residual(kConfig), tma_layout::streams(kConfig)>::Type;
  static constexpr int kThreads = tma_layout::threads(kConfig);
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const Shared shared = Shared::here();
    warm_l2<kConfig>(p.warm);
    if constexpr (Sink::kAddedLater) let_sum_start<kConfig>();
    run_roles<kConfig>(
        [&] {
          if (boxes_of(p, p.regions[0]) > 0) device::tma_prefetch(p.regions[0].a);
          device::tma_prefetch(p.b);
          if constexpr (Shared::kChanges) shared.changed.init(tma_layout::kRemainderThreads / 32, 1);
          shared.ring.init(1, 4 * kTogether * tma_layout::sharing_blocks(kConfig));
          shared.peer().init();
          Sink::init(shared);
        },
        [&](int warp) {
          if (warp == 0) {
            if (device::elect()) produce(p, shared);
          } else if constexpr (Shared::kChanges) {
            part_numbers(p, shared);
          } else if constexpr (tma_layout::writes_zeros(kConfig)) {
            write_zeros<kConfig>(p, warp - 1);
          }
        },
        [&](int consumer) { consume(p, shared, consumer); });
  }

 private:
  static constexpr int kBoxes = tma_layout::boxes(kConfig);
  static constexpr int kABox = tma_layout::a_box_bytes(kConfig), kBBox = tma_layout::b_box_bytes(kConfig);
  static constexpr int kSteps = kConfig.gemm.swizzle_a / 32;  // wgmmas along k in a box
  static constexpr bool kSkips = tma_layout::skips_steps(kConfig);
  static constexpr bool kPingPong = kConfig.gemm.ping_pong;
  static constexpr int kConsumers = tma_layout::consumers(kConfig);
  static constexpr int kTogether = kPingPong ? 1 : kConsumers;  // consumers of a tile

  using Sink = typename SinkOf<kConfig, Params>::Type;
  using Source = typename SourceOf<kConfig, Params, Sink>::Type;
  using Product = typename ProductOf<kConfig>::Type;
  using Shared = TmaShared<kConfig>;
  using Cursor = typename Shared::SlotRing::Cursor;
  using Sums = typename Sink::Sums;  // (fragments, columns / 2) of a thread
  static constexpr int kFragments = Sink::kFragments;

  WT_DEVICE static void produce(const Params& p, const Shared& shared) {
    Cursor slot;
    for_work<kConfig>(p, [&](const Work& work) {
      const TmaRegion& region = region_of(p, work.tile.m);
      Source::load(p, shared, region, work, slot);
    });
    shared.peer().greet();
  }

  // Between copies and products: the numbers of a slot's filter become tf32, with their low parts behind.
  WT_DEVICE static void part_numbers(const Params& p, const Shared& shared) {
    const int thread = device::thread_index() - 128 * kConsumers - 32;
    Cursor slot;
    for_work<kConfig>(p, [&](const Work& work) {
      for (i32 stage = Sink::stages(p, region_of(p, work.tile.m), work).count; stage > 0; --stage) {
        shared.ring.wait_full(slot);
        const SharedAddress b = shared.b_box(slot.slot, 0);
        split_numbers<tma_layout::parts_at_once(kConfig)>(b, b + Shared::kLow, kBoxes * kBBox, thread);
        device::fence_async_shared();  // wgmma reads what these threads wrote
        device::sync_warp();
        if (device::lane_index() == 0) device::mbarrier_arrive(shared.changed.full(slot.slot));
        slot.next();
      }
    });
  }

  WT_DEVICE static void consume(const Params& p, const Shared& shared, int consumer) {
    Cursor slot;
    Sink sink(p, shared, consumer);
    if (kPingPong && consumer == 1 && has_work(p)) pass_turn(0);
    for_work<kConfig>(p, [&](const Work& work) {
      const TmaRegion& region = region_of(p, work.tile.m);
      const StageRange range = Sink::stages(p, region, work);
      if (kPingPong && work.order % kConsumers != consumer) {
        slot.skip(range.count);
      } else {
        Sums d;
        sink.begin(region, work);
        if (kPingPong) await_turn(consumer);
        if constexpr (tma_layout::parts_rows(kConfig)) {
          multiply_parted(shared, slot, range, kPingPong ? 0 : consumer, d);
        } else {
          multiply(p, shared, slot, range, kPingPong ? 0 : consumer, d);
        }
        if (kPingPong && !work.last) pass_turn(consumer ^ 1);
        sink.take(region, work, d);
      }
      if (work.last) shared.peer().meet();
    });
  }

  // Blocks that are there for zeros alone have none.
  WT_DEVICE static bool has_work(const Params& p) {
    if constexpr (!tma_layout::lists_work(kConfig)) return true;
    return ListedTiles().next(p) != ListedTiles::kNone;
  }

  WT_DEVICE static void multiply(const Params& p, const Shared& shared, Cursor& slot, const StageRange& range, int part,
                                 Sums& d) {
    const i32 stages = range.count;
    // No tap reaches these pixels, or an empty part.
    if ((kRegions > 1 || Sink::kEmptyParts) && stages == 0) return zero_sums(d);
    const bool releases = device::lane_index() == 0;
    const auto release = [&](int at) { Peer<kConfig>::release(shared.ring.empty(at)); };
    DepthSteps<kConfig> boxes(p, kSkips && range.first > 0 ? range.first % p.depth_blocks : 0);
    for (i32 stage = 0; stage < stages; ++stage) {
      const i32 steps = boxes.next(p.depth_blocks);
      shared.ready().wait_full(slot);
      issue_steps<kSteps>(kSkips ? steps : kSteps,
                          [&](auto of_box) { issue<decltype(of_box)::kCount>(shared, slot.slot, part, stage > 0, d); });
      pass_slot(slot, stage > 0 && releases, release);
    }
    pass_last(slot, d, releases, release);
  }

  // fp32: rows of A are parted in registers, those of one or two products while the ones before are multiplied.
  WT_DEVICE static void multiply_parted(const Shared& shared, Cursor& slot, const StageRange& range, int part, Sums& d) {
    constexpr int kAll = kBoxes * kSteps, kOnce = kFragments > 1 ? 1 : 2, kTurns = kAll / kOnce;
    static_assert(kAll == 4, "turns of two sets of registers");
    const i32 stages = range.count;
    if ((kRegions > 1 || Sink::kEmptyParts) && stages == 0) return zero_sums(d);
    const bool releases = device::lane_index() == 0;
    const auto release = [&](int at) { Peer<kConfig>::release(shared.ring.empty(at)); };
    PartedRows rows[2][kFragments][kOnce];
    for (i32 stage = 0; stage < stages; ++stage) {
      shared.ring.wait_full(slot);
      shared.ready().wait_full(slot);
      WT_UNROLL for (int turn = 0; turn < kTurns; ++turn) {
        device::wgmma_wait<1>();  // the products before last, of these registers
        if (turn == 1 && stage > 0) {
          device::sync_warp();  // every lane has read its rows
          if (releases) release(slot.previous());
        }
        const auto each = [&](auto&& use) {
          WT_UNROLL for (int at = 0; at < kOnce; ++at) {
            const int step = turn * kOnce + at;
            WT_UNROLL for (int i = 0; i < kFragments; ++i) use(rows[turn % 2][i][at], i, step / kSteps, step % kSteps);
          }
        };
        each([&](PartedRows& to, int i, int box, int step) {
          const int first = (part * kFragments + i) * 64 * kConfig.gemm.swizzle_a;
          to.template load<kConfig.gemm.swizzle_a>(shared.a_box(slot.slot, box) + first, step);
        });
        device::wgmma_fence();
        each([&](const PartedRows& a, int i, int box, int step) {
          Product::add(d[i], a, shared.b_box(slot.slot, box), step, stage > 0 || box > 0 || step > 0);
        });
        device::wgmma_commit();
      }
      slot.next();
    }
    device::sync_warp();
    pass_last(slot, d, releases, release);
  }

  // The products of a slot. WHY with fence and commit: a condition between them would serialise the instructions.
  template <int kOfSteps>
  WT_DEVICE static void issue(const Shared& shared, int slot, int part, bool accumulate, Sums& d) {
    device::wgmma_fence();
    WT_UNROLL for (int box = 0; box < kBoxes; ++box) {
      WT_UNROLL for (int step = 0; step < kOfSteps; ++step) {
        WT_UNROLL for (int i = 0; i < kFragments; ++i) {
          const int rows = (part * kFragments + i) * 64 * kConfig.gemm.swizzle_a;
          Product::add(d[i], shared.a_box(slot, box), shared.b_box(slot, box), rows, step,
                       accumulate || box > 0 || step > 0);
        }
      }
    }
    device::wgmma_commit();
  }
};

}  // namespace wt
