// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05/device/product.h - what a stage multiplies: the operands' descriptors, step by step along k.
#pragma once

#include "kernels/tcgen05/device/shared.h"

namespace wt {

constexpr device::TensorSwizzle tensor_swizzle(int bytes) {
  return bytes == 128  ? device::TensorSwizzle::k128
         : bytes == 64 ? device::TensorSwizzle::k64
         : bytes == 32 ? device::TensorSwizzle::k32
                       : device::TensorSwizzle::kNone;
}

// An operand whose rows hold consecutive k, one swizzle span each: groups of 8 rows, `kPitch` of them apart.
template <int kSwizzle, int kPitch = 8>
struct TensorAlong {
  static constexpr bool kAcross = false;
  WT_DEVICE static u64 descriptor(SharedAddress box, int step) {
    return device::tensor_descriptor(box + step * 32, 16, kPitch * kSwizzle, tensor_swizzle(kSwizzle));
  }
};
// An operand whose rows hold consecutive columns: blocks of 128 bytes of columns, each kDepth rows of them. 16-bit
// types and fp8, of whose rows a product reads kStep.
template <int kDepth, int kStep = 16>
struct TensorAcross {
  static constexpr bool kAcross = true;
  WT_DEVICE static u64 descriptor(SharedAddress box, int step) {
    return device::tensor_descriptor(box + step * kStep * 128, kDepth * 128, 1024, device::TensorSwizzle::k128);
  }
};

template <KernelConfig kConfig, bool kAcross = tma_layout::b_is_mn_major(kConfig)>
struct TensorFilter : TensorAlong<kConfig.gemm.swizzle_a> {};
template <KernelConfig kConfig>
struct TensorFilter<kConfig, true> : TensorAcross<tma_layout::box_k(kConfig)> {};

// Either operand of a weight gradient, which sums over pixels: across them, or along them where tiles were turned
// round.
template <KernelConfig kConfig, bool kTurned = tma_layout::turns_tiles(kConfig)>
struct TensorPixels : TensorAcross<kConfig.gemm.tile.k, 32 / size_of(operand_a(kConfig))> {};
template <KernelConfig kConfig>
struct TensorPixels<kConfig, true> : TensorAlong<128> {};

// The products of one step into the accumulator `d`: one, or of fp32 three of tf32.
template <KernelConfig kConfig, class A = TensorAlong<kConfig.gemm.swizzle_a, tcgen05_layout::pixel_pitch(kConfig)>,
          class B = TensorFilter<kConfig>>
struct TensorProduct {
  using Shared = Tcgen05Shared<kConfig>;
  static constexpr u32 kWord = device::tensor_word(operand_a(kConfig), operand_b(kConfig), kConfig.gemm.tile.m,
                                                   kConfig.gemm.tile.n, A::kAcross, B::kAcross);

  WT_DEVICE static void add(u32 d, SharedAddress a, SharedAddress b, int step, bool accumulate) {
    if constexpr (tma_layout::three_products(kConfig)) {
      multiply(d, a + Shared::kLow, b, step, accumulate);
      multiply(d, a, b + Shared::kLow, step, true);
      multiply(d, a, b, step, true);
    } else {
      multiply(d, a, b, step, accumulate);
    }
  }

 private:
  WT_DEVICE static void multiply(u32 d, SharedAddress a, SharedAddress b, int step, bool accumulate) {
    device::tensor_multiply<device::tensor_kind(operand_a(kConfig)), Shared::kBlocks>(
        d, A::descriptor(a, step), B::descriptor(b, step), kWord, accumulate);
  }
};

}  // namespace wt
