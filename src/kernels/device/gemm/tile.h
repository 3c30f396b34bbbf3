// SPDX-License-Identifier: Apache-2.0
// kernels/device/gemm/tile.h - an operand's tile in shared memory and the fragments a warp reads from it.
#pragma once

#include "kernels/device/gemm/storage.h"
#include "target/target.h"

namespace wt {

template <KernelConfig kConfig>
using MmaOf = device::Mma<multiply_type(kConfig), kConfig.gemm.mma.m, kConfig.gemm.mma.n, kConfig.gemm.mma.k>;

// (kRows, tile.k), k innermost, rows padded against bank conflicts.
template <KernelConfig kConfig, int kRows>
struct OperandTile {
  using Element = typename MmaOf<kConfig>::Operand;
  static constexpr int kWarps = kConfig.gemm.warps.m * kConfig.gemm.warps.n * kConfig.gemm.warps.k;
  static constexpr int kThreads = kWarps * device::kWarpSize;
  static constexpr int kPitch = gemm_storage::pitch(kConfig);
  static constexpr int kBytes = kRows * kPitch * static_cast<int>(sizeof(Element));

  SharedAddress base;

  WT_DEVICE SharedAddress address(int row, int k) const {
    return base + static_cast<u32>((row * kPitch + k) * static_cast<int>(sizeof(Element)));
  }
};

// One warp's part of a block's product: accumulators for kTilesM x kTilesN matrix instructions.
template <KernelConfig kConfig>
struct WarpProduct {
  using Mma = MmaOf<kConfig>;
  using Element = typename Mma::Operand;
  static constexpr int kTilesM = kConfig.gemm.tile.m / (kConfig.gemm.warps.m * kConfig.gemm.mma.m);
  static constexpr int kTilesN = kConfig.gemm.tile.n / (kConfig.gemm.warps.n * kConfig.gemm.mma.n);
  static_assert(kTilesM * kConfig.gemm.warps.m * kConfig.gemm.mma.m == kConfig.gemm.tile.m, "warps must cover tile.m");
  static_assert(kTilesN * kConfig.gemm.warps.n * kConfig.gemm.mma.n == kConfig.gemm.tile.n, "warps must cover tile.n");
  static_assert(kConfig.gemm.tile.k % kConfig.gemm.mma.k == 0, "matrix instructions must cover tile.k");

  Sum<Element> c[kTilesM][kTilesN][Mma::kC];

  WT_DEVICE void clear() {
    WT_UNROLL for (int i = 0; i < kTilesM; ++i) {
      WT_UNROLL for (int j = 0; j < kTilesN; ++j) { WT_UNROLL for (int e = 0; e < Mma::kC; ++e) c[i][j][e] = 0; }
    }
  }

  // First row and column of this warp in the block's tile.
  WT_DEVICE static int origin_m() { return device::warp_index() % kConfig.gemm.warps.m * kTilesM * kConfig.gemm.mma.m; }
  WT_DEVICE static int origin_n() { return device::warp_index() / kConfig.gemm.warps.m * kTilesN * kConfig.gemm.mma.n; }

  WT_DEVICE void multiply(OperandTile<kConfig, kConfig.gemm.tile.m> a_tile,
                          OperandTile<kConfig, kConfig.gemm.tile.n> b_tile) {
    const int lane = device::lane_index(), m0 = origin_m(), n0 = origin_n();
    for (int k = 0; k < kConfig.gemm.tile.k; k += kConfig.gemm.mma.k) {
      Element b[kTilesN][Mma::kB];
      WT_UNROLL for (int j = 0; j < kTilesN; ++j) {
        WT_UNROLL for (int e = 0; e < Mma::kB; e += Mma::kRun) {
          read_run(b[j] + e, b_tile.address(n0 + j * kConfig.gemm.mma.n + Mma::b_col(lane, e), k + Mma::b_k(lane, e)));
        }
      }
      WT_UNROLL for (int i = 0; i < kTilesM; ++i) {
        Element a[Mma::kA];
        WT_UNROLL for (int e = 0; e < Mma::kA; e += Mma::kRun) {
          read_run(a + e, a_tile.address(m0 + i * kConfig.gemm.mma.m + Mma::a_row(lane, e), k + Mma::a_k(lane, e)));
        }
        device::multiply_row<Mma>(c[i], a, b);
      }
    }
  }

  // The i-th matrix instruction's rows of this warp into `staging`: (warps.m * mma.m, tile.n) sums, rows of all warps
  // one after the other.
  WT_DEVICE void stage(int i, SharedAddress staging) const {
    const int lane = device::lane_index(), n0 = origin_n();
    const int m0 = device::warp_index() % kConfig.gemm.warps.m * kConfig.gemm.mma.m;
    WT_UNROLL for (int j = 0; j < kTilesN; ++j) {
      WT_UNROLL for (int e = 0; e < Mma::kC; ++e) {
        const int row = m0 + Mma::c_row(lane, e), col = n0 + j * kConfig.gemm.mma.n + Mma::c_col(lane, e);
        device::store_shared(staging + (row * gemm_storage::out_pitch(kConfig) + col) * 4, c[i][j][e]);
      }
    }
  }
  // The row of the block's tile that row `staged` of the i-th staging holds.
  WT_DEVICE static int row_of(int i, int staged) {
    return (staged / kConfig.gemm.mma.m * kTilesM + i) * kConfig.gemm.mma.m + staged % kConfig.gemm.mma.m;
  }

 private:
  WT_DEVICE static void read_run(Element* fragment, SharedAddress address) {
    // WHY: 16 bytes are the widest access; gfx11's runs of 16 halves are read in two.
    constexpr int kWidth = Mma::kRun * sizeof(Element) > 16 ? 16 / sizeof(Element) : Mma::kRun;
    WT_UNROLL for (int start = 0; start < Mma::kRun; start += kWidth) {
      const auto run = device::load_shared<Vector<Element, kWidth>>(address + start * sizeof(Element));
      WT_UNROLL for (int i = 0; i < kWidth; ++i) fragment[start + i] = run.at[i];
    }
  }
};

}  // namespace wt
