// SPDX-License-Identifier: Apache-2.0
// target/cuda/tensor_memory.h - tensor memory (sm_100a): 128 lanes by 512 columns of 32 bits in every multiprocessor.
//
// An address is lane << 16 | column. Columns are allocated, whole, by one warp. kBlocks is 1, or 2 where the blocks of
// ranks 2i and 2i + 1 of a cluster work as a pair; all operations of a kernel have the same.
#pragma once

#include "target/cuda/identity.h"
#include "target/tcgen05_words.h"

namespace wt::device {

// By one whole warp, of a pair by one in each block. A power of two from 32 to 512; waits until so many are free, then
// writes the address of the first one to shared memory.
template <int kBlocks>
WT_DEVICE void tensor_allocate(SharedAddress to, u32 columns) {
  asm volatile("tcgen05.alloc.cta_group::%2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(to), "r"(columns),
               "n"(kBlocks)
               : "memory");
}
template <int kBlocks>
WT_DEVICE void tensor_free(u32 address, u32 columns) {
  asm volatile("tcgen05.dealloc.cta_group::%2.sync.aligned.b32 %0, %1;" ::"r"(address), "r"(columns), "n"(kBlocks)
               : "memory");
}
// The block allocates no more, so that another one of the multiprocessor may.
template <int kBlocks>
WT_DEVICE void tensor_relinquish() {
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::%0.sync.aligned;" ::"n"(kBlocks) : "memory");
}

// On both sides of what synchronises threads that use tensor memory: in those that did, and in those that will.
WT_DEVICE void tensor_fence_before() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }
WT_DEVICE void tensor_fence_after() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }

// Registers to and from tensor memory, by whole warps: warp w of a block reaches lanes 32 (w % 4) to 32 (w % 4) + 31
// and no others. Shapes of 16 lanes start at the first or the seventeenth of them. What a load brings is there after
// tensor_load_wait, what a store wrote after tensor_store_wait. Which register lies where: tensor_place.
template <TensorShape kShape, int kRegisters>
struct TensorRegisters;

// Register lists: the text of operands %0 and on, and their constraints as outputs and as inputs.
#define WT_T8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define WT_T16 WT_T8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define WT_T32 WT_T16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define WT_T_OUT(i) "=f"(to[i]), "=f"(to[i + 1]), "=f"(to[i + 2]), "=f"(to[i + 3])
#define WT_T_OUT8 WT_T_OUT(0), WT_T_OUT(4)
#define WT_T_OUT16 WT_T_OUT8, WT_T_OUT(8), WT_T_OUT(12)
#define WT_T_OUT32 WT_T_OUT16, WT_T_OUT(16), WT_T_OUT(20), WT_T_OUT(24), WT_T_OUT(28)
#define WT_T_IN(i) "f"(from[i]), "f"(from[i + 1]), "f"(from[i + 2]), "f"(from[i + 3])
#define WT_T_IN8 WT_T_IN(0), WT_T_IN(4)
#define WT_T_IN16 WT_T_IN8, WT_T_IN(8), WT_T_IN(12)
#define WT_T_IN32 WT_T_IN16, WT_T_IN(16), WT_T_IN(20), WT_T_IN(24), WT_T_IN(28)

#define WT_TENSOR_REGISTERS(shape, text, times, count)                                                  \
  template <>                                                                                           \
  struct TensorRegisters<TensorShape::shape, count> {                                                   \
    WT_DEVICE static void load(float (&to)[count], u32 address) {                                       \
      asm volatile("tcgen05.ld.sync.aligned." text ".x" #times ".b32 {" WT_T##count "}, [%" #count "];" \
                   : WT_T_OUT##count                                                                    \
                   : "r"(address)                                                                       \
                   : "memory");                                                                         \
    }                                                                                                   \
    WT_DEVICE static void store(u32 address, const float (&from)[count]) {                              \
      asm volatile("tcgen05.st.sync.aligned." text ".x" #times ".b32 [%" #count "], {" WT_T##count      \
                   "};" ::WT_T_IN##count,                                                               \
                   "r"(address)                                                                         \
                   : "memory");                                                                         \
    }                                                                                                   \
  };
WT_TENSOR_REGISTERS(k32x32, "32x32b", 8, 8)
WT_TENSOR_REGISTERS(k32x32, "32x32b", 16, 16)
WT_TENSOR_REGISTERS(k32x32, "32x32b", 32, 32)
WT_TENSOR_REGISTERS(k16x64, "16x64b", 8, 8)
WT_TENSOR_REGISTERS(k16x64, "16x64b", 16, 16)
WT_TENSOR_REGISTERS(k16x64, "16x64b", 32, 32)
WT_TENSOR_REGISTERS(k16x128, "16x128b", 4, 8)
WT_TENSOR_REGISTERS(k16x128, "16x128b", 8, 16)
WT_TENSOR_REGISTERS(k16x128, "16x128b", 16, 32)
WT_TENSOR_REGISTERS(k16x256, "16x256b", 2, 8)
WT_TENSOR_REGISTERS(k16x256, "16x256b", 4, 16)
WT_TENSOR_REGISTERS(k16x256, "16x256b", 8, 32)
#undef WT_TENSOR_REGISTERS
// The second half's columns follow the first's.
#define WT_TENSOR_REGISTERS(count)                                                                                  \
  template <>                                                                                                       \
  struct TensorRegisters<TensorShape::k16x32Two, count> {                                                           \
    WT_DEVICE static void load(float (&to)[count], u32 address) {                                                   \
      asm volatile("tcgen05.ld.sync.aligned.16x32bx2.x" #count ".b32 {" WT_T##count "}, [%" #count "], " #count ";" \
                   : WT_T_OUT##count                                                                                \
                   : "r"(address)                                                                                   \
                   : "memory");                                                                                     \
    }                                                                                                               \
    WT_DEVICE static void store(u32 address, const float (&from)[count]) {                                          \
      asm volatile("tcgen05.st.sync.aligned.16x32bx2.x" #count ".b32 [%" #count "], " #count ", {" WT_T##count      \
                   "};" ::WT_T_IN##count,                                                                           \
                   "r"(address)                                                                                     \
                   : "memory");                                                                                     \
    }                                                                                                               \
  };
WT_TENSOR_REGISTERS(8)
WT_TENSOR_REGISTERS(16)
WT_TENSOR_REGISTERS(32)
#undef WT_TENSOR_REGISTERS

template <TensorShape kShape, int kCount>
WT_DEVICE void tensor_load(float (&to)[kCount], u32 address) {
  TensorRegisters<kShape, kCount>::load(to, address);
}
template <TensorShape kShape, int kCount>
WT_DEVICE void tensor_store(u32 address, const float (&from)[kCount]) {
  TensorRegisters<kShape, kCount>::store(address, from);
}

WT_DEVICE void tensor_load_wait() { asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory"); }
WT_DEVICE void tensor_store_wait() { asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory"); }
// After tensor_load_wait. WHY the values pass through it: nothing else keeps the compiler from using them before.
template <int kCount>
WT_DEVICE void tensor_hold(float (&values)[kCount]) {
  WT_UNROLL for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(values[i])::"memory");
}

}  // namespace wt::device
