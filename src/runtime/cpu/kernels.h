// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/kernels.h - the inner loops of the built-in convolutions, one set an instruction set.
//
//   gemm.cc, depthwise.cc --> kernels() --> the widest of kernels_{v4,v3,portable}.cc that this CPU runs
//
// WHY: chosen by hand and not with target_clones: its resolvers run before a sanitizer is set up and crash there.
#pragma once

#include <cstdint>

namespace wt::cpu {

inline constexpr int64_t kDepth = 256;  // most of the reduction that one pass of a tile takes
inline constexpr int64_t kRowStride =
    kDepth + 16;  // of packed rows; off the power of two, which would share cache sets

// c[r][j] += sum over k of a[r][k] * b[k][j] for a tile of rows x columns; a with kRowStride, b dense, c with its
// stride.
struct Tile {
  int rows;
  int columns;
  void (*multiply)(int64_t depth, const float* a, const float* b, float* c, int64_t c_stride);
};

struct Kernels {
  const char* name;
  Tile wide;
  Tile narrow;  // for few columns
  // out[i] = sum over t of x[t][i] * w[t][i]
  void (*sum_products)(float* out, const float* const* x, const float* const* w, int64_t taps, int64_t count);
  // out[i] += x[i] * w[i]
  void (*add_products)(float* out, const float* x, const float* w, int64_t count);
  // out[i] += x[i * step] * factor
  void (*add_scaled)(float* out, const float* x, int64_t step, float factor, int64_t count);
  // sum over i of x[i * step] * y[i]
  float (*dot)(const float* x, int64_t step, const float* y, int64_t count);
};

const Kernels& kernels();

extern const Kernels kPortableKernels;
#ifdef __x86_64__
extern const Kernels kV3Kernels;  // x86-64-v3: AVX2 and FMA
extern const Kernels kV4Kernels;  // x86-64-v4: AVX-512
#endif

}  // namespace wt::cpu
