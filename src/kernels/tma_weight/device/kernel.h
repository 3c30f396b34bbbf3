// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight/device/kernel.h - weight gradients on Hopper: dw (k, tap c) = sum over pixels of dy^T x.
//
//   dy (channels, pixels) tiled, x (channels, pixels) im2col or tiled --> ring --wgmma, both MN-major--> registers
//   --sink--> global
//
// GEMM rows are output channels, columns are blocks of 64 input channels of a tap, k runs over the pixels of all
// images. With 32-bit types blocks have 32 channels, and warps beside the producer turn them round (turn.h). With
// split_k=workspace the pixels are divided among blocks and the partial sums added by part_sum.h, with split_k=atomic
// the blocks add them to one sum in no fixed order, which split_sum.h finishes, with split_k=cluster among the blocks
// of a cluster, which add their sums themselves; else the gradient leaves in pairs from registers, or by bulk stores of
// one block of channels of a tap (sink.h). Two blocks of a cluster may share the tiles of dy or of x: each loads every
// other block of 64 channels for both (source.h).
#pragma once

#include "kernels/device/gemm/ring.h"
#include "kernels/device/overlap.h"
#include "kernels/tma/device/operand.h"
#include "kernels/tma/device/roles.h"
#include "kernels/tma/device/turn.h"
#include "kernels/tma_weight/device/items.h"
#include "kernels/tma_weight/device/places.h"
#include "kernels/tma_weight/device/sink.h"
#include "kernels/tma_weight/device/source.h"

namespace wt {

template <KernelConfig kConfig>
struct TmaWeightGemm {
  using Params = TmaWeightArguments;
  static constexpr int kThreads = tma_layout::threads(kConfig);
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const Shared shared = Shared::here();
    if constexpr (Sink::kAddedLater) let_sum_start<kConfig>();
    run_roles<kConfig>(
        [&] {
          if (p.pixels > 0) {
            device::tma_prefetch(p.dy);
            device::tma_prefetch(p.x);
          }
          if constexpr (kTurns) shared.changed.init(kTurnWarps, 1);
          shared.ring.init(1, 4 * kConsumers * tma_layout::sharing_blocks(kConfig));
          Sink::init(shared);
          shared.peer().init();
        },
        [&](int warp) {
          if (warp == 0) {
            if (device::elect()) produce(p, shared);
          } else if constexpr (kTurns) {
            turn_tiles(p, shared, warp - 1);
          }
        },
        [&](int consumer) { consume(p, shared, consumer); });
  }

 private:
  static constexpr int kTileN = kConfig.gemm.tile.n, kDepth = kConfig.gemm.tile.k;
  static constexpr int kConsumers = tma_layout::consumers(kConfig);
  static constexpr bool kTurns = tma_layout::turns_tiles(kConfig), kThree = tma_layout::three_products(kConfig);
  static constexpr int kTurnWarps = tma_layout::kRemainderThreads / 32;

  using Source = WeightSource<kConfig>;
  using Sink = typename GradientSinkOf<kConfig>::Type;
  using Shared = TmaShared<kConfig>;
  using Cursor = typename Shared::SlotRing::Cursor;
  using Operand = WeightOperand<kConfig>;
  using Multiply = device::Wgmma<wgmma_type(operand_a(kConfig)), wgmma_type(operand_b(kConfig)), kTileN>;
  using Sums = typename Sink::Sums;  // (fragments, columns / 2) of a thread
  static constexpr int kFragments = Sink::kFragments, kBlockBytes = Source::kBlockBytes;
  static constexpr int kBlocksM = Source::kBlocksM, kBlocksN = Source::kBlocksN;
  static_assert(kConsumers <= 2 && kTileN % 64 == 0 && kConfig.gemm.tile.m % 64 == 0);
  static constexpr int kABytes = Source::kABytes, kBBytes = Source::kBBytes;
  static_assert(!kTurns || (kBlockBytes == kTurnedBoxBytes && !Peer<kConfig>::kShares));

  WT_DEVICE static void produce(const Params& p, const Shared& shared) {
    Cursor slot;
    const int rank = Source::rank();
    for_items<kConfig>(p, [&](const WeightItem& item) { Source::load(p, shared, item, rank, slot); });
    shared.peer().greet();
  }

  // Between copies and products: a slot's boxes are turned round, in turns of the warps.
  WT_DEVICE static void turn_tiles(const Params& p, const Shared& shared, int warp) {
    Cursor slot;
    for_items<kConfig>(p, [&](const WeightItem& item) {
      for (i32 left = item.count; left > 0; --left) {
        shared.ring.wait_full(slot);
        for (int box = warp; box < kBlocksM + kBlocksN; box += kTurnWarps) {
          const SharedAddress at = box < kBlocksM ? shared.a + slot.slot * kABytes + box * kBlockBytes
                                                  : shared.b + slot.slot * kBBytes + (box - kBlocksM) * kBlockBytes;
          turn_box<kThree>(at, at + Shared::kLow);
        }
        device::fence_async_shared();  // wgmma reads what these threads wrote
        device::sync_warp();
        if (device::lane_index() == 0) device::mbarrier_arrive(shared.changed.full(slot.slot));
        slot.next();
      }
    });
  }

  WT_DEVICE static void consume(const Params& p, const Shared& shared, int consumer) {
    Cursor slot;
    for_items<kConfig>(p, [&](const WeightItem& item) {
      Sums d;
      multiply(shared, slot, item.count, consumer, d);
      Sink::take(p, shared, item, consumer, d);
      if (item.last) shared.peer().meet();
    });
  }

  WT_DEVICE static void multiply(const Shared& shared, Cursor& slot, i32 blocks, int consumer, Sums& d) {
    if (blocks == 0) return zero_sums(d);  // no pixels at all: the gradient of an empty batch
    const bool releases = device::lane_index() == 0;
    const auto release = [&](int at) { Peer<kConfig>::release(shared.ring.empty(at)); };
    for (i32 block = 0; block < blocks; ++block) {
      shared.ready().wait_full(slot);
      device::wgmma_fence();
      WT_UNROLL for (int step = 0; step < kDepth * size_of(operand_a(kConfig)) / 32; ++step) {
        const SharedAddress b = shared.b + slot.slot * kBBytes;
        WT_UNROLL for (int i = 0; i < kFragments; ++i) {
          constexpr int kFragmentBytes = 64 / Source::kBlock * kBlockBytes;
          const SharedAddress a = shared.a + slot.slot * kABytes + (consumer * kFragments + i) * kFragmentBytes;
          const bool more = block > 0 || step > 0;
          if constexpr (kThree) {
            product(d[i], a + Shared::kLow, b, step, more);
            product(d[i], a, b + Shared::kLow, step, true);
          }
          product(d[i], a, b, step, kThree || more);
        }
      }
      device::wgmma_commit();
      pass_slot(slot, block > 0 && releases, release);
    }
    pass_last(slot, d, releases, release);
  }

  WT_DEVICE static void product(float (&d)[kTileN / 2], SharedAddress a, SharedAddress b, int step, bool accumulate) {
    Multiply::template multiply<Operand::kMajor, Operand::kMajor>(d, Operand::descriptor(a, 0, step),
                                                                  Operand::descriptor(b, 0, step), accumulate);
  }
};

}  // namespace wt
