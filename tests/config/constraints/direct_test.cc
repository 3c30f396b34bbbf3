// SPDX-License-Identifier: Apache-2.0
// tests/config/constraints/direct_test.cc - cases of the rows that speak of direct kernels.
#include "tests/config/row_cases.h"

namespace wt {
namespace {

DirectConfig& make_groups(KernelConfig& c) {
  c.kind = Kind::kGroups;
  c.direct.tile_w = 64;
  c.fixed.filter_h = c.fixed.filter_w = 3;
  c.fixed.stride_h = c.fixed.stride_w = c.fixed.dilation_h = c.fixed.dilation_w = 1;
  c.direct.vector_in = c.direct.vector_out = 8;
  c.direct.block_size = 256;
  c.direct.prefetch = 4;
  return c.direct;
}

DirectConfig& make_strips(KernelConfig& c) {
  c.kind = Kind::kDepthwiseStrips;
  c.finite_only = true;
  c.direct.sub_h = 3;
  c.direct.block_size = 128;
  c.direct.block_channels = 16;
  c.direct.group_channels = 1;
  c.direct.vector_in = c.direct.vector_out = 8;
  return c.direct;
}

DirectConfig& make_taps(KernelConfig& c) {
  c.kind = Kind::kDepthwiseTaps;
  c.direction = Direction::kBackwardWeight;
  c.finite_only = true;
  c.direct.sub_h = 1;
  c.direct.sub_w = 2;
  c.direct.block_size = 256;
  c.direct.block_channels = 16;
  c.direct.prefetch = 2;
  c.direct.vector_in = c.direct.vector_out = 8;
  return c.direct;
}

const RowCase kTargetCases[] = {
    {"direct-block",
     [](KernelConfig& c) {
       c.kind = Kind::kDepthwiseGather;
       c.direct.block_size = 65;
     },
     "block_size=65 must be a multiple of 32 up to 1024 on sm_80"},
    {"direct-vector",
     [](KernelConfig& c) {
       c.kind = Kind::kDepthwiseGather;
       c.direct.vector_in = 16;
       c.direct.vector_out = 16;
     },
     "vector_in=16 vector_out=16 of bf16 in layout channels_last"},
    {"direct-stream",
     [](KernelConfig& c) {
       c.kind = Kind::kDepthwiseStream;
       c.fixed.filter_h = 3;
     },
     "filter=3x0 stride=0x0 dilation=0x0 sub_w=1 prefetch=1 register_weights=false: this kind needs"},
    {"direct-banded",
     [](KernelConfig& c) {
       c.kind = Kind::kDepthwiseBanded;
       c.fixed.filter_h = 3;
       c.fixed.filter_w = 11;
     },
     "filter=3x11 stride=0x0 vectors=1/1 prefetch=1 images=1 block_size=64 finite_only=false: this kind"},
    {"direct-banded-bulk",
     [](KernelConfig& c) {
       c.kind = Kind::kDepthwiseBanded;
       c.direct.bulk_rows = true;
       c.direct.vector_in = 4;
     },
     "8 channels per block: this kind copies rows in bulk"},
    {"direct-banded-memory",
     [](KernelConfig& c) {
       c.kind = Kind::kDepthwiseBanded;
       c.direct.block_size = 512;
       c.fixed.stride_h = c.fixed.stride_w = 1;
       c.direct.vector_in = 4;
       c.direct.prefetch = 9;
       c.direct.images = 16;
     },
     "prefetch=9 block_size=512 images=16 take"},
    {"direct-strips", [](KernelConfig& c) { make_strips(c).block_channels = 24; },
     "sub_h=3 block_size=128 block_channels=24 prefetch=1 group_channels=1 stride_w=0 finite_only=true: this kind"},
    {"direct-taps", [](KernelConfig& c) { make_taps(c).block_channels = 64; },
     "sub_h=1 sub_w=2 block_size=256 block_channels=64 prefetch=2 vectors=8/8 stride_w=0 dilation_w=0 "
     "finite_only=true: "
     "this kind"},
    {"direct-history",
     [](KernelConfig& c) {
       c.kind = Kind::kDepthwiseGather;
       c.direct.history = true;
     },
     "history=true with direction=fwd and 2 dimensions"},
    {"direct-gather-tile",
     [](KernelConfig& c) {
       c.kind = Kind::kDepthwiseGather;
       c.direct.prefetch = 2;
     },
     "prefetch=2 on sm_80 with direction=fwd stride=0x0 dilation=0x0 vectors=1/1 sub_w=1 block_size=64: rows in shared "
     "memory"},
    {"step-history", [](KernelConfig& c) { c.kind = Kind::kDepthwiseStep; },
     "history=false and 2 dimensions; a step has history=true and one dimension"},
    {"step-dilation",
     [](KernelConfig& c) {
       c.kind = Kind::kDepthwiseStep;
       c.fixed.filter_h = 4;
     },
     "filter_h=4 with dilation_h=0; use a dilation of 1"},
    {"direct-groups-shape", [](KernelConfig& c) { make_groups(c).prefetch = 1; },
     "filter=3x3 stride=1x1 dilation=1x1 prefetch=1: this kind needs"},
    {"direct-groups-warps", [](KernelConfig& c) { make_groups(c).tile_w = 40; },
     "vectors=8/8 block_size=256 tile_w=40 finite_only=false: bundles are"},
    {"direct-groups-memory", [](KernelConfig& c) { make_groups(c).prefetch = 16; }, "tile_w=64 with prefetch=16 takes"},
};

const RowCase kProblemCases[] = {
    {"direct-groups", [](KernelConfig& c) { c.kind = Kind::kDepthwiseGather; },
     "64 input channels per group; direct kernels take up to 32", "fwd bf16 n1 c64 k8 i8x8 f3x3"},
    {"direct-depthwise", [](KernelConfig& c) { c.kind = Kind::kDepthwiseGather; },
     "4 input channels per group; kind depthwise_gather takes 1", "fwd bf16 n1 g2 c8 k8 i8x8 f3x3"},
    {"direct-multiplier",
     [](KernelConfig& c) {
       c.kind = Kind::kDepthwiseGather;
       c.direct.vector_in = 4;
       c.direct.vector_out = 4;
     },
     "2 output channels per group with kind depthwise_gather and vector_in=4", "fwd bf16 n1 g8 c8 k16 i8x8 f3x3"},
    {"direct-channels",
     [](KernelConfig& c) {
       c.kind = Kind::kDepthwiseGather;
       c.direct.vector_in = 4;
       c.direct.vector_out = 4;
     },
     "6 channels are not a multiple of vector_out=4", "bwd_data bf16 n1 g6 c6 k6 i8x8 f3x3"},
    {"direct-chunks", [](KernelConfig& c) { c.kind = Kind::kDepthwiseBanded; }, "12 channels are not a multiple of 8",
     "fwd bf16 n1 g12 c12 k12 i8x8 f3x3"},
    {"direct-gather-memory",
     [](KernelConfig& c) {
       c.kind = Kind::kDepthwiseGather;
       c.direct.prefetch = 2;
       c.direct.sub_w = 8;
       c.direct.vector_in = c.direct.vector_out = 4;
     },
     "filter=3x2001 takes", "fwd bf16 n1 g8 c8 k8 i3x2001 f3x2001"},
    {"step-size", [](KernelConfig& c) { c.kind = Kind::kDepthwiseStep; },
     "2147483648 pixels and 1 channels; this kernel counts each to 2147483647",
     "fwd bf16 n1 c1 k1 i2147483647 f2 pcausal history"},
    {"direct-bundle", [](KernelConfig& c) { make_groups(c); },
     "4 input and 4 output channels per group in bundles of 8 with finite_only=false",
     "fwd bf16 n1 g2 c8 k8 i8x8 f3x3"},
    {"direct-banded-cube",
     [](KernelConfig& c) {
       c.kind = Kind::kDepthwiseBanded;
       c.dims = 3;
       c.fixed.filter_h = c.fixed.filter_w = 3;
     },
     "filter=1x3x3 stride=1x1x1 dilation=1x1x1 with a kernel for cubes of 3",
     "fwd bf16 n1 g8 c8 k8 i4x9x9 f1x3x3 p0x1x1"},
    {"direct-banded-phases",
     [](KernelConfig& c) {
       c.kind = Kind::kDepthwiseBanded;
       c.fixed.stride_h = c.fixed.stride_w = 2;
     },
     "1 column with a kernel of stride 2", "fwd bf16 n1 g8 c8 k8 i8x1 f3x3 s2 p1"},
    {"direct-banded-images", [](KernelConfig& c) { c.kind = Kind::kDepthwiseBanded; },
     "7 columns of output with images=1; use images=16", "fwd bf16 n1 g8 c8 k8 i7x7 f3x3 p1"},
    {"direct-strips-copies", [](KernelConfig& c) { make_strips(c); },
     "12 input and 12 output channels with vector_in=8 vector_out=8; use vectors of 4 and 4",
     "fwd bf16 n1 g12 c12 k12 i8x8 f3x3"},
    {"direct-strips-multiplier", [](KernelConfig& c) { make_strips(c); },
     "2 output channels per group with group_channels=1; use group_channels=0", "fwd bf16 n1 g8 c8 k16 i8x8 f3x3"},
    {"direct-strips-count", [](KernelConfig& c) { make_strips(c); },
     "filter=3x3 stride=9x1 dilation=1x1: this kind has strides up to 8", "fwd bf16 n1 g8 c8 k8 i28x8 f3x3 s9x1"},
    {"direct-strips-memory", [](KernelConfig& c) { make_strips(c); },
     "filter=99x99 with 1 output channels per group and block_channels=16 does not fit",
     "fwd bf16 n1 g8 c8 k8 i99x99 f99x99"},
    {"direct-taps-multiplier", [](KernelConfig& c) { make_taps(c); },
     "2 output channels per group; use kind depthwise_strips", "bwd_weight bf16 n1 g8 c8 k16 i8x8 f3x3"},
    {"direct-taps-runs", [](KernelConfig& c) { make_taps(c); },
     "filter=1x40 stride=1x3 dilation=1x1: runs of 16 taps are no whole steps",
     "bwd_weight bf16 n1 g8 c8 k8 i8x99 f1x40 s1x3"},
    {"direct-taps-columns", [](KernelConfig& c) { make_taps(c); },
     "filter=40x3 takes 5 warps for each 8 channels and block_size=256 with block_channels=16 has 4",
     "bwd_weight bf16 n1 g8 c8 k8 i48x48 f40x3"},
    {"direct-taps-memory", [](KernelConfig& c) { make_taps(c); },
     "filter=3x3 dilation=1x4000 with block_channels=16 prefetch=2 does not fit",
     "bwd_weight bf16 n1 g8 c8 k8 i8x9000 f3x3 d1x4000"},
    {"direct-size", [](KernelConfig& c) { c.kind = Kind::kDepthwiseBanded; },
     "a tensor has 4294967296 elements; this kernel counts to 2147483647",
     "fwd bf16 n1024 g256 c256 k256 i128x128 f3x3 p1"},
    {"direct-int8",
     [](KernelConfig& c) {
       c.kind = Kind::kDepthwiseGather;
       c.x = c.w = c.y = DataType::kI8;
     },
     "filter=33x33 has 1089 taps; sums of int8 in fp32 are exact up to 1024", "fwd bf16 n1 g8 c8 k8 i64x64 f33x33"},
    {"direct-filter", [](KernelConfig& c) { c.kind = Kind::kDepthwiseGather; },
     "a row of filter=9x9 with 2000 output channels per group does not fit 49152 bytes",
     "bwd_data bf16 n1 g1 c1 k2000 i16x16 f9x9"},
    {"direct-shape",
     [](KernelConfig& c) {
       c.kind = Kind::kDepthwiseGather;
       c.fixed.filter_h = 5;
     },
     "filter=3x3 stride=1x1 dilation=1x1 differ", "fwd bf16 n1 g8 c8 k8 i8x8 f3x3"},
};

INSTANTIATE_TEST_SUITE_P(Direct, TargetRow, testing::ValuesIn(kTargetCases));
INSTANTIATE_TEST_SUITE_P(Direct, ProblemRow, testing::ValuesIn(kProblemCases));
const TrippedRows kTripped(kTargetCases, kProblemCases);

}  // namespace
}  // namespace wt
