// SPDX-License-Identifier: Apache-2.0
// kernels/portable/device/product.h - one warp's part of a block's product.
//
//   tile (shared) --read--> slice of fragments (registers) --multiply--> accumulators
#pragma once

#include "kernels/portable/device/fragment.h"
#include "kernels/portable/device/movement.h"

namespace wt {

template <KernelConfig kConfig>
struct PortableProduct {
  using Slices = Slicing<kConfig>;
  using Mma = typename Slices::Mma;
  using Element = typename Slices::Element;
  static constexpr int kWarpsM = kConfig.gemm.warps.m, kWarpsN = kConfig.gemm.warps.n;
  static constexpr int kTilesM = kConfig.gemm.tile.m / (kWarpsM * kConfig.gemm.mma.m);
  static constexpr int kTilesN = kConfig.gemm.tile.n / (kWarpsN * kConfig.gemm.mma.n);
  static_assert(kTilesM * kWarpsM * kConfig.gemm.mma.m == kConfig.gemm.tile.m, "warps must cover tile.m");
  static_assert(kTilesN * kWarpsN * kConfig.gemm.mma.n == kConfig.gemm.tile.n, "warps must cover tile.n");
  using ReadA =
      typename ReaderOf<portable_layout::a_lies_across(kConfig), kConfig, true, kConfig.gemm.tile.m, kTilesM>::Type;
  using ReadB =
      typename ReaderOf<portable_layout::b_lies_across(kConfig), kConfig, false, kConfig.gemm.tile.n, kTilesN>::Type;

  // Row and column, of those of the warp, that an accumulator's fragments and its place in the instruction make.
  static constexpr int row_of(int i, int row) { return fragment_row<ReadA::kPaired, kConfig.gemm.mma.m>(i, row); }
  static constexpr int column_of(int j, int column) {
    return fragment_row<ReadB::kPaired, kConfig.gemm.mma.n>(j, column);
  }

  struct Slice {
    Element a[kTilesM][Slices::kSteps][Mma::kA];
    Element b[kTilesN][Slices::kSteps][Mma::kB];
  };

  float c[kTilesM][kTilesN][Mma::kC];

  WT_DEVICE void clear() {
    WT_UNROLL for (int i = 0; i < kTilesM; ++i) {
      WT_UNROLL for (int j = 0; j < kTilesN; ++j) { WT_UNROLL for (int e = 0; e < Mma::kC; ++e) c[i][j][e] = 0; }
    }
  }

  // The warp among those that multiply the same tile, and its first row and column.
  WT_DEVICE static int warp() { return device::warp_index() % (kWarpsM * kWarpsN); }
  WT_DEVICE static int origin_m() { return warp() % kWarpsM * kTilesM * kConfig.gemm.mma.m; }
  WT_DEVICE static int origin_n() { return warp() / kWarpsM * kTilesN * kConfig.gemm.mma.n; }

  WT_DEVICE static void read(const PortableBuffer& from, int slice, Slice& to) {
    ReadA{origin_m()}.read(from.a, slice, to.a);
    ReadB{origin_n()}.read(from.b, slice, to.b);
  }

  WT_DEVICE void multiply(const Slice& by) {
    WT_UNROLL for (int step = 0; step < Slices::kSteps; ++step) {
      Element b[kTilesN][Mma::kB];
      WT_UNROLL for (int j = 0; j < kTilesN; ++j) {
        WT_UNROLL for (int e = 0; e < Mma::kB; ++e) b[j][e] = by.b[j][step][e];
      }
      WT_UNROLL for (int i = 0; i < kTilesM; ++i) device::multiply_row<Mma>(c[i], by.a[i][step], b);
    }
  }

  // All fragments of a tile, so that shared memory may be overwritten while they are multiplied.
  struct Fragments {
    Slice slice[Slices::kSlices];
  };
  WT_DEVICE static void read(const PortableBuffer& from, Fragments& to) {
    WT_UNROLL for (int s = 0; s < Slices::kSlices; ++s) read(from, s, to.slice[s]);
  }
  WT_DEVICE void multiply(const Fragments& by) {
    WT_UNROLL for (int s = 0; s < Slices::kSlices; ++s) multiply(by.slice[s]);
  }

  // A whole tile. intrawave: a warp's reads of the next slice hide behind its own products. interwave: a warp reads
  // everything, then multiplies in one burst, and other warps' reads hide behind it.
  WT_DEVICE void multiply(const PortableBuffer& from) {
    if constexpr (Slices::kInLanes) {
      multiply_lanes(from);
    } else if constexpr (kConfig.gemm.scheduler == Scheduler::kInterwave) {
      Fragments all;
      read(from, all);
      device::sync_warp();
      multiply(all);
    } else {
      Slice slice[2];
      read(from, 0, slice[0]);
      WT_UNROLL for (int s = 0; s < Slices::kSlices; ++s) {
        if (s + 1 < Slices::kSlices) read(from, s + 1, slice[(s + 1) % 2]);
        multiply(slice[s % 2]);
      }
    }
  }

 private:
  // WHY fragments of A one by one: those of multiply-adds hold every k, and all of them would not fit the registers.
  WT_DEVICE void multiply_lanes(const PortableBuffer& from) {
    using ReadOne =
        typename ReaderOf<portable_layout::a_lies_across(kConfig), kConfig, true, kConfig.gemm.tile.m, 1>::Type;
    WT_UNROLL for (int s = 0; s < Slices::kSlices; ++s) {
      Element a[1][1][Mma::kA], held[kTilesN][1][Mma::kB], b[kTilesN][Mma::kB];
      ReadB{origin_n()}.read(from.b, s, held);
      WT_UNROLL for (int j = 0; j < kTilesN; ++j) {
        WT_UNROLL for (int e = 0; e < Mma::kB; ++e) b[j][e] = held[j][0][e];
      }
      WT_UNROLL for (int i = 0; i < kTilesM; ++i) {
        ReadOne{origin_m() + i * kConfig.gemm.mma.m}.read(from.a, s, a);
        device::multiply_row<Mma>(c[i], a[0][0], b);
      }
    }
  }
};

}  // namespace wt
