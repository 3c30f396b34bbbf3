// SPDX-License-Identifier: Apache-2.0
// kernels/basic/device/arguments.h - the parameter block of the GEMM kernels that gather through registers.
//
// Freestanding: host and device compilers lay this struct out alike.
#pragma once

#include "kernels/device/arguments.h"

namespace wt {

struct GemmArguments {
  ConvShape shape;
  TensorStrides x, w, y;
  const void* a;  // by GEMM role: forward x, backward data dy, backward weight dy
  const void* b;  // forward w, backward data w, backward weight x
  void* out;
  EpilogueArguments epilogue;
  i64 m, n, k;                    // GEMM sizes of one group
  const u8 *scales_a, *scales_b;  // of blocks, where there are some
};

}  // namespace wt
