// SPDX-License-Identifier: Apache-2.0
// tests/config/constraints/tma_test.cc - cases of the rows that speak of pipeline tma.
#include "tests/config/row_cases.h"

namespace wt {
namespace {

// The kind that the cases below mean by what they change.
Kind kind_meant(const KernelConfig& c) {
  if (c.direction == Direction::kBackwardWeight) return Kind::kTmaWeight;
  if (c.gemm.loader_a == Loader::kTmaHalo) return Kind::kTmaHalo;
  return c.fixed.filter_w > 0 ? Kind::kTmaFold : Kind::kTma;
}

// A kernel with bulk copies and bulk stores, and one change.
template <class Change>
void hopper_with(KernelConfig& c, Change change) {
  hopper(c);
  c.gemm.staging = Staging::kTmaStore;
  change(c);
  c.kind = kind_meant(c);
}

// A kernel with patches, whose stages are three taps, and one change.
template <class Change>
void halo_with(KernelConfig& c, Change change) {
  hopper(c);
  c.kind = Kind::kTmaHalo;
  c.gemm.loader_a = Loader::kTmaHalo;
  c.gemm.specialization = Specialization::kFilter3x3;
  c.gemm.tile = {128, 64, 192};
  c.gemm.mma.n = 64;
  c.gemm.stages = 3;
  c.gemm.staging = Staging::kShared;
  c.gemm.vector_c = 8;
  change(c);
}

const RowCase kTargetCases[] = {
    {"tma-target", [](KernelConfig& c) { c.gemm.pipeline = Pipeline::kTma; }, "sm_80 has no bulk tensor copies"},
    {"tma-loader", [](KernelConfig& c) { c.gemm.loader_a = Loader::kTmaTiled; },
     "loaders tma_tiled and gather with pipeline basic_v1"},
    {"tma-box",
     [](KernelConfig& c) {
       hopper(c);
       c.gemm.tile.n = 512;
     },
     "tile=128x512x64: a TMA box has at most 256"},
    {"tma-roles", [](KernelConfig& c) { hopper_with(c, [](KernelConfig& t) { t.gemm.load_warps = 1; }); },
     "load_warps=1 persistent=true warps=8x1"},
    {"tma-swap",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.gemm.warps = {1, 8, 1};
         t.gemm.swap_ab = true;
         t.gemm.tile.m = 152;
         t.gemm.mma.n = 144;
       });
     },
     "tile=152x128 warps=1x8 mma.n=144"},
    {"tma-swizzle", [](KernelConfig& c) { hopper_with(c, [](KernelConfig& t) { t.gemm.swizzle_b = 64; }); },
     "swizzle_a=128 and swizzle_b=64 must be equal"},
    {"tma-major",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.direction = Direction::kBackwardWeight;
         t.y = t.x = DataType::kE4m3;
       });
     },
     "direction=bwd_weight sums across channels"},
    {"tma-weight-unit",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.direction = Direction::kBackwardWeight;
         t.gemm.specialization = Specialization::kDefault;
       });
     },
     "loader_b=tma_tiled with specialization=default groups_per_tile=1"},
    {"tma-split", [](KernelConfig& c) { hopper_with(c, [](KernelConfig& t) { t.gemm.split_k = SplitK::kCluster; }); },
     "split_k=cluster with direction=fwd staging=tma_store"},
    {"tma-stream",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.gemm.stream_k = StreamK::kTree;
         t.gemm.groups_per_tile = 2;
       });
     },
     "stream_k=tree with direction=fwd staging=tma_store groups_per_tile=2"},
    {"tma-stream",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.gemm.stream_k = StreamK::kLinear;
         t.gemm.cluster_m = 2;
         t.gemm.multicast_b = true;
       });
     },
     "specialization=default cluster of 2 blocks"},
    {"tma-sharing",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.gemm.cluster_m = 2;
         t.gemm.cluster_n = 2;
         t.gemm.multicast_a = true;
       });
     },
     "cluster of 2x2 blocks with multicast_a=true multicast_b=false"},
    {"tma-sharing",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.gemm.warps = {1, 8, 1};
         t.gemm.swap_ab = true;
         t.gemm.tile.m = t.gemm.mma.n = 152;
         t.gemm.cluster_n = 2;
         t.gemm.multicast_a = true;
       });
     },
     "cluster of 1x2 blocks with multicast_a=true multicast_b=false tile=152x128"},
    {"tma-store-type", [](KernelConfig& c) { hopper_with(c, [](KernelConfig& t) { t.y = DataType::kE4m3; }); },
     "staging=tma_store vector_c=1 with output e4m3"},
    {"tma-store-type",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.y = DataType::kF32;
         t.gemm.staging = Staging::kShared;
       });
     },
     "staging=shared vector_c=1 with output fp32"},
    {"tma-merge",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.direction = Direction::kBackwardWeight;
         t.gemm.groups_per_tile = 4;
         t.finite_only = true;
       });
     },
     "groups_per_tile=4 with split_k=none"},
    {"tma-halo",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.gemm.loader_a = Loader::kTmaHalo;
         t.gemm.staging = Staging::kDirect;
       });
     },
     "loader_a=tma_halo with dims=2 direction=fwd specialization=default"},
    {"tma-halo",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.gemm.loader_a = Loader::kTmaHalo;
         t.gemm.specialization = Specialization::kFilter3x3;
         t.gemm.staging = Staging::kShared;
         t.gemm.split_k = SplitK::kCluster;
       });
     },
     "staging=shared split_k=cluster tile.k=64"},
    {"tma-halo-groups",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.gemm.loader_a = Loader::kTmaHalo;
         t.gemm.specialization = Specialization::kFilter3x3;
         t.gemm.warps = {8, 1, 2};
       });
     },
     "warps=8x1x2 with tile.m=128 ping_pong=false filter_rows=0 specialization=filter3x3"},
    {"tma-halo-groups",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.gemm.loader_a = Loader::kTmaHalo;
         t.gemm.specialization = Specialization::kFilter3x3;
         t.gemm.tile.m = 64;
         t.gemm.warps = {4, 1, 2};
         t.gemm.stages = 2;
       });
     },
     "filter_rows=0 specialization=filter3x3 stages=2"},
    {"tma-halo-keep", [](KernelConfig& c) { halo_with(c, [](KernelConfig& t) { t.gemm.filter_rows = 6; }); },
     "filter_rows=6 with split_k=none warps.k=1 groups_per_tile=1 specialization=filter3x3 tile.k=192 stages=3"},
    {"tma-halo-phases",
     [](KernelConfig& c) {
       halo_with(c, [](KernelConfig& t) {
         t.direction = Direction::kBackwardData;
         t.fixed.stride_h = t.fixed.stride_w = 2;
         t.gemm.tile.n = t.gemm.mma.n = 96;
       });
     },
     "stride=2x2 with direction=bwd_data dims=2 specialization=filter3x3 split_k=none staging=shared tile=128x96x192"},
    {"tma-fold", [](KernelConfig& c) { hopper_with(c, [](KernelConfig& t) { t.fixed.filter_w = 3; }); },
     "filter_w=3 with direction=fwd loader_a=tma_im2col tile=128x128x64"},
    {"tma-fold-tile",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.gemm.tile.n = t.gemm.mma.n = 40;
         t.fixed.filter_w = 3;
       });
     },
     "groups_per_tile=1 aligned_copy=false staging=tma_store"},
    {"tma-weight-store",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.direction = Direction::kBackwardWeight;
         t.gemm.split_k = SplitK::kWorkspace;
       });
     },
     "staging=tma_store for a gradient with split_k=workspace groups_per_tile=1"},
    {"tma-patch",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.direction = Direction::kBackwardData;
         t.gemm.specialization = Specialization::kPatch;
       });
     },
     "specialization=patch with dims=2 direction=bwd_data loader_a=tma_im2col groups_per_tile=1 staging=tma_store"},
    {"tma-raw-patch",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.gemm.specialization = Specialization::kPatch;
         t.gemm.loader_a = Loader::kTmaTiled;
         t.gemm.aligned_copy = true;
       });
     },
     "specialization=patch with loader_a=tma_tiled finite_only=false aligned_copy=true staging=tma_store"},
    {"tma-copy-vector",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.direction = Direction::kBackwardData;
         t.gemm.specialization = Specialization::kPatch;
         t.gemm.staging = Staging::kShared;
       });
     },
     "staging=shared copies rows of patches by vectors of 2, 4 or 8 elements, not vector_c=1"},
};

const RowCase kProblemCases[] = {
    {"tma-stride", hopper, "12 and 12 channels of 2 and 2 bytes make strides that are not multiples of 16 bytes",
     "fwd bf16 n1 c12 k8 i8x8 f3x3"},
    {"tma-rows",
     [](KernelConfig& c) {
       hopper(c);
       c.gemm.aligned_copy = true;
     },
     "8 and 8 channels of 2 and 2 bytes in 1 groups: aligned_copy copies rows", "fwd bf16 n1 c8 k8 i8x8 f3x3"},
    {"tma-rows",
     [](KernelConfig& c) {
       hopper(c);
       c.x = c.w = DataType::kTf32;
       c.y = DataType::kF32;
       c.gemm.aligned_copy = true;
     },
     "8 and 8 channels of 4 and 4 bytes in 1 groups: aligned_copy copies rows", "fwd tf32>fp32 n1 c8 k8 i8x8 f3x3"},
    {"tma-element-stride", hopper, "stride=9x9 exceeds 8", "fwd bf16 n1 c8 k8 i32x32 f3x3 s9"},
    {"tma-corner", hopper, "must lie in -128..127 in 2D", "fwd bf16 n1 c8 k8 i400x400 f3x3 d100 p1"},
    {"tma-offset", hopper, "reaches 256 elements or more", "fwd bf16 n1 c8 k8 i300x300 f3x3 d128 p1"},
    {"tma-groups", hopper, "32 channels per group are summed in boxes of 64", "fwd bf16 n1 g2 c64 k64 i8x8 f3x3"},
    {"tma-group-start", [](KernelConfig& c) { hopper_with(c, [](KernelConfig&) {}); },
     "4 input and 4 output channels per group", "bwd_weight bf16 n1 g32 c128 k128 i8x8 f3x3"},
    {"tma-store-stride", [](KernelConfig& c) { hopper_with(c, [](KernelConfig&) {}); },
     "36 output channels of 2 bytes are not a multiple of 16 bytes", "fwd bf16 n1 c64 k36 i8x8 f3x3"},
    {"tma-store-stride", [](KernelConfig& c) { hopper_with(c, [](KernelConfig& t) { t.y = DataType::kF32; }); },
     "34 output channels of 4 bytes are not a multiple of 16 bytes", "fwd bf16>fp32 n1 c64 k34 i8x8 f3x3"},
    {"tma-halo-step",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.gemm.loader_a = Loader::kTmaHalo;
         t.gemm.specialization = Specialization::kFilter3x3;
         t.gemm.staging = Staging::kShared;
         t.gemm.vector_c = 4;
       });
     },
     "stride=1x2x2 dilation=1x1x1: this kernel with loader_a=tma_halo takes strides of 1",
     "fwd bf16 n1 c64 k64 i8x8 f3x3 s2 p1"},
    {"tma-halo-column",
     [](KernelConfig& c) { hopper_with(c, [](KernelConfig& t) { t.gemm.loader_a = Loader::kTmaHalo; }); },
     "filter=1x3x3: loader_a=tma_halo with specialization=default takes 3 in one dimension",
     "fwd bf16 n1 c64 k64 i8x8 f3x3 p1"},
    {"tma-halo-whole", [](KernelConfig& c) { halo_with(c, [](KernelConfig& t) { t.gemm.filter_rows = 3; }); },
     "1 groups, 64 output channels and 6 stages of the filter: filter_rows takes 1, 64 and 3",
     "fwd bf16 n1 c128 k64 i8x8 f3x3 p1"},
    {"tma-halo-half",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.gemm.loader_a = Loader::kTmaHalo;
         t.gemm.tile.k = 32;
       });
     },
     "64 channels are summed over; loader_a=tma_halo with tile.k=32 takes 32", "fwd bf16 n1 c64 k64 i8x8 f3x3 p1"},
    {"tma-fold-filter",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.gemm.tile.n = t.gemm.mma.n = 40;
         t.gemm.staging = Staging::kDirect;
         t.fixed.filter_w = 3;
       });
     },
     "filter=1x3x3 stride=2 dilation=1 along w, 40 output channels: the kernel folds 3 taps",
     "fwd bf16 n1 c64 k40 i8x8 f3x3 s2 p1"},
    {"tma-raw-rows",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.gemm.specialization = Specialization::kPatch;
         t.gemm.loader_a = Loader::kTmaTiled;
         t.gemm.aligned_copy = true;
         t.finite_only = true;
       });
     },
     "rows of 84 numbers are no multiple of 16 bytes", "fwd bf16 n1 c3 k64 i28x28 f14x14 s14"},
    {"tma-patch-run",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.direction = Direction::kBackwardData;
         t.gemm.specialization = Specialization::kPatch;
         t.gemm.staging = Staging::kShared;
         t.gemm.vector_c = 8;
       });
     },
     "runs of 12 numbers are no multiple of vector_c=8", "bwd_data bf16 n1 c3 k64 i8x8 f4x4 s4"},
    {"tma-merge-width",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.gemm.groups_per_tile = 2;
         t.finite_only = true;
       });
     },
     "32 channels in groups_per_tile=2 of 4 groups are not one box of 64", "fwd bf16 n1 g4 c64 k64 i8x8 f3x3"},
    {"tma-narrow-box",
     [](KernelConfig& c) { hopper_with(c, [](KernelConfig& t) { t.gemm.swizzle_a = t.gemm.swizzle_b = 64; }); },
     "128 channels fill boxes of 64, so that swizzle_a=64", "fwd bf16 n1 c128 k128 i8x8 f3x3"},
    {"tma-store-groups", [](KernelConfig& c) { hopper_with(c, [](KernelConfig&) {}); },
     "64 output channels per group are not a multiple of tile.n=128", "fwd bf16 n1 g2 c128 k128 i8x8 f3x3"},
    {"tma-store-view", [](KernelConfig& c) { hopper_with(c, [](KernelConfig&) {}); },
     "strided backward data writes 4 interleaved sets", "bwd_data bf16 n1 c64 k64 i8x8 f3x3 s2"},
    {"tma-regions", hopper, "16 stride phases; this kernel has room for 9", "bwd_data bf16 n1 c64 k64 i12x12 f3x3 s4"},
};

INSTANTIATE_TEST_SUITE_P(Tma, TargetRow, testing::ValuesIn(kTargetCases));
INSTANTIATE_TEST_SUITE_P(Tma, ProblemRow, testing::ValuesIn(kProblemCases));
const TrippedRows kTripped(kTargetCases, kProblemCases);

}  // namespace
}  // namespace wt
