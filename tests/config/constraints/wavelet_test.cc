// SPDX-License-Identifier: Apache-2.0
// tests/config/constraints/wavelet_test.cc - cases of the rows that speak of pipeline wavelet.
#include "tests/config/row_cases.h"

namespace wt {
namespace {

// A kernel of pipeline wavelet, and one change.
template <class Change>
void gathers_with(KernelConfig& c, Change change) {
  hopper(c);
  c.kind = Kind::kWavelet;
  c.gemm.pipeline = Pipeline::kWavelet;
  c.gemm.loader_a = c.gemm.loader_b = Loader::kAsync;
  c.gemm.vector_a = c.gemm.vector_b = 8;
  change(c);
}

const RowCase kTargetCases[] = {
    {"wavelet-roles", [](KernelConfig& c) { gathers_with(c, [](KernelConfig& t) { t.gemm.load_warps = 6; }); },
     "load_warps=6 warps=8x1 persistent=true tile.m=128"},
    // One slot is never given back: math warps release it when they have the next one.
    {"stages-range", [](KernelConfig& c) { gathers_with(c, [](KernelConfig& t) { t.gemm.stages = 1; }); },
     "stages=1 is outside 2..8 of pipeline wavelet"},
    {"wavelet-span", [](KernelConfig& c) { gathers_with(c, [](KernelConfig& t) { t.gemm.swizzle_b = 64; }); },
     "tile.k=64 of 2 bytes with swizzle_a=128 and swizzle_b=64"},
    {"wavelet-loader", [](KernelConfig& c) { gathers_with(c, [](KernelConfig& t) { t.gemm.vector_b = 1; }); },
     "vectors of 8 and 1 with loaders async and async"},
    {"wavelet-depth",
     [](KernelConfig& c) {
       gathers_with(c, [](KernelConfig& t) {
         t.direction = Direction::kBackwardWeight;
         t.gemm.tile.k = 32;
       });
     },
     "tile.m=128 tile.k=32 load_warps=4: weight gradients have tile.k=64"},
    {"wavelet-major",
     [](KernelConfig& c) {
       gathers_with(c, [](KernelConfig& t) {
         t.direction = Direction::kBackwardData;
         t.y = t.w = DataType::kTf32;
       });
     },
     "direction=bwd_data sums across channels"},
};

const RowCase kProblemCases[] = {
    {"wavelet-vector", [](KernelConfig& c) { gathers_with(c, [](KernelConfig&) {}); },
     "3 channels per group, 9 pixels wide, stride 1, dilation 1: neither channels nor rows of taps are vectors of 8",
     "fwd bf16 n1 c3 k8 i9x9 f3x3"},
    {"wavelet-filter", [](KernelConfig& c) { gathers_with(c, [](KernelConfig&) {}); },
     "9 taps and 3 channels per group is no multiple of vector_b=8", "bwd_data bf16 n1 c3 k8 i9x9 f3x3"},
    {"wavelet-phases", [](KernelConfig& c) { gathers_with(c, [](KernelConfig&) {}); },
     "101 phases of all dimensions together; this kernel has room for 96", "bwd_data bf16 n1 c8 k8 i60x60 f3x3 s50"},
    {"wavelet-weight", [](KernelConfig& c) { gathers_with(c, [](KernelConfig&) {}); },
     "stride 1x1x1, 6 channels of x gathered in vectors of 8 and 8 channels of dy",
     "bwd_weight bf16 n1 c6 k8 i9x9 f3x3"},
    {"outdone-vectors",
     [](KernelConfig& c) { gathers_with(c, [](KernelConfig& t) { t.gemm.vector_a = t.gemm.vector_b = 4; }); },
     "64 and 128 channels per group are whole vectors of 8, which are faster than vectors of 4 and 4",
     "fwd bf16 n1 c64 k128 i9x9 f3x3"},
};

INSTANTIATE_TEST_SUITE_P(Wavelet, TargetRow, testing::ValuesIn(kTargetCases));
INSTANTIATE_TEST_SUITE_P(Wavelet, ProblemRow, testing::ValuesIn(kProblemCases));
const TrippedRows kTripped(kTargetCases, kProblemCases);

}  // namespace
}  // namespace wt
