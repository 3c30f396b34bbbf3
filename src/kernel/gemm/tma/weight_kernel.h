// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/tma/weight_kernel.h - weight gradients on Hopper: dw (k, tap c) = sum over pixels of dy^T x.
//
//   dy (channels, pixels) tiled, x (channels, pixels) im2col or tiled --> ring --wgmma, both MN-major--> registers -->
//   global
//
// GEMM rows are output channels, columns are blocks of 64 input channels of a tap, k runs over the pixels of all
// images. Of 32-bit types blocks have 32 channels, and warps beside the producer turn them round (turn.h). With
// split_k=workspace the pixels are divided among blocks and the partial sums added by part_sum.h, with split_k=atomic
// the blocks add them to one sum in no fixed order, which split_sum.h finishes, with
// split_k=cluster among the blocks of a cluster, which add their sums themselves (exchange.h); else the gradient leaves
// in pairs from registers, or by bulk stores of 64 channels of a tap. Two blocks of a cluster may share the tiles of dy
// or of x: each loads every other block of 64 channels for both.
#pragma once

#include "kernel/direct/overlap.h"
#include "kernel/epilogue.h"
#include "kernel/gemm/part_sum.h"
#include "kernel/gemm/ring.h"
#include "kernel/gemm/tma/exchange.h"
#include "kernel/gemm/tma/layout.h"
#include "kernel/gemm/tma/operand.h"
#include "kernel/gemm/tma/output.h"
#include "kernel/gemm/tma/peer.h"
#include "kernel/gemm/tma/roles.h"
#include "kernel/gemm/tma/schedule.h"
#include "kernel/gemm/tma/stream_piece.h"
#include "kernel/gemm/tma/turn.h"
#include "kernel/gemm/tma/weight_arguments.h"
#include "kernel/gemm/tma/weight_store.h"

namespace wt {

template <KernelConfig kConfig>
struct TmaWeightGemm {
  using Params = TmaWeightArguments;
  static constexpr int kThreads = tma_layout::threads(kConfig);
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const Shared shared = layout();
    if constexpr (kSplit || kAtomic || kStream) let_sum_start<kConfig>();
    run_roles<kConfig>(
        [&] {
          if (p.pixels > 0) {
            device::tma_prefetch(p.dy);
            device::tma_prefetch(p.x);
          }
          if constexpr (kTurns) shared.turned.init(kTurnWarps, 1);
          shared.ring.init(1, 4 * kConsumers * tma_layout::sharing_blocks(kConfig));
          if constexpr (kClusterSum) shared.sum().init();
          shared.peer().init();
        },
        [&](int warp) {
          if (warp == 0) {
            if (device::elect()) produce(p, shared);
          } else if constexpr (kTurns) {
            turn_tiles(p, shared, warp - 1);
          }
        },
        [&](int consumer) { consume(p, shared, consumer); });
  }

 private:
  static constexpr int kTileM = kConfig.gemm.tile.m, kTileN = kConfig.gemm.tile.n, kDepth = kConfig.gemm.tile.k;
  static constexpr int kStages = kConfig.gemm.stages;
  static constexpr int kConsumers = tma_layout::consumers(kConfig);
  static constexpr int kFragments = tma_layout::rows_of_consumer(kConfig) / 64;
  static constexpr bool kTurns = tma_layout::turns_tiles(kConfig), kThree = tma_layout::three_products(kConfig);
  static constexpr int kTurnWarps = tma_layout::kRemainderThreads / 32;
  static constexpr int kBlock = tma_layout::box_k(kConfig);  // channels of a copy: 64, or 32 of 32-bit types
  static constexpr int kBlockBytes = kDepth * 128;
  static constexpr int kBlocksM = kTileM / kBlock, kBlocksN = kTileN / kBlock;
  static constexpr int kABytes = kBlocksM * kBlockBytes, kBBytes = kBlocksN * kBlockBytes;
  static constexpr bool kSplit = kConfig.gemm.split_k == SplitK::kWorkspace, kParts = weight_part::serves(kConfig);
  static constexpr bool kClusterSum = kConfig.gemm.split_k == SplitK::kCluster;
  static constexpr bool kAtomic = kConfig.gemm.split_k == SplitK::kAtomic;
  static constexpr int kLow = kStages * (kABytes + kBBytes);  // from a slot's tiles to their low parts
  static_assert(kConsumers <= 2 && kTileN % 64 == 0 && kTileM % 64 == 0);
  static_assert(!kTurns || kBlockBytes == kTurnedBoxBytes);

  using Operand = WeightOperand<kConfig>;
  using Multiply = device::Wgmma<wgmma_type(operand_a(kConfig)), wgmma_type(operand_b(kConfig)), kTileN>;
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
  using Element = typename Steps::Element;
  using SlotRing = Ring<kStages>;
  using Cursor = typename SlotRing::Cursor;

  static constexpr bool kStream = kConfig.gemm.stream_k != StreamK::kOff;
  static constexpr bool kBulk = kConfig.gemm.staging == Staging::kTmaStore;
  static constexpr bool kPlainX = kConfig.gemm.loader_b == Loader::kTmaTiled;  // a pixel of x for each of dy
  static constexpr bool kShareA = kConfig.gemm.multicast_a, kShareB = kConfig.gemm.multicast_b;
  static_assert(!(kShareA || kShareB) || (!kTurns && !kClusterSum && !kStream));
  static_assert((!kShareA || kBlocksM % 2 == 0) && (!kShareB || kBlocksN % 2 == 0));
  static constexpr u16 kBoth = 3;  // blocks of a cluster

  // What staging a fragment asks of its arguments where no step of the epilogue depends on the place.
  struct Anywhere {
    const EpilogueArguments& epilogue;
    i64 columns = kTileN;
    WT_DEVICE i64 offset(int) const { return 0; }
  };

  struct Shared {  // addresses
    SharedAddress a, b, out;
    SlotRing ring, turned;  // turned: full where the slot's boxes have been turned round
    SharedAddress exchange, cluster;
    WT_DEVICE ClusterSum<kConfig> sum() const { return {exchange, cluster}; }
    WT_DEVICE Peer<kConfig> peer() const { return {cluster}; }
  };
  struct Item {  // one tile of one split
    TileIndex tile;
    i32 first, count;  // blocks of pixels
    i32 split;         // or the slot of a piece
    int order;         // among the block's items
    bool last;         // of them
  };

  WT_DEVICE static Shared layout() {
    const SharedAddress a = (device::shared_base() + 1023) & ~1023u;
    const SharedAddress b = a + kStages * kABytes, out = a + (kThree ? 2 : 1) * kLow;
    const SharedAddress exchange = out + tma_layout::out_bytes(kConfig);
    const SharedAddress barriers = exchange + tma_layout::exchange_bytes(kConfig);
    const SharedAddress turned = barriers + SlotRing::kBytes;
    return {a, b, out, {barriers}, {turned}, exchange, kTurns ? turned + SlotRing::kBytes : turned};
  }

  template <class Body>
  WT_DEVICE static void for_items(const Params& p, Body&& body) {
    for_work<kConfig>(p, [&](const Work& work) {
      Item item;
      item.split = work.part;
      item.order = work.order;
      item.tile = work.tile;
      item.last = work.last;
      if constexpr (kStream) {
        item.first = work.first;
        item.count = p.pixel_blocks > 0 ? work.count : 0;
        return body(item);
      }
      item.first = item.split * p.blocks_per_split;
      const i32 left = p.pixel_blocks - item.first;
      item.count = left < p.blocks_per_split ? left : p.blocks_per_split;
      if (kClusterSum && item.count < 0) item.count = 0;  // there are as many parts as blocks in the cluster
      body(item);
    });
  }

  // A walk over x in steps of tile.k pixels, by addition with carry.
  struct PixelWalk {
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

  WT_DEVICE static void produce(const Params& p, const Shared& shared) {
    Cursor slot;
    const int rank = kShareA || kShareB ? static_cast<int>(device::cluster_rank()) : 0;
    for_items(p, [&](const Item& item) {
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
      const i32 row = item.tile.group * p.rows + static_cast<i32>(item.tile.m) * kTileM;
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
    });
    shared.peer().greet();
  }

  // Between copies and products: a slot's boxes are turned round, in turns of the warps.
  WT_DEVICE static void turn_tiles(const Params& p, const Shared& shared, int warp) {
    Cursor slot;
    for_items(p, [&](const Item& item) {
      for (i32 left = item.count; left > 0; --left) {
        shared.ring.wait_full(slot);
        for (int box = warp; box < kBlocksM + kBlocksN; box += kTurnWarps) {
          const SharedAddress at = box < kBlocksM ? shared.a + slot.slot * kABytes + box * kBlockBytes
                                                  : shared.b + slot.slot * kBBytes + (box - kBlocksM) * kBlockBytes;
          turn_box<kThree>(at, at + kLow);
        }
        device::fence_async_shared();  // wgmma reads what these threads wrote
        device::sync_warp();
        if (device::lane_index() == 0) device::mbarrier_arrive(shared.turned.full(slot.slot));
        slot.next();
      }
    });
  }

  WT_DEVICE static void consume(const Params& p, const Shared& shared, int consumer) {
    Cursor slot;
    for_items(p, [&](const Item& item) {
      float d[kFragments][kTileN / 2];
      multiply(shared, slot, item.count, consumer, d);
      if constexpr (kBulk) {
        send(p, shared, item, consumer, d);
      } else if (kStream && item.split != kWholeTile) {
        WT_UNROLL for (int i = 0; i < kFragments; ++i) {
          store_piece<kTileM, kTileN>(p.partials, item.split, (consumer * kFragments + i) * 64, d[i]);
        }
      } else if constexpr (kClusterSum) {
        store_share(p, shared, item, consumer, d);
      } else if constexpr (kParts) {
        WT_UNROLL for (int i = 0; i < kFragments; ++i) {
          const int fragment = consumer * kFragments + i;
          if (static_cast<i32>(item.tile.m) * kTileM + fragment * 64 >= p.rows) break;
          store_part<kConfig>(p, item.split, tiles_of_part(p), number_of_tile(p, item.tile), fragment, d[i]);
        }
      } else {
        WT_UNROLL for (int i = 0; i < kFragments; ++i) { store(p, item, (consumer * kFragments + i) * 64, d[i]); }
      }
      if (item.last) shared.peer().meet();
    });
  }

  WT_DEVICE static void multiply(const Shared& shared, Cursor& slot, i32 blocks, int consumer,
                                 float (&d)[kFragments][kTileN / 2]) {
    if (blocks == 0) {  // no pixels at all: the gradient of an empty batch
      WT_UNROLL for (int i = 0; i < kFragments; ++i) { WT_UNROLL for (int e = 0; e < kTileN / 2; ++e) d[i][e] = 0; }
      return;
    }
    const bool releases = device::lane_index() == 0;
    for (i32 block = 0; block < blocks; ++block) {
      (kTurns ? shared.turned : shared.ring).wait_full(slot);
      device::wgmma_fence();
      WT_UNROLL for (int step = 0; step < kDepth * size_of(operand_a(kConfig)) / 32; ++step) {
        const SharedAddress b = shared.b + slot.slot * kBBytes;
        WT_UNROLL for (int i = 0; i < kFragments; ++i) {
          constexpr int kFragmentBytes = 64 / kBlock * kBlockBytes;
          const SharedAddress a = shared.a + slot.slot * kABytes + (consumer * kFragments + i) * kFragmentBytes;
          const bool more = block > 0 || step > 0;
          if constexpr (kThree) {
            product(d[i], a + kLow, b, step, more);
            product(d[i], a, b + kLow, step, true);
          }
          product(d[i], a, b, step, kThree || more);
        }
      }
      device::wgmma_commit();
      device::wgmma_wait<1>();
      if (block > 0 && releases) Peer<kConfig>::release(shared.ring.empty(slot.previous()));
      slot.next();
    }
    device::wgmma_wait<0>();
    WT_UNROLL for (int i = 0; i < kFragments; ++i) device::wgmma_hold(d[i]);
    if (releases) Peer<kConfig>::release(shared.ring.empty(slot.previous()));
  }

  // This consumer's fragments to dw by bulk stores, which drop rows and channels that do not exist.
  WT_DEVICE static void send(const Params& p, const Shared& shared, const Item& item, int consumer,
                             const float (&d)[kFragments][kTileN / 2]) {
    using Output = TmaOutput<kConfig, Anywhere>;
    constexpr int kFragmentBytes = kBlocksN * 64 * 128;
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
      const i32 row = static_cast<i32>(item.tile.m) * kTileM + (consumer * kFragments + i) * 64;
      WT_UNROLL for (int j = 0; j < kBlocksN; ++j) {
        const i32 block = static_cast<i32>(item.tile.n) * kBlocksN + j, tap = block / p.channel_blocks;
        if (tap >= p.taps) break;
        device::tma_store(p.out, staging + i * kFragmentBytes + j * (64 * 128), block % p.channel_blocks * 64, tap,
                          row);
      }
    }
    device::bulk_commit();
    // WHY here and not after the loop: code behind the persistent loop makes ptxas ignore the register moves.
    if (item.last) device::bulk_wait_read<0>();
  }

  WT_DEVICE static void product(float (&d)[kTileN / 2], SharedAddress a, SharedAddress b, int step, bool accumulate) {
    Multiply::template multiply<Operand::kMajor, Operand::kMajor>(d, Operand::descriptor(a, 0, step),
                                                                  Operand::descriptor(b, 0, step), accumulate);
  }

  // What this block finishes of a sum that is divided over its cluster.
  WT_DEVICE static void store_share(const Params& p, const Shared& shared, const Item& item, int consumer,
                                    const float (&d)[kFragments][kTileN / 2]) {
    Steps steps;
    shared.sum().sum(d, consumer, item.order, item.last, [&](int in_tile, int column, const float(&sums)[8]) {
      const i32 row = static_cast<i32>(item.tile.m) * kTileM + in_tile;
      const i32 block = static_cast<i32>(item.tile.n) * kBlocksN + column / kBlock, tap = block / p.channel_blocks;
      const i32 first = block % p.channel_blocks * kBlock + column % kBlock, left = p.channels - first;
      if (row >= p.rows || tap >= p.taps || left <= 0) return;
      const i64 channel = static_cast<i64>(item.tile.group) * p.rows + row;
      store_neighbours(p.epilogue, p.dw, sums, left, (channel * p.taps + tap) * p.channels + first, channel, 0, steps);
    });
    steps.finish(p.epilogue);
  }

  // One fragment of 64 rows to dw or, of merged groups and atomic sums, to the workspace.
  WT_DEVICE static void store(const Params& p, const Item& item, int first_row, const float (&d)[kTileN / 2]) {
    Steps steps;
    const int thread = device::thread_index() % 128, lane = thread % 32;
    WT_UNROLL for (int half = 0; half < 2; ++half) {
      const i32 row = static_cast<i32>(item.tile.m) * kTileM + first_row + thread / 32 * 16 + lane / 4 + 8 * half;
      if (row >= p.rows) continue;
      const i64 channel = static_cast<i64>(item.tile.group) * p.rows + row;
      WT_UNROLL for (int j = 0; j < kBlocksN; ++j) {
        const i32 block = static_cast<i32>(item.tile.n) * kBlocksN + j;
        const i32 tap = block / p.channel_blocks, first = block % p.channel_blocks * kBlock + 2 * (lane % 4);
        if (tap >= p.taps) break;
        const i64 offset = (channel * p.taps + tap) * p.channels;
        WT_UNROLL for (int e = 0; e < kBlock / 8; ++e) {
          const int i = 4 * (kBlock / 8 * j + e) + 2 * half;
          WeightStore<kConfig>::pair(p, item.split, offset, first + 8 * e, channel, d[i], d[i + 1], steps);
        }
      }
    }
    if constexpr (!kSplit && !kAtomic) steps.finish(p.epilogue);  // parts are finished by split_sum.h
  }
};

// For part_sum.h: rows are output channels, columns blocks of channels of a tap.
template <KernelConfig kConfig>
struct WeightPlaces {
  using Params = TmaWeightArguments;
  static constexpr int kVectors = weight_part::tile_vectors(kConfig);

  WT_DEVICE static u32 tiles(const Params& p) { return tiles_of_part(p); }
  WT_DEVICE static PartSums sums(const Params& p, u32 number, int vector) {
    constexpr int kTileM = kConfig.gemm.tile.m, kTileN = kConfig.gemm.tile.n, kBlock = tma_layout::box_k(kConfig);
    const TileIndex tile = tile_of_number(p, number);
    const int thread = vector % 128, lane = thread % 32, fragment = vector / (16 * kTileN);
    const int column = vector % (16 * kTileN) / 128 * 8 + 2 * (lane % 4);
    const i32 block = static_cast<i32>(tile.n) * (kTileN / kBlock) + column / kBlock, tap = block / p.channel_blocks;
    const i32 channel = (block - tap * p.channel_blocks) * kBlock + column % kBlock;
    const i32 first = static_cast<i32>(tile.m) * kTileM + fragment * 64 + thread / 32 * 16 + lane / 4;
    PartSums sums;
    WT_UNROLL for (int i = 0; i < 4; ++i) {
      const i32 row = first + i / 2 * 8;
      sums.channel[i] = tile.group * p.rows + row;
      const i64 at = (static_cast<i64>(sums.channel[i]) * p.taps + tap) * p.channels + channel + i % 2;
      sums.at[i] = row < p.rows && tap < p.taps && channel + i % 2 < p.channels ? at : -1;
    }
    return sums;
  }
};

}  // namespace wt
