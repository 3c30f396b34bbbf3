// SPDX-License-Identifier: Apache-2.0
// kernels/tma_fold/device/kernel.h - few output channels on Hopper: the taps of a filter row side by side, as columns.
//
//   rows of pixels with their padding --TMA im2col--> ring --wgmma--> products (pixel; tap along w, channel)
//   the taps of a filter row          --TMA---------> ring --/        --folded--> registers --epilogue--> y
//
// A pixel meets all taps of a filter row in one instruction, whose columns are taps times output channels: an
// instruction of 40 columns takes as long as its operand A needs to be read, and three of them read it three times.
// GEMM rows are the pixels that taps read, padding included, in the order of the image; output pixel w is then the sum
// of product s of pixel w + s over the taps s. The last pixels of a consumer's rows have no such neighbours, so that
// its rows overlap those of the next one. Forward, unit stride and dilation along w.
#pragma once

#include "kernels/device/gemm/ring.h"
#include "kernels/tma/device/depth_steps.h"
#include "kernels/tma/device/operand.h"
#include "kernels/tma/device/output.h"
#include "kernels/tma/device/roles.h"
#include "kernels/tma/device/schedule.h"
#include "kernels/tma/device/warm.h"
#include "kernels/tma_fold/device/fold.h"

namespace wt {

template <KernelConfig kConfig>
struct TmaFoldGemm {
  using Params = TmaArguments<1>;
  static constexpr int kThreads = tma_layout::threads(kConfig);
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const Shared shared = layout();
    warm_l2<kConfig>(p.warm);
    run_roles<kConfig>(
        [&] {
          device::tma_prefetch(p.regions[0].a);
          device::tma_prefetch(p.b);
          shared.ring.init(1, 4 * kTogether);
        },
        [&](int warp) {
          if (warp == 0 && device::elect()) produce(p, shared);
        },
        [&](int consumer) { consume(p, shared, consumer); });
  }

 private:
  static constexpr int kTileN = kConfig.gemm.tile.n, kStages = kConfig.gemm.stages;
  static constexpr int kConsumers = tma_layout::consumers(kConfig);
  static constexpr bool kPingPong = kConfig.gemm.ping_pong;
  static constexpr int kTogether = kPingPong ? 1 : kConsumers;  // consumers of a tile
  static constexpr int kRows = tma_layout::rows_of_consumer(kConfig), kFragments = kRows / 64;
  static constexpr int kOwn = kRows - tma_layout::fold_reach(kConfig);  // rows of a consumer that have outputs
  static constexpr int kTaps = tma_layout::tap_columns(kConfig), kWidth = kTaps * kTileN;
  static constexpr int kSteps = kConfig.gemm.swizzle_a / 32;
  static constexpr int kABytes = tma_layout::a_bytes(kConfig), kBBytes = tma_layout::b_bytes(kConfig);
  static_assert(tma_layout::boxes(kConfig) == 1 && kConfig.gemm.split_k == SplitK::kNone);
  static_assert(kConfig.gemm.staging != Staging::kTmaStore && !tma_layout::in_clusters(kConfig));

  using Operand = KMajor<kConfig.gemm.swizzle_a>;
  using Multiply = device::Wgmma<wgmma_type(operand_a(kConfig)), wgmma_type(operand_b(kConfig)), kWidth>;
  using Output = TmaOutput<kConfig, Params, false>;
  using SlotRing = Ring<kStages>;
  using Cursor = typename SlotRing::Cursor;
  using Folded = Fold<kConfig>;

  static constexpr tma_layout::SharedLayout kAt = tma_layout::shared_layout(kConfig);
  struct Shared {  // addresses
    SharedAddress a, b, out, edges;
    SlotRing ring;
  };

  WT_DEVICE static Shared layout() {
    const SharedAddress base = aligned_shared_base();
    return {base + kAt.a, base + kAt.b, base + kAt.out, base + kAt.edges, {base + kAt.ring}};
  }

  WT_DEVICE static i32 stages_of(const Params& p) {
    const TapWalk& taps = p.regions[0].taps;
    return taps.count[0] * taps.count[1] * p.depth_blocks;
  }

  WT_DEVICE static void produce(const Params& p, const Shared& shared) {
    using Loads = TmaLoads<kConfig>;
    const TmaRegion& region = p.regions[0];
    const i32 stages = stages_of(p);
    Cursor slot;
    for_work<kConfig>(p, [&](const Work& work) {
      WalkStart start[kTogether];
      WT_UNROLL for (int i = 0; i < kTogether; ++i) start[i] =
          walk_start_at(region, (work.tile.m * kTogether + i) * kOwn);
      const i32 column = static_cast<i32>(work.tile.n) * kTileN;
      const i32 first_channel = work.tile.group * p.depth, first_filter = work.tile.group * p.group_filter;
      TapCursor at(region.taps);
      for (i32 stage = 0; stage < stages; ++stage) {
        shared.ring.wait_empty(slot);
        const SharedAddress full = shared.ring.full(slot.slot);
        device::mbarrier_arrive_expect(full, static_cast<u32>(p.stage_bytes));
        const i32 channel = at.box * p.box_channels;
        const SharedAddress a = shared.a + slot.slot * kABytes, b = shared.b + slot.slot * kBBytes;
        WT_UNROLL for (int i = 0; i < kTogether; ++i) Loads::load_a(
            a + i * kRows * kConfig.gemm.swizzle_a, region.a, full, start[i], 0, at, first_channel + channel, p.policy);
        WT_UNROLL for (int tap = 0; tap < kTaps; ++tap)
            Loads::load_b(b + tap * kTileN * kConfig.gemm.swizzle_a, p.b, p.b_tail, full, channel, at.filter + tap,
                          column, first_filter, p.filter_policy);
        at.next(region.taps, p.depth_blocks);
        slot.next();
      }
    });
  }

  WT_DEVICE static void consume(const Params& p, const Shared& shared, int consumer) {
    Cursor slot;
    int own = 0;  // tiles of this consumer
    if (kPingPong && consumer == 1) pass_turn(0);
    for_work<kConfig>(p, [&](const Work& work) {
      if (kPingPong && work.order % kConsumers != consumer) return slot.skip(stages_of(p));
      const int part = kPingPong ? 0 : consumer;
      float d[kFragments][kWidth / 2];
      if (kPingPong) await_turn(consumer);
      multiply(p, shared, slot, part, d);
      if (kPingPong && !work.last) pass_turn(consumer ^ 1);
      const SharedAddress edges = shared.edges + (2 * consumer + own++ % 2) * Folded::kBytes;
      Folded::send_edges(edges, d);
      device::sync_named(3 + consumer, 128);
      store(p, shared, work.tile, consumer, part, edges, d);
    });
  }

  WT_DEVICE static void multiply(const Params& p, const Shared& shared, Cursor& slot, int part,
                                 float (&d)[kFragments][kWidth / 2]) {
    const bool releases = device::lane_index() == 0;
    const auto release = [&](int at) { device::mbarrier_arrive(shared.ring.empty(at)); };
    DepthSteps<kConfig> boxes(p, 0);
    const i32 stages = stages_of(p);
    for (i32 stage = 0; stage < stages; ++stage) {
      const i32 steps = boxes.next(p.depth_blocks);
      const SharedAddress a = shared.a + slot.slot * kABytes + part * kRows * kConfig.gemm.swizzle_a;
      const SharedAddress b = shared.b + slot.slot * kBBytes;
      shared.ring.wait_full(slot);
      issue_steps<kSteps>(steps, [&](auto of_box) { issue<decltype(of_box)::kCount>(a, b, stage > 0, d); });
      pass_slot(slot, stage > 0 && releases, release);
    }
    pass_last(slot, d, releases, release);
  }

  // WHY with fence and commit: a condition between them would serialise the instructions.
  template <int kOfSteps>
  WT_DEVICE static void issue(SharedAddress a, SharedAddress b, bool accumulate, float (&d)[kFragments][kWidth / 2]) {
    device::wgmma_fence();
    WT_UNROLL for (int step = 0; step < kOfSteps; ++step) {
      WT_UNROLL for (int i = 0; i < kFragments; ++i) {
        Multiply::template multiply<Operand::kMajor, Operand::kMajor>(
            d[i], Operand::descriptor(a, i * 64 * kConfig.gemm.swizzle_a, step), Operand::descriptor(b, 0, step),
            accumulate || step > 0);
      }
    }
    device::wgmma_commit();
  }

  WT_DEVICE static void store(const Params& p, const Shared& shared, const TileIndex& tile, int consumer, int part,
                              SharedAddress edges, const float (&d)[kFragments][kWidth / 2]) {
    typename Output::Steps steps;
    const typename Output::Place place{tile.n * kTileN, tile.group};
    const i64 first = (tile.m * kTogether + part) * kOwn;
    const SharedAddress staging = shared.out + consumer * tma_layout::out_bytes(kConfig) / kConsumers;
    WT_UNROLL for (int i = 0; i < kFragments; ++i) {
      float sums[kTileN / 2];
      Folded::fold(edges, i, d[i], sums);
      const FoldedRows rows{p.regions[0], first + 64 * i, p.regions[0].size[2] - tma_layout::fold_reach(kConfig),
                            kOwn - 64 * i};
      if constexpr (kConfig.gemm.staging == Staging::kShared) {
        Output::stage(p, rows, place, sums, steps, staging);
        Output::copy_rows(p, rows, place, staging);
      } else {
        Output::store_direct(p, rows, place, sums, steps);
      }
    }
    steps.finish(p.epilogue);
  }
};

}  // namespace wt
