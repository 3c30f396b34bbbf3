// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05/device/weight_kernel.h - weight gradients on Blackwell: dw (k, tap c) = sum over pixels of dy^T x.
//
//   dy (channels, pixels) tiled, x (channels, pixels) im2col or tiled --> ring --tcgen05, both across k--> tensor
//   memory
//   --four store warps--> dw, or one part of the workspace, or --exchange.h--> the rows that a block of the cluster
//   finishes --> dw
//
// GEMM rows are output channels, columns blocks of 128 bytes of input channels of a tap, k runs over the pixels of all
// images, as on Hopper (kernels/tma_weight), whose arguments and launches these are. Tiles of 32-bit types are turned
// round between copies and products, so that they are read along k. Parts of the sums are left in the order of dw's
// elements, and split_sum.h adds them.
#pragma once

#include "kernels/tcgen05/device/product.h"
#include "kernels/tcgen05/device/roles.h"
#include "kernels/tcgen05/device/source.h"
#include "kernels/tcgen05/device/weight_items.h"
#include "kernels/tma/device/turn.h"
#include "kernels/tma_weight/device/source.h"
#include "kernels/tma_weight/device/store.h"

namespace wt {

template <KernelConfig kConfig>
struct Tcgen05Weight {
  using Params = TmaWeightArguments;
  static constexpr int kThreads = tcgen05_layout::threads(kConfig);
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    TensorRoles<kConfig>::run(
        [&] {
          if (p.pixels == 0) return;
          device::tma_prefetch(p.dy);
          device::tma_prefetch(p.x);
        },
        [&](const Shared& shared) { clear(p, shared); },
        [&](const Shared& shared, u32 tensor) { store(p, shared, tensor); },
        [&](const Shared& shared) { load(p, shared); },
        [&](const Shared& shared, u32 tensor) {
          if (Shared::in_tile() == 0) multiply(p, shared, tensor);
        },
        [&](const Shared& shared, int warp) {
          if (warp >= tcgen05_layout::kChangeWarp) turn_tiles(p, shared, warp - tcgen05_layout::kChangeWarp);
        });
  }

 private:
  using Shared = Tcgen05Shared<kConfig>;
  using Cursor = typename Shared::SlotRing::Cursor;
  static constexpr int kBlocks = Shared::kBlocks;
  static constexpr bool kPair = kBlocks == 2;
  // Of a block: its channels, and pixels.
  static constexpr int kChannels = tma_layout::box_k(kConfig), kDepth = kConfig.gemm.tile.k;
  static constexpr int kBlockBytes = kDepth * 128;
  static constexpr int kBlocksM = tcgen05_layout::kRows / kChannels;  // of one block of the pair
  static constexpr int kBlocksN = tcgen05_layout::columns(kConfig) / kChannels;
  static constexpr int kTileBlocks = kConfig.gemm.tile.n / kChannels;
  static constexpr bool kPlainX = kConfig.gemm.loader_b == Loader::kTmaTiled;
  static constexpr int kChunk = 64, kHalf = kChunk / 2;  // columns that leave tensor memory together
  static constexpr bool kByRows = kConfig.gemm.split_k == SplitK::kNone;
  static constexpr bool kTurns = tma_layout::turns_tiles(kConfig);
  static_assert(kConfig.gemm.tile.n % (kChannels * kBlocks) == 0 && kConfig.gemm.tile.n % kChunk == 0);
  static_assert(!kTurns || (kBlockBytes == kTurnedBoxBytes && !kPair));
  static_assert(Shared::kTiles == 1 && !tcgen05_layout::takes_clusters(kConfig));
  using Steps = typename WeightStore<kConfig>::Steps;

  // Blocks of output channels that no copy brings, which products read all the same.
  WT_DEVICE static void clear(const Params& p, const Shared& shared) {
    if (p.copied_blocks >= kBlocksM) return;
    for (int slot = 0; slot < kConfig.gemm.stages; ++slot) {
      const SharedAddress dy = shared.a_box(slot, 0);
      clear_rows(dy + p.copied_blocks * kBlockBytes, dy + kBlocksM * kBlockBytes);
    }
    device::fence_async_shared();
  }

  using Item = TensorItem;
  template <class Body>
  WT_DEVICE static void for_items(const Params& p, Body&& body) {
    for_tensor_items<kConfig>(p, body);
  }

  WT_DEVICE static void load(const Params& p, const Shared& shared) {
    Cursor slot;
    for_items(p, [&](const Item& item) {
      if (device::elect()) load_item(p, shared, item, slot);
      device::sync_warp();
      slot.skip(item.count);
    });
    // Products give slots back in both blocks of a pair: not after the end of one.
    for (int i = 0; i < kConfig.gemm.stages; ++i, slot.next()) shared.ring.wait_empty(slot);
  }

  WT_DEVICE static void load_item(const Params& p, const Shared& shared, const Item& item, Cursor slot) {
    const auto part = static_cast<i32>(Shared::in_tile());
    i32 channel[kBlocksN], tap[kBlocksN][3];
    WT_UNROLL for (int j = 0; j < kBlocksN; ++j) {
      const i32 block = static_cast<i32>(item.tile.n) * kTileBlocks + part * kBlocksN + j;
      i32 index = block / p.channel_blocks;
      // WHY: blocks past the last tap are loaded from its first channels; their columns are never stored.
      if (index >= p.taps) index = p.taps - 1;
      channel[j] = item.tile.group * p.channels + block % p.channel_blocks * kChannels;
      WT_UNROLL for (int i = 2; i >= 0; --i) {
        tap[j][i] = index % p.filter[i];
        index /= p.filter[i];
      }
    }
    const i32 row =
        item.tile.group * p.rows + static_cast<i32>(item.tile.m) * kConfig.gemm.tile.m + part * tcgen05_layout::kRows;
    i32 pixel = item.first * kDepth;
    PixelWalk walk(p, pixel);
    for (i32 block = 0; block < item.count; ++block) {
      shared.ring.wait_empty(slot);
      const SharedAddress own = shared.ring.full(slot.slot);
      if (part == 0) device::mbarrier_arrive_expect(own, static_cast<u32>(p.copied_bytes));
      const u32 full = kPair ? device::pair_address(own) : own;
      WT_UNROLL for (int i = 0; i < kBlocksM; ++i) {
        if (i >= p.copied_blocks) break;
        const BulkCopies<kPair, false> copy{shared.a_box(slot.slot, 0) + i * kBlockBytes, p.dy, full, 0, p.policy};
        copy.tiled(row + kChannels * i, pixel);
      }
      WT_UNROLL for (int j = 0; j < kBlocksN; ++j) {
        const BulkCopies<kPair, false> copy{shared.b_box(slot.slot, 0) + j * kBlockBytes, p.x, full, 0, p.policy};
        if constexpr (kPlainX) {
          copy.tiled(channel[j], pixel);
        } else {
          load_x(copy, p, walk, channel[j], tap[j]);
        }
      }
      pixel += kDepth;
      if constexpr (!kPlainX) walk.next(p);
      slot.next();
    }
  }

  WT_DEVICE static void load_x(const BulkCopies<kPair, false>& copy, const Params& p, const PixelWalk& at, i32 channel,
                               const i32 (&tap)[3]) {
    const auto offset = [&](int dim) { return static_cast<u16>(tap[dim] * p.dilation[dim]); };
    if constexpr (kConfig.dims == 1) {
      copy.im2col(channel, at.position(p, 2), at.at[0], offset(2));
    } else if constexpr (kConfig.dims == 2) {
      copy.im2col(channel, at.position(p, 2), at.position(p, 1), at.at[0], offset(2), offset(1));
    } else {
      copy.im2col(channel, at.position(p, 2), at.position(p, 1), at.position(p, 0), at.at[0], offset(2), offset(1),
                  offset(0));
    }
  }

  // Between copies and products: a slot's boxes are turned round, in turns of the warps.
  WT_DEVICE static void turn_tiles(const Params& p, const Shared& shared, int warp) {
    if constexpr (kTurns) {
      Cursor slot;
      for_items(p, [&](const Item& item) {
        for (i32 left = item.count; left > 0; --left) {
          shared.ring.wait_full(slot);
          for (int box = warp; box < kBlocksM + kBlocksN; box += tcgen05_layout::change_warps(kConfig)) {
            const SharedAddress at = box < kBlocksM ? shared.a_box(slot.slot, 0) + box * kBlockBytes
                                                    : shared.b_box(slot.slot, 0) + (box - kBlocksM) * kBlockBytes;
            turn_box<tma_layout::three_products(kConfig)>(at, at + Shared::kLow);
          }
          device::fence_async_shared();  // products read what these threads wrote
          device::sync_warp();
          if (device::lane_index() == 0) device::mbarrier_arrive(shared.changed.full(slot.slot));
          slot.next();
        }
      });
    }
  }

  WT_DEVICE static void multiply(const Params& p, const Shared& shared, u32 tensor) {
    using Operand = TensorPixels<kConfig>;
    constexpr int kSteps = kDepth * size_of(operand_a(kConfig)) / 32;
    Cursor slot;
    typename Shared::SumCursor sum;
    for_items(p, [&](const Item& item) {
      if (item.count <= 0) return;
      device::mbarrier_wait(shared.taken(sum.slot), sum.phase ^ 1);
      device::tensor_fence_after();
      const u32 d = tensor + static_cast<u32>(sum.slot * kConfig.gemm.tile.n);
      for (i32 block = 0; block < item.count; ++block) {
        shared.ready().wait_full(slot);
        device::tensor_fence_after();
        if (device::elect()) {
          WT_UNROLL for (int step = 0; step < kSteps; ++step) {
            TensorProduct<kConfig, Operand, Operand>::add(d, shared.a_box(slot.slot, 0), shared.b_box(slot.slot, 0),
                                                          step, block > 0 || step > 0);
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
    typename Shared::SumCursor sum;
    const int warp = device::warp_index();
    Steps steps;
    for_items(p, [&](const Item& item) {
      const bool summed = item.count > 0;
      if (summed) {
        device::mbarrier_wait(shared.summed(sum.slot), sum.phase);
        device::tensor_fence_after();
      }
      const u32 from = tensor + (static_cast<u32>(warp) << 21) + static_cast<u32>(sum.slot * kConfig.gemm.tile.n);
      constexpr int kChunks = kConfig.gemm.tile.n / kChunk;
      WT_ROLLED for (int chunk = 0; chunk < kChunks; ++chunk) {
        float d[2][kHalf] = {};
        if (summed) {
          // Halves of the rows as fragments, or halves of the columns as rows.
          WT_UNROLL for (int half = 0; half < 2; ++half) {
            constexpr auto kShape = kByRows ? device::TensorShape::k32x32 : device::TensorShape::k16x256;
            const u32 at = static_cast<u32>(chunk * kChunk + (kByRows ? half * kHalf : 0));
            device::tensor_load<kShape>(d[half], from + (kByRows ? 0 : static_cast<u32>(half) << 20) + at);
          }
          device::tensor_load_wait();
          WT_UNROLL for (int half = 0; half < 2; ++half) device::tensor_hold(d[half]);
          if (chunk == kChunks - 1) {
            device::tensor_fence_before();
            device::sync_warp();
            if (device::lane_index() == 0) Shared::arrive(shared.taken(sum.slot), 0);
          }
        }
        if constexpr (Shared::kSums) {
          add_chunk(p, shared, item, chunk, item.order * kChunks + chunk, item.last && chunk == kChunks - 1, d, steps);
        } else if constexpr (kByRows) {
          store_rows(p, item, warp, chunk, d, steps);
        } else {
          WT_UNROLL for (int half = 0; half < 2; ++half) store_chunk(p, item, warp, half, chunk, d[half], steps);
        }
      }
      if (summed) sum.next();
    });
    if constexpr (!WeightStore<kConfig>::kSplit) steps.finish(p.epilogue);  // parts are finished by split_sum.h
  }

  // One chunk of the parts that the cluster's blocks have, which finish a share of its rows each.
  WT_DEVICE static void add_chunk(const Params& p, const Shared& shared, const Item& item, int chunk, int round,
                                  bool last, const float (&d)[2][kHalf], Steps& steps) {
    shared.sum().sum(d, 0, round, last, [&](int in_tile, int in_chunk, const float(&sums)[8]) {
      store_eight(p, item, tcgen05_layout::row_of_halves(in_tile), chunk * kChunk + in_chunk, sums, steps);
    });
  }

  // 8 columns of a row of the tile to the gradient.
  WT_DEVICE static void store_eight(const Params& p, const Item& item, int in_tile, int first_column,
                                    const float (&sums)[8], Steps& steps) {
    const i32 row = static_cast<i32>(item.tile.m) * kConfig.gemm.tile.m + in_tile;
    const i32 column = static_cast<i32>(item.tile.n) * kConfig.gemm.tile.n + first_column;
    const i32 block = column / kChannels, tap = block / p.channel_blocks;
    const i32 first = block % p.channel_blocks * kChannels + column % kChannels, left = p.channels - first;
    if (row >= p.rows || tap >= p.taps || left <= 0) return;
    const i64 channel = static_cast<i64>(item.tile.group) * p.rows + row;
    store_neighbours(p.epilogue, p.dw, sums, left, (channel * p.taps + tap) * p.channels + first, channel, 0, steps);
  }

  // Whole sums: a thread has a row of a chunk. Without sums, of no pixels, they are zeros.
  WT_DEVICE static void store_rows(const Params& p, const Item& item, int warp, int chunk, const float (&d)[2][kHalf],
                                   Steps& steps) {
    const int row = static_cast<int>(Shared::in_tile()) * tcgen05_layout::kRows + 32 * warp + device::lane_index();
    WT_UNROLL for (int half = 0; half < 2; ++half) {
      WT_UNROLL for (int i = 0; i < kHalf; i += 8) {
        float sums[8];
        WT_UNROLL for (int e = 0; e < 8; ++e) sums[e] = d[half][i + e];
        store_eight(p, item, row, chunk * kChunk + half * kHalf + i, sums, steps);
      }
    }
  }

  // Of parts, 16 rows of each warp of one chunk: a part of a block of channels of a tap, or several blocks.
  WT_DEVICE static void store_chunk(const Params& p, const Item& item, int warp, int half, int chunk,
                                    const float (&d)[kHalf], Steps& steps) {
    constexpr int kPiece = kChannels < kChunk ? kChannels : kChunk;  // columns of one tap
    const int lane = device::lane_index();
    WT_UNROLL for (int piece = 0; piece < kChunk / kPiece; ++piece) {
      const i32 column = static_cast<i32>(item.tile.n) * kConfig.gemm.tile.n + chunk * kChunk + piece * kPiece;
      const i32 block = column / kChannels, tap = block / p.channel_blocks;
      if (tap >= p.taps) continue;
      const i32 first = block % p.channel_blocks * kChannels + column % kChannels + 2 * (lane % 4);
      WT_UNROLL for (int upper = 0; upper < 2; ++upper) {
        const i32 row = static_cast<i32>(item.tile.m) * kConfig.gemm.tile.m +
                        static_cast<i32>(Shared::in_tile()) * tcgen05_layout::kRows + 32 * warp + 16 * half + lane / 4 +
                        8 * upper;
        if (row >= p.rows) continue;
        const i64 channel = static_cast<i64>(item.tile.group) * p.rows + row;
        const i64 offset = (channel * p.taps + tap) * p.channels;
        WT_UNROLL for (int e = 0; e < kPiece / 8; ++e) {
          const int i = 4 * (piece * kPiece / 8 + e) + 2 * upper;
          WeightStore<kConfig>::pair(p, item.part, offset, first + 8 * e, channel, d[i], d[i + 1], steps);
        }
      }
    }
  }
};

}  // namespace wt
