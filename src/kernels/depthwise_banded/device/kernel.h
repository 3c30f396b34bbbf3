// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_banded/device/kernel.h - depthwise forward and backward data of stride 1 on matrix instructions.
//
//   rows of x or dy --cp.async--> ring (shared) --fragments--> mma with every row of the filter --> staged row --> y,
//   dx
//
// An input row meets every row of the filter while its fragments are in registers; the sums of the output rows in
// flight move on by one each step, as in stream_forward.h. Backward data is the same with the filter turned round.
// WHY finite_only: the band's zeros are multiplied too, and 0 x infinity reaches the other outputs of a strip.
#pragma once

#include "kernels/depthwise_banded/device/product.h"

namespace wt {

template <KernelConfig kConfig>
struct DirectBanded {
  using Params = BandedArguments;
  static constexpr int kThreads = kConfig.direct.block_size;
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const i32 channel_block = device::block_index().x % p.channel_blocks;
    const RowRange range = RowRange::make(p);
    Walk copied{range.first, range.end}, walk{range.first, range.end};
    Rows rows;
    rows.prepare(p, channel_block, device::shared_base());
    const u32 row_bytes = static_cast<u32>(banded::row_bytes(kConfig, p.column_blocks, p.group_segments));
    const u32 out_bytes = static_cast<u32>(banded::out_bytes(kConfig, p.column_blocks, p.group_segments));
    const u32 stage_bytes = kDepth * row_bytes;
    const SharedAddress ring = device::keep(device::shared_base() + banded::table_bytes(kConfig));
    const SharedAddress staged = ring + kStages * stage_bytes;
    // WHY rolled: a short walk waits for its instructions, too, and the code of a copy is long.
    WT_ROLLED for (int i = 0; i < kStages - 1; ++i) copy_next(p, rows, copied, ring + i * stage_bytes, row_bytes);

    const int warp = device::thread_index() / device::kWarpSize;
    const BandedLane lane = BandedLane::make();
    const i32 channel = channel_block * banded::channels(kConfig) + warp * kChannels;
    typename Product::Band band[kDepth];
    WT_UNROLL for (int z = 0; z < kDepth; ++z) Product::load_band(p, channel, z, 0, lane, band[z]);
    typename Product::Tile tile;
    tile.prepare(lane, warp);
    typename Product::Strips strips;
    strips.prepare(p, lane);

    typename Product::Steps steps;
    typename Product::Sums sum = {};
    int slot = 0, out_slot = 0;
    i32 done_row = -1;  // staged and not yet written
    while (walk.settle(p.to.size[1], Product::image_rows(p))) {
      if (walk.entered) Product::clear(sum);
      walk.entered = false;
      device::copy_async_wait<kStages - 2>();
      device::sync_block();
      // WHY here: the barrier says that every warp is done with the row before, whose place this copy takes.
      copy_next(p, rows, copied, ring + (slot == 0 ? kStages - 1 : slot - 1) * stage_bytes, row_bytes);
      WT_UNROLL for (int z = 0; z < kDepth; ++z) {
        Product::multiply(tile, strips.at(ring + slot * stage_bytes + z * row_bytes), band[z], 0, z == 0, sum);
      }
      slot = slot + 1 == kStages ? 0 : slot + 1;
      if (done_row >= 0) rows.write(p, done_row, staged + (out_slot ^ 1) * out_bytes);
      done_row = walk.row - (kRows - 1);
      if (done_row >= walk.first) {
        if (done_row == walk.first) rows.enter_out(p, walk.group);
        Product::finish_row(p, lane, tile, strips, channel, walk.group, done_row, staged + out_slot * out_bytes,
                            sum[kRows - 1], steps);
        out_slot ^= 1;
      } else {
        done_row = -1;
      }
      ++walk.row;
    }
    device::sync_block();
    if (done_row >= 0) rows.write(p, done_row, staged + (out_slot ^ 1) * out_bytes);
    steps.finish(p.epilogue);
  }

 private:
  using Product = BandedProduct<kConfig>;
  using Rows = typename Product::Rows;
  using Walk = typename Product::Walk;
  static constexpr int kRows = Product::kRows, kDepth = Product::kDepth, kStages = Product::kStages;
  static constexpr int kChannels = Product::kChannels;

  // The next row of the walk, if any; a group of copies either way, so that counting them tells which have landed.
  WT_DEVICE static void copy_next(const Params& p, Rows& rows, Walk& walk, SharedAddress to, u32 row_bytes) {
    if (walk.settle(p.to.size[1], Product::image_rows(p))) {
      if (walk.entered) rows.enter(p, walk.group);
      walk.entered = false;
      rows.read(p, walk.row++, to, row_bytes);
    }
    device::copy_async_commit();
  }
};

}  // namespace wt
