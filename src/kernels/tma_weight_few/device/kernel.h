// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight_few/device/kernel.h - weight gradients of 3x3 layers that end in few channels, on Hopper.
//
//   x, a tile of pixels --TMA--> ring --ldmatrix, turned round--> A in registers --wgmma--> sums --> part of the sum
//   dy, the pixels that its taps reach --load warps--> ring --shifted by tap, across its channels, B --/
//
// Input channels are the 64 rows of the matrix instruction and output channels its columns, so that 36 of them take 40
// columns instead of 64 rows. 16 pixels of x are read once for all taps of a tile; a tap is a start address in the
// patch of dy. Rows of dy may be any whole number of words, which bulk copies cannot read. Every block leaves one part
// in the workspace, and part_sum.h adds them.
//
// Pixels outside dy are zeros that meet what x has there, so a non-finite x may reach taps that do not read it.
#pragma once

#include "kernels/device/gemm/part_sum.h"
#include "kernels/device/gemm/ring.h"
#include "kernels/device/gemm/storage.h"
#include "kernels/device/overlap.h"
#include "kernels/tma/device/roles.h"
#include "kernels/tma_weight/device/pixel_range.h"
#include "kernels/tma_weight/device/store.h"
#include "kernels/tma_weight_few/device/arguments.h"
#include "kernels/tma_weight_few/device/layout.h"
#include "target/hopper.h"

namespace wt {

template <KernelConfig kConfig>
struct TmaWeightFewGemm {
  using Params = TmaWeightFewArguments;
  static constexpr int kThreads = tma_layout::threads(kConfig);
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const Shared shared = layout();
    let_sum_start<kConfig>();
    run_roles<kConfig>(
        [&] {
          if (p.pixel_blocks > 0) device::tma_prefetch(p.x);
          shared.ring.init(1 + weight_few::load_threads(kConfig), 4 * kConsumers);
        },
        [&](int) { produce(p, shared); }, [&](int consumer) { consume(p, shared, consumer); });
  }

 private:
  static constexpr int kColumns = kConfig.gemm.tile.m, kStages = kConfig.gemm.stages;
  static constexpr int kConsumers = tma_layout::consumers(kConfig);
  static constexpr int kTapRows = weight_few::tap_rows(kConfig), kFilter = weight_few::kFilter;
  static constexpr int kTaps = weight_few::taps(kConfig), kPitch = weight_few::kPitch, kEdge = weight_few::kEdge;
  static constexpr int kSteps = weight_few::steps(kConfig), kSetSteps = weight_few::set_steps(kConfig);
  static constexpr int kSets = kSteps / kSetSteps;
  static constexpr int kBoxBytes = weight_few::box_bytes(kConfig), kImageBytes = weight_few::image_bytes(kConfig);
  static constexpr int kPatchBytes = weight_few::patch_bytes(kConfig), kRowBytes = weight_few::kRowBytes;
  static constexpr int kVector = kConfig.gemm.vector_a;
  static_assert(kSets % 2 == 0 && kSets * kSetSteps == kSteps && weight_few::boxes(kConfig) == kConsumers);

  using Element = Storage<operand_a(kConfig)>;
  using Multiply = device::Wgmma<operand_a(kConfig), operand_b(kConfig), kColumns>;
  using SlotRing = Ring<kStages>;
  using Cursor = typename SlotRing::Cursor;

  struct Shared {  // addresses
    SharedAddress x, dy;
    SlotRing ring;
  };
  struct Item {  // one tile of the gradient, and its share of the pixels
    i32 split, tile;
    i32 first, count;  // of its pixels, in tiles
    i32 channel;       // the first of the tile
    i32 tap_row;       // the first of the tile
  };

  WT_DEVICE static Shared layout() {
    constexpr weight_few::SharedLayout kAt = weight_few::shared_layout(kConfig);
    const SharedAddress base = aligned_shared_base();
    return {base + kAt.x, base + kAt.dy, {base + kAt.ring}};
  }

  WT_DEVICE static Item item_of(const Params& p) {
    // WHY tiles inside: those that read the same pixels run at the same time.
    const i32 block = static_cast<i32>(device::block_index().x), tiles = p.tap_groups * p.channel_blocks;
    const i32 split = block / tiles, tile = block - split * tiles, tap_group = tile / p.channel_blocks;
    const PixelRange pixels = pixel_range(split, p.blocks_per_split, p.pixel_blocks);
    return {split,
            tile,
            pixels.first,
            pixels.count,
            (tile - tap_group * p.channel_blocks) * kConfig.gemm.tile.n,
            tap_group * kTapRows};
  }

  WT_DEVICE static void produce(const Params& p, const Shared& shared) {
    const int thread = device::thread_index() - 128 * kConsumers;
    const Item item = item_of(p);
    Cursor slot;
    for (i32 index = 0; index < item.count; ++index) {
      const i32 tile = item.first + index, row = tile / p.tiles_w, image = row / p.tiles_h;
      const i32 w = (tile - row * p.tiles_w) * kEdge, h = (row - image * p.tiles_h) * weight_few::tile_height(kConfig);
      shared.ring.wait_empty(slot);
      const SharedAddress full = shared.ring.full(slot.slot);
      if (thread == 0) {
        device::mbarrier_arrive_expect(full, kImageBytes);
        WT_UNROLL for (int box = 0; box < kConsumers; ++box) {
          device::tma_load(shared.x + slot.slot * kImageBytes + box * kBoxBytes, p.x, full,
                           item.channel + box * weight_few::kBox, w, h, image);
        }
      }
      // The last tap of the tile reaches the patch's first pixel.
      load_patch(p, shared.dy + slot.slot * kPatchBytes, thread, image, h + p.pad[0] - item.tap_row - (kTapRows - 1),
                 w + p.pad[1] - (kFilter - 1));
      device::copy_async_arrive(full);
      slot.next();
    }
    // WHY: copies must not be in flight when their thread ends.
    device::copy_async_commit();
    device::copy_async_wait<0>();
  }

  // A thread copies one vector of one column of pixels, row by row; what lies outside is zero. WHY so: with places
  // found anew for every vector, the load warps took five times as long as the products.
  WT_DEVICE static void load_patch(const Params& p, SharedAddress patch, int thread, i32 image, i32 top, i32 left) {
    constexpr int kBytes = kVector * static_cast<int>(sizeof(Element)), kOfChunk = 16 / kBytes;
    constexpr int kVectors = kColumns / kVector;
    const auto* dy = static_cast<const Element*>(p.dy);
    for (int item = thread; item < kPitch * kVectors; item += weight_few::load_threads(kConfig)) {
      const int column = item / kVectors, vector = item % kVectors, chunk = vector / kOfChunk;
      const i32 w = left + column;
      const bool exists = w >= 0 && w < p.out[1] && vector < p.vectors;
      const i64 pitch = static_cast<i64>(p.out[1]) * p.rows;
      const Element* from = dy + (static_cast<i64>(image) * p.out[0] + top) * pitch + w * p.rows + vector * kVector;
      const SharedAddress to = patch + column * kRowBytes + vector % kOfChunk * kBytes;
      WT_UNROLL for (int row = 0; row < weight_few::patch_height(kConfig); ++row) {
        const bool inside = exists && static_cast<u32>(top + row) < static_cast<u32>(p.out[0]);
        const int place = chunk ^ ((column + row * kPitch) & 7);
        device::copy_async<kBytes>(to + row * (kPitch * kRowBytes) + place * 16, inside ? from : dy,
                                   inside ? kBytes : 0);
        from += pitch;
      }
    }
  }

  WT_DEVICE static void consume(const Params& p, const Shared& shared, int consumer) {
    const Item item = item_of(p);
    float d[kTaps][kColumns / 2];
    if (item.count <= 0) zero_sums(d);  // no pixels at all: the gradient of an empty batch
    multiply(shared, item.count, consumer, d);
    const u32 tiles = static_cast<u32>(p.tap_groups * p.channel_blocks);
    WT_UNROLL for (int tap = 0; tap < kTaps; ++tap)
        store_part<kConfig>(p, item.split, tiles, static_cast<u32>(item.tile), consumer * kTaps + tap, d[tap]);
  }

  WT_DEVICE static void multiply(const Shared& shared, i32 blocks, int consumer, float (&d)[kTaps][kColumns / 2]) {
    // What a lane names to ldmatrix: of four matrices, pairs are rows of 8 pixels, and the other is the next 8
    // channels.
    const int thread = device::thread_index() % 128, lane = thread % 32, pixel = lane / 16 * kEdge + lane % 8;
    const SharedAddress own =
        consumer * kBoxBytes + pixel * kRowBytes + ((thread / 32 * 2 + lane / 8 % 2) ^ lane % 8) * 16;
    const bool releases = lane == 0;
    Cursor slot;
    for (i32 block = 0; block < blocks; ++block) {
      shared.ring.wait_full(slot);
      device::fence_async_shared();  // WHY: the load warps wrote through the generic proxy, wgmma reads by another
      const SharedAddress pixels = shared.x + slot.slot * kImageBytes + own;
      const u64 patch = device::wgmma_descriptor(shared.dy + slot.slot * kPatchBytes, 16, kPitch * kRowBytes,
                                                 device::DescriptorSwizzle::k128);
      u32 a[2][kSetSteps][4];
      const auto load = [&](int set) {
        WT_UNROLL for (int i = 0; i < kSetSteps; ++i) {
          device::load_matrix<true>(a[set % 2][i], pixels + (set * kSetSteps + i) * 16 * kRowBytes);
        }
      };
      device::wgmma_wait<1>();  // the last set but one, which had these registers, is read
      load(0);
      WT_UNROLL for (int set = 0; set < kSets; ++set) {
        device::wgmma_fence();
        WT_UNROLL for (int i = 0; i < kSetSteps; ++i) {
          WT_UNROLL for (int tap = 0; tap < kTaps; ++tap) {
            const int step = set * kSetSteps + i;
            const int first = (2 * step + kTapRows - 1 - tap / kFilter) * kPitch + kFilter - 1 - tap % kFilter;
            Multiply::template multiply<device::Major::kMn>(d[tap], a[set % 2][i], patch + first * kRowBytes / 16,
                                                            block > 0 || step > 0);
          }
          if (i + 1 != kSetSteps / 2 || set + 1 == kSets) continue;
          // WHY here: an instruction with operands in registers is issued when the one before is through, so that loads
          // behind a whole set would leave a pause.
          device::wgmma_commit();
          device::wgmma_wait<1>();  // all before this half of the set is read
          if (set == 0 && block > 0) {
            device::sync_warp();
            if (releases) device::mbarrier_arrive(shared.ring.empty(slot.previous()));
          }
          device::wgmma_fence();
          load(set + 1);
        }
        device::wgmma_commit();
      }
      slot.next();
    }
    device::wgmma_wait<0>();
    WT_UNROLL for (int tap = 0; tap < kTaps; ++tap) device::wgmma_hold(d[tap]);
  }
};

// For part_sum.h: rows are input channels, columns output channels, a fragment for each tap.
template <KernelConfig kConfig>
struct WeightFewPlaces {
  using Params = TmaWeightFewArguments;
  static constexpr int kVectors = weight_part::tile_vectors(kConfig);

  WT_DEVICE static u32 tiles(const Params& p) { return static_cast<u32>(p.tap_groups * p.channel_blocks); }
  WT_DEVICE static PartSums sums(const Params& p, u32 number, int vector) {
    constexpr int kColumns = kConfig.gemm.tile.m, kTaps = weight_few::taps(kConfig), kFilter = weight_few::kFilter;
    const i32 tap_group = static_cast<i32>(number) / p.channel_blocks;
    const i32 channel_block = static_cast<i32>(number) - tap_group * p.channel_blocks;
    const int thread = vector % 128, lane = thread % 32, fragment = vector / (16 * kColumns);
    const i32 tap = tap_group * kTaps + fragment % kTaps;
    const i32 first = channel_block * kConfig.gemm.tile.n + fragment / kTaps * 64 + thread / 32 * 16 + lane / 4;
    const i32 row = vector % (16 * kColumns) / 128 * 8 + 2 * (lane % 4);
    PartSums sums;
    WT_UNROLL for (int i = 0; i < 4; ++i) {
      const i32 channel = first + i / 2 * 8;
      sums.channel[i] = row + i % 2;
      const i64 at = (static_cast<i64>(sums.channel[i]) * (kFilter * kFilter) + tap) * p.channels + channel;
      sums.at[i] = sums.channel[i] < p.rows && channel < p.channels ? at : -1;
    }
    return sums;
  }
};

}  // namespace wt
