// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/multiply.h"

namespace wt::sim {
namespace {

typedef float Float8 __attribute__((vector_size(32), aligned(4)));

}  // namespace

// WHY target_clones: the library must run on any x86-64, but a simulation wants AVX2 where there is some.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define WT_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define WT_CLONES
#endif

WT_CLONES void multiply_small(int m, int n, int k, const float* a, const float* b, float* c) {
  for (int row = 0; row < m; row += 4) {
    for (int col = 0; col < n; col += 8) {
      Float8 sum[4];
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) sum[i] = *reinterpret_cast<const Float8*>(c + (row + i) * n + col);
      for (int x = 0; x < k; ++x) {
        const Float8 right = *reinterpret_cast<const Float8*>(b + x * n + col);
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) sum[i] += a[(row + i) * k + x] * right;
      }
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) *reinterpret_cast<Float8*>(c + (row + i) * n + col) = sum[i];
    }
  }
}

// Blocks of 4 rows and 16 columns: 8 sums stay in registers and hide the latency of the additions.
WT_CLONES void multiply_tile(int n, int k, const float* b, const float* a, float* c) {
  for (int row = 0; row < n; row += 4) {
    for (int col = 0; col < 64; col += 16) {
      Float8 sum[4][2];
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        sum[i][0] = *reinterpret_cast<const Float8*>(c + (row + i) * 64 + col);
        sum[i][1] = *reinterpret_cast<const Float8*>(c + (row + i) * 64 + col + 8);
      }
      for (int x = 0; x < k; ++x) {
        const Float8 first = *reinterpret_cast<const Float8*>(a + x * 64 + col);
        const Float8 second = *reinterpret_cast<const Float8*>(a + x * 64 + col + 8);
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
          const float left = b[(row + i) * k + x];
          sum[i][0] += left * first;
          sum[i][1] += left * second;
        }
      }
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        *reinterpret_cast<Float8*>(c + (row + i) * 64 + col) = sum[i][0];
        *reinterpret_cast<Float8*>(c + (row + i) * 64 + col + 8) = sum[i][1];
      }
    }
  }
}

}  // namespace wt::sim
