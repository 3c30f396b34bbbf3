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

// Blocks of 4 rows and 24 columns keep 12 sums in registers; the columns that are left over go by 8.
WT_CLONES void multiply_tile(int n, int k, const float* a, const float* b, float* c) {
  constexpr int kVectors = 3;
  int col = 0;
  for (; col + 8 * kVectors <= n; col += 8 * kVectors) {
    for (int row = 0; row < 64; row += 4) {
      Float8 sum[4][kVectors];
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) sum[i][v] = *reinterpret_cast<const Float8*>(c + (row + i) * n + col + 8 * v);
      }
      for (int x = 0; x < k; ++x) {
        Float8 right[kVectors];
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) right[v] = *reinterpret_cast<const Float8*>(b + x * n + col + 8 * v);
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
          const float left = a[(row + i) * k + x];
#pragma GCC unroll 4
          for (int v = 0; v < kVectors; ++v) sum[i][v] += left * right[v];
        }
      }
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) *reinterpret_cast<Float8*>(c + (row + i) * n + col + 8 * v) = sum[i][v];
      }
    }
  }
  for (; col < n; col += 8) {
    for (int row = 0; row < 64; row += 4) {
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

}  // namespace wt::sim
