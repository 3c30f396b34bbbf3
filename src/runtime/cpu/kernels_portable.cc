// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/kernels_portable.cc - the inner loops with the compiler's own vectors, for any CPU.
#include "runtime/cpu/kernels.h"

// WHY: -std=c++20 forbids fused multiply-adds, and -O2 leaves loops unvectorised.
#pragma GCC optimize("O3", "fp-contract=fast")

namespace wt::cpu {
namespace {

constexpr int kVectorBytes = 16;
constexpr int kTileRows = 6;

#include "runtime/cpu/kernels_body.inc"

}  // namespace

constinit const Kernels kPortableKernels = make_kernels("portable");

}  // namespace wt::cpu
