// SPDX-License-Identifier: Apache-2.0
// kernels/wavelet/device/kernel.h - implicit GEMM on Hopper for what TMA cannot load: warps that gather, warpgroups
// that multiply; forward and backward data.
//
//   global --gather--> ring of stages (shared, swizzled) --wgmma--> registers --epilogue--> global
//
// Load warps do all address arithmetic: coordinates of rows once a tile, taps and channels by addition along k, which
// is packed densely as (d, h, w, channel). Blocks are persistent. Weight gradients are weight_kernel.h.
#pragma once

#include "kernels/device/gemm/ring.h"
#include "kernels/tma/device/operand.h"
#include "kernels/wavelet/device/filter.h"
#include "kernels/wavelet/device/gathered.h"
#include "kernels/wavelet/device/output.h"
#include "kernels/wavelet/device/phase_columns.h"

namespace wt {

template <KernelConfig kConfig>
struct WaveletGemm {
  using Params = WaveletArguments<wavelet_layout::phases(kConfig)>;
  static constexpr int kThreads = wavelet_layout::threads(kConfig);
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const Shared shared = layout(p);
    if (device::thread_index() == 0) {
      shared.ring.init(kLoadThreads * arrivals_of_thread(kConfig), 4 * kGroups);
      device::mbarrier_fence_init();
    }
    device::sync_block();
    const int role = device::warp_index() / 4;
    if (role >= kGroups) {
      if constexpr (kMoveRegisters) device::give_registers<wavelet_layout::load_registers(kConfig)>();
      load(p, shared, device::thread_index() - 128 * kGroups);
    } else {
      if constexpr (kMoveRegisters) device::take_registers<wavelet_layout::math_registers(kConfig)>();
      multiply(p, shared, role);
    }
  }

 private:
  static constexpr int kTileM = kConfig.gemm.tile.m, kTileN = kConfig.gemm.tile.n, kTileK = kConfig.gemm.tile.k;
  static constexpr int kStages = kConfig.gemm.stages;
  static constexpr int kGroups = wavelet_layout::groups(kConfig);
  static constexpr int kFragments = wavelet_layout::rows_of_group(kConfig) / 64;
  static constexpr int kLoadThreads = wavelet_layout::load_threads(kConfig);
  static constexpr int kSpan = wavelet_layout::span(kConfig), kSteps = kSpan / 32;
  static constexpr int kABytes = wavelet_layout::a_bytes(kConfig), kBBytes = wavelet_layout::b_bytes(kConfig);
  static constexpr bool kMoveRegisters = wavelet_layout::moves_registers(kConfig);
  static constexpr bool kForward = kConfig.direction == Direction::kForward;
  static constexpr int kTableBarrier = 1;

  // Which filter and output a direction has.
  enum class Form { kForward, kPhases, kPhaseColumns };
  static constexpr Form kForm = kForward                                ? Form::kForward
                                : wavelet_layout::walks_phases(kConfig) ? Form::kPhases
                                                                        : Form::kPhaseColumns;
  template <Form kOf, class Unused = void>
  struct PartsOf {
    using Filter = BackwardFilter<kConfig>;
    using Output = WaveletOutput<kConfig>;
    using Layout = MnMajor<kTileK>;
  };
  template <class Unused>
  struct PartsOf<Form::kForward, Unused> {
    using Filter = ForwardFilter<kConfig>;
    using Output = WaveletOutput<kConfig>;
    using Layout = KMajor<kSpan>;
  };
  template <class Unused>
  struct PartsOf<Form::kPhaseColumns, Unused> {
    using Filter = PhaseColumnsFilter<kConfig>;
    using Output = PhaseColumnsOutput<kConfig>;
    using Layout = MnMajor<kTileK>;
  };
  using A = KMajor<kSpan>;
  using B = typename PartsOf<kForm>::Layout;
  using FilterLoads = typename PartsOf<kForm>::Filter;
  using Gathered = GatheredOperand<kConfig>;
  using Output = typename PartsOf<kForm>::Output;
  using Multiply = device::Wgmma<operand_a(kConfig), operand_b(kConfig), kTileN>;
  using SlotRing = Ring<kStages>;
  using Cursor = typename SlotRing::Cursor;

  struct Shared {  // addresses
    SharedAddress a, b, table;
    SlotRing ring;
  };

  WT_DEVICE static Shared layout(const Params& p) {
    constexpr wavelet_layout::RegionBytes kBytes = wavelet_layout::region_bytes(kConfig);
    const wavelet_layout::SharedLayout<SharedAddress> at(aligned_shared_base(), kBytes, p.filter_slots);
    return {at.a, at.b, at.table, {at.ring}};
  }

  // The coordinates of the tile's rows, a row a thread, and of columns that are phases, for all load threads to read.
  WT_DEVICE static void write_table(const Params& p, const WaveletTile& tile, SharedAddress table, int thread) {
    for (int row = thread; row < kTileM; row += kLoadThreads) {
      device::store_shared(table + row * sizeof(WaveletRow), wavelet_row(p, tile, tile.row + static_cast<u32>(row)));
    }
    if constexpr (kForm == Form::kPhaseColumns) {
      for (int column = thread; column < kTileN; column += kLoadThreads) {
        device::store_shared(table + (kTileM + column) * sizeof(WaveletRow),
                             PhaseColumns<kConfig>::filter_column(p, tile.column + column));
      }
    }
    device::sync_named(kTableBarrier, kLoadThreads);
  }

  WT_DEVICE static void load(const Params& p, const Shared& shared, int thread) {
    Cursor slot;
    Gathered a;
    FilterLoads b;
    WaveletWalk start;
    int parity = 0;
    bool first = true;
    for (u32 index = device::block_index().x; index < p.tiles; index += device::grid_size().x) {
      const WaveletTile tile = wavelet_tile<kConfig>(p, index);
      if (tile.row >= tile.rows) continue;  // a phase with fewer pixels than the largest
      // WHY two tables: a thread that is ahead may write the next tile's while others still read this one.
      const SharedAddress table = shared.table + parity * (wavelet_layout::tile_table_bytes(kConfig) / 2);
      parity ^= 1;
      write_table(p, tile, table, thread);
      a.start(p, tile, table, thread);
      // WHY: the start divides, and without phases it is the same for every tile.
      if (kForm == Form::kPhases || first) start.start(p, tile, Gathered::chunk_of(thread) * Gathered::kChunk);
      WaveletWalk walk = start;
      const bool loads_filter = first || !p.keep_filter;
      if (loads_filter) {
        b.start(p, tile, thread);
        if constexpr (kForm == Form::kPhaseColumns) {
          b.table = table + kTileM * sizeof(WaveletRow);
          b.rows = shared.table + wavelet_layout::tile_table_bytes(kConfig);
        }
      }
      for (i32 block = 0; block < tile.blocks; ++block) {
        shared.ring.wait_empty(slot);
        if (loads_filter) load_filter(b, p, tile, shared.b + (p.keep_filter ? block : slot.slot) * kBBytes);
        a.copy(p, tile, walk.at, shared.a + slot.slot * kABytes);
        publish<kConfig>(shared.ring.full(slot.slot));
        walk.next(p, tile);
        slot.next();
      }
      first = false;
    }
    // WHY: copies must not be in flight when their thread ends.
    if constexpr (lands_by_itself(kConfig.gemm.loader_a) || lands_by_itself(kConfig.gemm.loader_b)) {
      device::copy_async_commit();
      device::copy_async_wait<0>();
    }
  }

  WT_DEVICE static void load_filter(FilterLoads& b, const Params& p, const WaveletTile& tile, SharedAddress stage) {
    if constexpr (kForward) {
      b.copy(p, stage);
      b.next(p);
    } else {
      b.copy(p, tile, stage);
      b.next(p, tile);
    }
  }

  WT_DEVICE static void multiply(const Params& p, const Shared& shared, int group) {
    Cursor slot;
    const SharedAddress columns =
        shared.table + wavelet_layout::table_bytes(kConfig) - wavelet_layout::out_table_bytes(kConfig);
    bool first = true;
    for (u32 index = device::block_index().x; index < p.tiles; index += device::grid_size().x) {
      const WaveletTile tile = wavelet_tile<kConfig>(p, index);
      if (tile.row >= tile.rows) continue;
      if constexpr (kForm == Form::kPhaseColumns) {
        if (first || p.tiles_n.by > 1) Output::write_table(p, tile, columns);
        first = false;
      }
      float d[kFragments][kTileN / 2];
      accumulate(p, shared, slot, tile.blocks, group, d);
      typename Output::Steps steps;
      WT_UNROLL for (int i = 0; i < kFragments; ++i) {
        const int row = (group * kFragments + i) * 64;
        if constexpr (kForm == Form::kPhaseColumns) {
          Output::store(p, tile, row, d[i], steps, columns);
        } else {
          Output::store(p, tile, row, d[i], steps);
        }
      }
      steps.finish(p.epilogue);
    }
  }

  WT_DEVICE static void accumulate(const Params& p, const Shared& shared, Cursor& slot, i32 blocks, int group,
                                   float (&d)[kFragments][kTileN / 2]) {
    const bool releases = device::lane_index() == 0;
    const auto release = [&](int at) { device::mbarrier_arrive(shared.ring.empty(at)); };
    for (i32 block = 0; block < blocks; ++block) {
      shared.ring.wait_full(slot);
      device::fence_async_shared();  // WHY: the load warps wrote through the generic proxy, wgmma reads by another
      device::wgmma_fence();
      const SharedAddress a = shared.a + slot.slot * kABytes;
      const SharedAddress b = shared.b + (p.keep_filter ? block : slot.slot) * kBBytes;
      WT_UNROLL for (int step = 0; step < kSteps; ++step) {
        const u64 filter = B::descriptor(b, 0, step);
        WT_UNROLL for (int i = 0; i < kFragments; ++i) {
          Multiply::template multiply<A::kMajor, B::kMajor>(
              d[i], A::descriptor(a, (group * kFragments + i) * 64 * kSpan, step), filter, block > 0 || step > 0);
        }
      }
      device::wgmma_commit();
      pass_slot(slot, block > 0 && releases, release);
    }
    pass_last(slot, d, releases, release);
  }
};

}  // namespace wt
