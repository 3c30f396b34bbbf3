// SPDX-License-Identifier: Apache-2.0
// target/fma_tile.h - a matrix instruction made of multiply-adds, for exact fp32 and int8 where no unit does it.
//
// 32 lanes share a (kM, kN) tile: a lane owns kM/8 x kN/4 of it, and holds the rows of A and columns of B that
// it needs in full. Same interface as Mma (target/cuda/mma.h). The including target provides WT_DEVICE, WT_UNROLL and
// multiply_add.
#pragma once

#include "target/types.h"

namespace wt::device {

WT_DEVICE i32 multiply_add(I8 a, I8 b, i32 c) {
  return static_cast<signed char>(a.bits) * static_cast<signed char>(b.bits) + c;
}

template <int kM, int kN, int kK, class Number = float>
struct FmaTile {
  using Operand = Number;
  static constexpr int kRows = kM / 8, kCols = kN / 4;
  static constexpr int kA = kRows * kK, kB = kCols * kK, kC = kRows * kCols, kRun = 1;
  static constexpr int a_row(int lane, int e) { return lane / 4 + 8 * (e / kK); }
  static constexpr int a_k(int, int e) { return e % kK; }
  static constexpr int b_col(int lane, int e) { return lane % 4 * kCols + e / kK; }
  static constexpr int b_k(int, int e) { return e % kK; }
  static constexpr int c_row(int lane, int e) { return lane / 4 + 8 * (e / kCols); }
  static constexpr int c_col(int lane, int e) { return lane % 4 * kCols + e % kCols; }

  WT_DEVICE static void multiply(Sum<Number> (&c)[kC], const Number (&a)[kA], const Number (&b)[kB]) {
    WT_UNROLL for (int i = 0; i < kRows; ++i) {
      WT_UNROLL for (int j = 0; j < kCols; ++j) {
        WT_UNROLL for (int k = 0; k < kK; ++k) c[i * kCols + j] =
            multiply_add(a[i * kK + k], b[j * kK + k], c[i * kCols + j]);
      }
    }
  }
};

}  // namespace wt::device
