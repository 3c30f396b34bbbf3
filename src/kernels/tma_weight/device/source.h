// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight/device/source.h - the copies of a tile of the gradient: blocks of channels of dy, and of x under
// some taps, over one block of pixels after the other.
#pragma once

#include "kernels/tma/device/shared.h"
#include "kernels/tma_weight/device/items.h"

namespace wt {

// A walk over x in steps of tile.k pixels, by addition with carry.
struct PixelWalk {
  using Params = TmaWeightArguments;
  i32 at[4];  // n, d, h, w

  WT_DEVICE PixelWalk(const Params& p, i32 pixel) {
    WT_UNROLL for (int i = 3; i > 0; --i) {
      const i32 rest = pixel / p.size[i - 1];
      at[i] = pixel - rest * p.size[i - 1];
      pixel = rest;
    }
    at[0] = pixel;
  }
  WT_DEVICE void next(const Params& p) {
    i32 carry = 0;
    WT_UNROLL for (int i = 3; i > 0; --i) {
      at[i] += p.advance[i] + carry;
      carry = at[i] >= p.size[i - 1];
      if (carry) at[i] -= p.size[i - 1];
    }
    at[0] += p.advance[0] + carry;
  }
  WT_DEVICE i32 position(const Params& p, int dim) const { return p.start[dim] + at[dim + 1] * p.step[dim]; }
};

template <KernelConfig kConfig>
struct WeightSource {
  using Params = TmaWeightArguments;
  using Shared = TmaShared<kConfig>;
  static constexpr int kBlock = tma_layout::box_k(kConfig);  // channels of a copy: 64, or 32 of 32-bit types
  static constexpr int kDepth = kConfig.gemm.tile.k, kBlockBytes = kDepth * 128;
  static constexpr int kBlocksM = kConfig.gemm.tile.m / kBlock, kBlocksN = kConfig.gemm.tile.n / kBlock;
  static constexpr int kABytes = tma_layout::a_bytes(kConfig), kBBytes = tma_layout::b_bytes(kConfig);
  static_assert(kBlocksM * kBlockBytes == kABytes && kBlocksN * kBlockBytes == kBBytes);
  static constexpr bool kPlainX = kConfig.gemm.loader_b == Loader::kTmaTiled;  // a pixel of x for each of dy
  static constexpr bool kShareA = kConfig.gemm.multicast_a, kShareB = kConfig.gemm.multicast_b;
  static constexpr u16 kBoth = 3;  // blocks of a cluster
  static_assert((!kShareA || kBlocksM % 2 == 0) && (!kShareB || kBlocksN % 2 == 0));

  WT_DEVICE static int rank() { return kShareA || kShareB ? static_cast<int>(device::cluster_rank()) : 0; }

  WT_DEVICE static void load(const Params& p, const Shared& shared, const WeightItem& item, int rank,
                             typename Shared::SlotRing::Cursor& slot) {
    i32 channel[kBlocksN], tap[kBlocksN][3];
    WT_UNROLL for (int j = 0; j < kBlocksN; ++j) {
      const i32 block = static_cast<i32>(item.tile.n) * kBlocksN + j;
      i32 index = block / p.channel_blocks;
      // WHY: blocks past the last tap are loaded from its first channels; their columns are never stored.
      if (index >= p.taps) index = p.taps - 1;
      channel[j] = item.tile.group * p.channels + block % p.channel_blocks * kBlock;
      WT_UNROLL for (int i = 2; i >= 0; --i) {
        tap[j][i] = index % p.filter[i];
        index /= p.filter[i];
      }
    }
    const i32 row = item.tile.group * p.rows + static_cast<i32>(item.tile.m) * kConfig.gemm.tile.m;
    i32 pixel = item.first * kDepth;
    PixelWalk walk(p, pixel);
    for (i32 block = 0; block < item.count; ++block) {
      shared.ring.wait_empty(slot);
      const SharedAddress full = shared.ring.full(slot.slot);
      // What copies leave of their blocks is read too: rows and columns of sums that are never stored.
      device::mbarrier_arrive_expect(full, static_cast<u32>(p.copied_bytes));
      WT_UNROLL for (int i = 0; i < kBlocksM; ++i) {
        const SharedAddress to = shared.a + slot.slot * kABytes + i * kBlockBytes;
        if constexpr (!kShareA) {
          device::tma_load(to, p.dy, full, row + kBlock * i, pixel, p.policy);
        } else if (i % 2 == rank) {
          device::tma_load_multicast(to, p.dy, full, kBoth, row + kBlock * i, pixel, p.policy);
        }
      }
      WT_UNROLL for (int j = 0; j < kBlocksN; ++j) {
        if (kShareB && j % 2 != rank) continue;
        const SharedAddress to = shared.b + slot.slot * kBBytes + j * kBlockBytes;
        if constexpr (!kPlainX) {
          load_x(to, p, full, walk, channel[j], tap[j]);
        } else if constexpr (kShareB) {
          device::tma_load_multicast(to, p.x, full, kBoth, channel[j], pixel, p.policy);
        } else {
          device::tma_load(to, p.x, full, channel[j], pixel, p.policy);
        }
      }
      pixel += kDepth;
      if constexpr (!kPlainX) walk.next(p);
      slot.next();
    }
  }

 private:
  WT_DEVICE static void load_x(SharedAddress to, const Params& p, SharedAddress full, const PixelWalk& at, i32 channel,
                               const i32 (&tap)[3]) {
    const auto offset = [&](int dim) { return static_cast<u16>(tap[dim] * p.dilation[dim]); };
    const auto load = [&](auto... coordinates) {
      if constexpr (kShareB) {
        device::tma_load_im2col_multicast(to, p.x, full, kBoth, channel, coordinates..., p.policy);
      } else {
        device::tma_load_im2col(to, p.x, full, channel, coordinates..., p.policy);
      }
    };
    if constexpr (kConfig.dims == 1) {
      load(at.position(p, 2), at.at[0], offset(2));
    } else if constexpr (kConfig.dims == 2) {
      load(at.position(p, 2), at.position(p, 1), at.at[0], offset(2), offset(1));
    } else {
      load(at.position(p, 2), at.position(p, 1), at.position(p, 0), at.at[0], offset(2), offset(1), offset(0));
    }
  }
};

}  // namespace wt
