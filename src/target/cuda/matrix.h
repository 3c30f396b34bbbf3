// SPDX-License-Identifier: Apache-2.0
// target/cuda/matrix.h - 8x8 matrices of 16-bit elements between shared memory and fragments (ldmatrix, stmatrix).
//
// Lane l gives the address of row l % 8 of matrix l / 8. A register holds two neighbours of row lane / 4, columns
// 2 * (lane % 4) and the next; transposed, of a column.
#pragma once

#include "target/cuda/identity.h"

namespace wt::device {

inline constexpr bool kMatrixLoads = true;

template <bool kTransposed>
WT_DEVICE void load_matrix(u32 (&to)[4], SharedAddress row) {
  if constexpr (kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(row)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(row)
                 : "memory");
  }
}
template <bool kTransposed>
WT_DEVICE void load_matrix(u32 (&to)[2], SharedAddress row) {
  if constexpr (kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(to[0]), "=r"(to[1])
                 : "r"(row)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(to[0]), "=r"(to[1])
                 : "r"(row)
                 : "memory");
  }
}
// stmatrix: sm_90 on.
template <bool kTransposed>
WT_DEVICE void store_matrix(SharedAddress row, const u32 (&from)[4]) {
  if constexpr (kTransposed) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row), "r"(from[0]),
                 "r"(from[1]), "r"(from[2]), "r"(from[3])
                 : "memory");
  } else {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row), "r"(from[0]),
                 "r"(from[1]), "r"(from[2]), "r"(from[3])
                 : "memory");
  }
}
template <bool kTransposed>
WT_DEVICE void store_matrix(SharedAddress row, const u32 (&from)[2]) {
  if constexpr (kTransposed) {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(row), "r"(from[0]), "r"(from[1])
                 : "memory");
  } else {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(row), "r"(from[0]), "r"(from[1])
                 : "memory");
  }
}

}  // namespace wt::device
