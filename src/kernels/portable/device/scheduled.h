// SPDX-License-Identifier: Apache-2.0
// kernels/portable/device/scheduled.h - compv3, compv4, compv5 and wavelet on AMD's matrix units, as
// pipeline.h has them but for the order of instructions.
//
//   the last tile stands behind the loop, and what is fetched beyond it is zero or not used: so the loop is one block
//   without branches, of which interleave.h says what goes between which products
//
// The first slice of the next tile is read under the last products of this one, behind the barrier that stands between.
#pragma once

#include "kernels/device/interleave.h"
#include "kernels/portable/device/product.h"

namespace wt {

// Multiply-adds have no matrix instruction to wait for; interwave leaves the order to other waves; stages that fill
// themselves have other loops. RDNA3 holds fragments in both halves of a wave, and has no registers for those of a
// weight gradient, which lie across k, as they were read besides, nor for those of more than two slices, which the
// order reads early.
template <KernelConfig kConfig>
constexpr bool is_scheduled() {
  constexpr Pipeline kPipeline = kConfig.gemm.pipeline;
  if constexpr (!is_amd(kConfig.target)) return false;
  constexpr bool kRdna3 = kConfig.target == Target::kGfx1100 || kConfig.target == Target::kGfx11Generic;
  if constexpr (kRdna3 && portable_layout::a_lies_across(kConfig)) return false;
  if constexpr (kRdna3 && kConfig.gemm.tile.k > 2 * kConfig.gemm.mma.k) return false;
  return !Slicing<kConfig>::kInLanes && kConfig.gemm.scheduler == Scheduler::kIntrawave &&
         !portable_layout::is_async(kConfig) &&
         (kPipeline == Pipeline::kCompV3 || kPipeline == Pipeline::kCompV4 || kPipeline == Pipeline::kCompV5 ||
          kPipeline == Pipeline::kWavelet);
}

// The products of a tile by slices, of which one is read while the one before is multiplied.
template <KernelConfig kConfig>
struct SliceWalk {
  using Product = PortableProduct<kConfig>;
  static constexpr int kSlices = Product::kSlices, kEarly = kSlices - 1;  // before the tile's barrier
  // Of a tile's only slice the first rows are early.
  static constexpr int kEarlyRows = kSlices == 1 ? Product::kTilesM / 2 : 0;
  static constexpr int kRowProducts = Product::kSliceProducts / Product::kTilesM;
  static constexpr int kEarlyProducts = kEarly * Product::kSliceProducts + kEarlyRows * kRowProducts;
  static constexpr int kLateProducts = Product::kSliceProducts - kEarlyRows * kRowProducts;
  static constexpr int kEarlyReads = kEarly * Product::kSliceReads;

  typename Product::Origin at = Product::origin();
  typename Product::Words ahead;  // the next tile's first slice

  WT_DEVICE void first(const PortableBuffer& tile) { Product::load(tile, at, 0, ahead); }
  // All slices but the last, which has been read then.
  WT_DEVICE void early(Product& product, const PortableBuffer& tile) {
    WT_UNROLL for (int s = 0; s < kEarly; ++s) {
      typename Product::Words next;
      Product::load(tile, at, s + 1, next);
      product.multiply(ahead);
      ahead = next;
    }
    if constexpr (kEarlyRows > 0) product.template multiply<0, kEarlyRows>(ahead);
  }
  // The last, under which the next tile's first is read.
  WT_DEVICE void late(Product& product, const PortableBuffer& tile) {
    typename Product::Words next;
    Product::load(tile, at, 0, next);
    late(product);
    ahead = next;
    interleave<kLateProducts, Product::kSliceReads, 0, 0>();
    device::schedule_end();
  }
  WT_DEVICE void late(Product& product) { product.template multiply<kEarlyRows, Product::kTilesM>(ahead); }
};

// compv4.
template <KernelConfig kConfig>
struct ScheduledBuffers {
  using Moves = Movement<kConfig>;
  static_assert(portable_layout::buffers(kConfig) == 2);

  WT_DEVICE static void run(Moves& moves, PortableProduct<kConfig>& product) {
    using Walk = SliceWalk<kConfig>;
    const i32 blocks = moves.task.count;
    typename Moves::Held held;
    PortableBuffer full = Moves::buffer(0), empty = Moves::buffer(1);
    moves.fetch(held);
    moves.place(held, full);
    moves.fetch(held);
    device::sync_block();
    Walk walk;
    walk.first(full);
    WT_ROLLED for (i32 block = 1; block < blocks; ++block) {
      walk.early(product, full);
      moves.place(held, empty);
      moves.fetch(held);
      interleave<Walk::kEarlyProducts, Walk::kEarlyReads, Moves::kStores, Moves::kLoads>();
      device::schedule_end();
      device::sync_block();  // this tile has been read, and the next one is in shared memory
      walk.late(product, empty);
      const PortableBuffer last = full;
      full = empty;
      empty = last;
    }
    walk.early(product, full);
    walk.late(product);
    device::sync_block();
  }
};

// compv3: the whole tile as fragments. Those of a slice are read anew when it has been multiplied.
template <KernelConfig kConfig>
struct ScheduledFragments {
  using Moves = Movement<kConfig>;
  using Product = PortableProduct<kConfig>;
  static constexpr bool kDouble = portable_layout::buffers(kConfig) == 2;
  using Walk = SliceWalk<kConfig>;
  static constexpr int kSlices = Product::kSlices, kEarly = kSlices - 1;

  WT_DEVICE static void run(Moves& moves, Product& product) {
    const i32 blocks = moves.task.count;
    typename Moves::Held held;
    const typename Product::Origin at = Product::origin();
    typename Product::Words fragments[kSlices];
    const auto read = [&](const PortableBuffer& from, int s) { Product::load(from, at, s, fragments[s]); };
    const auto multiply = [&](int s) { product.multiply(fragments[s]); };
    PortableBuffer full = Moves::buffer(0), empty = Moves::buffer(kDouble ? 1 : 0);
    moves.fetch(held);
    moves.place(held, full);
    moves.fetch(held);
    device::sync_block();
    WT_UNROLL for (int s = 0; s < kSlices; ++s) read(full, s);
    WT_ROLLED for (i32 block = 1; block < blocks; ++block) {
      if constexpr (!kDouble) device::sync_block();  // everyone holds the last tile's fragments
      moves.place(held, empty);
      moves.fetch(held);
      WT_UNROLL for (int s = 0; s < kEarly; ++s) multiply(s);
      if constexpr (Walk::kEarlyRows > 0) product.template multiply<0, Walk::kEarlyRows>(fragments[0]);
      interleave<Walk::kEarlyProducts, 0, Moves::kStores, Moves::kLoads>();
      device::schedule_end();
      device::sync_block();
      WT_UNROLL for (int s = 0; s < kEarly; ++s) read(empty, s);
      product.template multiply<Walk::kEarlyRows, Product::kTilesM>(fragments[kEarly]);
      interleave<Walk::kLateProducts, Walk::kEarlyReads, 0, 0>();
      device::schedule_end();
      read(empty, kEarly);
      const PortableBuffer last = full;
      full = empty;
      empty = last;
    }
    WT_UNROLL for (int s = 0; s < kSlices; ++s) multiply(s);
    device::sync_block();
  }
};

// compv5: group g takes the k-blocks g, g + 2, ..., one phase for its moves and one for its products. The second group
// begins a phase later.
template <KernelConfig kConfig>
struct ScheduledGroups {
  using Moves = Movement<kConfig>;
  using Walk = SliceWalk<kConfig>;

  WT_DEVICE static void run(Moves& moves, PortableProduct<kConfig>& product, int group) {
    const i32 blocks = moves.task.count, own = (blocks + 1 - group) / 2;
    const PortableBuffer buffer = Moves::buffer(group);
    typename Moves::Held held;
    typename Moves::Aim at;
    if (group == 1) moves.skip();
    moves.aim(at);
    moves.load(at, held);
    moves.skip();
    moves.aim(at);
    Walk walk;
    if (group == 1) device::sync_block();
    WT_ROLLED for (i32 block = 0; block < own; ++block) {
      moves.place(held, buffer);
      moves.load(at, held);
      device::schedule_end();  // loads first, and behind them the addresses of the next
      moves.skip();            // the other group's
      moves.aim(at);
      device::sync_block();
      walk.first(buffer);
      walk.early(product, buffer);
      walk.late(product);
      interleave_all();
      device::sync_block();
    }
    if ((blocks % 2 == 0) == (group == 0)) device::sync_block();  // the other group's last phase
  }

 private:
  WT_DEVICE static void interleave_all() {
    using Product = PortableProduct<kConfig>;
    device::schedule<device::Slot::kSharedRead, Product::kSliceReads>();
    interleave<Walk::kEarlyProducts, Walk::kEarlyReads, 0, 0>();
    device::schedule<device::Slot::kMatrix, Walk::kLateProducts>();
  }
};

// wavelet. Both arms meet at the same barriers, equally often.
template <KernelConfig kConfig>
struct ScheduledRoles {
  using Moves = Movement<kConfig>;
  static constexpr int kBuffers = portable_layout::buffers(kConfig);

  WT_DEVICE static void load(Moves& moves) {
    const i32 blocks = moves.task.count;
    typename Moves::Held held;
    typename Moves::Aim at;
    WT_UNROLL for (int i = 0; i < kBuffers - 1; ++i) {
      if (i >= blocks) break;
      moves.fetch(held);
      moves.place(held, Moves::buffer(i));
    }
    moves.fetch(held);
    moves.aim(at);
    device::sync_block();
    int empty = kBuffers - 1;
    i32 block = 0;
    WT_ROLLED for (; block + kBuffers - 1 < blocks; ++block) {
      moves.place(held, Moves::buffer(empty));
      moves.load(at, held);
      device::schedule_end();  // loads first: the addresses of the next are worked out while these are under way
      moves.aim(at);
      empty = empty + 1 == kBuffers ? 0 : empty + 1;
      device::sync_block();
    }
    WT_ROLLED for (; block < blocks; ++block) device::sync_block();
  }

  WT_DEVICE static void multiply(i32 blocks, PortableProduct<kConfig>& product) {
    using Walk = SliceWalk<kConfig>;
    device::sync_block();  // the first tiles are there
    Walk walk;
    int full = 0;
    walk.first(Moves::buffer(0));
    WT_ROLLED for (i32 block = 1; block < blocks; ++block) {
      walk.early(product, Moves::buffer(full));
      interleave<Walk::kEarlyProducts, Walk::kEarlyReads, 0, 0>();
      device::schedule_end();
      device::sync_block();
      full = full + 1 == kBuffers ? 0 : full + 1;
      walk.late(product, Moves::buffer(full));
    }
    walk.early(product, Moves::buffer(full));
    walk.late(product);
    device::sync_block();
  }
};

}  // namespace wt
