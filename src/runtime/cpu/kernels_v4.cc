// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/kernels_v4.cc - the inner loops with AVX-512: 28 of 32 registers hold sums.
#include "runtime/cpu/kernels.h"

#ifdef __x86_64__
// WHY: -std=c++20 forbids fused multiply-adds, and -O2 leaves loops unvectorised.
#pragma GCC optimize("O3", "fp-contract=fast")
#pragma GCC target("arch=x86-64-v4")

namespace wt::cpu {
namespace {

constexpr int kVectorBytes = 64;
constexpr int kTileRows = 14;

#include "runtime/cpu/kernels_body.inc"

}  // namespace

constinit const Kernels kV4Kernels = make_kernels("x86-64-v4");

}  // namespace wt::cpu
#endif
