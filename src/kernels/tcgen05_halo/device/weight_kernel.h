// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05_halo/device/weight_kernel.h - weight gradients whose patches of x serve the taps below each other.
//
//   x, a patch for each column of the filter --TMA--> slot --rows: taps x channels--> tcgen05 --> sums of all taps
//   dy, the same pixels                      --TMA--> slot --columns: channels------/
//   sums --four store warps, a tap's channel a lane--> dw, or one part of the workspace
//
// Both operands are read across their channels, 16 pixels deep: two rows of 8. Rows of an instruction are two or four
// blocks of channels, of which each begins one row of the patch further on, which is the next tap; so every start is at
// a whole repeat of the swizzle. The sums of all taps of a tile lie beside each other in tensor memory, so that x and
// dy are loaded once for them. Pixels beyond the edge are zeros in dy, multiplied by whatever is there in x:
// finite_only.
#pragma once

#include "kernels/device/epilogue.h"
#include "kernels/tcgen05/device/product.h"
#include "kernels/tcgen05/device/roles.h"
#include "kernels/tcgen05/device/weight_items.h"
#include "kernels/tcgen05_halo/device/arguments.h"

namespace wt {

template <KernelConfig kConfig>
struct Tcgen05HaloWeight {
  using Params = Tcgen05HaloWeightArguments;
  static constexpr int kThreads = tcgen05_layout::threads(kConfig);
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    TensorRoles<kConfig>::run(
        [&] {
          if (p.pixel_blocks == 0) return;
          device::tma_prefetch(p.dy);
          device::tma_prefetch(p.x);
        },
        [](const Shared&) {}, [&](const Shared& shared, u32 tensor) { store(p, shared, tensor); },
        [&](const Shared& shared) { load(p, shared); },
        [&](const Shared& shared, u32 tensor) { multiply(p, shared, tensor); }, [](const Shared&, int) {});
  }

 private:
  using Shared = Tcgen05Shared<kConfig>;
  using Cursor = typename Shared::SlotRing::Cursor;
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
  static constexpr int kColumns = kConfig.gemm.tile.n, kUnits = tcgen05_layout::tap_units(kConfig);
  static constexpr int kCopies = tcgen05_layout::patch_copies(kConfig),
                       kCopyBytes = tcgen05_layout::patch_copy_bytes(kConfig);
  static constexpr int kHigh = kConfig.gemm.tile.k / tcgen05_layout::kPatchEdge;
  static constexpr int kRowBytes = tcgen05_layout::patch_row_bytes(kConfig);
  static constexpr int kChannels = tcgen05_layout::block_channels(kConfig);
  static constexpr bool kParts = kConfig.gemm.split_k == SplitK::kWorkspace;
  static_assert(Shared::kClusterBlocks == 1 && !Shared::kSums && !tcgen05_layout::takes_clusters(kConfig));

  // Where a tile's taps and channels begin.
  struct Place {
    i32 row, channel;   // of dy and of x, in their group
    i32 plane, column;  // of the filter
  };
  WT_DEVICE static Place place_of(const Params& p, const TileIndex& tile) {
    const auto n = static_cast<i32>(tile.n), columns = n / p.channel_blocks, wide = p.filter[2] / kCopies;
    const i32 plane = columns / wide;
    return {static_cast<i32>(tile.m) * kColumns, (n - columns * p.channel_blocks) * kChannels, plane,
            (columns - plane * wide) * kCopies};
  }

  // A walk over the tiles of pixels of all images.
  struct PixelTiles {
    i32 image, d, h, w;

    WT_DEVICE PixelTiles(const Params& p, i32 tile) {
      const i32 row = tile / p.tiles_w, plane = row / p.tiles_h;
      w = (tile - row * p.tiles_w) * tcgen05_layout::kPatchEdge;
      h = (row - plane * p.tiles_h) * kHigh;
      image = plane / p.size[0];
      d = plane - image * p.size[0];
    }
    WT_DEVICE void next(const Params& p) {
      if ((w += tcgen05_layout::kPatchEdge) < p.size[2]) return;
      w = 0;
      if ((h += kHigh) < p.size[1]) return;
      h = 0;
      if (++d < p.size[0]) return;
      d = 0;
      ++image;
    }
  };

  WT_DEVICE static void load(const Params& p, const Shared& shared) {
    Cursor slot;
    for_tensor_items<kConfig>(p, [&](const TensorItem& item) {
      if (device::elect()) load_item(p, shared, item, slot);
      device::sync_warp();
      slot.skip(item.count);
    });
    for (int i = 0; i < kConfig.gemm.stages; ++i, slot.next()) shared.ring.wait_empty(slot);
  }

  WT_DEVICE static void load_item(const Params& p, const Shared& shared, const TensorItem& item, Cursor slot) {
    const Place place = place_of(p, item.tile);
    const i32 row = item.tile.group * p.rows + place.row, channel = item.tile.group * p.channels + place.channel;
    const i32 d = p.start[0] + place.plane * p.step[0], h = p.start[1], w = p.start[2] + place.column * p.step[1];
    PixelTiles at(p, item.first);
    for (i32 block = 0; block < item.count; ++block) {
      shared.ring.wait_empty(slot);
      const SharedAddress full = shared.ring.full(slot.slot);
      device::mbarrier_arrive_expect(full, static_cast<u32>(p.copied_bytes));
      WT_UNROLL for (int copy = 0; copy < kCopies; ++copy) {
        copy_pixels(p, shared.a_box(slot.slot, 0) + copy * kCopyBytes, p.x, full, channel, at.w + w + copy * p.step[1],
                    at.h + h, at.d + d, at.image);
      }
      WT_UNROLL for (int box = 0; box < tcgen05_layout::gradient_boxes(kConfig); ++box) {
        copy_pixels(p, shared.b_box(slot.slot, 0) + box * tcgen05_layout::gradient_box_bytes(kConfig), p.dy, full,
                    row + 64 * box, at.w, at.h, at.d, at.image);
      }
      at.next(p);
      slot.next();
    }
  }

  WT_DEVICE static void copy_pixels(const Params& p, SharedAddress to, const TensorMap& map, SharedAddress full,
                                    i32 channel, i32 w, i32 h, i32 d, i32 image) {
    if constexpr (kConfig.dims == 3) {
      device::tma_load(to, map, full, channel, w, h, d, image, p.policy);
    } else {
      device::tma_load(to, map, full, channel, w, h, image, p.policy);
    }
  }

  WT_DEVICE static void multiply(const Params& p, const Shared& shared, u32 tensor) {
    using Gradient = TensorAcross<kConfig.gemm.tile.k>;
    constexpr u32 kWord =
        device::tensor_word(operand_b(kConfig), operand_a(kConfig), tcgen05_layout::kRows, kColumns, true, true);
    Cursor slot;
    typename Shared::SumCursor sum;
    for_tensor_items<kConfig>(p, [&](const TensorItem& item) {
      if (item.count <= 0) return;
      device::mbarrier_wait(shared.taken(sum.slot), sum.phase ^ 1);
      device::tensor_fence_after();
      for (i32 block = 0; block < item.count; ++block) {
        shared.ring.wait_full(slot);
        device::tensor_fence_after();
        if (device::elect()) {
          WT_UNROLL for (int unit = 0; unit < kUnits; ++unit) {
            const tcgen05_layout::TapUnit taps = tcgen05_layout::tap_unit(kConfig, unit);
            const SharedAddress pixels = shared.a_box(slot.slot, 0) + taps.copy * kCopyBytes + taps.row * kRowBytes;
            WT_UNROLL for (int step = 0; step < kHigh / 2; ++step) {
              const u64 x =
                  device::tensor_descriptor(pixels + step * 2 * kRowBytes, taps.beside ? kCopyBytes : kRowBytes,
                                            kRowBytes, tensor_swizzle(kConfig.gemm.swizzle_a));
              device::tensor_multiply<device::tensor_kind(operand_a(kConfig)), 1>(
                  tensor + static_cast<u32>(unit * kColumns), x, Gradient::descriptor(shared.b_box(slot.slot, 0), step),
                  kWord, block > 0 || step > 0);
            }
          }
          Shared::commit(shared.ring.empty(slot.slot), true);
          if (block + 1 == item.count) Shared::commit(shared.summed(sum.slot), false);
        }
        device::sync_warp();
        slot.next();
      }
      sum.next();
    });
  }

  WT_DEVICE static void store(const Params& p, const Shared& shared, u32 tensor) {
    constexpr int kRun = kColumns % 32 == 0 ? 32 : 16;  // columns at a time
    typename Shared::SumCursor sum;
    Steps steps;
    const int warp = device::warp_index(), row = 32 * warp + device::lane_index();
    const int block = row / kChannels;
    for_tensor_items<kConfig>(p, [&](const TensorItem& item) {
      const bool summed = item.count > 0;
      if (summed) {
        device::mbarrier_wait(shared.summed(sum.slot), sum.phase);
        device::tensor_fence_after();
      }
      const Place place = place_of(p, item.tile);
      const i32 channel = place.channel + row % kChannels;
      WT_ROLLED for (int unit = 0; unit < kUnits; ++unit) {
        const tcgen05_layout::TapUnit taps = tcgen05_layout::tap_unit(kConfig, unit);
        const i32 tap_h = taps.row + (taps.beside ? 0 : block),
                  tap_w = place.column + taps.copy + (taps.beside ? block : 0);
        const bool exists = tap_h >= taps.least && tap_h < p.filter[1] && channel < p.channels;
        const i32 tap = (place.plane * p.filter[1] + tap_h) * p.filter[2] + tap_w;
        WT_ROLLED for (int first = 0; first < kColumns; first += kRun) {
          float d[kRun] = {};
          if (summed) {
            device::tensor_load<device::TensorShape::k32x32>(
                d, tensor + (static_cast<u32>(warp) << 21) + static_cast<u32>(unit * kColumns + first));
            device::tensor_load_wait();
            device::tensor_hold(d);
            if (unit == kUnits - 1 && first == kColumns - kRun) {
              device::tensor_fence_before();
              device::sync_warp();
              if (device::lane_index() == 0) Shared::arrive(shared.taken(sum.slot), 0);
            }
          }
          if (exists) store_channel(p, item, place.row + first, tap, channel, d, steps);
        }
      }
      if (summed) sum.next();
    });
    if constexpr (!kParts) steps.finish(p.epilogue);  // parts are finished by split_sum.h
  }

  // Output channels from `first` on, of one tap and input channel; neighbouring lanes have neighbouring elements.
  template <int kCount>
  WT_DEVICE static void store_channel(const Params& p, const TensorItem& item, i32 first, i32 tap, i32 channel,
                                      const float (&d)[kCount], Steps& steps) {
    const i32 taps = p.filter[0] * p.filter[1] * p.filter[2];
    WT_UNROLL for (int i = 0; i < kCount; ++i) {
      if (first + i >= p.rows) continue;
      const i64 row = static_cast<i64>(item.tile.group) * p.rows + first + i;
      const i64 at = (row * taps + tap) * p.channels + channel;
      if constexpr (kParts) {
        device::store_global(p.partials + item.part * p.elements + at, d[i]);
      } else {
        Steps::write(static_cast<typename Steps::Element*>(p.dw) + at, steps.apply(p.epilogue, d[i], at, row));
      }
    }
  }
};

}  // namespace wt
