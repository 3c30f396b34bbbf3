// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_banded/device/bulk.h - banded.h with rows that the copy engine brings and takes away (sm_90 on).
//
//   rows of x or dy --tensor map--> ring (shared) --fragments--> mma --> staged rows --tensor map--> y, dx
//
// One thread asks for a row of every segment of a group at once; what lies outside the image comes as zeros and is not
// written. WHY: of 213 instructions of a step with 7x7 filters, 90 copied rows in and out, and few warps hide them.
// The engine's swizzle is the permutation of banded_rows.h. With a stride, each phase of the columns has a tensor map.
#pragma once

#include "kernels/depthwise_banded/device/product.h"
#include "target/bulk.h"

namespace wt {

template <KernelConfig kConfig>
struct DirectBandedBulk {
  using Params = BandedBulkArguments;
  static constexpr int kThreads = kConfig.direct.block_size;
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& params) {
    const BandedArguments& p = params.rows;
    // WHY two warps: what one thread does for all, its warp does, and the others wait for it.
    const bool loads = device::thread_index() == 0, sends = device::thread_index() == device::kWarpSize;
    const i32 channel_block = device::block_index().x % p.channel_blocks;
    const RowRange range = RowRange::make(p);
    Walk copied{range.first, range.end}, walk{range.first, range.end};
    const SharedAddress ring = (device::shared_base() + (banded::kBulkAlign - 1)) & ~(banded::kBulkAlign - 1u);
    const u32 row_bytes = static_cast<u32>(banded::row_bytes(kConfig, p.column_blocks, p.group_segments));
    const u32 out_bytes = static_cast<u32>(banded::out_bytes(kConfig, p.column_blocks, p.group_segments));
    const u32 stage_bytes = banded::step_rows(kConfig) * row_bytes;
    const SharedAddress staged = ring + kStages * stage_bytes;
    const SharedAddress full = staged + banded::kBulkOut * out_bytes;  // a barrier for each row of the ring
    const i32 first_channel = channel_block * banded::channels(kConfig);
    if (loads) {
      WT_UNROLL for (int i = 0; i < kStages; ++i) device::mbarrier_init(full + 8 * i, 1);
      device::mbarrier_fence_init();
      WT_ROLLED for (int i = 0; i < kStages - 1; ++i) {
        copy_next(params, first_channel, copied, ring + i * stage_bytes, row_bytes, full + 8 * i);
      }
    }

    const int warp = device::thread_index() / device::kWarpSize;
    const BandedLane lane = BandedLane::make();
    const i32 channel = first_channel + warp * kChannels;
    typename Product::Band band[kStep];
    WT_UNROLL for (int i = 0; i < kStep; ++i) Product::load_band(p, channel, 0, i, lane, band[i]);
    typename Product::Tile tile;
    tile.prepare(lane, warp);
    typename Product::Strips strips;
    strips.prepare(p, lane);
    device::sync_block();  // the barriers are there

    typename Product::Steps steps;
    typename Product::Sums sum = {};
    int slot = 0, out_slot = 0;
    u32 parity = 0;
    Staged done;
    typename Product::Fragments next;
    if (kReadsAhead && walk.at < walk.end) {
      device::mbarrier_wait(full, 0);
      tile.read_row(strips.at(ring).strip, next);
    }
    while (walk.settle_inside(p.to.size[1], Product::image_rows(p))) {
      if (walk.entered) Product::clear(sum);
      walk.entered = false;
      const int after = slot + 1 == kStages ? 0 : slot + 1;
      const bool goes_on = walk.row < walk.last || walk.at < walk.end;
      if constexpr (kReadsAhead) {
        if (goes_on) device::mbarrier_wait(full + 8 * after, parity ^ (after == 0));
      } else {
        device::mbarrier_wait(full + 8 * slot, parity);
      }
      // WHY one may be on its way: the place that is staged next was sent two rows ago.
      if (sends) device::bulk_wait_read<banded::kBulkOut - 2>();
      // Every warp is done with the row before then, whose place is free, and has staged what it completed.
      device::sync_block();
      if constexpr (kReadsAhead) {
        typename Product::Fragments now;
        WT_UNROLL for (int c = 0; c < kChannels; ++c) {
          WT_UNROLL for (int e = 0; e < Product::Mma::kA / 2; ++e) now[c][e] = next[c][e];
        }
        // WHY not only where it goes on: a branch would keep this apart from the products, which hide it.
        tile.read_row(strips.at(ring + (goes_on ? after : slot) * stage_bytes).strip, next);
        Product::multiply(now, band[0], 0, true, sum);
      } else {
        WT_UNROLL for (int i = 0; i < kStep * kStep; ++i) {
          Product::multiply(tile, strips.at(ring + slot * stage_bytes + i * row_bytes), band[i % kStep], i / kStep,
                            i == 0, sum);
        }
      }
      // WHY after the products: they go on meanwhile.
      const int free = slot == 0 ? kStages - 1 : slot - 1;
      if (loads) copy_next(params, first_channel, copied, ring + free * stage_bytes, row_bytes, full + 8 * free);
      slot = after;
      parity ^= after == 0;
      if (sends && done.row >= 0) send(params, first_channel, done);
      done.row = -1;
      const auto finish = [&](int in_flight) {
        const i32 row = walk.row - in_flight;
        if (row < walk.first || row >= walk.stop) return;
        if (in_flight < kPhaseRows - 1) {
          if (sends) device::bulk_wait_read<banded::kBulkOut - 2>();
          device::sync_block();
          if (sends && done.row >= 0) send(params, first_channel, done);
        }
        done = {row, walk.group, staged + out_slot * out_bytes};
        Product::finish_row(p, lane, tile, strips, channel, walk.group, row, done.at, sum[in_flight], steps);
        device::fence_async_shared();
        out_slot = out_slot + 1 == banded::kBulkOut ? 0 : out_slot + 1;
      };
      finish(kPhaseRows - 1);
      // After the last row of an image, what is in flight is complete.
      if (walk.row == walk.last) {
        WT_UNROLL for (int i = kPhaseRows - 2; i >= 0; --i) finish(i);
      }
      ++walk.row;
    }
    device::sync_block();
    if (sends) {
      if (done.row >= 0) send(params, first_channel, done);
      device::bulk_wait_read<0>();
    }
    steps.finish(p.epilogue);
  }

 private:
  using Product = BandedProduct<kConfig>;
  using Rows = typename Product::Rows;
  using Walk = typename Product::Walk;
  static constexpr int kStages = Product::kStages, kChannels = Product::kChannels;
  static constexpr int kStep = Product::kStep, kPhaseRows = Product::kPhaseRows;
  static constexpr bool kReadsAhead =
      kConfig.direct.read_ahead;  // a row's fragments, while the one before is multiplied
  static_assert(Product::kDepth == 1 && (!kReadsAhead || kStep == 1));

  // A row that is staged and not yet sent.
  struct Staged {
    i32 row = -1, group = 0;
    SharedAddress at = 0;
  };

  // For the first segment of a group.
  struct Corner {
    i32 image, column;

    WT_DEVICE static Corner of(const BandedArguments& p, i32 group) {
      const i32 segment = group * p.group_segments;
      if (p.segment_tiles == 1) return {segment, 0};
      return {segment / p.segment_tiles, segment % p.segment_tiles * (kBandedRows * kBandedPixels)};
    }
  };

  // The rows of a step, each phase of each row to a place of its own.
  WT_DEVICE static void copy_next(const Params& params, i32 channel, Walk& walk, SharedAddress to, u32 row_bytes,
                                  SharedAddress barrier) {
    const BandedArguments& p = params.rows;
    if (!walk.settle_inside(p.to.size[1], Product::image_rows(p))) return;
    const Corner corner = Corner::of(p, walk.group);
    const i32 row = walk.row++ * kStep - p.pad_h;
    device::mbarrier_arrive_expect(barrier, static_cast<u32>(kStep * kStep * p.group_segments *
                                                             banded::window(p.column_blocks) * Rows::kPixelBytes));
    WT_UNROLL for (int i = 0; i < kStep * kStep; ++i) {
      device::tma_load(to + i * row_bytes, params.from[i % kStep], barrier, channel,
                       corner.column + params.origin[i % kStep], row + i / kStep, corner.image);
    }
  }

  WT_DEVICE static void send(const Params& params, i32 channel, const Staged& done) {
    const Corner corner = Corner::of(params.rows, done.group);
    device::tma_store(params.to, done.at, channel, corner.column, done.row, corner.image);
    device::bulk_commit();
  }
};

}  // namespace wt
