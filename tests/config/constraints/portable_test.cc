// SPDX-License-Identifier: Apache-2.0
// tests/config/constraints/portable_test.cc - cases of the rows that speak of the portable pipelines.
#include "tests/config/row_cases.h"

namespace wt {
namespace {

// A kernel of pipeline compv4, and one change.
template <class Change>
void portable_with(KernelConfig& c, Change change) {
  c.kind = Kind::kPortable;
  c.gemm.pipeline = Pipeline::kCompV4;
  c.gemm.stages = 2;
  c.gemm.double_buffer = true;
  c.gemm.loader_a = c.gemm.loader_b = Loader::kVector;
  c.gemm.vector_a = c.gemm.vector_b = 8;
  c.gemm.staging = Staging::kShared;
  change(c);
}

const RowCase kTargetCases[] = {
    {"portable-merge-zero",
     [](KernelConfig& c) {
       portable_with(c, [](KernelConfig& x) {
         x.epilogue.x_zero = true;
         x.gemm.groups_per_tile = 2;
       });
     },
     "groups_per_tile=2 with a zero point of x; use groups_per_tile=1"},
    {"portable-types", [](KernelConfig& c) { portable_with(c, [](KernelConfig& x) { x.x = DataType::kE4m3; }); },
     "operands e4m3 and bf16: pipeline compv4 multiplies fp16, bf16, fp32 or tf32"},
    {"portable-layout",
     [](KernelConfig& c) { portable_with(c, [](KernelConfig& x) { x.layout = Layout::kChannelsFirst; }); },
     "pipeline compv4 reads channels-last tensors"},
    {"portable-loader",
     [](KernelConfig& c) { portable_with(c, [](KernelConfig& x) { x.gemm.loader_a = Loader::kAsync; }); },
     "loaders async and vector with vectors of 8 and 8: pipeline compv4 moves both operands by loaders vector or "
     "gather"},
    {"portable-async",
     [](KernelConfig& c) {
       portable_with(c, [](KernelConfig& x) {
         x.target = Target::kGfx950;
         x.gemm.pipeline = Pipeline::kCompAsync;
         x.gemm.loader_a = x.gemm.loader_b = Loader::kAsync;
         x.gemm.vector_a = 4;
       });
     },
     "loader async of pipeline comp_async with vectors of 4 and 8 on gfx950"},
    {"portable-share",
     [](KernelConfig& c) {
       portable_with(c, [](KernelConfig& x) {
         x.gemm.tile = {128, 16, 32};
         x.gemm.warps = {4, 1, 1};
       });
     },
     "tile=128x16x32 of 2-byte elements does not give each of 128 load threads whole chunks"},
    {"portable-pairs",
     [](KernelConfig& c) {
       portable_with(c, [](KernelConfig& x) {
         x.gemm.tile = {64, 32, 32};
         x.gemm.warps = {1, 4, 1};
       });
     },
     "tile.n=32 over warps.n=4 is an odd number of mma.n=8"},
    {"portable-staging",
     [](KernelConfig& c) {
       portable_with(c, [](KernelConfig& x) {
         x.gemm.pipeline = Pipeline::kCompV5;
         x.gemm.wave_groups = 2;
         x.gemm.staging = Staging::kDirect;
       });
     },
     "staging=direct with wave_groups=2 warps.k=1 vector_c=1; use shared"},
    {"portable-output-vector",
     [](KernelConfig& c) {
       portable_with(c, [](KernelConfig& x) {
         x.gemm.vector_c = 4;
         x.direction = Direction::kBackwardWeight;
       });
     },
     "vector_c=4 with direction=bwd_weight: rows of dw are stored by 16 bytes where they are whole"},
    {"portable-shared-k",
     [](KernelConfig& c) {
       portable_with(c, [](KernelConfig& x) {
         x.gemm.pipeline = Pipeline::kCompV5;
         x.gemm.wave_groups = 2;
         x.gemm.warps.k = 2;
       });
     },
     "warps.k=2 with wave_groups=2 of pipeline compv5: its groups divide k already"},
    {"portable-stream",
     [](KernelConfig& c) {
       portable_with(c, [](KernelConfig& x) {
         x.gemm.stream_k = StreamK::kTree;
         x.gemm.staging = Staging::kDirect;
         x.direction = Direction::kBackwardWeight;
       });
     },
     "stream_k=tree with staging=direct and direction=bwd_weight"},
    {"portable-explicit",
     [](KernelConfig& c) {
       portable_with(c, [](KernelConfig& x) {
         x.gemm.explicit_gemm = true;
         x.gemm.specialization = Specialization::kFilter1x1Stride1Pad0;
       });
     },
     "explicit_gemm=true with specialization=filter1x1_stride1_pad0 and direction=fwd"},
    {"portable-split",
     [](KernelConfig& c) { portable_with(c, [](KernelConfig& x) { x.gemm.split_k = SplitK::kWorkspace; }); },
     "split_k=workspace with direction=fwd"},
};

const RowCase kProblemCases[] = {
    {"portable-vector", [](KernelConfig& c) { portable_with(c, [](KernelConfig&) {}); },
     "12 channels per group are no multiple of vector_a=8", "fwd bf16 n1 c12 k8 i8x8 f3x3"},
    {"portable-filter", [](KernelConfig& c) { portable_with(c, [](KernelConfig&) {}); },
     "a filter of 9 taps and 12 channels per group is no multiple of vector_b=8", "bwd_data bf16 n1 c12 k8 i8x8 f3x3"},
    {"portable-output-rows", [](KernelConfig& c) { portable_with(c, [](KernelConfig& x) { x.gemm.vector_c = 8; }); },
     "12 output channels are no multiple of vector_c=8", "fwd bf16 n1 c8 k12 i8x8 f3x3"},
    {"portable-phases", [](KernelConfig& c) { portable_with(c, [](KernelConfig&) {}); },
     "101 phases of all dimensions together; this kernel has room for 96", "bwd_data bf16 n1 c8 k8 i400x400 f3x3 s50"},
    {"portable-merge-width",
     [](KernelConfig& c) { portable_with(c, [](KernelConfig& x) { x.gemm.groups_per_tile = 8; }); },
     "groups_per_tile=8 makes 96 channels, more than the 64 of tile=64x64", "fwd bf16 n1 g8 c64 k96 i8x8 f3x3"},
    {"portable-image", [](KernelConfig& c) { portable_with(c, [](KernelConfig&) {}); },
     "a tensor has 4294967296 elements: pipeline compv4 takes images and filters of up to 2147483647",
     "fwd bf16 n1 c256 k8 i4096x4096 f1x1"},
    {"portable-image",  // AMD's loads count bytes
     [](KernelConfig& c) {
       portable_with(c, [](KernelConfig& x) {
         x.target = Target::kGfx942;
         x.gemm.mma = {16, 16, 16};
       });
     },
     "a tensor has 1073741824 elements: pipeline compv4 takes images and filters of up to 1073741823 on gfx942",
     "fwd bf16 n1 c64 k8 i4096x4096 f1x1"},
    {"portable-weight", [](KernelConfig& c) { portable_with(c, [](KernelConfig&) {}); },
     "8 channels of dy and 12 of x per group are no multiples of vector_a=8 and vector_b=8",
     "bwd_weight bf16 n1 c12 k8 i8x8 f3x3"},
};

INSTANTIATE_TEST_SUITE_P(Portable, TargetRow, testing::ValuesIn(kTargetCases));
INSTANTIATE_TEST_SUITE_P(Portable, ProblemRow, testing::ValuesIn(kProblemCases));
const TrippedRows kTripped(kTargetCases, kProblemCases);

}  // namespace
}  // namespace wt
