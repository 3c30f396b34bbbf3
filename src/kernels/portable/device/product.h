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
  // Slices of a tile that a warp multiplies: all, or its part where warps share k.
  static constexpr int kSlices = Slices::kSlices / kConfig.gemm.warps.k;
  static_assert(kSlices * kConfig.gemm.warps.k == Slices::kSlices, "warps must share the slices of a tile evenly");
  using ReadA =
      typename ReaderOf<portable_layout::a_lies_across(kConfig), kConfig, true, kConfig.gemm.tile.m, kTilesM>::Type;
  using ReadB =
      typename ReaderOf<portable_layout::b_lies_across(kConfig), kConfig, false, kConfig.gemm.tile.n, kTilesN>::Type;

  // Row and column, of those of the warp, that an accumulator's fragments and its place in the instruction make.
  static constexpr int row_of(int i, int row) { return fragment_row<ReadA::kPaired, kConfig.gemm.mma.m>(i, row); }
  static constexpr int column_of(int j, int column) {
    return fragment_row<ReadB::kPaired, kConfig.gemm.mma.n>(j, column);
  }

  // Matrix instructions of a slice, and accesses to shared memory that bring it.
  static constexpr int kSliceProducts = Slices::kSteps * kTilesM * kTilesN;
  static constexpr int kSliceReads = ReadA::kReads + ReadB::kReads;

  struct Slice {
    Element a[kTilesM][Slices::kSteps][Mma::kA];
    Element b[kTilesN][Slices::kSteps][Mma::kB];
  };

  Sum<Element> c[kTilesM][kTilesN][Mma::kC];

  WT_DEVICE void clear() {
    WT_UNROLL for (int i = 0; i < kTilesM; ++i) {
      WT_UNROLL for (int j = 0; j < kTilesN; ++j) { WT_UNROLL for (int e = 0; e < Mma::kC; ++e) c[i][j][e] = 0; }
    }
  }

  // The warp among those that multiply the same tile, and its first row and column.
  WT_DEVICE static int warp() { return device::warp_index() % (kWarpsM * kWarpsN); }
  WT_DEVICE static int origin_m() { return warp() % kWarpsM * kTilesM * kConfig.gemm.mma.m; }
  WT_DEVICE static int origin_n() { return warp() / kWarpsM * kTilesN * kConfig.gemm.mma.n; }

  // Which of the warps that share k this one is, whose sum is a part of the tile's.
  WT_DEVICE static int part() {
    if constexpr (kConfig.gemm.warps.k == 1) return 0;
    return device::warp_index() / (kWarpsM * kWarpsN) % kConfig.gemm.warps.k;
  }

  // A slice as it was read. WHY: of numbers of 16 bits that a loop carries clang makes words anew in each pass.
  struct Words {
    typename ReadA::Raw a[ReadA::kReads];
    typename ReadB::Raw b[ReadB::kReads];
  };
  // Where a warp's fragments begin. WHY to be asked once: on AMD the answer moves to a scalar register anew each time.
  struct Origin {
    int m, n, part;
  };
  WT_DEVICE static Origin origin() { return {origin_m(), origin_n(), part()}; }
  WT_DEVICE static void load(const PortableBuffer& from, const Origin& at, int slice, Words& to) {
    ReadA{at.m}.load(from.a, at.part * kSlices + slice, to.a);
    ReadB{at.n}.load(from.b, at.part * kSlices + slice, to.b);
  }

  // The slice-th of the warp's.
  WT_DEVICE static void read(const PortableBuffer& from, int slice, Slice& to) {
    ReadA{origin_m()}.read(from.a, part() * kSlices + slice, to.a);
    ReadB{origin_n()}.read(from.b, part() * kSlices + slice, to.b);
  }

  WT_DEVICE void multiply(const Slice& by) { multiply<0, kTilesM>(by); }
  // The rows of matrix instructions from kFirst to kEnd.
  template <int kFirst, int kEnd>
  WT_DEVICE void multiply(const Slice& by) {
    WT_UNROLL for (int step = 0; step < Slices::kSteps; ++step) {
      Element b[kTilesN][Mma::kB];
      WT_UNROLL for (int j = 0; j < kTilesN; ++j) {
        WT_UNROLL for (int e = 0; e < Mma::kB; ++e) b[j][e] = by.b[j][step][e];
      }
      WT_UNROLL for (int i = kFirst; i < kEnd; ++i) device::multiply_row<Mma>(c[i], by.a[i][step], b);
    }
  }

  template <int kFirst = 0, int kEnd = kTilesM>
  WT_DEVICE void multiply(const Words& by) {
    Slice slice;
    ReadA::unpack(by.a, slice.a);
    ReadB::unpack(by.b, slice.b);
    multiply<kFirst, kEnd>(slice);
  }

  // All fragments of a tile, so that shared memory may be overwritten while they are multiplied.
  struct Fragments {
    Slice slice[kSlices];
  };
  WT_DEVICE static void read(const PortableBuffer& from, Fragments& to) {
    WT_UNROLL for (int s = 0; s < kSlices; ++s) read(from, s, to.slice[s]);
  }
  WT_DEVICE void multiply(const Fragments& by) { WT_UNROLL for (int s = 0; s < kSlices; ++s) multiply(by.slice[s]); }
  // interwave keeps a warp's products together, before those of other warps, whose reads and moves hide behind them.
  WT_DEVICE void burst(const Fragments& by) {
    if constexpr (kConfig.gemm.scheduler == Scheduler::kInterwave) {
      device::sync_warp();
      device::prefer_warp<true>();
      multiply(by);
      device::prefer_warp<false>();
    } else {
      multiply(by);
    }
  }

  // A whole tile. intrawave: a warp's reads of the next slice hide behind its own products. interwave: a warp reads
  // everything, then multiplies in one burst, and other warps' reads hide behind it.
  WT_DEVICE void multiply(const PortableBuffer& from) {
    if constexpr (Slices::kInLanes) {
      multiply_lanes(from);
    } else if constexpr (kConfig.gemm.scheduler == Scheduler::kInterwave) {
      Fragments all;
      read(from, all);
      burst(all);
    } else {
      Slice slice[2];
      read(from, 0, slice[0]);
      WT_UNROLL for (int s = 0; s < kSlices; ++s) {
        if (s + 1 < kSlices) read(from, s + 1, slice[(s + 1) % 2]);
        multiply(slice[s % 2]);
      }
    }
  }

 private:
  // WHY fragments of A one by one: those of multiply-adds hold every k, and all of them would not fit the registers.
  WT_DEVICE void multiply_lanes(const PortableBuffer& from) {
    using ReadOne =
        typename ReaderOf<portable_layout::a_lies_across(kConfig), kConfig, true, kConfig.gemm.tile.m, 1>::Type;
    WT_UNROLL for (int own = 0; own < kSlices; ++own) {
      const int s = part() * kSlices + own;
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
