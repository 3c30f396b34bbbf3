// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight/device/sink.h - where the sums of a tile of the gradient go.
//
//   GradientPairs   epilogue --> dw; of merged groups and atomic sums as they are --> the workspace (store.h)
//   GradientBoxes   epilogue --> dw by bulk stores, a block of channels of a tap each
//   GradientShare   the cluster's blocks --exchange.h--> epilogue --> dw, a share of the rows each
//   GradientPart    one part of the workspace in the order of registers, which part_sum.h adds (part.h)
//   GradientPiece   a piece of a tile that stream-K has cut, which stream_sum.h adds; whole tiles as pairs
#pragma once

#include "kernels/device/epilogue.h"
#include "kernels/tma/device/output.h"
#include "kernels/tma/device/shared.h"
#include "kernels/tma/device/stream_piece.h"
#include "kernels/tma_weight/device/items.h"
#include "kernels/tma_weight/device/store.h"

namespace wt {

// What all of them know. Rows of a tile are output channels, columns blocks of input channels of a tap.
template <KernelConfig kConfig>
struct GradientTile {
  using Params = TmaWeightArguments;
  using Shared = TmaShared<kConfig>;
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
  static constexpr int kTileM = kConfig.gemm.tile.m, kTileN = kConfig.gemm.tile.n;
  static constexpr int kBlock = tma_layout::box_k(kConfig), kBlocksN = kTileN / kBlock;
  static constexpr int kConsumers = tma_layout::consumers(kConfig);
  static constexpr int kFragments = tma_layout::rows_of_consumer(kConfig) / 64;
  using Sums = float[kFragments][kTileN / 2];
  static constexpr bool kAddedLater = false;  // another launch adds what this one leaves

  WT_DEVICE static void init(const Shared&) {}
};

template <KernelConfig kConfig>
struct GradientPairs : GradientTile<kConfig> {
  using Base = GradientTile<kConfig>;
  using Base::kBlock;
  using typename Base::Params, typename Base::Shared, typename Base::Steps, typename Base::Sums;
  static constexpr bool kAddedLater = WeightStore<kConfig>::kSplit || WeightStore<kConfig>::kAtomic;

  WT_DEVICE static void take(const Params& p, const Shared&, const WeightItem& item, int consumer, const Sums& d) {
    WT_UNROLL for (int i = 0; i < Base::kFragments; ++i) {
      store(p, item, (consumer * Base::kFragments + i) * 64, d[i]);
    }
  }

 private:
  // One fragment of 64 rows.
  WT_DEVICE static void store(const Params& p, const WeightItem& item, int first_row,
                              const float (&d)[Base::kTileN / 2]) {
    Steps steps;
    const int thread = device::thread_index() % 128, lane = thread % 32;
    WT_UNROLL for (int half = 0; half < 2; ++half) {
      const i32 row = static_cast<i32>(item.tile.m) * Base::kTileM + first_row + thread / 32 * 16 + lane / 4 + 8 * half;
      if (row >= p.rows) continue;
      const i64 channel = static_cast<i64>(item.tile.group) * p.rows + row;
      WT_UNROLL for (int j = 0; j < Base::kBlocksN; ++j) {
        const i32 block = static_cast<i32>(item.tile.n) * Base::kBlocksN + j;
        const i32 tap = block / p.channel_blocks, first = block % p.channel_blocks * kBlock + 2 * (lane % 4);
        if (tap >= p.taps) break;
        const i64 offset = (channel * p.taps + tap) * p.channels;
        WT_UNROLL for (int e = 0; e < kBlock / 8; ++e) {
          const int i = 4 * (kBlock / 8 * j + e) + 2 * half;
          WeightStore<kConfig>::pair(p, item.split, offset, first + 8 * e, channel, d[i], d[i + 1], steps);
        }
      }
    }
    if constexpr (!kAddedLater) steps.finish(p.epilogue);  // parts are finished by split_sum.h
  }
};

template <KernelConfig kConfig>
struct GradientBoxes : GradientTile<kConfig> {
  using Base = GradientTile<kConfig>;
  using Base::kBlock, Base::kBlocksN, Base::kFragments;
  using typename Base::Params, typename Base::Shared, typename Base::Steps, typename Base::Sums;

  // Bulk stores drop rows and channels that do not exist.
  WT_DEVICE static void take(const Params& p, const Shared& shared, const WeightItem& item, int consumer,
                             const Sums& d) {
    using Output = TmaOutput<kConfig, Anywhere>;
    constexpr int kBoxBytes = 64 * kBlock * static_cast<int>(sizeof(typename Steps::Element));
    constexpr int kFragmentBytes = kBlocksN * kBoxBytes;
    static_assert(Base::kConsumers * kFragments * kFragmentBytes == tma_layout::out_bytes(kConfig));
    const SharedAddress staging = shared.out + consumer * kFragments * kFragmentBytes;
    const Anywhere anywhere{p.epilogue};
    const bool sends = device::thread_index() % 128 == 0;
    Steps steps;
    if (sends) device::bulk_wait_read<0>();  // the tile before has left the staging buffer
    device::sync_named(3 + consumer, 128);
    WT_UNROLL for (int i = 0; i < kFragments; ++i) {
      Output::stage(anywhere, anywhere, {0, 0}, d[i], steps, staging + i * kFragmentBytes);
    }
    device::fence_async_shared();
    device::sync_named(3 + consumer, 128);
    if (!sends) return;
    WT_UNROLL for (int i = 0; i < kFragments; ++i) {
      const i32 row = static_cast<i32>(item.tile.m) * Base::kTileM + (consumer * kFragments + i) * 64;
      WT_UNROLL for (int j = 0; j < kBlocksN; ++j) {
        const i32 block = static_cast<i32>(item.tile.n) * kBlocksN + j, tap = block / p.channel_blocks;
        if (tap >= p.taps) break;
        device::tma_store(p.out, staging + i * kFragmentBytes + j * kBoxBytes, block % p.channel_blocks * kBlock, tap,
                          row);
      }
    }
    device::bulk_commit();
    // WHY here and not after the loop: code behind the persistent loop makes ptxas ignore the register moves.
    if (item.last) device::bulk_wait_read<0>();
  }

 private:
  // What staging a fragment asks of its arguments where no step of the epilogue depends on the place.
  struct Anywhere {
    const EpilogueArguments& epilogue;
    i64 columns = Base::kTileN;
    WT_DEVICE i64 offset(int) const { return 0; }
  };
};

template <KernelConfig kConfig>
struct GradientShare : GradientTile<kConfig> {
  using Base = GradientTile<kConfig>;
  using Base::kBlock;
  using typename Base::Params, typename Base::Shared, typename Base::Steps, typename Base::Sums;
  static_assert(!Peer<kConfig>::kShares);

  WT_DEVICE static void init(const Shared& shared) { shared.sum().init(); }

  WT_DEVICE static void take(const Params& p, const Shared& shared, const WeightItem& item, int consumer,
                             const Sums& d) {
    Steps steps;
    shared.sum().sum(d, consumer, item.order, item.last, [&](int in_tile, int column, const float(&sums)[8]) {
      const i32 row = static_cast<i32>(item.tile.m) * Base::kTileM + in_tile;
      const i32 block = static_cast<i32>(item.tile.n) * Base::kBlocksN + column / kBlock;
      const i32 tap = block / p.channel_blocks;
      const i32 first = block % p.channel_blocks * kBlock + column % kBlock, left = p.channels - first;
      if (row >= p.rows || tap >= p.taps || left <= 0) return;
      const i64 channel = static_cast<i64>(item.tile.group) * p.rows + row;
      store_neighbours(p.epilogue, p.dw, sums, left, (channel * p.taps + tap) * p.channels + first, channel, 0, steps);
    });
    steps.finish(p.epilogue);
  }
};

template <KernelConfig kConfig>
struct GradientPart : GradientTile<kConfig> {
  using Base = GradientTile<kConfig>;
  using typename Base::Params, typename Base::Shared, typename Base::Sums;
  static constexpr bool kAddedLater = true;

  WT_DEVICE static void take(const Params& p, const Shared&, const WeightItem& item, int consumer, const Sums& d) {
    WT_UNROLL for (int i = 0; i < Base::kFragments; ++i) {
      const int fragment = consumer * Base::kFragments + i;
      if (static_cast<i32>(item.tile.m) * Base::kTileM + fragment * 64 >= p.rows) break;
      store_part<kConfig>(p, item.split, tiles_of_part(p), number_of_tile(p, item.tile), fragment, d[i]);
    }
  }
};

template <KernelConfig kConfig>
struct GradientPiece : GradientPairs<kConfig> {
  using Base = GradientPairs<kConfig>;
  using typename Base::Params, typename Base::Shared, typename Base::Sums;
  static constexpr bool kAddedLater = true;
  static_assert(!Peer<kConfig>::kShares);

  WT_DEVICE static void take(const Params& p, const Shared& shared, const WeightItem& item, int consumer,
                             const Sums& d) {
    if (item.split == kWholeTile) return Base::take(p, shared, item, consumer, d);
    WT_UNROLL for (int i = 0; i < Base::kFragments; ++i) {
      store_piece<Base::kTileM, Base::kTileN>(p.partials, item.split, (consumer * Base::kFragments + i) * 64, d[i]);
    }
  }
};

enum class GradientSink { kPairs, kBoxes, kShare, kPart, kPiece };
constexpr GradientSink gradient_sink(const KernelConfig& config) {
  if (config.gemm.staging == Staging::kTmaStore) return GradientSink::kBoxes;
  if (tma_layout::streams(config)) return GradientSink::kPiece;
  if (config.gemm.split_k == SplitK::kCluster) return GradientSink::kShare;
  return weight_part::serves(config) ? GradientSink::kPart : GradientSink::kPairs;
}

template <KernelConfig kConfig, GradientSink kSink = gradient_sink(kConfig)>
struct GradientSinkOf {
  using Type = GradientPairs<kConfig>;
};
template <KernelConfig kConfig>
struct GradientSinkOf<kConfig, GradientSink::kBoxes> {
  using Type = GradientBoxes<kConfig>;
};
template <KernelConfig kConfig>
struct GradientSinkOf<kConfig, GradientSink::kShare> {
  using Type = GradientShare<kConfig>;
};
template <KernelConfig kConfig>
struct GradientSinkOf<kConfig, GradientSink::kPart> {
  using Type = GradientPart<kConfig>;
};
template <KernelConfig kConfig>
struct GradientSinkOf<kConfig, GradientSink::kPiece> {
  using Type = GradientPiece<kConfig>;
};

}  // namespace wt
