// SPDX-License-Identifier: Apache-2.0
// kernels/rows_weight/device/kernel.h - weight gradients with few input channels on Hopper: A read from raw image rows.
//
//   image rows --> ring of rows --32-bit loads--> pairs turned round in registers, A --wgmma--> sums of all pixels
//   dy --bulk copies--> slots of units, columns across, B -------------------------------/
//   sums of the groups --shared memory--> one of them --> partial sums --weight_sum.h--> dw
//
// GEMM rows are positions of the window, columns are output channels, k runs over the outputs of all images. A lane has
// rows lane / 4 and lane / 4 + 8 of a fragment: the two numbers of one 32-bit word of the window. It has pairs of
// neighbouring outputs along k, so two words become two registers by two permutations. Which word a lane has is free:
// weight_sum.h puts it back. Words hold what lies beside a window too; these rows are never stored.
//
// Outputs that do not exist have zeros in dy. There A must not be a NaN from elsewhere, so their lanes read the window
// of the last output that exists, which their rows have seen anyway.
#pragma once

#include "kernels/device/overlap.h"
#include "kernels/rows_weight/device/loads.h"
#include "kernels/rows_weight/device/octets.h"
#include "kernels/rows_weight/device/sum.h"

namespace wt {

template <KernelConfig kConfig>
struct RowsWeightGemm {
  using Params = RowsWeightArguments;
  static constexpr int kThreads = rows_weight_layout::threads(kConfig);
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const Shared shared = layout(p);
    let_sum_start<kConfig>();
    if (device::thread_index() == 0) {
      if (p.units > 0) {
        if constexpr (!Loads::kGradientWords) device::tma_prefetch(p.gradient);
        if constexpr (Loads::kInBulk) device::tma_prefetch(p.source);
      }
      shared.ring.init(Loads::kArrivals, 4 * kGroupsM * kGroupsK);
      device::mbarrier_fence_init();
    }
    if constexpr (Loads::kGradientWords) {
      // Channels that no pixel has are never written again.
      for (i32 at = device::thread_index() * 16; at < p.slots_bytes; at += kThreads * 16)
        device::store_shared(shared.slots + at, Vector<u32, 4>{});
      device::fence_async_shared();
    }
    device::sync_block();
    const int group = device::warp_index() / 4;
    const Place place(p);
    if (group < kGroupsM * kGroupsK) {
      if (p.paired) {
        consume<PairedOctets>(p, shared, place, group);
      } else if (p.odd_step) {
        consume<typename Reads::template Octets<true>>(p, shared, place, group);
      } else {
        consume<typename Reads::template Octets<false>>(p, shared, place, group);
      }
    } else if (!Loads::kInBulk || device::elect()) {
      const int thread = Loads::kInBulk ? 0 : device::thread_index() - kMathThreads;
      Loads::run(p, {shared.slots, shared.rows, shared.ring}, place.part, place.tile_n * kColumns, thread);
    }
  }

 private:
  using Loads = RowsWeightLoads<kConfig>;
  using Reads = RowsWeightOctets<kConfig>;
  using PairedOctets = typename Reads::PairedOctets;
  using SlotRing = typename Loads::SlotRing;
  using Cursor = typename Loads::Cursor;
  using Multiply = device::Wgmma<operand_b(kConfig), operand_a(kConfig), kConfig.gemm.tile.n>;
  static constexpr int kColumns = kConfig.gemm.tile.n, kStages = kConfig.gemm.stages;
  static constexpr int kGroupsM = rows_weight_layout::groups_m(kConfig);
  static constexpr int kGroupsK = rows_weight_layout::groups_k(kConfig);
  static constexpr int kMathThreads = 128 * kGroupsM * kGroupsK;
  static constexpr int kFragments = RowsWeightOctets<kConfig>::kFragments;  // of a group
  static constexpr int kBlocksN = rows_weight_layout::blocks_n(kConfig);
  static constexpr int kVectors = rows_weight_layout::tile_vectors(kConfig);
  static constexpr int kSet = rows_weight_layout::set_steps(kConfig);
  static constexpr int kBarrier = 1;  // of the math threads

  struct Shared {  // addresses
    SharedAddress slots, rows;
    SlotRing ring;
  };
  WT_DEVICE static Shared layout(const Params& p) {
    const SharedAddress slots = aligned_shared_base();
    const i32 ring = (kConfig.dims == 3 ? p.filter_planes : 1) * p.plane_bytes;
    const auto at = rows_weight_layout::places(kConfig, p.slots_bytes, ring);
    return {slots, slots + at.rows, {slots + at.barriers}};
  }

  struct Place {
    u32 part;
    i32 tile, tile_m, tile_n;

    WT_DEVICE explicit Place(const Params& p) {
      const i32 tiles = p.tiles_m * p.tiles_n, block = device::block_index().x;
      part = static_cast<u32>(block / tiles);
      tile = block - static_cast<i32>(part) * tiles;
      tile_m = tile / p.tiles_n;
      tile_n = tile - tile_m * p.tiles_n;
    }
  };

  WT_DEVICE static void multiply(float (&d)[kFragments][kColumns / 2], const u32 (&a)[kFragments][4], u64 b) {
    WT_UNROLL for (int f = 0; f < kFragments; ++f) {
      Multiply::template multiply<device::Major::kMn>(d[f], a[f], b, true);
    }
  }

  // All steps of a unit. Words are read under the products of the set before.
  template <class Steps>
  WT_DEVICE static void multiply_unit(const Params& p, Steps& octets, i32 steps, u64 b,
                                      float (&d)[kFragments][kColumns / 2]) {
    typename Steps::Step words[kSet];
    u32 a[kSet][kFragments][4];
    WT_UNROLL for (int i = 0; i < kSet; ++i) octets.read(p, words[i]);
    while (true) {
      device::wgmma_wait<0>();  // the registers of the set before are read
      WT_UNROLL for (int i = 0; i < kSet; ++i) Reads::turn(words[i], a[i]);
      u64 of_step[kSet];
      WT_UNROLL for (int i = 0; i < kSet; ++i) {
        of_step[i] = b;
        octets.next_step(p, b);
      }
      if (kSet == 1 || steps >= kSet) {
        device::wgmma_fence();
        WT_UNROLL for (int i = 0; i < kSet; ++i) multiply(d, a[i], of_step[i]);
        device::wgmma_commit();
      } else {
        WT_UNROLL for (int i = 0; i < kSet - 1; ++i) {
          if (i >= steps) continue;
          device::wgmma_fence();
          multiply(d, a[i], of_step[i]);
          device::wgmma_commit();
        }
      }
      steps -= kSet;
      if (steps <= 0) break;
      // Under these products. Beyond the unit's last step, words of its last row are read and not used.
      WT_UNROLL for (int i = 0; i < kSet; ++i) octets.read(p, words[i]);
    }
  }
  // The same of pairs of rows, where registers are left for two steps: one is turned round while the other is
  // multiplied.
  WT_DEVICE static void multiply_unit(const Params& p, PairedOctets& octets, i32 steps, u64 b,
                                      float (&d)[kFragments][kColumns / 2]) {
    u32 a[2][kFragments][4];
    const auto load = [&](int i) {
      typename PairedOctets::Step words;
      octets.read(words);
      Reads::turn(words, a[i]);
    };
    load(0);
    for (; steps > 0; steps -= 2) {
      WT_UNROLL for (int i = 0; i < 2; ++i) {
        device::wgmma_fence();
        multiply(d, a[i], b);
        device::wgmma_commit();
        octets.next_step(p, b);
        device::wgmma_wait<1>();  // the step before has read its registers
        device::wgmma_fence();
        load(1 - i);
      }
    }
  }

  template <class Steps>
  WT_DEVICE static void consume(const Params& p, const Shared& shared, const Place& place, int group) {
    const int group_m = group % kGroupsM, group_k = group / kGroupsM;
    float d[kFragments][kColumns / 2];
    WT_UNROLL for (int f = 0; f < kFragments; ++f) { WT_UNROLL for (int i = 0; i < kColumns / 2; ++i) d[f][i] = 0; }

    Steps octets(p, shared.rows, place.tile_m * rows_weight_layout::tile_words(kConfig) + group_m * kFragments * 32);
    RowsWalk walk(p, place.part);
    Cursor slot;
    // Past units of other groups, whose image rows the next windows may touch. WHY every group releases every slot: no
    // barrier can be two fills ahead of a group then, which parity would not tell.
    const auto pass = [&](int units) {
      WT_ROLLED for (int i = 0; i < units && !walk.is_over(); ++i) {
        shared.ring.wait_full(slot);
        release(shared.ring.empty(slot.slot));
        walk.next(p);
        slot.next();
      }
    };
    pass(group_k);
    while (!walk.is_over()) {
      shared.ring.wait_full(slot);
      u64 b =
          device::wgmma_descriptor(shared.slots + slot.slot * kBlocksN * p.block_bytes, static_cast<u32>(p.block_bytes),
                                   octets.octet_pitch(p), device::DescriptorSwizzle::k128);
      multiply_unit(p, octets, octets.enter(p, walk), b, d);
      const SharedAddress used_up = shared.ring.empty(slot.slot);
      walk.next(p);
      slot.next();
      device::wgmma_wait<0>();
      release(used_up);
      pass(kGroupsK - 1);
    }
    WT_UNROLL for (int f = 0; f < kFragments; ++f) device::wgmma_hold(d[f]);
    leave(p, shared, place, group_m, group_k, d);
  }

  WT_DEVICE static void release(SharedAddress empty) {
    device::sync_warp();
    if (device::lane_index() == 0) device::mbarrier_arrive(empty);
  }

  // The sums of the groups that share the units become one, in the order of groups, and go to the workspace.
  WT_DEVICE static void leave(const Params& p, const Shared& shared, const Place& place, int group_m, int group_k,
                              float (&d)[kFragments][kColumns / 2]) {
    using Four = Vector<float, 4>;
    const int thread = device::thread_index() % 128;
    const auto vector = [&](int f, int j) { return ((group_m * kFragments + f) * (kColumns / 8) + j) * 128 + thread; };
    const auto sums = [&](int f, int j) {
      return Four{{d[f][4 * j], d[f][4 * j + 1], d[f][4 * j + 2], d[f][4 * j + 3]}};
    };
    WT_UNROLL for (int from = 1; from < kGroupsK; ++from) {
      device::sync_named(kBarrier, kMathThreads);
      if (group_k == from) {
        WT_UNROLL for (int f = 0; f < kFragments; ++f) {
          WT_UNROLL for (int j = 0; j < kColumns / 8; ++j) {
            device::store_shared(shared.slots + vector(f, j) * 16, sums(f, j));
          }
        }
      }
      device::sync_named(kBarrier, kMathThreads);
      if (group_k == 0) {
        WT_UNROLL for (int f = 0; f < kFragments; ++f) {
          WT_UNROLL for (int j = 0; j < kColumns / 8; ++j) {
            const Four more = device::load_shared<Four>(shared.slots + vector(f, j) * 16);
            WT_UNROLL for (int i = 0; i < 4; ++i) d[f][4 * j + i] += more.at[i];
          }
        }
      }
    }
    if (group_k > 0) return;
    const i64 tile = static_cast<i64>(place.part) * p.tiles_m * p.tiles_n + place.tile;
    auto* to = reinterpret_cast<Four*>(p.partials) + tile * kVectors;
    WT_UNROLL for (int f = 0; f < kFragments; ++f) {
      // WHY no look at the channel: what does not exist is not read, and code that runs once should be short.
      if (!rows_sums<kConfig>(p, place.tile_m, place.tile_n, vector(f, 0)).exist) continue;
      WT_UNROLL for (int j = 0; j < kColumns / 8; ++j) device::store_global(to + vector(f, j), sums(f, j));
    }
  }
};

}  // namespace wt
