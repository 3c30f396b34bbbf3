// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/kernels_v3.cc - the inner loops with AVX2: 12 of 16 registers hold sums.
#include "runtime/cpu/kernels.h"

#ifdef __x86_64__
// WHY: -std=c++20 forbids fused multiply-adds, and -O2 leaves loops unvectorised.
#pragma GCC optimize("O3", "fp-contract=fast")
#pragma GCC target("arch=x86-64-v3")

namespace wt::cpu {
namespace {

constexpr int kVectorBytes = 32;
constexpr int kTileRows = 6;

#include "runtime/cpu/kernels_body.inc"

}  // namespace

constinit const Kernels kV3Kernels = make_kernels("x86-64-v3");

}  // namespace wt::cpu
#endif
