// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight_halo/device/kernel.h - weight gradients with stride 1 on Hopper: a patch of x is loaded once for a
// row of taps, or for three of them.
//
//   dy, a tile of pixels --TMA--> ring --across its channels, A-----------------> wgmma --> registers --> global
//   x, the same pixels and their halo --TMA--> ring --taps one pixel apart, B ---/
//
// GEMM rows are output channels, k runs over the pixels of all images. A pixel's channels are one swizzled row of the
// patch, so that a tap is a start address some rows further on, and the columns of an instruction are three taps:
// blocks of one row of channels that lie one pixel apart, and overlap. A step along k is 16 pixels of one row of the
// tile, or 8 of two; or tiles are image rows as wide as their patches, with zeros of dy at the ends, and steps run
// through. Up to 32 output channels go in pairs of planes. With filters one tap wide, the three taps lie below each
// other. Warpgroups along n take a row of taps each. Other rows of taps, planes and channels are other tiles.
//
// Pixels outside dy are zeros that meet what the patch has there, so a non-finite x may reach taps that do not read it.
#pragma once

#include "kernels/device/gemm/part_sum.h"
#include "kernels/device/gemm/ring.h"
#include "kernels/device/overlap.h"
#include "kernels/tma/device/operand.h"
#include "kernels/tma/device/roles.h"
#include "kernels/tma/device/schedule.h"
#include "kernels/tma_weight/device/pixel_range.h"
#include "kernels/tma_weight/device/store.h"
#include "kernels/tma_weight_halo/device/arguments.h"

namespace wt {

struct WeightHaloColumns {
  i32 channel;  // first of a tile, in its group
  i32 tap[3];   // the tile's first
};
template <KernelConfig kConfig>
WT_DEVICE WeightHaloColumns weight_halo_columns(const TmaWeightHaloArguments& p, const TileIndex& tile) {
  WeightHaloColumns columns;
  i32 index = static_cast<i32>(tile.n);
  i32 rest = index / p.channel_blocks;
  columns.channel = (index - rest * p.channel_blocks) * weight_halo::channels(kConfig);
  WT_UNROLL for (int i = 2; i >= 0; --i) {
    index = rest;
    rest = index / p.tap_groups[i];
    columns.tap[i] = (index - rest * p.tap_groups[i]) * p.tap_step[i];
  }
  return columns;
}

template <KernelConfig kConfig>
struct TmaWeightHaloGemm {
  using Params = TmaWeightHaloArguments;
  static constexpr int kThreads = tma_layout::threads(kConfig);
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const Shared shared = layout();
    if constexpr (Store::kSplit) let_sum_start<kConfig>();
    run_roles<kConfig>(
        [&] {
          if (p.pixel_blocks > 0) {
            device::tma_prefetch(p.dy);
            device::tma_prefetch(p.x);
          }
          shared.ring.init(1, 4 * kConsumers);
        },
        [&](int warp) {
          if (warp == 0 && device::elect()) produce(p, shared);
        },
        [&](int consumer) { consume(p, shared, consumer); });
  }

 private:
  static constexpr int kTileM = kConfig.gemm.tile.m, kStages = kConfig.gemm.stages;
  static constexpr int kConsumers = tma_layout::consumers(kConfig);
  static constexpr int kGroupsM = weight_halo::groups_m(kConfig), kFragments = weight_halo::fragments(kConfig);
  static constexpr int kTaps = weight_halo::kTaps, kTapRows = weight_halo::tap_rows(kConfig);
  static constexpr int kRows = weight_halo::rows_of_box(kConfig), kChannels = weight_halo::channels(kConfig);
  static constexpr int kColumns = kTaps * kChannels, kPixelBytes = kConfig.gemm.swizzle_b;
  static constexpr int kSteps = weight_halo::steps(kConfig);
  static constexpr int kABytes = weight_halo::gradient_bytes(kConfig), kRowBytes = kConfig.gemm.swizzle_a;
  static constexpr int kBlockBytes = kConfig.gemm.tile.k * kRowBytes;
  static constexpr bool kPairs = weight_halo::pairs_planes(kConfig);
  static constexpr int kBBytes = weight_halo::patch_bytes(kConfig);
  static_assert((kPairs ? kTileM == 64 && kConfig.dims == 3 : kRows == 64) &&
                kConfig.gemm.tile.n == kTapRows * kColumns && kSteps <= weight_halo::kMaxSteps);

  static constexpr int kTileChannels = weight_halo::tile_channels(kConfig);
  static constexpr int kClearBarrier = 1;

  using Multiply = device::Wgmma<operand_a(kConfig), operand_b(kConfig), kColumns>;
  using Store = WeightStore<kConfig>;
  using SlotRing = Ring<kStages>;
  using Cursor = typename SlotRing::Cursor;

  struct Shared {  // addresses
    SharedAddress dy, x;
    SlotRing ring;
  };
  struct Item : WeightHaloColumns {  // one tile of one split
    TileIndex tile;
    i32 first, count;  // tiles of pixels
    i32 split;
  };

  WT_DEVICE static Shared layout() {
    constexpr weight_halo::SharedLayout kAt = weight_halo::shared_layout(kConfig);
    const SharedAddress base = aligned_shared_base();
    return {base + kAt.dy, base + kAt.x, {base + kAt.ring}};
  }

  template <class Body>
  WT_DEVICE static void for_items(const Params& p, Body&& body) {
    for_work<kConfig>(p, [&](const Work& work) {
      Item item;
      item.tile = work.tile;
      item.split = work.part;
      const PixelRange pixels = pixel_range(work.part, p.blocks_per_split, p.pixel_blocks);
      item.first = pixels.first;
      item.count = pixels.count;
      static_cast<WeightHaloColumns&>(item) = weight_halo_columns<kConfig>(p, work.tile);
      body(item);
    });
  }

  // A walk over the tiles of all images; the place of a tile's first pixel.
  struct TileWalk {
    i32 image, d, h, w;

    WT_DEVICE TileWalk(const Params& p, i32 tile) {
      const i32 row = tile / p.tiles_w, plane = row / p.tiles_h;
      w = (tile - row * p.tiles_w) * p.tile_w;
      h = (row - plane * p.tiles_h) * p.tile_h;
      image = plane / p.size[0];
      d = plane - image * p.size[0];
    }
    WT_DEVICE void next(const Params& p) {
      if ((w += p.tile_w) < p.size[2]) return;
      w = 0;
      if ((h += p.tile_h) < p.size[1]) return;
      h = 0;
      if (++d < p.size[0]) return;
      d = 0;
      ++image;
    }
  };

  WT_DEVICE static void load(SharedAddress to, const TensorMap& map, const Params& p, SharedAddress full, i32 channel,
                             i32 w, i32 h, i32 d, i32 image) {
    if constexpr (kConfig.dims == 3) {
      device::tma_load(to, map, full, channel, w, h, d, image, p.policy);
    } else {
      device::tma_load(to, map, full, channel, w, h, image, p.policy);
    }
  }

  WT_DEVICE static void produce(const Params& p, const Shared& shared) {
    Cursor slot;
    for_items(p, [&](const Item& item) {
      const i32 row = item.tile.group * p.rows + static_cast<i32>(item.tile.m) * kTileChannels;
      const i32 channel = item.tile.group * p.channels + item.channel;
      const i32 d = p.start[0] + item.tap[0], h = p.start[1] + item.tap[1], w = p.start[2] + item.tap[2];
      TileWalk at(p, item.first);
      for (i32 block = 0; block < item.count; ++block) {
        shared.ring.wait_empty(slot);
        const SharedAddress full = shared.ring.full(slot.slot);
        // What copies leave of their rows is read too: rows and columns of sums that are never stored.
        device::mbarrier_arrive_expect(full, static_cast<u32>(p.copied_bytes));
        WT_UNROLL for (int i = 0; i < kTileM / kRows; ++i) {
          load(shared.dy + slot.slot * kABytes + i * kBlockBytes, p.dy, p, full, kPairs ? row : row + kRows * i, at.w,
               at.h, kPairs ? at.d - 1 + i : at.d, at.image);
        }
        load(shared.x + slot.slot * kBBytes, p.x, p, full, channel, at.w + w, at.h + h, at.d + d, at.image);
        at.next(p);
        slot.next();
      }
    });
  }

  // Tiles of whole image rows: what products read beyond the copies. By all consumers, before the first product.
  WT_DEVICE static void clear(const Params& p, const Shared& shared) {
    const auto zero = [](SharedAddress from, SharedAddress end) {
      using Chunk = Vector<u32, 4>;
      for (SharedAddress at = from + device::thread_index() * 16; at < end; at += kConsumers * 128 * 16)
        device::store_shared(at, Chunk{});
    };
    for (int slot = 0; slot < kStages; ++slot) {
      WT_UNROLL for (int i = 0; i < kTileM / kRows; ++i) {
        const SharedAddress dy = shared.dy + slot * kABytes + i * kBlockBytes;
        zero(dy + p.filled_dy * kRowBytes, dy + kBlockBytes);
      }
      const SharedAddress x = shared.x + slot * kBBytes;
      zero(x + p.filled_x * kPixelBytes, x + kBBytes);
    }
    device::fence_async_shared();  // wgmma reads what these threads wrote
    device::sync_named(kClearBarrier, kConsumers * 128);
  }

  WT_DEVICE static void consume(const Params& p, const Shared& shared, int consumer) {
    if (p.clears) clear(p, shared);
    const int group_m = consumer % kGroupsM, tap_row = consumer / kGroupsM;
    Cursor slot;
    for_items(p, [&](const Item& item) {
      float d[kFragments][kColumns / 2];
      multiply(p, shared, slot, item.count, group_m * kFragments * kBlockBytes, tap_row * p.row_bytes, d);
      if (item.tap[1] + tap_row >= p.filter[1]) return;  // the filter's last rows are fewer
      WT_UNROLL for (int i = 0; i < kFragments; ++i) {
        const int fragment = group_m * kFragments + i;
        if constexpr (Store::kSplit) {
          store_part<kConfig>(p, item.split, tiles_of_part(p), number_of_tile(p, item.tile),
                              tap_row * kGroupsM * kFragments + fragment, d[i]);
        } else {
          store(p, item, fragment * 64, item.tap[1] + tap_row, d[i]);
        }
      }
    });
  }

  // `rows` and `pixels`: bytes from the start of a slot's tiles to what this consumer reads.
  WT_DEVICE static void multiply(const Params& p, const Shared& shared, Cursor& slot, i32 blocks, int rows, i32 pixels,
                                 float (&d)[kFragments][kColumns / 2]) {
    if (blocks == 0) return zero_sums(d);  // no pixels at all: the gradient of an empty batch
    const bool releases = device::lane_index() == 0;
    const auto release = [&](int at) { device::mbarrier_arrive(shared.ring.empty(at)); };
    for (i32 block = 0; block < blocks; ++block) {
      shared.ring.wait_full(slot);
      const SharedAddress a = shared.dy + slot.slot * kABytes + rows;
      // Columns of the next tap lie a pixel or a row further on, wherever in the swizzle's pattern that is.
      const u64 b = device::wgmma_descriptor(shared.x + slot.slot * kBBytes + pixels, static_cast<u32>(p.tap_bytes),
                                             static_cast<u32>(p.octet_bytes), descriptor_swizzle(kPixelBytes));
      device::wgmma_fence();
      WT_UNROLL for (int step = 0; step < kSteps; ++step) {
        WT_UNROLL for (int i = 0; i < kFragments; ++i) {
          const u64 rows_of_step = device::wgmma_descriptor(a + i * kBlockBytes + step * 16 * kRowBytes, kBlockBytes,
                                                            8 * kRowBytes, descriptor_swizzle(kRowBytes));
          Multiply::template multiply<device::Major::kMn, device::Major::kMn>(
              d[i], rows_of_step, b + static_cast<u64>(p.step_at[step]), block > 0 || step > 0);
        }
      }
      device::wgmma_commit();
      pass_slot(slot, block > 0 && releases, release);
    }
    pass_last(slot, d, releases, release);
  }

  // One fragment of 64 rows: the taps of a filter row.
  WT_DEVICE static void store(const Params& p, const Item& item, int first_row, i32 tap_row,
                              const float (&d)[kColumns / 2]) {
    typename Store::Steps steps;
    const int thread = device::thread_index() % 128, lane = thread % 32;
    // In pairs of planes, the first rows have the tap after the others'.
    const i32 plane = kPairs && thread < 64 ? item.tap[0] + 1 : item.tap[0];
    const i32 first_tap = (plane * p.filter[1] + tap_row) * p.filter[2] + item.tap[2];
    // Filters one tap wide have the taps below each other next to each other, too.
    const i32 existing = p.down ? p.filter[1] - item.tap[1] : p.filter[2] - item.tap[2];
    const i32 taps = p.filter[0] * p.filter[1] * p.filter[2];
    WT_UNROLL for (int half = 0; half < 2; ++half) {
      const int in_tile = first_row + (kPairs ? thread % 64 : thread) / 32 * 16 + lane / 4 + 8 * half;
      const i32 row = static_cast<i32>(item.tile.m) * kTileChannels + in_tile;
      if (row >= p.rows || (kPairs && plane >= p.filter[0])) continue;
      const i64 channel = static_cast<i64>(item.tile.group) * p.rows + row;
      WT_UNROLL for (int tap = 0; tap < kTaps; ++tap) {
        if (tap >= existing) break;
        const i64 offset = (channel * taps + first_tap + tap) * p.channels;
        WT_UNROLL for (int e = 0; e < kChannels / 8; ++e) {
          const int i = 4 * (kChannels / 8 * tap + e) + 2 * half;
          Store::pair(p, item.split, offset, item.channel + 8 * e + 2 * (lane % 4), channel, d[i], d[i + 1], steps);
        }
      }
    }
    steps.finish(p.epilogue);
  }
};

// For part_sum.h: fragments are those of a row of taps after the other's.
template <KernelConfig kConfig>
struct WeightHaloPlaces {
  using Params = TmaWeightHaloArguments;
  static constexpr int kVectors = weight_part::tile_vectors(kConfig);

  WT_DEVICE static u32 tiles(const Params& p) { return tiles_of_part(p); }
  WT_DEVICE static PartSums sums(const Params& p, u32 number, int vector) {
    constexpr int kChannels = weight_halo::channels(kConfig), kColumns = weight_halo::kTaps * kChannels;
    constexpr int kRowFragments = weight_halo::groups_m(kConfig) * weight_halo::fragments(kConfig);
    constexpr bool kPairs = weight_halo::pairs_planes(kConfig);
    const TileIndex tile = tile_of_number(p, number);
    const WeightHaloColumns columns = weight_halo_columns<kConfig>(p, tile);
    const int thread = vector % 128, lane = thread % 32, fragment = vector / (16 * kColumns);
    const int column = vector % (16 * kColumns) / 128 * 8 + 2 * (lane % 4), tap = column / kChannels;
    const i32 tap_row = columns.tap[1] + fragment / kRowFragments;
    const i32 plane = kPairs && thread < 64 ? columns.tap[0] + 1 : columns.tap[0];
    const i32 of_filter = (plane * p.filter[1] + tap_row) * p.filter[2] + columns.tap[2] + tap;
    const i32 existing = p.down ? p.filter[1] - columns.tap[1] : p.filter[2] - columns.tap[2];
    const i32 taps = p.filter[0] * p.filter[1] * p.filter[2], channel = columns.channel + column % kChannels;
    const i32 first = static_cast<i32>(tile.m) * weight_halo::tile_channels(kConfig) + fragment % kRowFragments * 64 +
                      (kPairs ? thread % 64 : thread) / 32 * 16 + lane / 4;
    const bool exist = tap_row < p.filter[1] && plane < p.filter[0] && tap < existing;
    PartSums sums;
    WT_UNROLL for (int i = 0; i < 4; ++i) {
      const i32 row = first + i / 2 * 8;
      sums.channel[i] = tile.group * p.rows + row;
      const i64 at = (static_cast<i64>(sums.channel[i]) * taps + of_filter) * p.channels + channel + i % 2;
      sums.at[i] = exist && row < p.rows && channel + i % 2 < p.channels ? at : -1;
    }
    return sums;
  }
};

}  // namespace wt
