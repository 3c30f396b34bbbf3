// SPDX-License-Identifier: Apache-2.0
// tests/config/constraints/tcgen05_test.cc - cases of the rows of kind tcgen05, each of which trips its row alone.
#include <gmock/gmock.h>

#include "config/signature.h"
#include "tests/config/row_cases.h"

namespace wt {
namespace {

// A valid kernel: one block a tile, bulk stores.
void blackwell(KernelConfig& c) {
  c.target = Target::kSm100a;
  c.kind = Kind::kTcgen05;
  c.gemm.pipeline = Pipeline::kTcgen05;
  c.gemm.loader_a = Loader::kTmaIm2col;
  c.gemm.loader_b = Loader::kTmaTiled;
  c.gemm.tile = {128, 128, 64};
  c.gemm.mma = {128, 128, 16};
  c.gemm.warps = {4, 1, 1};
  c.gemm.load_warps = 4;
  c.gemm.stages = 3;
  c.gemm.double_buffer = true;
  c.gemm.swizzle_a = c.gemm.swizzle_b = 128;
  c.gemm.staging = Staging::kTmaStore;
}

void set_columns(KernelConfig& c, short n) { c.gemm.tile.n = c.gemm.mma.n = n; }
void set_pair(KernelConfig& c) { c.gemm.tile.m = c.gemm.mma.m = 256; }

// Another valid one: a weight gradient.
void gradient(KernelConfig& c) {
  blackwell(c);
  c.direction = Direction::kBackwardWeight;
  c.gemm.loader_a = Loader::kTmaTiled;
  c.gemm.loader_b = Loader::kTmaIm2col;
  c.gemm.persistent = true;
  c.gemm.staging = Staging::kDirect;
}

// And one that stores the runs of patches.
void patches(KernelConfig& c) {
  blackwell(c);
  c.direction = Direction::kBackwardData;
  c.gemm.specialization = Specialization::kPatch;
  c.gemm.staging = Staging::kShared;
  c.gemm.vector_c = 8;
}

// fp32 by three products.
void parted(KernelConfig& c) {
  blackwell(c);
  c.x = c.w = c.y = DataType::kF32;
  c.gemm.tile.k = 32;
  c.gemm.mma.k = 8;
  c.gemm.load_warps = 7;
  c.gemm.staging = Staging::kDirect;
}

// Numbers with scales.
void scaled(KernelConfig& c) {
  blackwell(c);
  c.x = c.w = DataType::kE4m3;
  c.scales = BlockScales::kMx;
  c.gemm.tile.k = 128;
  c.gemm.mma.k = 32;
  c.gemm.load_warps = 8;
}

// Patches that serve three taps.
void halo(KernelConfig& c) {
  blackwell(c);
  c.kind = Kind::kTcgen05Halo;
  set_columns(c, 64);
  c.gemm.loader_a = Loader::kTmaHalo;
  c.gemm.filter_rows = 3;
}

// And nine, of a weight gradient.
void halo_gradient(KernelConfig& c) {
  gradient(c);
  c.kind = Kind::kTcgen05Halo;
  c.gemm.loader_b = Loader::kTmaHalo;
  c.gemm.filter_rows = 3;
  c.gemm.tile = {128, 64, 128};
  c.gemm.mma.n = 64;
  c.gemm.double_buffer = false;
  c.gemm.specialization = Specialization::kFilter3x3;
  c.finite_only = true;
}

const RowCase kTargetCases[] = {
    {"tcgen05-roles",
     [](KernelConfig& c) {
       blackwell(c);
       c.gemm.load_warps = 3;
     },
     "warps=4x1x1 load_warps=3 mma=128x128 tile=128x128: the kernel has warps=4x1x1, load_warps=4"},
    {"tcgen05-weight",
     [](KernelConfig& c) {
       gradient(c);
       c.gemm.persistent = false;
     },
     "types bf16 and bf16 tile=128x128x64 persistent=false staging=direct loader_b=tma_im2col groups_per_tile=1"},
    {"tcgen05-weight",
     [](KernelConfig& c) {
       gradient(c);
       c.gemm.loader_b = Loader::kTmaTiled;
     },
     "persistent=true staging=direct loader_b=tma_tiled groups_per_tile=1"},
    {"tcgen05-weight",
     [](KernelConfig& c) {
       gradient(c);
       c.x = c.y = DataType::kE4m3;
       c.gemm.tile.k = 128;
       c.gemm.mma.k = 32;
       set_columns(c, 64);
     },
     "types e4m3 and e4m3 tile=128x64x128"},
    {"tcgen05-swizzle",
     [](KernelConfig& c) {
       blackwell(c);
       c.gemm.swizzle_b = 64;
     },
     "swizzle_a=128 and swizzle_b=64 must be equal"},
    {"tcgen05-columns",
     [](KernelConfig& c) {
       blackwell(c);
       set_columns(c, 240);
     },
     "tile.n=240 double_buffer=true scales=none min_blocks=1: accumulators and scales take 512 columns of 512"},
    {"tcgen05-columns",
     [](KernelConfig& c) {
       blackwell(c);
       set_columns(c, 256);
       c.gemm.stages = 2;
       c.gemm.staging = Staging::kDirect;
       c.min_blocks = 2;
     },
     "tile.n=256 double_buffer=true scales=none min_blocks=2: accumulators and scales take 512 columns of 512"},
    {"tcgen05-columns",
     [](KernelConfig& c) {
       scaled(c);
       set_columns(c, 256);
       c.gemm.staging = Staging::kDirect;
     },
     "tile.n=256 double_buffer=true scales=mx min_blocks=1: accumulators and scales take 1024 columns of 512"},
    {"tcgen05-scales-pair",
     [](KernelConfig& c) {
       scaled(c);
       set_pair(c);
     },
     "mma.m=256 with scales=mx: which block of a pair holds which scales of B, no source says plainly"},
    {"tcgen05-scales",
     [](KernelConfig& c) {
       scaled(c);
       c.gemm.loader_a = Loader::kTmaTiled;
       c.gemm.specialization = Specialization::kFilter1x1Stride1Pad0;
     },
     "scales=mx with swizzle_a=128 tile.k=128 loader_a=tma_tiled groups_per_tile=1"},
    {"tcgen05-pair",
     [](KernelConfig& c) {
       blackwell(c);
       c.direction = Direction::kBackwardData;
       set_pair(c);
       set_columns(c, 64);
     },
     "mma.m=256 with tile.n=64 of bf16: half of the columns are whole blocks of 64"},
    {"tcgen05-pair",
     [](KernelConfig& c) {
       parted(c);
       set_pair(c);
     },
     "mma.m=256 with tile.n=128 of fp32: half of the columns are whole blocks of 16; fp32 and turned tf32 have one "
     "block"},
    {"tcgen05-across",
     [](KernelConfig& c) {
       blackwell(c);
       c.direction = Direction::kBackwardData;
       set_columns(c, 96);
     },
     "tile.n=96 cluster_m=1: backward data of 16-bit types takes whole blocks of 64 columns"},
    {"tcgen05-across",
     [](KernelConfig& c) {
       blackwell(c);
       c.direction = Direction::kBackwardData;
       set_columns(c, 64);
       c.gemm.cluster_m = 2;
       c.gemm.multicast_b = true;
     },
     "tile.n=64 cluster_m=2"},
    {"tcgen05-sharing",
     [](KernelConfig& c) {
       blackwell(c);
       c.gemm.cluster_m = c.gemm.cluster_n = 2;
       c.gemm.multicast_b = true;
     },
     "clusters of 2x2 tiles with multicast_a=false multicast_b=true tile.n=128"},
    {"tcgen05-split",
     [](KernelConfig& c) {
       blackwell(c);
       c.gemm.split_k = SplitK::kWorkspace;
     },
     "split_k=workspace staging=tma_store groups_per_tile=1 persistent=false tile=128x128: workspace with direct"},
    {"tcgen05-split",
     [](KernelConfig& c) {
       blackwell(c);
       c.gemm.split_k = SplitK::kCluster;
       c.gemm.staging = Staging::kDirect;
       c.gemm.persistent = true;
       set_columns(c, 96);
     },
     "split_k=cluster staging=direct groups_per_tile=1 persistent=true tile=128x96"},
    {"tcgen05-patch",
     [](KernelConfig& c) {
       patches(c);
       c.gemm.staging = Staging::kTmaStore;
     },
     "specialization=patch with dims=2 loader_a=tma_im2col staging=tma_store"},
    {"tcgen05-halo",
     [](KernelConfig& c) {
       halo(c);
       c.gemm.filter_rows = 1;
     },
     "loader_a=tma_halo loader_b=tma_tiled filter_rows=1 swizzle_a=128"},
    {"tcgen05-halo-weight",
     [](KernelConfig& c) {
       halo_gradient(c);
       c.finite_only = false;
     },
     "operands bf16 and bf16 loader_a=tma_tiled loader_b=tma_halo filter_rows=3 swizzle_a=128 tile=128x64x128"},
    {"tcgen05-columns",
     [](KernelConfig& c) {
       halo_gradient(c);
       c.gemm.tile.k = 64;
       c.gemm.stages = 2;
       set_columns(c, 112);
     },
     "tile.n=112 double_buffer=false scales=none min_blocks=1: accumulators and scales take 1024 columns of 512"},
};

const RowCase kProblemCases[] = {
    {"tcgen05-patch-run", patches, "runs of 12 numbers are no multiple of vector_c=8",
     "bwd_data bf16 n1 c3 k64 i8x8 f4x4 s4"},
    {"tcgen05-narrow-box",
     [](KernelConfig& c) {
       blackwell(c);
       c.gemm.swizzle_a = c.gemm.swizzle_b = 64;
     },
     "128 channels fill boxes of 64, so that swizzle_a=64", "fwd bf16 n1 c128 k128 i8x8 f3x3"},
    {"tcgen05-halo-step", halo, "stride=1x2x2 dilation=1x1x1: this kernel takes strides of 1",
     "fwd bf16 n1 c64 k128 i19x11 f3x3 s2 p1"},
    {"tcgen05-halo-box",
     [](KernelConfig& c) {
       halo(c);
       c.gemm.swizzle_a = c.gemm.swizzle_b = 64;
       c.gemm.tile.k = 32;
     },
     "128 channels fill boxes of 64, so that swizzle_a=64", "fwd bf16 n1 c128 k128 i19x11 f3x3 p1"},
    {"tcgen05-halo-taps", halo, "filter=1x5x3: this kernel has 3 taps below each other",
     "fwd bf16 n1 c64 k128 i19x11 f5x3 p2x1"},
};

TEST(Tcgen05Rows, CasesStartFromValidKernels) {
  for (const auto change : {blackwell, gradient, patches, parted, halo, halo_gradient}) {
    KernelConfig config;
    change(config);
    EXPECT_TRUE(is_valid(config)) << to_text(declines(config));
  }
}

TEST(Tcgen05Rows, EachCaseTripsItsRowAlone) {
  for (const RowCase& row : kTargetCases) {
    KernelConfig config;
    row.change(config);
    const std::vector<Decline> found = declines(config);
    EXPECT_THAT(found, testing::ElementsAre(testing::Field(&Decline::id, row.id))) << row.id << " | " << to_text(found);
  }
  for (const RowCase& row : kProblemCases) {
    const auto problem = parse_problem(row.problem);
    ASSERT_TRUE(problem.ok()) << problem.status().message();
    KernelConfig config = config_for(*problem, Target::kSm100a);
    row.change(config);
    const std::vector<Decline> found = declines(config, *problem);
    EXPECT_THAT(found, testing::ElementsAre(testing::Field(&Decline::id, row.id))) << row.id << " | " << to_text(found);
  }
}

INSTANTIATE_TEST_SUITE_P(Tcgen05, TargetRow, testing::ValuesIn(kTargetCases));
INSTANTIATE_TEST_SUITE_P(Tcgen05, ProblemRow, testing::ValuesIn(kProblemCases));
const TrippedRows kTripped(kTargetCases, kProblemCases);

}  // namespace
}  // namespace wt
