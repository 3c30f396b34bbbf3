// SPDX-License-Identifier: Apache-2.0
// tests/config/constraints/general_test.cc - cases of the rows that speak of every kernel.
#include "tests/config/row_cases.h"

namespace wt {
namespace {

const RowCase kTargetCases[] = {
    {"kernel-exists", [](KernelConfig& c) { c.kind = Kind::kTma; },
     "kind=tma has no kernel for sm_80 in this version; choose one of: portable, basic, depthwise_stream"},
    {"kernel-exists", [](KernelConfig& c) { c.gemm.pipeline = Pipeline::kCompV4; },
     "kind=basic has no pipeline compv4; choose one of: basic_v1"},
    {"kernel-exists",
     [](KernelConfig& c) {
       c.target = Target::kSm90a;
       c.kind = Kind::kTmaWeight;
       c.gemm.pipeline = Pipeline::kTma;
     },
     "kind=tma_weight has no kernel for direction=fwd"},
    {"user-store",
     [](KernelConfig& c) {
       c.kind = Kind::kTma;
       c.gemm.staging = Staging::kTmaStore;
       c.epilogue.store = true;
     },
     "staging=tma_store writes whole rows from shared memory, which leaves a user's store nothing to write; use "
     "staging=direct"},
    {"foreign-field", [](KernelConfig& c) { c.direct.tile_w = 8; },
     "direct.tile_w=8 belongs to another family than gemm"},
    {"unread-field", [](KernelConfig& c) { c.gemm.block_swizzle = 4; },
     "gemm.block_swizzle=4 means nothing to kernel basic; leave it at 1"},
    {"dims-range", [](KernelConfig& c) { c.dims = 4; }, "dims=4 must be 1, 2 or 3"},
    {"accumulation", [](KernelConfig& c) { c.acc = DataType::kF16; }, "acc=fp16"},
    {"block-scales", [](KernelConfig& c) { c.scales = BlockScales::kMx; },
     "kind=basic with scales=mx direction=fwd layout=channels_last types bf16 and bf16: kinds basic multiply"},
    {"output-type", [](KernelConfig& c) { c.y = DataType::kTf32; }, "output type tf32"},
    {"min-blocks", [](KernelConfig& c) { c.min_blocks = 17; }, "min_blocks=17 with 128 threads per block"},
    {"tile-positive", [](KernelConfig& c) { c.gemm.tile.k = 0; }, "tile=64x64x0"},
    {"mma-shape",
     [](KernelConfig& c) {
       c.gemm.mma = {32, 32, 8};
     },
     "mma=32x32x8 is no matrix instruction of sm_80 for bf16; choose one of 16x8x16 (mma.sync)"},
    {"mma-portable",
     [](KernelConfig& c) {
       c.target = Target::kGfx950;
       c.gemm.mma = {16, 16, 32};
     },
     "mma=16x16x32 of gfx950 for bf16 has no device code that kernel basic can use in this version"},
    {"tile-warps", [](KernelConfig& c) { c.gemm.tile.m = 48; },
     "tile=48x64x32 is not a multiple of warps=2x2x1 times mma=16x8x16, which is 32x16x16"},
    {"warps-k", [](KernelConfig& c) { c.gemm.warps.k = 2; }, "warps.k=2 of kernel basic, whose warps do not share k"},
    {"block-threads",
     [](KernelConfig& c) {
       c.gemm.warps = {8, 8, 1};
     },
     "are 2048 threads; sm_80 allows 1024"},
    {"tile-coverage",
     [](KernelConfig& c) {
       c.gemm.warps = {8, 1, 1};
       c.gemm.tile = {128, 8, 16};
     },
     "tile=128x8x16 with vectors of 1 and 1 does not divide evenly among 256 threads"},
    {"shared-capacity",
     [](KernelConfig& c) {
       c.gemm.tile = {256, 256, 256};
     },
     "of shared memory; sm_80 has 166912"},
    {"shared-blocks",
     [](KernelConfig& c) {
       c.gemm.tile = {64, 64, 128};
       c.min_blocks = 8;
     },
     "min_blocks=8 blocks of"},
    {"register-estimate",
     [](KernelConfig& c) {
       c.gemm.tile = {256, 256, 32};
     },
     "tile=256x256x32 over warps=2x2x1 needs about"},
    {"stages-range", [](KernelConfig& c) { c.gemm.stages = 3; }, "stages=3 is outside 1..1 of pipeline basic_v1"},
    {"double-buffer", [](KernelConfig& c) { c.gemm.pipeline = Pipeline::kCompV4; },
     "pipeline compv4 has two shared buffers by definition; set double_buffer=true"},
    {"wave-groups", [](KernelConfig& c) { c.gemm.wave_groups = 3; }, "wave_groups=3"},
    {"scheduler", [](KernelConfig& c) { c.gemm.scheduler = Scheduler::kInterwave; },
     "scheduler=interwave is not defined for pipeline basic_v1"},
    {"load-warps", [](KernelConfig& c) { c.gemm.load_warps = 4; }, "load_warps=4: every warp of pipeline basic_v1"},
    {"int8", [](KernelConfig& c) { c.direction = Direction::kBackwardData, c.x = c.w = c.y = DataType::kI8; },
     "kind=basic with direction=bwd_data does not multiply int8; use basic, portable or depthwise_gather, forward"},
    {"async-copy",
     [](KernelConfig& c) {
       c.target = Target::kGfx1100;
       c.gemm.pipeline = Pipeline::kCompAsync;
     },
     "needs asynchronous copies, which gfx1100 has not"},
    {"swizzle-value", [](KernelConfig& c) { c.gemm.swizzle_a = 48; }, "swizzle_a=48"},
    {"swizzle-row", [](KernelConfig& c) { c.gemm.swizzle_b = 128; }, "rows of 64 and 64 bytes"},
    {"vector-width", [](KernelConfig& c) { c.gemm.vector_c = 16; }, "vector_c=16 of 2, 2 and 2 bytes per element"},
    {"vector-loader", [](KernelConfig& c) { c.gemm.vector_a = 8; }, "vector_a=8 with loader gather"},
    {"layout-loader",
     [](KernelConfig& c) {
       c.layout = Layout::kChannelsFirst;
       c.gemm.loader_a = Loader::kVector;
     },
     "read consecutive channels, which channels-first tensors do not have"},
    {"cluster-size", [](KernelConfig& c) { c.gemm.cluster_m = 2; }, "cluster of 2x1 blocks; sm_80 allows 1 to 1"},
    {"multicast", [](KernelConfig& c) { c.gemm.multicast_a = true; }, "multicast_a=true with cluster_n=1"},
    {"ping-pong", [](KernelConfig& c) { c.gemm.ping_pong = true; }, "ping_pong with pipeline=basic_v1 wave_groups=1"},
    {"persistent", [](KernelConfig& c) { c.gemm.persistent = true; },
     "persistent=true is not defined for pipeline basic_v1"},
    {"raster", [](KernelConfig& c) { c.gemm.block_swizzle = 0; }, "block_swizzle=0 must be at least 1"},
    {"stream-k", [](KernelConfig& c) { c.gemm.stream_k = StreamK::kTree; },
     "stream_k=tree with direction=fwd and pipeline=basic_v1"},
    {"stream-k-split",
     [](KernelConfig& c) {
       c.direction = Direction::kBackwardWeight;
       c.gemm.stream_k = StreamK::kLinear;
       c.gemm.split_k = SplitK::kWorkspace;
     },
     "stream_k=linear with split_k=workspace"},
    {"stream-k-persistent", [](KernelConfig& c) { c.gemm.stream_k_persistent = true; }, "with stream_k=off"},
    {"split-k-cluster", [](KernelConfig& c) { c.gemm.split_k = SplitK::kCluster; },
     "split_k=cluster on sm_80, which has no clusters"},
    {"explicit-gemm", [](KernelConfig& c) { c.gemm.explicit_gemm = true; },
     "explicit_gemm with specialization=default"},
    {"groups-finite", [](KernelConfig& c) { c.gemm.groups_per_tile = 4; }, "groups_per_tile=4 with finite_only=false"},
};

const RowCase kProblemCases[] = {
    {"signature", [](KernelConfig& c) { c.x = DataType::kF16; }, "x=fp16, the problem's is bf16",
     "fwd bf16 n1 c8 k8 i8x8 f3x3"},
    {"deterministic", [](KernelConfig& c) { c.gemm.split_k = SplitK::kAtomic; },
     "split_k=atomic adds in no fixed order", "fwd bf16 n1 c8 k8 i8x8 f3x3"},
    {"finite-only",
     [](KernelConfig& c) { c.finite_only = true; },
     "finite_only: a non-finite input",
     "fwd bf16 n1 c8 k8 i8x8 f3x3",
     {.strict_nonfinite = true}},
    {"specialization", [](KernelConfig& c) { c.gemm.specialization = Specialization::kFilter1x1Stride1Pad0; },
     "filter=1x1 stride=2x2 dilation=1x1 pad=0x0/0x0 is not filter1x1_stride1_pad0", "fwd bf16 n1 c8 k8 i8x8 f1x1 s2"},
    {"vector-channels",
     [](KernelConfig& c) {
       c.gemm.loader_a = Loader::kVector;
       c.gemm.vector_a = 8;
     },
     "12, 12 and 8 channels per group for A, B and the output are not multiples of vector_a=8",
     "fwd bf16 n1 c12 k8 i8x8 f3x3"},
    {"k-iterations", [](KernelConfig& c) { c.gemm.pipeline = Pipeline::kCompV6; },
     "k=32 is 1 steps of tile.k=32; pipeline compv6 needs 3", "fwd bf16 n1 c8 k8 i8x8 f2x2"},
    {"groups-per-tile",
     [](KernelConfig& c) {
       c.gemm.groups_per_tile = 4;
       c.finite_only = true;
     },
     "g=6 is not a multiple of groups_per_tile=4", "fwd bf16 n1 g6 c12 k12 i8x8 f3x3"},
    {"tensor-size", [](KernelConfig& c) { c.kind = Kind::kTma; }, "a tensor has 4294967296 elements",
     "fwd bf16 n1024 c256 k8 i128x128 f3x3"},
    {"history", [](KernelConfig& c) { c.direct.history = false; }, "the kernel reads no history; use one with",
     "fwd bf16 n1 g8 c8 k8 i8 f3 pcausal history"},
    {"gpu-shared-memory",
     [](KernelConfig& c) {
       c.gemm.tile = {256, 256, 256};
     },
     "bytes of shared memory, and H200 has 232448 per block", "fwd bf16 n1 c8 k8 i8x8 f3x3"},
};

INSTANTIATE_TEST_SUITE_P(General, TargetRow, testing::ValuesIn(kTargetCases));
INSTANTIATE_TEST_SUITE_P(General, ProblemRow, testing::ValuesIn(kProblemCases));
const TrippedRows kTripped(kTargetCases, kProblemCases);

}  // namespace
}  // namespace wt
