// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05/device/sink.h - the sums of a tile on their way from tensor memory to global memory, by four warps.
//
//   tensor memory --16 lanes a time--> fragments of wgmma --kernels/tma/device/output.h--> global memory
//                                      --of a part: exchange.h--> rows of the block that finishes them -->
//
// A warp has 32 rows, which it takes in two halves of 16: a half of all four warps is one fragment of 64 rows.
#pragma once

#include "kernels/tcgen05/device/schedule.h"
#include "kernels/tma/device/output.h"
#include "kernels/tma/device/source.h"

namespace wt {

// Row 16 w + i of a fragment is row 32 w + 16 half + i of the block's.
template <class Rows>
struct HalfRows {
  Rows rows;
  int half;
  WT_DEVICE i64 offset(int row) const { return rows.offset(tcgen05_layout::row_of_half(half, row)); }
};
// Both halves, one after the other.
template <class Rows>
struct TwoHalves {
  Rows rows;
  WT_DEVICE i64 offset(int row) const { return rows.offset(tcgen05_layout::row_of_halves(row)); }
};

template <KernelConfig kConfig, class Tiles>
struct Tcgen05Sink {
  using Params = typename Tiles::Params;
  using Rows = typename Tiles::Rows;
  using Shared = Tcgen05Shared<kConfig>;
  static constexpr int kChunk = tcgen05_layout::chunk_columns(kConfig), kTileN = kConfig.gemm.tile.n;
  static constexpr int kWhole = kTileN / kChunk, kTail = kTileN % kChunk;  // chunks, and columns of a last one
  static constexpr bool kResidual = tcgen05_layout::copies_residual(kConfig);
  static constexpr bool kBulk = kConfig.gemm.staging == Staging::kTmaStore;
  static constexpr bool kParts = kConfig.gemm.split_k == SplitK::kWorkspace;
  static constexpr int kBarrier = 1;
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
  template <int kColumns>
  using Output = TmaOutput<tcgen05_layout::with_columns(kParts ? parts_of(kConfig) : kConfig, kColumns), Params, false>;

  const Params& p;
  const Shared& shared;
  u32 tensor;
  typename Shared::SumCursor sum{};
  typename Shared::OutCursor out{};
  Steps steps{};

  // Stages of a tile, or of a part of its sum.
  WT_DEVICE static StageRange stages(const Params& p, const Work& work) {
    const i32 all = Tiles::stages(p, work);
    if constexpr (!kParts && !Shared::kSums) return {0, all};
    const auto first = static_cast<i32>(static_cast<i64>(all) * work.part / p.splits);
    return {first, static_cast<i32>(static_cast<i64>(all) * (work.part + 1) / p.splits) - first};
  }
  // Of an odd number of tiles that a cluster shares, the last one's columns.
  WT_DEVICE static bool past_edge(const Params& p, const Work& work) {
    return kConfig.gemm.cluster_n > 1 && work.tile.n * kTileN >= p.columns;
  }

  // By all four warps. The accumulator is given back as soon as it has been read.
  WT_DEVICE void take(const Work& work, bool summed) {
    if (summed) {
      device::mbarrier_wait(shared.summed(sum.slot), sum.phase);
      device::tensor_fence_after();
    }
    const bool stores = !past_edge(p, work);
    if (stores) {
      WT_ROLLED for (int chunk = 0; chunk < kWhole; ++chunk)
          take_chunk<kChunk>(work, chunk * kChunk, summed, chunk == kWhole - 1 && kTail == 0);
      if constexpr (kTail > 0) take_chunk<kTail>(work, kWhole * kChunk, summed, true);
      if constexpr (!kParts) steps.finish(p.epilogue);  // parts are finished by split_sum.h
      steps = {};
    } else if (summed) {
      release();
    }
    if (summed) sum.next();
  }

  WT_DEVICE void finish() const {
    if (kBulk && device::thread_index() == 0) device::bulk_wait_read<0>();
  }

  // The residual's warp: a tile's chunks to where they will be staged; by one thread.
  WT_DEVICE static void fetch(const Params& p, const Shared& shared, const Work& work, typename Shared::OutCursor to) {
    if (past_edge(p, work)) return;
    const i64 row = Tiles::rows(p, work).first;
    WT_ROLLED for (int chunk = 0; chunk < kWhole; ++chunk, to.next())
        fetch_chunk<kChunk>(p, shared, row, work, chunk * kChunk, to);
    if constexpr (kTail > 0) fetch_chunk<kTail>(p, shared, row, work, kWhole * kChunk, to);
  }
  static constexpr int kChunks = kWhole + (kTail > 0 ? 1 : 0);

 private:
  // The warp has read its lanes of the accumulator.
  WT_DEVICE void release() const {
    device::tensor_fence_before();
    device::sync_warp();
    if (device::lane_index() == 0) Shared::arrive(shared.taken(sum.slot), Shared::tile() * Shared::kBlocks);
  }

  template <int kColumns>
  WT_DEVICE void take_chunk(const Work& work, i32 column, bool summed, bool last) {
    using Out = Output<kColumns>;
    constexpr int kCount = kColumns / 2;
    const int warp = device::warp_index();
    float d[2][kCount];
    if (summed) {
      const u32 from = tensor + (static_cast<u32>(warp) << 21) + static_cast<u32>(sum.slot * kTileN + column);
      WT_UNROLL for (int half = 0; half < 2; ++half)
          device::tensor_load<device::TensorShape::k16x256>(d[half], from + (static_cast<u32>(half) << 20));
      device::tensor_load_wait();
      WT_UNROLL for (int half = 0; half < 2; ++half) device::tensor_hold(d[half]);
      if (last) release();
    } else {
      WT_UNROLL for (int half = 0; half < 2; ++half) { WT_UNROLL for (int i = 0; i < kCount; ++i) d[half][i] = 0; }
    }
    const Rows rows = Tiles::rows(p, work);
    const typename Out::Place place{work.tile.n * kTileN + column, work.tile.group};
    if constexpr (Shared::kSums) {
      static_assert(kTail == 0);
      const int round = work.order * kWhole + column / kChunk;
      shared.sum().sum(d, 0, round, work.last && last, [&](int row, int first, const float(&sums)[8]) {
        Out::store_eight(p, TwoHalves<Rows>{rows}, place, row, first, sums, steps);
      });
    } else if constexpr (kBulk) {
      store_in_bulk<kColumns>(rows, place, d);
    } else {
      WT_UNROLL for (int half = 0; half < 2; ++half) {
        if constexpr (kParts) {
          typename Out::Steps none;
          const PartRows<HalfRows<Rows>> parts{{rows, half}, work.part * p.part_elements};
          Out::store_direct(p, parts, place, d[half], none);
        } else if constexpr (kConfig.gemm.staging == Staging::kShared) {
          const HalfRows<Rows> of_half{rows, half};
          Out::stage(p, of_half, place, d[half], steps, shared.out(0));
          Out::copy_rows(p, of_half, place, shared.out(0));
        } else {
          Out::store_direct(p, HalfRows<Rows>{rows, half}, place, d[half], steps);
        }
      }
    }
  }

  // Where a warp's half of 16 rows lies among boxes of 64 rows that follow each other, as `stage` counts: it adds 16
  // rows a warp.
  WT_DEVICE static SharedAddress staging_of(SharedAddress buffer, int warp, int half) {
    constexpr int kPitch = 128;
    const int row = 32 * warp + 16 * half - 16 * warp;  // 64 rows of a box are 64 rows of the buffer
    return buffer + static_cast<u32>(row * kPitch);
  }

  template <int kColumns>
  WT_DEVICE void store_in_bulk(const Rows& rows, const typename Output<kColumns>::Place& place,
                               const float (&d)[2][kColumns / 2]) {
    using Out = Output<kColumns>;
    static_assert(tma_layout::out_boxes(tcgen05_layout::with_columns(kConfig, kColumns)) == 1);
    const SharedAddress buffer = shared.out(out.slot);
    const int warp = device::warp_index();
    const bool sends = device::thread_index() == 0;
    if constexpr (kResidual) {
      device::mbarrier_wait(shared.residual_full(out.slot), out.phase);
    } else {
      if (sends) device::bulk_wait_read<2>();  // the two boxes of the chunk before the last have left this buffer
      device::sync_named(kBarrier, 32 * tcgen05_layout::kStoreWarps);
    }
    WT_UNROLL for (int half = 0; half < 2; ++half)
        Out::stage(p, HalfRows<Rows>{rows, half}, place, d[half], steps, staging_of(buffer, warp, half));
    device::fence_async_shared();
    device::sync_named(kBarrier, 32 * tcgen05_layout::kStoreWarps);
    if (sends) {
      WT_UNROLL for (int half = 0; half < 2; ++half)
          Tiles::template send<Out>(p, rows, half, place, buffer + half * (64 * 128));
      if constexpr (kResidual) {
        device::bulk_wait_read<0>();
        device::mbarrier_arrive(shared.residual_empty(out.slot));
      }
    }
    out.next();
  }

  template <int kColumns>
  WT_DEVICE static void fetch_chunk(const Params& p, const Shared& shared, i64 row, const Work& work, i32 column,
                                    const typename Shared::OutCursor& to) {
    using Out = Output<kColumns>;
    const typename Out::Place place{work.tile.n * kTileN + column, work.tile.group};
    const SharedAddress full = shared.residual_full(to.slot);
    device::mbarrier_wait(shared.residual_empty(to.slot), to.phase ^ 1);
    device::mbarrier_arrive_expect(full, 2 * Out::kResidualBytes);
    Out::fetch_residual(p, row, place, shared.out(to.slot), full);
    Out::fetch_residual(p, row + 64, place, shared.out(to.slot) + 64 * 128, full);
  }
};

}  // namespace wt
