// SPDX-License-Identifier: Apache-2.0
// tests/config/constraints_direct_test.cc - cases of the rows that speak of direct kernels.
#include "tests/config/row_cases.h"

namespace wt {
namespace {

DirectConfig& make_groups(KernelConfig& c) {
  c.family = Family::kDirect;
  c.direct.design = DirectDesign::kGroups;
  c.direct.tile_w = 64;
  c.direct.filter_h = c.direct.filter_w = 3;
  c.direct.stride_h = c.direct.stride_w = c.direct.dilation_h = c.direct.dilation_w = 1;
  c.direct.vector_in = c.direct.vector_out = 8;
  c.direct.block_size = 256;
  c.direct.prefetch = 4;
  return c.direct;
}

const RowCase kTargetCases[] = {
    {"direct-tile",
     [](KernelConfig& c) {
       c.family = Family::kDirect;
       c.direct.tile_h = 3;
       c.direct.sub_h = 2;
     },
     "tile 3x0 is not a multiple of sub-tile 2x1"},
    {"direct-block",
     [](KernelConfig& c) {
       c.family = Family::kDirect;
       c.direct.block_size = 65;
     },
     "block_size=65 must be a multiple of 32 up to 1024 on sm_80"},
    {"direct-vector",
     [](KernelConfig& c) {
       c.family = Family::kDirect;
       c.direct.vector_in = 16;
       c.direct.vector_out = 16;
     },
     "vector_in=16 vector_out=16 of bf16 in layout channels_last"},
    {"direct-stream",
     [](KernelConfig& c) {
       c.family = Family::kDirect;
       c.direct.design = DirectDesign::kStream;
       c.direct.filter_h = 3;
     },
     "filter=3x0 stride=0x0 dilation=0x0 sub_w=1 prefetch=1 register_weights=false: design stream needs"},
    {"direct-banded",
     [](KernelConfig& c) {
       c.family = Family::kDirect;
       c.direct.design = DirectDesign::kBanded;
       c.direct.filter_h = 3;
       c.direct.filter_w = 11;
     },
     "filter=3x11 stride=0x0 vectors=1/1 prefetch=1 images=1 block_size=64 finite_only=false: design banded"},
    {"direct-banded-bulk",
     [](KernelConfig& c) {
       c.family = Family::kDirect;
       c.direct.design = DirectDesign::kBanded;
       c.gemm.loader_a = Loader::kTmaTiled;
       c.direct.vector_in = 4;
     },
     "8 channels a block: design banded copies rows in bulk"},
    {"direct-banded-memory",
     [](KernelConfig& c) {
       c.family = Family::kDirect;
       c.direct.design = DirectDesign::kBanded;
       c.direct.block_size = 512;
       c.direct.stride_h = c.direct.stride_w = 1;
       c.direct.vector_in = 4;
       c.direct.prefetch = 9;
       c.direct.images = 16;
     },
     "prefetch=9 block_size=512 images=16 take"},
    {"direct-history",
     [](KernelConfig& c) {
       c.family = Family::kDirect;
       c.direct.history = true;
     },
     "history=true with direction=fwd and 2 dimensions"},
    {"direct-gather-tile",
     [](KernelConfig& c) {
       c.family = Family::kDirect;
       c.direct.prefetch = 2;
     },
     "prefetch=2 with direction=fwd stride=0x0 dilation=0x0 vectors=1/1 sub_w=1 block_size=64: rows in shared memory"},
    {"direct-groups-shape", [](KernelConfig& c) { make_groups(c).prefetch = 1; },
     "filter=3x3 stride=1x1 dilation=1x1 prefetch=1: design groups needs"},
    {"direct-groups-warps", [](KernelConfig& c) { make_groups(c).tile_w = 40; },
     "vectors=8/8 block_size=256 tile_w=40 finite_only=false: bundles are"},
    {"direct-groups-memory", [](KernelConfig& c) { make_groups(c).prefetch = 16; }, "tile_w=64 with prefetch=16 takes"},
};

const RowCase kProblemCases[] = {
    {"direct-groups", [](KernelConfig& c) { c.family = Family::kDirect; },
     "64 input channels per group; direct kernels take up to 32", "fwd bf16 n1 c64 k8 i8x8 f3x3"},
    {"direct-depthwise", [](KernelConfig& c) { c.family = Family::kDirect; },
     "4 input channels per group; design gather takes 1", "fwd bf16 n1 g2 c8 k8 i8x8 f3x3"},
    {"direct-multiplier",
     [](KernelConfig& c) {
       c.family = Family::kDirect;
       c.direct.vector_in = 4;
       c.direct.vector_out = 4;
     },
     "2 output channels per group with design gather and vector_in=4", "fwd bf16 n1 g8 c8 k16 i8x8 f3x3"},
    {"direct-channels",
     [](KernelConfig& c) {
       c.family = Family::kDirect;
       c.direct.vector_in = 4;
       c.direct.vector_out = 4;
     },
     "6 channels are not a multiple of vector_out=4", "bwd_data bf16 n1 g6 c6 k6 i8x8 f3x3"},
    {"direct-chunks",
     [](KernelConfig& c) {
       c.family = Family::kDirect;
       c.direct.design = DirectDesign::kBanded;
     },
     "12 channels are not a multiple of 8", "fwd bf16 n1 g12 c12 k12 i8x8 f3x3"},
    {"direct-gather-memory",
     [](KernelConfig& c) {
       c.family = Family::kDirect;
       c.direct.prefetch = 2;
       c.direct.sub_w = 8;
       c.direct.vector_in = c.direct.vector_out = 4;
     },
     "filter=3x2001 takes", "fwd bf16 n1 g8 c8 k8 i3x2001 f3x2001"},
    {"direct-bundle", [](KernelConfig& c) { make_groups(c); },
     "4 input and 4 output channels per group in bundles of 8 with finite_only=false",
     "fwd bf16 n1 g2 c8 k8 i8x8 f3x3"},
    {"direct-banded-cube",
     [](KernelConfig& c) {
       c.family = Family::kDirect;
       c.direct.design = DirectDesign::kBanded;
       c.dims = 3;
       c.direct.filter_h = c.direct.filter_w = 3;
     },
     "filter=1x3x3 stride=1x1x1 dilation=1x1x1 with a kernel for cubes of 3",
     "fwd bf16 n1 g8 c8 k8 i4x9x9 f1x3x3 p0x1x1"},
    {"direct-banded-phases",
     [](KernelConfig& c) {
       c.family = Family::kDirect;
       c.direct.design = DirectDesign::kBanded;
       c.direct.stride_h = c.direct.stride_w = 2;
     },
     "1 column with a kernel of stride 2", "fwd bf16 n1 g8 c8 k8 i8x1 f3x3 s2 p1"},
    {"direct-banded-images",
     [](KernelConfig& c) {
       c.family = Family::kDirect;
       c.direct.design = DirectDesign::kBanded;
     },
     "7 columns of output with images=1; use images=16", "fwd bf16 n1 g8 c8 k8 i7x7 f3x3 p1"},
    {"direct-size",
     [](KernelConfig& c) {
       c.family = Family::kDirect;
       c.direct.design = DirectDesign::kBanded;
     },
     "a tensor has 4294967296 elements; this kernel counts to 2147483647",
     "fwd bf16 n1024 g256 c256 k256 i128x128 f3x3 p1"},
    {"direct-filter", [](KernelConfig& c) { c.family = Family::kDirect; },
     "a row of filter=9x9 with 2000 output channels per group does not fit 49152 bytes",
     "bwd_data bf16 n1 g1 c1 k2000 i16x16 f9x9"},
    {"direct-shape",
     [](KernelConfig& c) {
       c.family = Family::kDirect;
       c.direct.filter_h = 5;
     },
     "filter=3x3 stride=1x1 dilation=1x1 pad=0x0 differ", "fwd bf16 n1 g8 c8 k8 i8x8 f3x3"},
};

INSTANTIATE_TEST_SUITE_P(Direct, TargetRow, testing::ValuesIn(kTargetCases));
INSTANTIATE_TEST_SUITE_P(Direct, ProblemRow, testing::ValuesIn(kProblemCases));
const TrippedRows kTripped(kTargetCases, kProblemCases);

}  // namespace
}  // namespace wt
