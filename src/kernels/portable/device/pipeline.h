// SPDX-License-Identifier: Apache-2.0
// kernels/portable/device/pipeline.h - the main loops: in which order k-blocks are fetched, placed and multiplied.
//
//   registers ahead   basic_v2, mem         a tile or several ahead in registers
//   fragments ahead   compv3, compv6        a tile as fragments, the next in shared memory, one or two more on their
//   way ring              compv4                several shared buffers, filled from registers two by two        compv6,
//   two buffers   two tiles in registers, two in shared memory asynchronous      basic_async_v1, comp_async    the
//   same, filled without registers wave groups       compv5                two groups of warps, one moves data while
//   the other multiplies roles             wavelet               some warps only move data, the others only multiply
//
// docs/pipelines.md draws each. Every loop takes any number of k-blocks from one on.
#pragma once

#include "kernels/portable/device/product.h"

namespace wt {

// With a second buffer a tile is placed while others still multiply the one before it: one barrier less.
template <KernelConfig kConfig>
struct RegistersAhead {
  using Moves = Movement<kConfig>;
  static constexpr int kAhead = portable_layout::register_tiles(kConfig);
  static constexpr bool kDouble = portable_layout::buffers(kConfig) == 2;

  WT_DEVICE static void run(Moves& moves, PortableProduct<kConfig>& product) {
    const i32 blocks = moves.task.count;
    typename Moves::Held held[kAhead];
    WT_UNROLL for (int i = 0; i < kAhead; ++i) {
      if (i < blocks) moves.fetch(held[i]);
    }
    for (i32 first = 0; first < blocks; first += kAhead) {
      // WHY unrolled: registers have no index at run time.
      WT_UNROLL for (int i = 0; i < kAhead; ++i) {
        if (first + i >= blocks) break;
        const PortableBuffer buffer = Moves::buffer(kDouble ? (first + i) % 2 : 0);
        moves.place(held[i], buffer);
        device::sync_block();
        if (first + i + kAhead < blocks) moves.fetch(held[i]);
        product.multiply(buffer);
        if constexpr (!kDouble) device::sync_block();
      }
    }
    if constexpr (kDouble) device::sync_block();
  }
};

template <KernelConfig kConfig>
struct FragmentsAhead {
  using Moves = Movement<kConfig>;
  using Product = PortableProduct<kConfig>;
  static constexpr int kAhead = portable_layout::register_tiles(kConfig);
  static constexpr bool kDouble = portable_layout::buffers(kConfig) == 2;

  WT_DEVICE static void run(Moves& moves, Product& product) {
    const i32 blocks = moves.task.count;
    typename Moves::Held held[kAhead];
    typename Product::Fragments fragments;
    moves.fetch(held[0]);
    moves.place(held[0], Moves::buffer(0));
    WT_UNROLL for (int i = 0; i < kAhead; ++i) {
      if (1 + i < blocks) moves.fetch(held[i]);
    }
    device::sync_block();
    Product::read(Moves::buffer(0), fragments);
    for (i32 first = 1; first < blocks; first += kAhead) {
      WT_UNROLL for (int i = 0; i < kAhead; ++i) {
        const i32 block = first + i;
        if (block >= blocks) break;
        const PortableBuffer buffer = Moves::buffer(kDouble ? block % 2 : 0);
        if constexpr (!kDouble) device::sync_block();  // everyone holds the last tile's fragments
        moves.place(held[i], buffer);
        if (block + kAhead < blocks) moves.fetch(held[i]);
        product.burst(fragments);
        device::sync_block();
        Product::read(buffer, fragments);
      }
    }
    product.multiply(fragments);
    device::sync_block();
  }
};

// Like the ring of two buffers, with a second tile on its way in registers: a load has two k-blocks of time.
template <KernelConfig kConfig>
struct TwoByTwo {
  using Moves = Movement<kConfig>;
  static constexpr int kAhead = 2;
  static_assert(portable_layout::register_tiles(kConfig) == kAhead && portable_layout::buffers(kConfig) == 2);

  WT_DEVICE static void run(Moves& moves, PortableProduct<kConfig>& product) {
    const i32 blocks = moves.task.count;
    typename Moves::Held held[kAhead];
    moves.fetch(held[0]);
    moves.place(held[0], Moves::buffer(0));
    WT_UNROLL for (int i = 0; i < kAhead; ++i) {
      if (1 + i < blocks) moves.fetch(held[i]);
    }
    for (i32 first = 0; first < blocks; first += kAhead) {
      WT_UNROLL for (int i = 0; i < kAhead; ++i) {
        const i32 block = first + i;
        if (block >= blocks) break;
        device::sync_block();  // the tile of this turn is in shared memory, and nobody multiplies the other any more
        if (block + 1 < blocks) {
          moves.place(held[i], Moves::buffer(1 - i));
          if (block + 1 + kAhead < blocks) moves.fetch(held[i]);
        }
        product.multiply(Moves::buffer(i));
      }
    }
    device::sync_block();
  }
};

template <KernelConfig kConfig, bool kTwoBuffers = kConfig.gemm.double_buffer>
struct TwoTilesAhead : FragmentsAhead<kConfig> {};
template <KernelConfig kConfig>
struct TwoTilesAhead<kConfig, true> : TwoByTwo<kConfig> {};

template <KernelConfig kConfig>
struct BufferRing {
  using Moves = Movement<kConfig>;
  static constexpr int kBuffers = portable_layout::buffers(kConfig);

  WT_DEVICE static void run(Moves& moves, PortableProduct<kConfig>& product) {
    const i32 blocks = moves.task.count;
    typename Moves::Held held;
    WT_UNROLL for (int i = 0; i < kBuffers - 1; ++i) {
      if (i >= blocks) break;
      moves.fetch(held);
      moves.place(held, Moves::buffer(i));
    }
    if (kBuffers - 1 < blocks) moves.fetch(held);
    int full = 0, empty = kBuffers - 1;
    for (i32 block = 0; block < blocks; ++block) {
      device::sync_block();  // this tile is in shared memory, and the one before it has been multiplied
      if (block + kBuffers - 1 < blocks) {
        moves.place(held, Moves::buffer(empty));
        if (block + kBuffers < blocks) moves.fetch(held);
      }
      product.multiply(Moves::buffer(full));
      empty = full;
      full = full + 1 == kBuffers ? 0 : full + 1;
    }
    device::sync_block();
  }
};

template <KernelConfig kConfig>
struct Asynchronous {
  using Moves = Movement<kConfig>;
  static constexpr int kBuffers = portable_layout::buffers(kConfig);

  WT_DEVICE static void run(Moves& moves, PortableProduct<kConfig>& product) {
    const i32 blocks = moves.task.count;
    if constexpr (kBuffers == 1) {
      for (i32 block = 0; block < blocks; ++block) {
        moves.copy(Moves::buffer(0));
        device::copy_async_commit();
        device::copy_async_wait<0>();
        device::sync_block();
        product.multiply(Moves::buffer(0));
        device::sync_block();
      }
    } else {
      WT_UNROLL for (int i = 0; i < kBuffers - 1; ++i) {
        if (i < blocks) moves.copy(Moves::buffer(i));
        device::copy_async_commit();
      }
      int full = 0, empty = kBuffers - 1;
      for (i32 block = 0; block < blocks; ++block) {
        device::copy_async_wait<kBuffers - 2>();
        device::sync_block();  // this tile has landed for everyone, and the one before it has been multiplied
        if (block + kBuffers - 1 < blocks) moves.copy(Moves::buffer(empty));
        device::copy_async_commit();  // WHY even if empty: the wait above counts commits
        product.multiply(Moves::buffer(full));
        empty = full;
        full = full + 1 == kBuffers ? 0 : full + 1;
      }
      device::copy_async_wait<0>();
      device::sync_block();
    }
  }
};

// Group g takes the k-blocks g, g + 2, ... into its own buffer. In every phase one group moves data and the other
// multiplies; the output adds both sums in a fixed order.
template <KernelConfig kConfig>
struct WaveGroups {
  using Moves = Movement<kConfig>;

  WT_DEVICE static void run(Moves& moves, PortableProduct<kConfig>& product, int group) {
    const i32 blocks = moves.task.count;
    const PortableBuffer buffer = Moves::buffer(group);
    typename Moves::Held held;
    i32 next = group;
    if (group == 1) moves.skip();
    if (next < blocks) moves.fetch(held);
    // Phase t: group t % 2 places a tile and fetches its next, the other one multiplies what it placed before.
    for (i32 phase = 0; phase <= blocks; ++phase) {
      if (phase % 2 == group) {
        if (next < blocks) {
          moves.place(held, buffer);
          moves.skip();  // the other group's
          if (next + 2 < blocks) moves.fetch(held);
        }
        next += 2;
      } else if (phase > 0) {
        product.multiply(buffer);
      }
      device::sync_block();
    }
  }
};

// Both arms meet at the same barriers, equally often.
template <KernelConfig kConfig>
struct Roles {
  using Moves = Movement<kConfig>;
  static constexpr int kBuffers = portable_layout::buffers(kConfig);

  WT_DEVICE static void load(Moves& moves) {
    const i32 blocks = moves.task.count;
    if constexpr (portable_layout::is_async(kConfig)) {
      WT_UNROLL for (int i = 0; i < kBuffers - 1; ++i) {
        if (i < blocks) moves.copy(Moves::buffer(i));
        device::copy_async_commit();
      }
      device::copy_async_wait<kBuffers - 2>();
      device::sync_block();
      int empty = kBuffers - 1;
      for (i32 block = 0; block < blocks; ++block) {
        if (block + kBuffers - 1 < blocks) moves.copy(Moves::buffer(empty));
        device::copy_async_commit();
        device::copy_async_wait<kBuffers - 2>();  // the next tile has landed
        empty = empty + 1 == kBuffers ? 0 : empty + 1;
        device::sync_block();
      }
      device::copy_async_wait<0>();
    } else {
      typename Moves::Held held;
      WT_UNROLL for (int i = 0; i < kBuffers - 1; ++i) {
        if (i >= blocks) break;
        moves.fetch(held);
        moves.place(held, Moves::buffer(i));
      }
      if (kBuffers - 1 < blocks) moves.fetch(held);
      device::sync_block();
      int empty = kBuffers - 1;
      for (i32 block = 0; block < blocks; ++block) {
        if (block + kBuffers - 1 < blocks) {
          moves.place(held, Moves::buffer(empty));
          if (block + kBuffers < blocks) moves.fetch(held);
        }
        empty = empty + 1 == kBuffers ? 0 : empty + 1;
        device::sync_block();
      }
    }
  }

  WT_DEVICE static void multiply(i32 blocks, PortableProduct<kConfig>& product) {
    device::sync_block();  // the first tiles are there
    int full = 0;
    for (i32 block = 0; block < blocks; ++block) {
      product.multiply(Moves::buffer(full));
      full = full + 1 == kBuffers ? 0 : full + 1;
      device::sync_block();
    }
  }
};

}  // namespace wt
