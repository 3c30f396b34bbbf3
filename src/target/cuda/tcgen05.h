// SPDX-License-Identifier: Apache-2.0
// target/cuda/tcgen05.h - matrix products into tensor memory (sm_100a), issued by one thread for a block or a pair.
//
// D (m, n) += A (m, k) * B (n, k)^T with k of 32 bytes. A and B lie in shared memory; of a pair each block holds half
// of A's rows and half of B's, at the same addresses, and half of D's rows. Products of one thread into one
// accumulator, of one shape, follow each other; everything else is ordered by tensor_commit.
#pragma once

#include "target/cuda/tensor_memory.h"

namespace wt::device {

// Starts the product. `d` is the accumulator's first column; without `accumulate` it is overwritten.
template <TensorKind kKind, int kBlocks>
WT_DEVICE void tensor_multiply(u32 d, u64 a, u64 b, u32 word, bool accumulate) {
#define WT_TENSOR_MULTIPLY(kind)                                                                \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.cta_group::%5.kind::" kind \
               " [%0], %1, %2, %3, p;\n}" ::"r"(d),                                             \
               "l"(a), "l"(b), "r"(word), "r"(static_cast<int>(accumulate)), "n"(kBlocks)       \
               : "memory")
  if constexpr (kKind == TensorKind::kF16) {
    WT_TENSOR_MULTIPLY("f16");
  } else if constexpr (kKind == TensorKind::kTf32) {
    WT_TENSOR_MULTIPLY("tf32");
  } else if constexpr (kKind == TensorKind::kF8f6f4) {
    WT_TENSOR_MULTIPLY("f8f6f4");
  } else if constexpr (kKind == TensorKind::kI8) {
    WT_TENSOR_MULTIPLY("i8");
  }
#undef WT_TENSOR_MULTIPLY
}

// The same of operands with scales, which lie in tensor memory from columns `scales_a` and `scales_b` on
// (tensor_word_scaled). What tensor_copy brought before, by this thread, is there.
template <ScaledKind kKind, int kBlocks>
WT_DEVICE void tensor_multiply_scaled(u32 d, u64 a, u64 b, u32 word, u32 scales_a, u32 scales_b, bool accumulate) {
#define WT_TENSOR_MULTIPLY(kind)                                                                           \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\ntcgen05.mma.cta_group::%7.kind::" kind            \
               " [%0], %1, %2, %3, [%4], [%5], p;\n}" ::"r"(d),                                            \
               "l"(a), "l"(b), "r"(word), "r"(scales_a), "r"(scales_b), "r"(static_cast<int>(accumulate)), \
               "n"(kBlocks)                                                                                \
               : "memory")
  if constexpr (kKind == ScaledKind::kMxf8) {
    WT_TENSOR_MULTIPLY("mxf8f6f4.block_scale.scale_vec::1X");
  } else if constexpr (kKind == ScaledKind::kMxf4) {
    WT_TENSOR_MULTIPLY("mxf4.block_scale.scale_vec::2X");
  } else if constexpr (kKind == ScaledKind::kNvf4) {
    WT_TENSOR_MULTIPLY("mxf4nvf4.block_scale.scale_vec::4X");
  }
#undef WT_TENSOR_MULTIPLY
}

// Starts a copy from shared memory, in the order of this thread's products. Rows of `from` lie as an operand's along k.
template <TensorCopy kCopy, int kBlocks>
WT_DEVICE void tensor_copy(u32 to, u64 from) {
  if constexpr (kCopy == TensorCopy::k128x256) {
    asm volatile("tcgen05.cp.cta_group::%2.128x256b [%0], %1;" ::"r"(to), "l"(from), "n"(kBlocks) : "memory");
  } else if constexpr (kCopy == TensorCopy::k128x128) {
    asm volatile("tcgen05.cp.cta_group::%2.128x128b [%0], %1;" ::"r"(to), "l"(from), "n"(kBlocks) : "memory");
  } else if constexpr (kCopy == TensorCopy::k32x128Four) {
    asm volatile("tcgen05.cp.cta_group::%2.32x128b.warpx4 [%0], %1;" ::"r"(to), "l"(from), "n"(kBlocks) : "memory");
  } else if constexpr (kCopy == TensorCopy::k4x256) {
    asm volatile("tcgen05.cp.cta_group::%2.4x256b [%0], %1;" ::"r"(to), "l"(from), "n"(kBlocks) : "memory");
  } else if constexpr (kCopy == TensorCopy::k64x128Apart) {
    asm volatile("tcgen05.cp.cta_group::%2.64x128b.warpx2::02_13 [%0], %1;" ::"r"(to), "l"(from), "n"(kBlocks)
                 : "memory");
  } else if constexpr (kCopy == TensorCopy::k64x128Near) {
    asm volatile("tcgen05.cp.cta_group::%2.64x128b.warpx2::01_23 [%0], %1;" ::"r"(to), "l"(from), "n"(kBlocks)
                 : "memory");
  }
}

// Arrives once at `barrier` when all that this thread has started is done.
template <int kBlocks>
WT_DEVICE void tensor_commit(SharedAddress barrier) {
  asm volatile("tcgen05.commit.cta_group::%1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier),
               "n"(kBlocks)
               : "memory");
}
// The same at this address in every block of `mask`.
template <int kBlocks>
WT_DEVICE void tensor_commit_multicast(SharedAddress barrier, u16 mask) {
  asm volatile(
      "tcgen05.commit.cta_group::%2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(
          barrier),
      "h"(mask), "n"(kBlocks)
      : "memory");
}

}  // namespace wt::device
