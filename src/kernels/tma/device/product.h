// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/product.h - what the matrix instructions of a stage multiply.
//
//   Lengthwise  rows of an instruction are rows of A, its columns those of B
//   Crosswise   rows are output channels, columns pixels (output_crosswise.h)
//   ThreeTf32   either operand as the sum of two tf32: three products; A's in registers (parted_rows.h)
#pragma once

#include "kernels/tma/device/operand.h"
#include "kernels/tma/device/parted_rows.h"
#include "kernels/tma/device/shared.h"

namespace wt {

template <KernelConfig kConfig>
struct Lengthwise {
  static constexpr int kWidth = kConfig.gemm.tile.n;  // columns of an instruction
  using A = KMajor<kConfig.gemm.swizzle_a>;
  using B = FilterLayout<kConfig>;
  using Multiply = device::Wgmma<wgmma_type(operand_a(kConfig)), wgmma_type(operand_b(kConfig)), kWidth>;

  // `rows`: bytes from the operand's first row to the fragment's.
  WT_DEVICE static void add(float (&d)[kWidth / 2], SharedAddress a, SharedAddress b, int rows, int step,
                            bool accumulate) {
    Multiply::template multiply<A::kMajor, B::kMajor>(d, A::descriptor(a, rows, step), B::descriptor(b, 0, step),
                                                      accumulate);
  }
};

template <KernelConfig kConfig>
struct ThreeTf32 : Lengthwise<kConfig> {
  using Each = Lengthwise<kConfig>;
  static constexpr int kLow = TmaShared<kConfig>::kLow;

  WT_DEVICE static void add(float (&d)[Each::kWidth / 2], const PartedRows& a, SharedAddress b, int step,
                            bool accumulate) {
    add_one(d, a.low, b, step, accumulate);
    add_one(d, a.high, b + kLow, step, true);
    add_one(d, a.high, b, step, true);
  }

 private:
  WT_DEVICE static void add_one(float (&d)[Each::kWidth / 2], const u32 (&a)[4], SharedAddress b, int step,
                                bool accumulate) {
    using B = typename Each::B;
    Each::Multiply::template multiply<B::kMajor>(d, a, B::descriptor(b, 0, step), accumulate);
  }
};

template <KernelConfig kConfig>
struct Crosswise {
  static constexpr int kWidth = kConfig.gemm.tile.m;
  using A = KMajor<kConfig.gemm.swizzle_a>;
  using B = FilterLayout<kConfig>;
  using Multiply = device::Wgmma<wgmma_type(operand_b(kConfig)), wgmma_type(operand_a(kConfig)), kWidth>;
  static_assert(!tma_layout::three_products(kConfig) && kConfig.gemm.swizzle_a == 128);

  WT_DEVICE static void add(float (&d)[kWidth / 2], SharedAddress a, SharedAddress b, int rows, int step,
                            bool accumulate) {
    // A block of 64 output channels takes as many bytes along k as across it.
    Multiply::template multiply<B::kMajor, A::kMajor>(d, B::descriptor(b + rows, 0, step), A::descriptor(a, 0, step),
                                                      accumulate);
  }
};

template <KernelConfig kConfig, bool kCrosswise = tma_layout::crosswise(kConfig),
          bool kThree = tma_layout::three_products(kConfig)>
struct ProductOf {
  using Type = Lengthwise<kConfig>;
};
template <KernelConfig kConfig>
struct ProductOf<kConfig, false, true> {
  using Type = ThreeTf32<kConfig>;
};
template <KernelConfig kConfig, bool kThree>
struct ProductOf<kConfig, true, kThree> {
  using Type = Crosswise<kConfig>;
};

}  // namespace wt
