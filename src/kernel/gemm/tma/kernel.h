// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/tma/kernel.h - implicit GEMM on Hopper: one warp loads, warpgroups multiply; forward and backward data.
//
//   global --TMA im2col / tiled--> ring of stages (shared) --wgmma--> registers --epilogue--> global
//
// Blocks are persistent. Cooperative consumers share a tile's rows; ping-pong consumers take tiles in turns, so that
// one multiplies while the other stores. Work is a list of regions (arguments.h); weight gradients are weight_kernel.h.
// Where tiles are few, their sums are divided: over a cluster (exchange.h), or through the workspace
// (kernel/split_sum.h). Stream-K cuts the last ones, or all, into as many pieces as blocks (stream.h). Two blocks of a
// cluster may share the tiles of an operand: each loads half of them for both.
// The taps of a strided image are taken phase by phase (phases.h).
// Pixels that no tap reaches are written by warps that have nothing else to do (zeros.h). A residual is copied to
// where the tile's results will be staged, while they are summed.
#pragma once

#include "kernel/direct/overlap.h"
#include "kernel/gemm/ring.h"
#include "kernel/gemm/tma/exchange.h"
#include "kernel/gemm/tma/operand.h"
#include "kernel/gemm/tma/output_crosswise.h"
#include "kernel/gemm/tma/peer.h"
#include "kernel/gemm/tma/phases.h"
#include "kernel/gemm/tma/remainder.h"
#include "kernel/gemm/tma/roles.h"
#include "kernel/gemm/tma/schedule.h"
#include "kernel/gemm/tma/stream_piece.h"
#include "kernel/gemm/tma/warm.h"
#include "kernel/gemm/tma/zeros.h"

namespace wt {

template <KernelConfig kConfig>
struct TmaGemm {
  static constexpr int kRegions = tma_layout::regions(kConfig);
  static constexpr bool kResidual = tma_layout::copies_residual(kConfig);
  static constexpr bool kPhases = tma_layout::walks_phases(kConfig);
  static constexpr bool kStream = tma_layout::streams(kConfig);
  using Params = typename TmaArgumentsOf<kRegions, kResidual, kPhases, kStream>::Type;
  static constexpr int kThreads = tma_layout::threads(kConfig);
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const Shared shared = layout();
    warm_l2<kConfig>(p.warm);
    if constexpr (kParts || kStream) let_sum_start<kConfig>();
    run_roles<kConfig>(
        [&] {
          if (boxes_of(p, p.regions[0]) > 0) device::tma_prefetch(Sum(p, p.regions[0]).map());
          device::tma_prefetch(p.b);
          if constexpr (kPhases) {
            for (i32 i = 1; i < p.phase_count; ++i) device::tma_prefetch(p.phases[i].a);
          }
          if constexpr (kThree) shared.parted.init(tma_layout::kRemainderThreads / 32, 1);
          shared.ring.init(1, 4 * (kPingPong ? 1 : kConsumers) * tma_layout::sharing_blocks(kConfig));
          if constexpr (kClusterSum) shared.sum().init();
          shared.peer().init();
          for (int i = 0; kResidual && i < kConsumers; ++i) device::mbarrier_init(shared.residual(i), 1);
        },
        [&](int warp) {
          if (warp == 0) {
            if (device::elect()) produce(p, shared);
          } else if constexpr (kThree) {
            part_numbers(p, shared);
          } else if constexpr (tma_layout::writes_zeros(kConfig)) {
            write_zeros<kConfig>(p, warp - 1);
          }
        },
        [&](int consumer) { consume(p, shared, consumer); });
  }

 private:
  static constexpr int kTileM = kConfig.gemm.tile.m, kTileN = kConfig.gemm.tile.n;
  static constexpr int kStages = kConfig.gemm.stages;
  static constexpr int kBoxes = tma_layout::boxes(kConfig), kBox = tma_layout::box_k(kConfig);
  static constexpr int kConsumers = tma_layout::consumers(kConfig);
  static constexpr bool kPingPong = kConfig.gemm.ping_pong;
  static constexpr bool kCrosswise = tma_layout::crosswise(kConfig);
  static constexpr int kWidth = kCrosswise ? kTileM : kTileN;                    // columns of an instruction
  static constexpr i32 kPastEnd = 1 << 20;                                       // a box of channels that no tensor has
  static constexpr int kFragments = tma_layout::rows_of_consumer(kConfig) / 64;  // of 64 rows, a consumer
  static constexpr int kSteps = kConfig.gemm.swizzle_a / 32;                     // wgmmas along k in a box
  static constexpr int kABox = tma_layout::a_box_bytes(kConfig), kBBox = tma_layout::b_box_bytes(kConfig);
  static constexpr bool kClusterSum = kConfig.gemm.split_k == SplitK::kCluster;
  static constexpr bool kParts = kConfig.gemm.split_k == SplitK::kWorkspace;
  static constexpr bool kThree = tma_layout::three_products(kConfig);
  static constexpr bool kSkips = tma_layout::skips_steps(kConfig);
  static constexpr bool kRaw = tma_layout::raw_patches(kConfig);
  static_assert(!kRaw || (kBoxes == 1 && !kConfig.gemm.multicast_a));
  static_assert(!kCrosswise || (!kThree && kConfig.gemm.swizzle_a == 128 && kConfig.gemm.split_k == SplitK::kNone &&
                                kConfig.gemm.staging == Staging::kTmaStore));
  static_assert(!(kClusterSum || kParts) || (!kPingPong && kConfig.gemm.staging == Staging::kDirect));
  static_assert(!(kClusterSum && Peer<kConfig>::kShares));
  static_assert(!kStream || !(kClusterSum || kParts || kRaw || kCrosswise || Peer<kConfig>::kShares));

  using A = KMajor<kConfig.gemm.swizzle_a>;
  using B = FilterLayout<kConfig>;
  static constexpr DataType kTypeA = wgmma_type(operand_a(kConfig)), kTypeB = wgmma_type(operand_b(kConfig));
  using Multiply = device::Wgmma<kCrosswise ? kTypeB : kTypeA, kCrosswise ? kTypeA : kTypeB, kWidth>;
  using Output = TmaOutput<kConfig, Params>;
  using Sum = SumCursor<Params, kPhases>;
  using SlotRing = Ring<kStages>;
  using Cursor = typename SlotRing::Cursor;

  struct Shared {  // addresses
    SharedAddress a, b, out, exchange;
    SlotRing ring;
    SlotRing parted;        // full: the slot's numbers are parted
    SharedAddress cluster;  // barriers: of exchange.h, or the one of peer.h
    WT_DEVICE ClusterSum<kConfig> sum() const { return {exchange, cluster}; }
    WT_DEVICE Peer<kConfig> peer() const { return {cluster}; }
    WT_DEVICE SharedAddress residual(int consumer) const {
      return cluster + tma_layout::cluster_barrier_bytes(kConfig) + 8 * consumer;
    }
    // From a slot's tiles to their low parts.
    static constexpr int kLow = kStages * (tma_layout::a_bytes(kConfig) + tma_layout::b_bytes(kConfig));
    WT_DEVICE SharedAddress a_box(int slot, int box) const {
      return a + slot * tma_layout::a_bytes(kConfig) + box * kABox;
    }
    WT_DEVICE SharedAddress b_box(int slot, int box) const {
      return b + slot * tma_layout::b_bytes(kConfig) + box * kBBox;
    }
  };

  WT_DEVICE static Shared layout() {
    const SharedAddress a = (device::shared_base() + 1023) & ~1023u;
    const SharedAddress b = a + kStages * tma_layout::a_bytes(kConfig);
    const SharedAddress out = a + (kThree ? 2 : 1) * Shared::kLow;
    const SharedAddress exchange = out + tma_layout::out_bytes(kConfig);
    const SharedAddress barriers = exchange + tma_layout::exchange_bytes(kConfig);
    const SharedAddress parted = barriers + SlotRing::kBytes;
    return {a, b, out, exchange, {barriers}, {parted}, kThree ? parted + SlotRing::kBytes : parted};
  }

  // The boxes that a tile of the region sums over.
  WT_DEVICE static i32 boxes_of(const Params& p, const TmaRegion& region) {
    return region.taps.count[0] * region.taps.count[1] * region.taps.count[2] * p.depth_blocks;
  }

  // The stages of a part of such a sum; parts differ by one at most.
  struct Range {
    i32 first, count;
  };
  WT_DEVICE static Range stages_of(const Params& p, const TmaRegion& region, const Work& work) {
    if constexpr (kStream) return {work.first, work.count};
    const i32 all = (boxes_of(p, region) + kBoxes - 1) / kBoxes;
    if constexpr (!kClusterSum && !kParts) return {0, all};
    const auto first = static_cast<i32>(static_cast<i64>(all) * work.part / p.splits);
    return {first, static_cast<i32>(static_cast<i64>(all) * (work.part + 1) / p.splits) - first};
  }

  WT_DEVICE static void produce(const Params& p, const Shared& shared) {
    using Loads = TmaLoads<kConfig>;
    Cursor slot;
    for_work<kConfig>(p, [&](const Work& work) {
      const TileIndex& tile = work.tile;
      const TmaRegion& region = region_of(p, tile.m);
      const i64 row = (tile.m - region.first_tile) * kTileM + Loads::share_a() * tma_layout::a_box_rows(kConfig);
      const WalkStart start = walk_start_at(region, row);
      const i32 column = static_cast<i32>(tile.n) * kTileN;
      // Channels that are summed over start here in A, and the group's filters in B.
      i32 first_channel = tile.group * p.depth, first_filter = tile.group * p.group_filter;
      if constexpr (kRaw) {  // columns of patches are the images of their walk
        const i32 number = start.image * static_cast<i32>(p.run.by);
        first_channel = number & ~7;
        first_filter = (number & 7) * p.group_filter;
      }
      const Range range = stages_of(p, region, work);
      Sum at(p, region);
      if constexpr (kClusterSum || kParts || kStream) {
        if (range.count > 0) at.seek(range.first * kBoxes);
      }
      i32 left = boxes_of(p, region) - range.first * kBoxes;
      i32 ahead = 0;  // stages whose pixels are on their way
      if constexpr (kRaw) {
        if (work.order == 0) ahead = load_ahead(p, shared, region, start, first_channel, range.count);
      }
      for (i32 stage = range.count; stage > 0; --stage, --ahead) {
        const SharedAddress full = shared.ring.full(slot.slot);
        if (!kRaw || ahead <= 0) {
          shared.ring.wait_empty(slot);
          device::mbarrier_arrive_expect(full, static_cast<u32>(p.stage_bytes));
        }
        WT_UNROLL for (int box = 0; box < kBoxes; ++box) {
          // WHY: boxes past the end are loaded from channels past the end, which are zeros in both operands.
          if (kBoxes > 1 && left <= 0) at.box = kPastEnd;
          const i32 channel = at.box * p.box_channels;
          if (!kRaw || ahead <= 0)
            Loads::load_a(shared.a_box(slot.slot, box), at.map(), full, start, row, at, first_channel + channel,
                          p.policy);
          Loads::load_b(shared.b_box(slot.slot, box), p.b, p.b_tail, full, channel, at.filter, column, first_filter,
                        p.filter_policy);
          at.next();
          --left;
        }
        slot.next();
      }
    });
    shared.peer().greet();
  }

  // A block's first patches, which nobody copies before; then waits for the copies of the filter.
  WT_DEVICE static i32 load_ahead(const Params& p, const Shared& shared, const TmaRegion& region,
                                  const WalkStart& start, i32 first_channel, i32 stages) {
    const i32 ahead = stages < kStages ? stages : kStages;
    TapCursor at(region.taps);
    for (i32 slot = 0; slot < ahead; ++slot) {
      const SharedAddress full = shared.ring.full(slot);
      device::mbarrier_arrive_expect(full, static_cast<u32>(p.stage_bytes));
      TmaLoads<kConfig>::load_a(shared.a_box(slot, 0), region.a, full, start, 0, at,
                                first_channel + at.box * p.box_channels, p.policy);
      at.next(region.taps, p.depth_blocks);
    }
    device::wait_prerequisites();
    return ahead;
  }

  // Between copies and products: a slot's numbers become tf32, with their low parts behind.
  WT_DEVICE static void part_numbers(const Params& p, const Shared& shared) {
    const int thread = device::thread_index() - 128 * kConsumers - 32;
    Cursor slot;
    for_work<kConfig>(p, [&](const Work& work) {
      for (i32 stage = stages_of(p, region_of(p, work.tile.m), work).count; stage > 0; --stage) {
        shared.ring.wait_full(slot);
        const SharedAddress a = shared.a_box(slot.slot, 0), b = shared.b_box(slot.slot, 0);
        split_numbers(a, a + Shared::kLow, kBoxes * kABox, thread);
        split_numbers(b, b + Shared::kLow, kBoxes * kBBox, thread);
        device::fence_async_shared();  // wgmma reads what these threads wrote
        device::sync_warp();
        if (device::lane_index() == 0) device::mbarrier_arrive(shared.parted.full(slot.slot));
        slot.next();
      }
    });
  }

  WT_DEVICE static void consume(const Params& p, const Shared& shared, int consumer) {
    Cursor slot;
    u32 residual_phase = 0;
    if (kPingPong && consumer == 1 && has_work(p)) pass_turn(0);
    for_work<kConfig>(p, [&](const Work& work) {
      const TmaRegion& region = region_of(p, work.tile.m);
      const Range range = stages_of(p, region, work);
      if (kPingPong && work.order % kConsumers != consumer) {
        slot.skip(range.count);
      } else {
        float d[kFragments][kWidth / 2];
        if constexpr (kResidual) {
          if (!kStream || work.part == kWholeTile) fetch_residual(p, shared, region, work.tile, consumer);
        }
        if (kPingPong) await_turn(consumer);
        multiply(p, shared, slot, range, kPingPong ? 0 : consumer, d);
        if (kPingPong && !work.last) pass_turn(consumer ^ 1);
        if constexpr (kClusterSum) {
          store_share(p, shared, region, work, consumer, d);
        } else if constexpr (kParts) {
          store_part(p, region, work, consumer, d);
        } else if (kStream && work.part != kWholeTile) {
          leave_piece(p, work, consumer, d);
        } else {
          store(p, shared, region, work.tile, consumer, d, work.own_last, residual_phase);
        }
      }
      if (work.last) shared.peer().meet();
    });
  }

  // Blocks that are there for zeros alone have none.
  WT_DEVICE static bool has_work(const Params& p) {
    if constexpr (!tma_layout::lists_work(kConfig)) return true;
    return ListedTiles().next(p) != ListedTiles::kNone;
  }

  // The order of ping-pong consumers: barrier 1 + g opens for consumer g.
  WT_DEVICE static void await_turn(int consumer) { device::sync_named(1 + consumer, 256); }
  WT_DEVICE static void pass_turn(int consumer) { device::arrive_named(1 + consumer, 256); }

  WT_DEVICE static void multiply(const Params& p, const Shared& shared, Cursor& slot, const Range& range, int part,
                                 float (&d)[kFragments][kWidth / 2]) {
    const i32 stages = range.count;
    if ((kRegions > 1 || kPhases || kClusterSum || kParts) &&
        stages == 0) {  // no tap reaches these pixels, or an empty part
      WT_UNROLL for (int i = 0; i < kFragments; ++i) { WT_UNROLL for (int e = 0; e < kWidth / 2; ++e) d[i][e] = 0; }
      return;
    }
    const bool releases = device::lane_index() == 0;
    // Boxes may be narrower than their room, and the last one part full: other steps along k are left out.
    constexpr int kStepChannels = kBox / kSteps;
    const i32 all_steps = p.box_channels / kStepChannels;
    const i32 last_steps = (p.depth - (p.depth_blocks - 1) * p.box_channels + kStepChannels - 1) / kStepChannels;
    i32 box_of_tap = kSkips && range.first > 0 ? range.first % p.depth_blocks : 0;
    for (i32 stage = 0; stage < stages; ++stage) {
      const i32 steps = box_of_tap + 1 == p.depth_blocks ? last_steps : all_steps;
      box_of_tap = box_of_tap + 1 == p.depth_blocks ? 0 : box_of_tap + 1;
      (kThree ? shared.parted : shared.ring).wait_full(slot);
      if (!kSkips || steps == kSteps) {
        issue<kSteps>(shared, slot.slot, part, stage > 0, d);
      } else if (2 * steps > kSteps) {
        issue<kSteps - 1>(shared, slot.slot, part, stage > 0, d);
      } else {
        issue<kSteps / 2>(shared, slot.slot, part, stage > 0, d);
      }
      device::wgmma_wait<1>();  // the stage before this one has been read
      if (stage > 0 && releases) Peer<kConfig>::release(shared.ring.empty(slot.previous()));
      slot.next();
    }
    device::wgmma_wait<0>();
    WT_UNROLL for (int i = 0; i < kFragments; ++i) device::wgmma_hold(d[i]);
    if (releases) Peer<kConfig>::release(shared.ring.empty(slot.previous()));
  }

  // The products of a slot. WHY with fence and commit: a condition between them would serialise the instructions.
  template <int kOfSteps>
  WT_DEVICE static void issue(const Shared& shared, int slot, int part, bool accumulate,
                              float (&d)[kFragments][kWidth / 2]) {
    device::wgmma_fence();
    WT_UNROLL for (int box = 0; box < kBoxes; ++box) {
      WT_UNROLL for (int step = 0; step < kOfSteps; ++step) {
        WT_UNROLL for (int i = 0; i < kFragments; ++i) {
          const int rows = (part * kFragments + i) * 64 * kConfig.gemm.swizzle_a;
          const SharedAddress a = shared.a_box(slot, box), b = shared.b_box(slot, box);
          const bool more = accumulate || box > 0 || step > 0;
          if constexpr (kThree) {
            product(d[i], a + Shared::kLow, rows, b, step, more);
            product(d[i], a, rows, b + Shared::kLow, step, true);
          }
          product(d[i], a, rows, b, step, kThree || more);
        }
      }
    }
    device::wgmma_commit();
  }

  WT_DEVICE static void product(float (&d)[kWidth / 2], SharedAddress a, int rows, SharedAddress b, int step,
                                bool accumulate) {
    if constexpr (kCrosswise) {
      // A block of 64 output channels takes as many bytes along k as across it.
      Multiply::template multiply<B::kMajor, A::kMajor>(d, B::descriptor(b + rows, 0, step), A::descriptor(a, 0, step),
                                                        accumulate);
    } else {
      Multiply::template multiply<A::kMajor, B::kMajor>(d, A::descriptor(a, rows, step), B::descriptor(b, 0, step),
                                                        accumulate);
    }
  }

  // From the tile's first row, or column, to the consumer's.
  WT_DEVICE static i32 along_tile(int consumer) { return kPingPong ? 0 : consumer * kFragments * 64; }
  // The consumer's first row in its region.
  WT_DEVICE static i64 first_row(const TmaRegion& region, const TileIndex& tile, int consumer) {
    return (tile.m - region.first_tile) * kTileM + (kCrosswise ? 0 : along_tile(consumer));
  }

  WT_DEVICE static void store_share(const Params& p, const Shared& shared, const TmaRegion& region, const Work& work,
                                    int consumer, const float (&d)[kFragments][kWidth / 2]) {
    typename Output::Steps steps;
    const RegionRows rows{region, first_row(region, work.tile, 0)};
    const typename Output::Place place{work.tile.n * kTileN, work.tile.group};
    shared.sum().sum(d, consumer, work.order, work.last, [&](int row, int column, const float(&sums)[8]) {
      Output::store_eight(p, rows, place, row, column, sums, steps);
    });
    steps.finish(p.epilogue);
  }

  WT_DEVICE static void store_part(const Params& p, const TmaRegion& region, const Work& work, int consumer,
                                   const float (&d)[kFragments][kWidth / 2]) {
    using Parts = TmaOutput<parts_of(kConfig), Params, false>;  // WHY false here: GCC 12 fails to work it out
    typename Parts::Steps none;
    if (kConfig.gemm.cluster_n > 1 && work.tile.n * kTileN >= p.columns) return;  // as in store
    const i64 row = first_row(region, work.tile, consumer);
    WT_UNROLL for (int i = 0; i < kFragments; ++i) {
      const PartRows rows{{region, row + 64 * i}, work.part * p.part_elements};
      Parts::store_direct(p, rows, {work.tile.n * kTileN, work.tile.group}, d[i], none);
    }
  }

  WT_DEVICE static void leave_piece(const Params& p, const Work& work, int consumer,
                                    const float (&d)[kFragments][kWidth / 2]) {
    if constexpr (kStream) {
      WT_UNROLL for (int i = 0; i < kFragments; ++i) {
        store_piece<kTileM, kTileN>(p.partials, work.part, along_tile(consumer) + 64 * i, d[i]);
      }
      // As in store, of the tile before.
      if (kConfig.gemm.staging == Staging::kTmaStore && work.own_last && device::thread_index() % 128 == 0)
        device::bulk_wait_read<0>();
    }
  }

  // Of an odd number of tiles that blocks share, the last one's columns.
  WT_DEVICE static bool past_edge(const Params& p, i64 column) {
    return kConfig.gemm.cluster_n > 1 && column >= p.columns;
  }

  WT_DEVICE static SharedAddress staging_of(const Shared& shared, int consumer) {
    return shared.out + consumer * kFragments * Output::kFragmentBytes;
  }

  // Starts the copies of the tile's residual; store() waits for them.
  WT_DEVICE static void fetch_residual(const Params& p, const Shared& shared, const TmaRegion& region,
                                       const TileIndex& tile, int consumer) {
    if (device::thread_index() % 128 != 0 || past_edge(p, tile.n * kTileN)) return;
    device::bulk_wait_read<0>();  // the tile before has left the staging buffer
    const SharedAddress full = shared.residual(consumer), to = staging_of(shared, consumer);
    device::mbarrier_arrive_expect(full, kFragments * Output::kResidualBytes);
    const i64 row = first_row(region, tile, consumer);
    WT_UNROLL for (int i = 0; i < kFragments; ++i) {
      Output::fetch_residual(p, row + 64 * i, {tile.n * kTileN, tile.group}, to + i * Output::kFragmentBytes, full);
    }
  }

  WT_DEVICE static void store(const Params& p, const Shared& shared, const TmaRegion& region, const TileIndex& tile,
                              int consumer, const float (&d)[kFragments][kWidth / 2], bool last, u32& residual_phase) {
    typename Output::Steps steps;
    // Fragments lie one after the other along the rows of A, or along the columns.
    const i64 column = tile.n * kTileN + (kCrosswise ? along_tile(consumer) : 0);
    const i64 row = first_row(region, tile, consumer);
    if (past_edge(p, column)) return;
    const auto place = [&](int fragment) {
      return typename Output::Place{column + (kCrosswise ? 64 * fragment : 0), tile.group};
    };
    const auto rows = [&](int fragment) { return RegionRows{region, row + (kCrosswise ? 0 : 64 * fragment)}; };
    if constexpr (kConfig.gemm.staging == Staging::kTmaStore) {
      const SharedAddress staging = staging_of(shared, consumer);
      const bool sends = device::thread_index() % 128 == 0;
      if constexpr (kResidual) {
        device::mbarrier_wait(shared.residual(consumer), residual_phase);
        residual_phase ^= 1;
      } else {
        if (sends) device::bulk_wait_read<0>();  // the tile before has left the staging buffer
        device::sync_named(3 + consumer, 128);
      }
      WT_UNROLL for (int i = 0; i < kFragments; ++i) {
        Output::stage(p, rows(i), place(i), d[i], steps, staging + i * Output::kFragmentBytes);
      }
      device::fence_async_shared();
      device::sync_named(3 + consumer, 128);
      if (sends) {
        WT_UNROLL for (int i = 0; i < kFragments; ++i) {
          const SharedAddress from = staging + i * Output::kFragmentBytes;
          if constexpr (kRaw) {
            const WalkStart at = walk_start_at(region, rows(i).first);
            Output::send_patches(p, at.image, at.at[2], place(i), from);
          } else {
            Output::send(p, rows(i).first, place(i), from);
          }
        }
        // WHY here and not after the loop: code behind the persistent loop makes ptxas ignore the register moves.
        if (last) device::bulk_wait_read<0>();
      }
    } else if constexpr (kConfig.gemm.staging == Staging::kShared) {
      const SharedAddress staging = shared.out + consumer * tma_layout::out_bytes(kConfig) / kConsumers;
      WT_UNROLL for (int i = 0; i < kFragments; ++i) {
        Output::stage(p, rows(i), place(i), d[i], steps, staging);
        Output::copy_rows(p, rows(i), place(i), staging);
      }
    } else {
      WT_UNROLL for (int i = 0; i < kFragments; ++i) { Output::store_direct(p, rows(i), place(i), d[i], steps); }
    }
    steps.finish(p.epilogue);
  }
};

}  // namespace wt
