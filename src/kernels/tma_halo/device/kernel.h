// SPDX-License-Identifier: Apache-2.0
// kernels/tma_halo/device/kernel.h - 3x3 with stride 1 on Hopper: a patch of the image is loaded once for all nine
// taps. In three dimensions, once for the nine taps of each plane; of filters one tap wide, for three taps below each
// other (kernels/tma_halo/view.h).
//
//   patch with its halo --TMA--> ring --descriptors shifted by tap--> wgmma --> registers --epilogue--> rows of y or dx
//   filter, tap by tap  --TMA--> ring --/
//
// A fragment of 64 rows is 8x8 output pixels; fragments of a tile lie below each other. A pixel's 64 channels are one
// swizzled row of 128 bytes, so that a tap is a start address some rows further on, and the next 8 rows of a fragment
// lie one row of the patch further on. Two producer warps, one for each ring, run ahead independently. Forward and
// backward data, which turns the filter round.
//
// Backward data with strides of two (fixed.stride_h) multiplies each tap into the sums of the phase of dx that it
// meets, so that dy is read once for all four.
//
// Of narrow layers the whole filter may have room beside the patches: it is then loaded once a block (filter_rows).
//
// Where tiles are few, their sums are divided, at any stage of the filter: over a cluster (exchange.h) or through the
// workspace (kernels/beside/device/split_sum.h). The fragments of a tile then are those of several images, where these
// are small. Warpgroups along k take the stages of a tile of 64 rows in turns (parts.h).
#pragma once

#include "kernels/device/gemm/ring.h"
#include "kernels/device/overlap.h"
#include "kernels/tma/device/depth_steps.h"
#include "kernels/tma/device/operand.h"
#include "kernels/tma/device/roles.h"
#include "kernels/tma/device/schedule.h"
#include "kernels/tma/device/warm.h"
#include "kernels/tma_halo/device/arguments.h"
#include "kernels/tma_halo/device/output.h"
#include "kernels/tma_halo/device/parts.h"

namespace wt {

template <KernelConfig kConfig>
struct TmaHaloGemm {
  using Params = TmaHaloArguments;
  static constexpr int kThreads = tma_layout::threads(kConfig);
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    warm_l2<kConfig>(p.warm);
    if constexpr (kParts) let_sum_start<kConfig>();
    run_roles<kConfig>(
        [&] {
          device::tma_prefetch(p.a);
          device::tma_prefetch(p.b);
          layout().patches.init(1, 4 * (kPingPong ? 1 : kConsumers) * kAlong);
          layout().filters.init(1, 4 * (kPingPong ? 1 : kConsumers));
          if constexpr (kClusterSum) layout().sum.init();
        },
        [&](int producer) {
          if (producer > 1 || !device::elect()) return;
          if (producer == 0) produce_patches(p, layout());
          if (producer == 1) produce_filters(p, layout());
        },
        [&](int consumer) { consume(p, layout(), consumer); });
  }

 private:
  static constexpr int kTileN = kConfig.gemm.tile.n, kStages = kConfig.gemm.stages;
  static constexpr int kConsumers = tma_layout::consumers(kConfig);
  static constexpr int kFragments = tma_layout::rows_of_consumer(kConfig) / 64;
  static constexpr int kSteps = tma_layout::halo_steps(kConfig);
  static constexpr int kBBytes = tma_layout::b_bytes(kConfig), kTapBytes = tma_layout::b_box_bytes(kConfig);
  static constexpr bool kPingPong = kConfig.gemm.ping_pong;
  static constexpr int kEdge = tma_layout::kHaloEdge, kFilter = tma_layout::kHaloFilter,
                       kTaps = tma_layout::halo_taps(kConfig);
  static constexpr int kStageTaps = tma_layout::halo_stage_taps(kConfig), kTapStages = kTaps / kStageTaps;
  static constexpr int kPitch = tma_layout::halo_pitch(kConfig), kFilterW = tma_layout::halo_filter_width(kConfig);
  static constexpr int kTapPixels = kFilterW == 1 ? kPitch : 1;  // from a tap of a stage to the next
  static constexpr int kTileH = tma_layout::halo_tile_height(kConfig);
  static constexpr int kPatchStride = tma_layout::aligned(tma_layout::patch_bytes(kConfig));
  static constexpr bool kClusterSum = kConfig.gemm.split_k == SplitK::kCluster;
  static constexpr int kAlong = kConfig.gemm.warps.k;  // warpgroups that share the stages of a tile
  static constexpr bool kParts = kConfig.gemm.split_k == SplitK::kWorkspace, kDivides = kClusterSum || kParts;
  static constexpr bool kPhased = tma_layout::halo_phased(kConfig);
  // Half as many fragments where the image ends in the first half of a tile. WHY not always: beside many sums and a
  // long epilogue, a second loop does not fit the registers.
  static constexpr bool kHalves =
      kFragments % 2 == 0 && !kDivides && !kPhased && (kFragments * kTileN < 256 || kConfig.epilogue == EpilogueConfig{});
  static constexpr bool kKeeps = tma_layout::keeps_filter(kConfig);
  static constexpr int kLeastFragments = kHalves ? kFragments / 2 : kFragments;
  static_assert(kStageTaps == 1 || kStageTaps == kFilter);
  static_assert(kConfig.gemm.swizzle_a == 128 && (kConfig.gemm.staging == Staging::kDirect) == kDivides);
  static_assert((!kDivides && kAlong == 1) || !kPingPong);
  // WHY: each has a stage of every whole patch, so that none keeps patches from the others.
  static_assert(kAlong == 1 || (kConsumers == 1 && kTapStages >= kAlong));
  static_assert(kStages >= tma_layout::halo_least_stages(kConfig));
  static_assert(!kKeeps || (!kDivides && kAlong == 1 && kStageTaps == kFilter));

  using B = FilterLayout<kConfig>;
  using Multiply = device::Wgmma<operand_a(kConfig), operand_b(kConfig), kTileN>;
  using Output = HaloOutput<kConfig>;
  static constexpr int kPatches = tma_layout::halo_patches(kConfig);
  using PatchRing = Ring<kPatches>;
  using FilterRing = Ring<kStages>;

  static constexpr tma_layout::HaloSharedLayout kAt = tma_layout::halo_shared_layout(kConfig);
  struct Shared {  // addresses
    SharedAddress patch, filter, out;
    PatchRing patches;
    FilterRing filters;
    ClusterSum<kConfig> sum;
    HaloGroups<kConfig> groups;
  };
  using Tile = HaloTile;
  using Range = HaloRange<kConfig>;

  WT_DEVICE static Shared layout() {
    const SharedAddress base = aligned_shared_base();
    return {base + kAt.patches,      base + kAt.filters,       base + kAt.out,
            {base + kAt.patch_ring}, {base + kAt.filter_ring}, {base + kAt.exchange, base + kAt.cluster},
            {base + kAt.along}};
  }

  template <class Body>
  WT_DEVICE static void for_tiles(const Params& p, Body&& body) {
    // Tiles that the image ends in the middle of come last.
    const u32 tiles_w = static_cast<u32>(p.tiles_w), tiles_h = static_cast<u32>(p.tiles_h);
    const bool ends = tiles_h > 1 && p.size[1] <= p.tiles_h * kTileH - kTileH / 2;
    const u32 whole = tiles_h - (ends ? 1 : 0), rows = static_cast<u32>(p.tiles_m) / tiles_w / tiles_h * whole;
    for_work<kConfig, (kLeastFragments < kFragments)>(p, [&](const Work& work) {
      const auto m = static_cast<u32>(work.tile.m), row = m / tiles_w;
      const u32 plane = row < rows ? row / whole : row - rows, h = row < rows ? row - plane * whole : whole;
      const u32 image = plane / static_cast<u32>(p.size[0]);
      body(Tile{static_cast<i32>(image) * (kDivides ? p.stacked : 1),
                static_cast<i32>(plane - image * static_cast<u32>(p.size[0])), static_cast<i32>(h) * kTileH,
                static_cast<i32>(m - row * tiles_w) * kEdge, work.tile.n, work.tile.group, work.part, work.order,
                work.last, work.own_last});
    });
  }

  WT_DEVICE static void produce_patches(const Params& p, const Shared& shared) {
    typename PatchRing::Cursor slot;
    for_tiles(p, [&](const Tile& tile) {
      Range::of(p, tile.part).for_patches(p, [&](i32 plane, i32 block, int, int) {
        shared.patches.wait_empty(slot);
        const SharedAddress full = shared.patches.full(slot.slot), to = shared.patch + slot.slot * kPatchStride;
        const i32 channel = tile.group * p.depth + block * p.box_channels, w = p.start[2] + tile.w,
                  h = p.start[1] + tile.h;
        device::mbarrier_arrive_expect(full, static_cast<u32>(p.patch_bytes));
        if constexpr (kConfig.dims == 3) {
          device::tma_load(to, p.a, full, channel, w, h, p.start[0] + tile.d + plane, tile.image);
        } else {
          device::tma_load(to, p.a, full, channel, w, h, tile.image);
        }
        slot.next();
      });
    });
  }

  WT_DEVICE static void produce_filters(const Params& p, const Shared& shared) {
    typename FilterRing::Cursor slot;
    for_tiles(p, [&](const Tile& tile) {
      if (kKeeps && tile.order > 0) return;
      const i32 column = static_cast<i32>(tile.n) * kTileN;
      const i32 first_filter = tile.group * (tma_layout::b_is_mn_major(kConfig) ? p.depth : p.columns);
      Range::of(p, tile.part).for_patches(p, [&](i32 plane, i32 block, int first_stage, int end_stage) {
        for (int first = first_stage * kStageTaps; first < end_stage * kStageTaps; first += kStageTaps) {
          shared.filters.wait_empty(slot);
          const SharedAddress full = shared.filters.full(slot.slot), to = shared.filter + slot.slot * kBBytes;
          device::mbarrier_arrive_expect(full, static_cast<u32>(kStageTaps * p.filter_bytes));
          WT_UNROLL for (int tap = 0; tap < kStageTaps; ++tap) {
            TmaLoads<kConfig>::load_b(to + tap * kTapBytes, p.b, p.b_tail, full, block * p.box_channels,
                                      p.filter + (plane * kTaps + first + tap) * p.filter_step, column, first_filter);
          }
          slot.next();
        }
      });
    });
  }

  WT_DEVICE static void consume(const Params& p, const Shared& shared, int consumer) {
    typename PatchRing::Cursor patch;
    typename FilterRing::Cursor filter;
    // Ping-pong consumers take tiles in turns, so that one multiplies while the other stores.
    if (kPingPong && consumer == 1) pass_turn(0);
    const i32 patches = p.planes * p.depth_blocks;
    for_tiles(p, [&](const Tile& tile) {
      if (kPingPong && tile.order % kConsumers != consumer) {
        patch.skip(patches);
        filter.skip(patches * kTapStages);
        return;
      }
      if constexpr (kKeeps) filter = {};  // the slots are as the first tile found them
      const int part = kPingPong ? 0 : consumer;
      if constexpr (kPhased) return take_phases(p, shared, patch, filter, tile, consumer, part);
      float d[kFragments][kTileN / 2];
      const Range range = Range::of(p, tile.part);
      if constexpr (kAlong > 1) {
        multiply_in_turns(p, shared, patch, filter, range, consumer, d);
        if (!shared.groups.sum(d, consumer, tile.order, tile.last)) return;
        if constexpr (kDivides) {
          Output::store_divided(p, shared.sum, tile, 0, d);
        } else {
          Output::template store<kFragments>(p, shared.out, tile, 0, 0, d);
        }
      } else if constexpr (kDivides) {
        multiply<kFragments>(p, shared, patch, filter, range, part, d);
        Output::store_divided(p, shared.sum, tile, part, d);
      } else {
        if (kPingPong) await_turn(consumer);
        const i32 rows_left = p.size[1] - tile.h - part * kFragments * kEdge;
        if (kLeastFragments < kFragments && rows_left <= kLeastFragments * kEdge) {
          multiply<kLeastFragments>(p, shared, patch, filter, range, part, d);
          if (kPingPong && !tile.last) pass_turn(consumer ^ 1);
          Output::template store<kLeastFragments>(p, shared.out, tile, consumer, part, d);
        } else {
          multiply<kFragments>(p, shared, patch, filter, range, part, d);
          if (kPingPong && !tile.last) pass_turn(consumer ^ 1);
          Output::template store<kFragments>(p, shared.out, tile, consumer, part, d);
        }
      }
    });
  }

  template <int kUsed>
  WT_DEVICE static void multiply(const Params& p, const Shared& shared, typename PatchRing::Cursor& patch,
                                 typename FilterRing::Cursor& filter, const Range& range, int part,
                                 float (&d)[kFragments][kTileN / 2]) {
    const i32 patches = range.patches;
    if (kDivides && patches == 0) return zero_sums(d);  // an empty part
    const bool releases = device::lane_index() == 0;
    const i32 of_tap = p.depth_blocks;
    DepthSteps<kConfig> boxes(p, kDivides ? range.first % p.depth_blocks : 0);
    for (i32 index = 0; index < patches; ++index) {
      const int first_of = range.first_of(index), end_of = range.end_of(index);
      const i32 steps = boxes.next(of_tap);
      shared.patches.wait_full(patch);
      const SharedAddress base = shared.patch + patch.slot * kPatchStride;
      for (int stage = first_of; stage < end_of; ++stage) {
        shared.filters.wait_full(filter);
        const SharedAddress weights = shared.filter + filter.slot * kBBytes;
        const bool more = index > 0 || stage > first_of;
        issue_stage<kUsed>(p, base, weights, stage, steps, part, more, d);
        device::wgmma_wait<1>();  // the stage before this one has been read
        if (!kKeeps && releases && more) device::mbarrier_arrive(shared.filters.empty(filter.previous()));
        if (releases && index > 0 && stage == 0) device::mbarrier_arrive(shared.patches.empty(patch.previous()));
        filter.next();
      }
      patch.next();
    }
    device::wgmma_wait<0>();
    WT_UNROLL for (int i = 0; i < kUsed; ++i) device::wgmma_hold(d[i]);
    if (releases) {
      if constexpr (!kKeeps) device::mbarrier_arrive(shared.filters.empty(filter.previous()));
      device::mbarrier_arrive(shared.patches.empty(patch.previous()));
    }
  }

  using PhaseSums = float[tma_layout::halo_phases(kConfig)][kFragments][kTileN / 2];

  WT_DEVICE static void take_phases(const Params& p, const Shared& shared, typename PatchRing::Cursor& patch,
                                    typename FilterRing::Cursor& filter, const Tile& tile, int consumer, int part) {
    static_assert(!kPhased || (kTapStages == kFilter && !kDivides && kAlong == 1));
    PhaseSums d;
    if (kPingPong) await_turn(consumer);
    const bool releases = device::lane_index() == 0;
    DepthSteps<kConfig> boxes(p, 0);
    for (i32 index = 0; index < p.depth_blocks; ++index) {
      const i32 steps = boxes.next(p.depth_blocks);
      shared.patches.wait_full(patch);
      const SharedAddress base = shared.patch + patch.slot * kPatchStride;
      const auto row = [&](auto of_filter) {
        constexpr int kRow = decltype(of_filter)::kCount;
        shared.filters.wait_full(filter);
        const SharedAddress weights = shared.filter + filter.slot * kBBytes;
        issue_steps<kSteps>(steps, [&](auto of_box) {
          issue_phases<kRow, decltype(of_box)::kCount>(p, base, weights, part, index > 0, d);
        });
        device::wgmma_wait<1>();  // the stage before this one has been read
        if (!kKeeps && releases && (index > 0 || kRow > 0))
          device::mbarrier_arrive(shared.filters.empty(filter.previous()));
        if (kRow == 0 && releases && index > 0) device::mbarrier_arrive(shared.patches.empty(patch.previous()));
        filter.next();
      };
      row(StepCount<0>{});
      row(StepCount<1>{});
      row(StepCount<2>{});
      patch.next();
    }
    device::wgmma_wait<0>();
    WT_UNROLL for (int phase = 0; phase < 4; ++phase) {
      WT_UNROLL for (int i = 0; i < kFragments; ++i) device::wgmma_hold(d[phase][i]);
    }
    if (releases) {
      if constexpr (!kKeeps) device::mbarrier_arrive(shared.filters.empty(filter.previous()));
      device::mbarrier_arrive(shared.patches.empty(patch.previous()));
    }
    if (kPingPong && !tile.last) pass_turn(consumer ^ 1);
    WT_UNROLL for (int phase = 0; phase < 4; ++phase)
      Output::store_phase(p, shared.out, tile, consumer, part, phase, d[phase]);
  }

  // The products of filter row kRow. Its first and last tap meet outputs of one parity, which see dy's pixels 1 and 0 of
  // the patch; the tap between those of the other, which see the same pixel as the last tap's where padding is odd.
  template <int kRow, int kOfSteps>
  WT_DEVICE static void issue_phases(const Params& p, SharedAddress patch, SharedAddress weights, int part, bool more,
                                     PhaseSums& d) {
    const i32 below = kRow == 0 ? 1 : kRow == 1 ? 1 - p.odd_padding[0] : 0;
    device::wgmma_fence();
    WT_UNROLL for (int tap = 0; tap < kFilter; ++tap) {
      const i32 beside = tap == 0 ? 1 : tap == 1 ? 1 - p.odd_padding[1] : 0;
      WT_UNROLL for (int step = 0; step < kOfSteps; ++step) {
        const u64 b = B::descriptor(weights + tap * kTapBytes, 0, step);
        WT_UNROLL for (int i = 0; i < kFragments; ++i) {
          const SharedAddress rows =
              patch + ((part * kFragments + i) * kEdge * kPitch + below * kPitch + beside) * 128;
          const u64 a = device::wgmma_descriptor(rows + step * 32, 16, kPitch * 128, device::DescriptorSwizzle::k128);
          Multiply::template multiply<device::Major::kK, B::kMajor>(d[kRow % 2 * 2 + tap % 2][i], a, b,
                                                                     more || kRow == 2 || tap == 2 || step > 0);
        }
      }
    }
    device::wgmma_commit();
  }

  // The same by warpgroups that take stages in turns: own stages are `kAlong` apart.
  WT_DEVICE static void multiply_in_turns(const Params& p, const Shared& shared, typename PatchRing::Cursor& patch,
                                          typename FilterRing::Cursor& filter, const Range& range, int along,
                                          float (&d)[kFragments][kTileN / 2]) {
    const bool releases = device::lane_index() == 0;
    typename FilterRing::Cursor own = filter;
    typename PatchRing::Cursor held = patch;  // the first one that is not released
    own.skip(along);
    int before = -1, at = along;  // the slot of the stage before, and the next stage of the patch
    i32 released = 0;
    const i32 of_tap = p.depth_blocks;
    DepthSteps<kConfig> boxes(p, kDivides ? range.first % p.depth_blocks : 0);
    for (i32 index = 0; index < range.patches; ++index) {
      const int first_of = range.first_of(index), count = range.end_of(index) - first_of;
      const i32 steps = boxes.next(of_tap);
      shared.patches.wait_full(patch);
      const SharedAddress base = shared.patch + patch.slot * kPatchStride;
      for (; at < count; at += kAlong) {
        shared.filters.wait_full(own);
        issue_stage<kFragments>(p, base, shared.filter + own.slot * kBBytes, first_of + at, steps, 0, before >= 0, d);
        device::wgmma_wait<1>();  // the stage before this one has been read
        if (releases && before >= 0) device::mbarrier_arrive(shared.filters.empty(before));
        for (; released < index; ++released) {
          if (releases) device::mbarrier_arrive(shared.patches.empty(held.slot));
          held.next();
        }
        before = own.slot;
        own.skip(kAlong);
      }
      at -= count;
      patch.next();
    }
    device::wgmma_wait<0>();
    WT_UNROLL for (int i = 0; i < kFragments; ++i) device::wgmma_hold(d[i]);
    if (before < 0) zero_sums(d);  // no stage of its own
    if (releases && before >= 0) device::mbarrier_arrive(shared.filters.empty(before));
    for (; released < range.patches; ++released) {
      if (releases) device::mbarrier_arrive(shared.patches.empty(held.slot));
      held.next();
    }
    filter.skip(range.stages());
  }

  template <int kUsed>
  WT_DEVICE static void issue_stage(const Params& p, SharedAddress patch, SharedAddress weights, int stage, i32 steps,
                                    int part, bool more, float (&d)[kFragments][kTileN / 2]) {
    const i32 fragment = kDivides ? p.fragment_bytes : kEdge * kPitch * 128;
    const int tap = stage * kStageTaps;
    const SharedAddress first = patch + (tap / kFilterW * kPitch + tap % kFilterW) * 128;
    issue_steps<kSteps>(
        steps, [&](auto of_box) { issue<kUsed, decltype(of_box)::kCount>(first, fragment, weights, part, more, d); });
  }

  // The products of a stage, whose taps lie in one row of the filter, or below each other where it is one tap wide. WHY
  // with fence and commit: a condition between them would serialise the instructions.
  template <int kUsed, int kOfSteps>
  WT_DEVICE static void issue(SharedAddress pixels, i32 fragment, SharedAddress weights, int part, bool accumulate,
                              float (&d)[kFragments][kTileN / 2]) {
    device::wgmma_fence();
    WT_UNROLL for (int tap = 0; tap < kStageTaps; ++tap) {
      WT_UNROLL for (int step = 0; step < kOfSteps; ++step) {
        const u64 b = B::descriptor(weights + tap * kTapBytes, 0, step);
        WT_UNROLL for (int i = 0; i < kUsed; ++i) {
          const SharedAddress rows = pixels + (part * kFragments + i) * fragment + tap * kTapPixels * 128;
          const u64 a = device::wgmma_descriptor(rows + step * 32, 16, kPitch * 128, device::DescriptorSwizzle::k128);
          Multiply::template multiply<device::Major::kK, B::kMajor>(d[i], a, b, accumulate || tap > 0 || step > 0);
        }
      }
    }
    device::wgmma_commit();
  }
};

}  // namespace wt
