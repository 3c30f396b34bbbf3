// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/sink.h - where the sums of a tile go: what kernel.h's consumers hand their accumulators to.
//
//   WholeTile      epilogue --> global memory, by pairs, by rows or by bulk stores
//   ClusterShare   the cluster's blocks --exchange.h--> epilogue --> global memory, a share of the rows each
//   WorkspacePart  one part of the workspace, which split_sum.h adds
//   StreamPiece    a piece of a tile that stream-K has cut, which stream_sum.h adds; whole tiles as above
//
// A sink is made for each consumer: begin(work) before a tile's products and take(work, d) behind them. It also says
// which stages of a tile's sum a work is.
#pragma once

#include "kernels/tma/device/output_crosswise.h"
#include "kernels/tma/device/product.h"
#include "kernels/tma/device/source.h"
#include "kernels/tma/device/stream_piece.h"

namespace wt {

// What all sinks know: the consumer's fragments of 64 rows, and where they lie.
template <KernelConfig kConfig, class Params>
struct SinkBase {
  using Output = TmaOutput<kConfig, Params>;
  using Shared = TmaShared<kConfig>;
  static constexpr bool kCrosswise = tma_layout::crosswise(kConfig);
  static constexpr int kTileM = kConfig.gemm.tile.m, kTileN = kConfig.gemm.tile.n;
  static constexpr int kConsumers = tma_layout::consumers(kConfig);
  static constexpr int kFragments = tma_layout::rows_of_consumer(kConfig) / 64;
  using Sums = float[kFragments][ProductOf<kConfig>::Type::kWidth / 2];

  const Params& p;
  const Shared& shared;
  int consumer;

  WT_DEVICE SinkBase(const Params& params, const Shared& memory, int number)
      : p(params), shared(memory), consumer(number) {}

  // From the tile's first row, or column, to the consumer's.
  WT_DEVICE i32 along_tile() const { return kConfig.gemm.ping_pong ? 0 : consumer * kFragments * 64; }
  // The consumer's first row in its region.
  WT_DEVICE i64 first_row(const TmaRegion& region, const TileIndex& tile) const {
    return (tile.m - region.first_tile) * kTileM + (kCrosswise ? 0 : along_tile());
  }
  // The columns of the last tile, where blocks share an odd number of tiles.
  WT_DEVICE bool past_edge(i64 column) const { return kConfig.gemm.cluster_n > 1 && column >= p.columns; }

  WT_DEVICE static i32 all_stages(const Params& p, const TmaRegion& region) {
    return (boxes_of(p, region) + tma_layout::boxes(kConfig) - 1) / tma_layout::boxes(kConfig);
  }
  WT_DEVICE static void init(const Shared&) {}
  WT_DEVICE void begin(const TmaRegion&, const Work&) {}
};

template <KernelConfig kConfig, class Params>
struct WholeTile : SinkBase<kConfig, Params> {
  using Base = SinkBase<kConfig, Params>;
  using Base::Base;
  using Output = typename Base::Output;
  using Base::p, Base::shared, Base::consumer, Base::kCrosswise, Base::kTileN, Base::kFragments;
  using typename Base::Shared, typename Base::Sums;
  static constexpr bool kSeeks = false;       // a sum may start behind its first stage
  static constexpr bool kEmptyParts = false;  // or have none
  static constexpr bool kAddedLater = false;  // another launch adds what this one leaves
  static constexpr bool kResidual = tma_layout::copies_residual(kConfig);
  static constexpr bool kInTurns = tma_layout::stages_in_turns(kConfig);
  static_assert(!kCrosswise || kConfig.gemm.staging == Staging::kTmaStore);

  u32 residual_phase = 0;

  WT_DEVICE static StageRange stages(const Params& p, const TmaRegion& region, const Work&) {
    return {0, Base::all_stages(p, region)};
  }

  WT_DEVICE static void init(const Shared& shared) {
    for (int i = 0; kResidual && i < Base::kConsumers; ++i) device::mbarrier_init(shared.residual(i), 1);
  }

  // Starts the copies of the tile's residual; take() waits for them.
  WT_DEVICE void begin(const TmaRegion& region, const Work& work) {
    if constexpr (kResidual) {
      const Fragments fragments = fragments_of(region, work.tile);
      if (device::thread_index() % 128 != 0 || Base::past_edge(fragments.first.column)) return;
      device::bulk_wait_read<0>();  // the tile before has left the staging buffer
      const SharedAddress full = shared.residual(consumer), to = staging_of_consumer();
      device::mbarrier_arrive_expect(full, kFragments * Output::kResidualBytes);
      WT_UNROLL for (int i = 0; i < kFragments; ++i) {
        Output::fetch_residual(p, fragments.row_of(i), fragments.place(i), to + i * Output::kFragmentBytes, full);
      }
    }
  }

  WT_DEVICE void take(const TmaRegion& region, const Work& work, const Sums& d) {
    typename Output::Steps steps;
    const Fragments fragments = fragments_of(region, work.tile);
    if (Base::past_edge(fragments.first.column)) return;
    const auto rows = [&](int fragment) { return RegionRows{region, fragments.row_of(fragment)}; };
    if constexpr (kConfig.gemm.staging == Staging::kTmaStore && kInTurns) {
      store_in_turns(region, fragments, d, work.own_last, steps);
    } else if constexpr (kConfig.gemm.staging == Staging::kTmaStore) {
      store_in_bulk(region, fragments, d, work.own_last, steps);
    } else if constexpr (kConfig.gemm.staging == Staging::kShared) {
      const SharedAddress staging = staging_of_consumer();
      WT_UNROLL for (int i = 0; i < kFragments; ++i) {
        if constexpr (kInTurns) {
          copy_boxes(rows(i), fragments.place(i), d[i], steps, staging);
        } else {
          Output::stage(p, rows(i), fragments.place(i), d[i], steps, staging);
          Output::copy_rows(p, rows(i), fragments.place(i), staging);
        }
      }
    } else {
      WT_UNROLL for (int i = 0; i < kFragments; ++i) {
        Output::store_direct(p, rows(i), fragments.place(i), d[i], steps);
      }
    }
    steps.finish(p.epilogue);
  }

 private:
  // Where a consumer's fragments lie: one after the other along the rows of A, or along the columns.
  struct Fragments {
    i64 row;
    typename Output::Place first;
    WT_DEVICE i64 row_of(int fragment) const { return row + (kCrosswise ? 0 : 64 * fragment); }
    WT_DEVICE typename Output::Place place(int fragment) const {
      return {first.column + (kCrosswise ? 64 * fragment : 0), first.group};
    }
  };
  WT_DEVICE Fragments fragments_of(const TmaRegion& region, const TileIndex& tile) const {
    const i64 column = tile.n * kTileN + (kCrosswise ? Base::along_tile() : 0);
    return {Base::first_row(region, tile), {column, tile.group}};
  }
  WT_DEVICE SharedAddress staging_of_consumer() const {
    return shared.out + consumer * (tma_layout::out_bytes(kConfig) / Base::kConsumers);
  }

  // Rows of a fragment that is staged by two boxes at a time; each warp copies its own.
  template <int kFirst = 0, class Rows>
  WT_DEVICE void copy_boxes(const Rows& rows, const typename Output::Place& place, const float (&d)[kTileN / 2],
                            typename Output::Steps& steps, SharedAddress staging) {
    Output::template stage_boxes<kFirst, tma_layout::kBoxesInTurns>(p, rows, place, d, steps, staging);
    Output::template copy_rows<kFirst, tma_layout::kBoxesInTurns>(p, rows, place, staging);
    if constexpr (kFirst + tma_layout::kBoxesInTurns < Output::kBoxes)
      copy_boxes<kFirst + tma_layout::kBoxesInTurns>(rows, place, d, steps, staging);
  }

  // A tile that is staged box by box, one while the one before leaves.
  template <int kFirst = 0>
  WT_DEVICE void store_in_turns(const TmaRegion& region, const Fragments& fragments, const Sums& d, bool last,
                                typename Output::Steps& steps) {
    constexpr int kAll = kFragments * Output::kBoxes, kTurns = tma_layout::kBoxesInTurns;
    constexpr int kFragment = kFirst / Output::kBoxes, kBox = kFirst % Output::kBoxes;
    const SharedAddress to = staging_of_consumer() + kFirst % kTurns * Output::kBoxBytes;
    const bool sends = device::thread_index() % 128 == 0;
    // What lay in this place has left: of a tile's first box that may be the last one's of the tile before.
    if (sends) device::bulk_wait_read<(kFirst == 0 && kAll % kTurns != 0) ? 0 : kTurns - 1>();
    device::sync_named(3 + consumer, 128);
    const RegionRows rows{region, fragments.row_of(kFragment)};
    Output::template stage_boxes<kBox, 1>(p, rows, fragments.place(kFragment), d[kFragment], steps, to);
    device::fence_async_shared();
    device::sync_named(3 + consumer, 128);
    if (sends) Output::template send<kBox, 1>(p, rows.first, fragments.place(kFragment), to);
    if constexpr (kFirst + 1 < kAll) {
      store_in_turns<kFirst + 1>(region, fragments, d, last, steps);
    } else {
      if (sends && last) device::bulk_wait_read<0>();
    }
  }

  WT_DEVICE void store_in_bulk(const TmaRegion& region, const Fragments& fragments, const Sums& d, bool last,
                               typename Output::Steps& steps) {
    const SharedAddress staging = staging_of_consumer();
    const bool sends = device::thread_index() % 128 == 0;
    const auto rows = [&](int fragment) { return RegionRows{region, fragments.row_of(fragment)}; };
    if constexpr (kResidual) {
      device::mbarrier_wait(shared.residual(consumer), residual_phase);
      residual_phase ^= 1;
    } else {
      if (sends) device::bulk_wait_read<0>();  // the tile before has left the staging buffer
      device::sync_named(3 + consumer, 128);
    }
    WT_UNROLL for (int i = 0; i < kFragments; ++i) {
      Output::stage(p, rows(i), fragments.place(i), d[i], steps, staging + i * Output::kFragmentBytes);
    }
    device::fence_async_shared();
    device::sync_named(3 + consumer, 128);
    if (sends) {
      WT_UNROLL for (int i = 0; i < kFragments; ++i) {
        const SharedAddress from = staging + i * Output::kFragmentBytes;
        if constexpr (tma_layout::raw_patches(kConfig)) {
          const WalkStart at = walk_start_at(region, rows(i).first);
          Output::send_patches(p, at.image, at.at[2], fragments.place(i), from);
        } else {
          Output::send(p, rows(i).first, fragments.place(i), from);
        }
      }
      // WHY here and not after the loop: code behind the persistent loop makes ptxas ignore the register moves.
      if (last) device::bulk_wait_read<0>();
    }
  }
};

// A part of a sum that p.splits blocks divide; parts differ by one stage at most.
template <KernelConfig kConfig, class Params>
struct DividedSum : SinkBase<kConfig, Params> {
  using SinkBase<kConfig, Params>::SinkBase;
  static constexpr bool kSeeks = true, kEmptyParts = true;
  static_assert(!kConfig.gemm.ping_pong && kConfig.gemm.staging == Staging::kDirect && !tma_layout::crosswise(kConfig));

  WT_DEVICE static StageRange stages(const Params& p, const TmaRegion& region, const Work& work) {
    const i32 all = SinkBase<kConfig, Params>::all_stages(p, region);
    const auto first = static_cast<i32>(static_cast<i64>(all) * work.part / p.splits);
    return {first, static_cast<i32>(static_cast<i64>(all) * (work.part + 1) / p.splits) - first};
  }
};

template <KernelConfig kConfig, class Params>
struct ClusterShare : DividedSum<kConfig, Params> {
  using Base = DividedSum<kConfig, Params>;
  using Base::Base;
  using Output = typename Base::Output;
  using Base::p, Base::shared;
  using typename Base::Shared, typename Base::Sums;
  static constexpr bool kAddedLater = false;
  static_assert(!Peer<kConfig>::kShares);

  WT_DEVICE static void init(const Shared& shared) { shared.sum().init(); }

  WT_DEVICE void take(const TmaRegion& region, const Work& work, const Sums& d) {
    typename Output::Steps steps;
    const RegionRows rows{region, (work.tile.m - region.first_tile) * Base::kTileM};
    const typename Output::Place place{work.tile.n * Base::kTileN, work.tile.group};
    shared.sum().sum(d, Base::consumer, work.order, work.last, [&](int row, int column, const float(&sums)[8]) {
      Output::store_eight(p, rows, place, row, column, sums, steps);
    });
    steps.finish(p.epilogue);
  }
};

template <KernelConfig kConfig, class Params>
struct WorkspacePart : DividedSum<kConfig, Params> {
  using Base = DividedSum<kConfig, Params>;
  using Base::Base;
  using Base::p;
  using typename Base::Sums;
  static constexpr bool kAddedLater = true;

  WT_DEVICE void take(const TmaRegion& region, const Work& work, const Sums& d) {
    using Parts = TmaOutput<parts_of(kConfig), Params, false>;  // WHY false here: GCC 12 fails to work it out
    typename Parts::Steps none;
    if (Base::past_edge(work.tile.n * Base::kTileN)) return;
    const i64 row = Base::first_row(region, work.tile);
    WT_UNROLL for (int i = 0; i < Base::kFragments; ++i) {
      const PartRows<RegionRows> rows{{region, row + 64 * i}, work.part * p.part_elements};
      Parts::store_direct(p, rows, {work.tile.n * Base::kTileN, work.tile.group}, d[i], none);
    }
  }
};

template <KernelConfig kConfig, class Params>
struct StreamPiece : WholeTile<kConfig, Params> {
  using Base = WholeTile<kConfig, Params>;
  using Base::Base;
  using typename Base::Sums;
  static constexpr bool kSeeks = true, kAddedLater = true;
  static_assert(kConfig.gemm.split_k == SplitK::kNone && !tma_layout::raw_patches(kConfig) && !Base::kCrosswise &&
                !Peer<kConfig>::kShares);

  WT_DEVICE static StageRange stages(const Params&, const TmaRegion&, const Work& work) {
    return {work.first, work.count};
  }

  WT_DEVICE void begin(const TmaRegion& region, const Work& work) {
    if (work.part == kWholeTile) Base::begin(region, work);
  }

  WT_DEVICE void take(const TmaRegion& region, const Work& work, const Sums& d) {
    if (work.part == kWholeTile) return Base::take(region, work, d);
    WT_UNROLL for (int i = 0; i < Base::kFragments; ++i) {
      store_piece<Base::kTileM, Base::kTileN>(Base::p.partials, work.part, Base::along_tile() + 64 * i, d[i]);
    }
    // As of whole tiles, of the tile before.
    if (kConfig.gemm.staging == Staging::kTmaStore && work.own_last && device::thread_index() % 128 == 0)
      device::bulk_wait_read<0>();
  }
};

template <KernelConfig kConfig, class Params, SplitK kSplit = kConfig.gemm.split_k,
          bool kStream = tma_layout::streams(kConfig)>
struct SinkOf {
  using Type = WholeTile<kConfig, Params>;
};
template <KernelConfig kConfig, class Params>
struct SinkOf<kConfig, Params, SplitK::kCluster, false> {
  using Type = ClusterShare<kConfig, Params>;
};
template <KernelConfig kConfig, class Params>
struct SinkOf<kConfig, Params, SplitK::kWorkspace, false> {
  using Type = WorkspacePart<kConfig, Params>;
};
template <KernelConfig kConfig, class Params>
struct SinkOf<kConfig, Params, SplitK::kNone, true> {
  using Type = StreamPiece<kConfig, Params>;
};

}  // namespace wt
