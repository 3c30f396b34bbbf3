// SPDX-License-Identifier: Apache-2.0
// One case a row of the constraint table: it trips the row and reads the message. AllRowsAreTripped fails for a row
// without a case.
#include "config/constraints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "config/fields.h"
#include "config/signature.h"
#include "config/storage.h"
#include "kernel/gemm/storage.h"
#include "problem/random_problem.h"

namespace wt {
namespace {

using testing::HasSubstr;

struct RowCase {
  std::string id;
  void (*change)(KernelConfig&);
  std::string message;  // a part with the values
  const char* problem = nullptr;
  Requests requests = {};
};

void PrintTo(const RowCase& row, std::ostream* out) { *out << row.id; }

void hopper(KernelConfig& c) {
  c.target = Target::kSm90a;
  c.gemm.pipeline = Pipeline::kTma;
  c.gemm.loader_a = Loader::kTmaIm2col;
  c.gemm.loader_b = Loader::kTmaTiled;
  c.gemm.mma = {64, 128, 16};
  c.gemm.warps = {8, 1, 1};
  c.gemm.tile = {128, 128, 64};
  c.gemm.stages = 4;
  c.gemm.load_warps = 4;
  c.gemm.persistent = true;
  c.gemm.swizzle_a = 128;
  c.gemm.swizzle_b = 128;
}

// A kernel of pipeline tma with bulk stores, and one change.
template <class Change>
void hopper_with(KernelConfig& c, Change change) {
  hopper(c);
  c.gemm.staging = Staging::kTmaStore;
  change(c);
}

// A kernel of pipeline wavelet, and one change.
template <class Change>
void gathers_with(KernelConfig& c, Change change) {
  hopper(c);
  c.gemm.pipeline = Pipeline::kWavelet;
  c.gemm.loader_a = c.gemm.loader_b = Loader::kAsync;
  c.gemm.vector_a = c.gemm.vector_b = 8;
  change(c);
}

// A kernel of pipeline four_wave, and one change.
template <class Change>
void four_wave_with(KernelConfig& c, Change change) {
  c.target = Target::kGfx942;
  c.gemm.pipeline = Pipeline::kFourWave;
  c.gemm.tile = {128, 128, 32};
  c.gemm.mma = {32, 32, 8};
  c.gemm.stages = 2;
  c.gemm.loader_a = Loader::kBufferUniform;
  c.gemm.loader_b = Loader::kBufferRows;
  c.gemm.vector_a = c.gemm.vector_b = 8;
  change(c);
}

// A kernel of pipeline taps, and one change.
template <class Change>
void taps_with(KernelConfig& c, Change change) {
  hopper(c);
  c.gemm.pipeline = Pipeline::kTaps;
  c.gemm.tile = {64, 32, 64};
  c.gemm.mma = {64, 32, 16};
  c.gemm.warps = {4, 1, 1};
  c.gemm.loader_a = Loader::kTmaTiled;
  c.gemm.loader_b = Loader::kGather;
  c.gemm.load_warps = 1;
  c.gemm.persistent = false;
  change(c);
}

// A kernel of pipeline rows, and one change.
template <class Change>
void rows_with(KernelConfig& c, Change change) {
  hopper(c);
  c.min_blocks = 1;
  c.gemm.pipeline = Pipeline::kRows;
  c.gemm.tile = {192, 64, 176};
  c.gemm.mma = {64, 64, 16};
  c.gemm.warps = {12, 1, 1};
  c.gemm.loader_a = Loader::kRegister;
  c.gemm.loader_b = Loader::kGather;
  c.gemm.swizzle_a = c.gemm.swizzle_b = 0;
  c.gemm.staging = Staging::kShared;
  c.gemm.vector_c = 8;
  c.gemm.load_warps = 1;
  c.gemm.filter_rows = 7;
  change(c);
}

// A weight gradient of pipeline rows, and one change.
template <class Change>
void rows_weight_with(KernelConfig& c, Change change) {
  hopper(c);
  c.direction = Direction::kBackwardWeight;
  c.min_blocks = 1;
  c.gemm = {};
  c.gemm.pipeline = Pipeline::kRows;
  c.gemm.tile = {192, 64, 32};
  c.gemm.mma = {64, 64, 16};
  c.gemm.warps = {4, 1, 2};
  c.gemm.stages = 6;
  c.gemm.loader_a = Loader::kRegister;
  c.gemm.split_k = SplitK::kWorkspace;
  c.gemm.load_warps = 1;
  change(c);
}

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

// A kernel of pipeline compv4, and one change.
template <class Change>
void portable_with(KernelConfig& c, Change change) {
  c.gemm.pipeline = Pipeline::kCompV4;
  c.gemm.stages = 2;
  c.gemm.double_buffer = true;
  c.gemm.loader_a = c.gemm.loader_b = Loader::kVector;
  c.gemm.vector_a = c.gemm.vector_b = 8;
  c.gemm.staging = Staging::kShared;
  change(c);
}

const RowCase kTargetCases[] = {
    {"four-wave-direction",
     [](KernelConfig& c) { four_wave_with(c, [](KernelConfig& x) { x.direction = Direction::kBackwardData; }); },
     "direction=bwd_data: pipeline four_wave is for fwd"},
    {"four-wave-types", [](KernelConfig& c) { four_wave_with(c, [](KernelConfig& x) { x.w = DataType::kF16; }); },
     "x=bf16 w=fp16: pipeline four_wave multiplies two bf16"},
    {"four-wave-tile", [](KernelConfig& c) { four_wave_with(c, [](KernelConfig& x) {
                                               x.gemm.warps = {4, 1, 1};
                                             }); },
     "tile=128x128x32 warps=4x1 mma=32x32 stages=2"},
    {"four-wave-loader",
     [](KernelConfig& c) { four_wave_with(c, [](KernelConfig& x) { x.gemm.vector_a = x.gemm.vector_b = 4; }); },
     "loader_a=buffer_uniform loader_b=buffer_rows vector_a=4 vector_b=4"},
    {"kernel-exists", [](KernelConfig& c) { c.gemm.pipeline = Pipeline::kTma; },
     "pipeline=tma has no kernel for sm_80 in this version; choose one of: gemm basic_v2, gemm mem"},
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
       });
     },
     "loader async of pipeline comp_async on gfx950"},
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
    {"portable-ring",
     [](KernelConfig& c) {
       portable_with(c, [](KernelConfig& x) {
         x.gemm.pipeline = Pipeline::kWavelet;
         x.gemm.load_warps = 4;
         x.gemm.stages = 1;
       });
     },
     "stages=1: pipeline wavelet needs 2 shared buffers or more"},
    {"portable-staging",
     [](KernelConfig& c) {
       portable_with(c, [](KernelConfig& x) {
         x.gemm.pipeline = Pipeline::kCompV5;
         x.gemm.wave_groups = 2;
         x.gemm.staging = Staging::kDirect;
       });
     },
     "staging=direct with wave_groups=2; use shared"},
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
    {"user-store",
     [](KernelConfig& c) {
       c.gemm.pipeline = Pipeline::kTma;
       c.gemm.staging = Staging::kTmaStore;
       c.epilogue.store = true;
     },
     "staging=tma_store writes whole rows from shared memory, which leaves a user's store nothing to write; use "
     "staging=direct"},
    {"foreign-field", [](KernelConfig& c) { c.direct.tile_h = 8; },
     "direct.tile_h=8 belongs to another family than gemm"},
    {"unread-field", [](KernelConfig& c) { c.gemm.block_swizzle = 4; },
     "gemm.block_swizzle=4 means nothing to kernel gemm-basic; leave it at 1"},
    {"dims-range", [](KernelConfig& c) { c.dims = 4; }, "dims=4 must be 1, 2 or 3"},
    {"accumulation", [](KernelConfig& c) { c.acc = DataType::kF16; }, "acc=fp16"},
    {"output-type", [](KernelConfig& c) { c.y = DataType::kTf32; }, "output type tf32"},
    {"min-blocks", [](KernelConfig& c) { c.min_blocks = 17; }, "min_blocks=17 with 128 threads a block"},
    {"tile-positive", [](KernelConfig& c) { c.gemm.tile.k = 0; }, "tile=64x64x0"},
    {"mma-shape",
     [](KernelConfig& c) {
       c.gemm.mma = {32, 32, 8};
     },
     "mma=32x32x8 is no matrix instruction of sm_80 for bf16; choose one of 16x8x16 (mma.sync)"},
    {"mma-portable",
     [](KernelConfig& c) {
       c.target = Target::kGfx1250;
       c.gemm.mma = {16, 16, 32};
     },
     "mma=16x16x32 of gfx1250 for bf16 has no device code that kernel gemm-basic can use in this version"},
    {"tile-warps", [](KernelConfig& c) { c.gemm.tile.m = 48; },
     "tile=48x64x32 is not a multiple of warps=2x2x1 times mma=16x8x16, which is 32x16x16"},
    {"warps-k", [](KernelConfig& c) { c.gemm.warps.k = 2; }, "warps.k=2 has no kernel"},
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
    {"async-copy",
     [](KernelConfig& c) {
       c.target = Target::kGfx942;
       c.gemm.pipeline = Pipeline::kCompAsync;
     },
     "needs asynchronous copies, which gfx942 has not"},
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
    {"tma-split", [](KernelConfig& c) { hopper_with(c, [](KernelConfig& t) { t.gemm.split_k = SplitK::kCluster; }); },
     "split_k=cluster with direction=fwd staging=tma_store"},
    {"tma-stream", [](KernelConfig& c) { hopper_with(c, [](KernelConfig& t) { t.gemm.stream_k = StreamK::kTree; }); },
     "stream_k=tree with direction=fwd staging=tma_store"},
    {"tma-sharing",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.gemm.cluster_m = 2;
         t.gemm.cluster_n = 2;
         t.gemm.multicast_a = true;
       });
     },
     "cluster of 2x2 blocks with multicast_a=true multicast_b=false"},
    {"tma-store-type", [](KernelConfig& c) { hopper_with(c, [](KernelConfig& t) { t.y = DataType::kF32; }); },
     "staging=tma_store with output fp32"},
    {"tma-merge",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.direction = Direction::kBackwardWeight;
         t.gemm.groups_per_tile = 4;
         t.finite_only = true;
       });
     },
     "groups_per_tile=4 with split_k=none"},
    {"tma-halo", [](KernelConfig& c) { hopper_with(c, [](KernelConfig& t) { t.gemm.loader_a = Loader::kTmaHalo; }); },
     "loader_a=tma_halo with dims=2 direction=fwd specialization=default"},
    {"tma-weight-store",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.direction = Direction::kBackwardWeight;
         t.gemm.split_k = SplitK::kWorkspace;
       });
     },
     "staging=tma_store for a gradient with split_k=workspace groups_per_tile=1"},
    {"tma-copy-vector",
     [](KernelConfig& c) { hopper_with(c, [](KernelConfig& t) { t.gemm.staging = Staging::kShared; }); },
     "staging=shared copies rows by vectors of 2, 4 or 8 elements, not vector_c=1"},
    {"taps-shape", [](KernelConfig& c) { taps_with(c, [](KernelConfig& t) { t.gemm.tile.m = 128; }); },
     "tile=128x32x64 warps=4x1 load_warps=1"},
    {"taps-kind", [](KernelConfig& c) { taps_with(c, [](KernelConfig& t) { t.dims = 3; }); }, "dims=3 direction=fwd"},
    {"rows-shape", [](KernelConfig& c) { rows_with(c, [](KernelConfig& t) { t.gemm.tile.k = 208; }); },
     "tile=192x64x208 warps=12x1 load_warps=1 filter_rows=7"},
    {"rows-kind", [](KernelConfig& c) { rows_with(c, [](KernelConfig& t) { t.dims = 1; }); }, "dims=1 direction=fwd"},
    {"rows-staging", [](KernelConfig& c) { rows_with(c, [](KernelConfig& t) { t.gemm.vector_c = 1; }); },
     "staging=shared vector_c=1 with output bf16"},
    {"rows-weight-shape", [](KernelConfig& c) { rows_weight_with(c, [](KernelConfig& t) { t.gemm.stages = 2; }); },
     "tile=192x64x32 warps=4x1x2 stages=2 load_warps=1"},
    {"rows-weight-kind",
     [](KernelConfig& c) { rows_weight_with(c, [](KernelConfig& t) { t.gemm.split_k = SplitK::kNone; }); },
     "split_k=none loader_a=register"},
    {"wavelet-roles", [](KernelConfig& c) { gathers_with(c, [](KernelConfig& t) { t.gemm.load_warps = 6; }); },
     "load_warps=6 warps=8x1 persistent=true tile.m=128"},
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
    {"swizzle-value", [](KernelConfig& c) { c.gemm.swizzle_a = 48; }, "swizzle_a=48"},
    {"swizzle-row", [](KernelConfig& c) { c.gemm.swizzle_b = 128; }, "rows of 64 and 64 bytes"},
    {"vector-width", [](KernelConfig& c) { c.gemm.vector_c = 16; }, "vector_c=16 of 2, 2 and 2 bytes an element"},
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
    {"out-tile", [](KernelConfig& c) { c.gemm.out_tile_m = 48; }, "out_tile 48x0 with staging=direct and tile 64x64"},
    {"k-group", [](KernelConfig& c) { c.gemm.k_group = 3; }, "k_group=3 steps of 16 do not divide tile.k=32"},
    {"two-stage", [](KernelConfig& c) { c.gemm.two_stage = true; }, "two_stage with direction=fwd and output bf16"},
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
    {"portable-vector", [](KernelConfig& c) { portable_with(c, [](KernelConfig&) {}); },
     "12 channels per group are no multiple of vector_a=8", "fwd bf16 n1 c12 k8 i8x8 f3x3"},
    {"portable-filter", [](KernelConfig& c) { portable_with(c, [](KernelConfig&) {}); },
     "a filter of 9 taps and 12 channels per group is no multiple of vector_b=8", "bwd_data bf16 n1 c12 k8 i8x8 f3x3"},
    {"portable-phases", [](KernelConfig& c) { portable_with(c, [](KernelConfig&) {}); },
     "101 phases of all dimensions together; this kernel has room for 96", "bwd_data bf16 n1 c8 k8 i400x400 f3x3 s50"},
    {"portable-merge-width",
     [](KernelConfig& c) { portable_with(c, [](KernelConfig& x) { x.gemm.groups_per_tile = 8; }); },
     "groups_per_tile=8 makes 96 channels, more than the 64 of tile=64x64", "fwd bf16 n1 g8 c64 k96 i8x8 f3x3"},
    {"portable-image", [](KernelConfig& c) { portable_with(c, [](KernelConfig&) {}); },
     "a tensor has 4294967296 elements: pipeline compv4 takes images and filters of up to 2147483647",
     "fwd bf16 n1 c256 k8 i4096x4096 f1x1"},
    {"portable-weight", [](KernelConfig& c) { portable_with(c, [](KernelConfig&) {}); },
     "8 channels of dy and 12 of x per group are no multiples of vector_a=8 and vector_b=8",
     "bwd_weight bf16 n1 c12 k8 i8x8 f3x3"},
    {"four-wave-matrix",
     [](KernelConfig& c) { four_wave_with(c, [](KernelConfig& x) { x.gemm.loader_a = Loader::kBufferRows; }); },
     "a filter of 9 taps with stride 1x1x1 and padding 0x1x1 is no plain matrix product",
     "fwd bf16 n1 c64 k64 i8x8 f3x3 p1"},
    {"four-wave-uniform", [](KernelConfig& c) { four_wave_with(c, [](KernelConfig&) {}); },
     "48 channels per group are no multiple of tile.k=32", "fwd bf16 n1 c48 k64 i8x8 f3x3 p1"},
    {"four-wave-window", [](KernelConfig& c) { four_wave_with(c, [](KernelConfig&) {}); },
     "can touch 4294967296 bytes of x", "fwd bf16 n2 c64 k64 i4096x4096 f3x3 p1"},
    {"four-wave-grid", [](KernelConfig& c) { four_wave_with(c, [](KernelConfig&) {}); }, "4294967296 output pixels",
     "fwd bf16 n1048576 c32 k8 i64x64 f3x3 p1"},
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
    {"tile-fits", [](KernelConfig& c) { c.gemm.pad_k = false; },
     "gemm m=36 n=8 k=72 is not a multiple of tile=64x64x32", "fwd bf16 n1 c8 k8 i8x8 f3x3"},
    {"k-iterations", [](KernelConfig& c) { c.gemm.pipeline = Pipeline::kCompV6; },
     "k=72 is 3 steps of tile.k=32; pipeline compv6 needs 4", "fwd bf16 n1 c8 k8 i8x8 f3x3"},
    {"tma-stride", hopper, "12 and 12 channels of 2 and 2 bytes make strides that are not multiples of 16 bytes",
     "fwd bf16 n1 c12 k8 i8x8 f3x3"},
    {"tma-rows",
     [](KernelConfig& c) {
       hopper(c);
       c.gemm.vector_a = 8;
     },
     "8 and 8 channels of 2 and 2 bytes in 1 groups: vector_a=8 copies rows", "fwd bf16 n1 c8 k8 i8x8 f3x3"},
    {"tma-element-stride", hopper, "stride=9x9 exceeds 8", "fwd bf16 n1 c8 k8 i32x32 f3x3 s9"},
    {"tma-corner", hopper, "must lie in -128..127 in 2D", "fwd bf16 n1 c8 k8 i400x400 f3x3 d100 p1"},
    {"tma-offset", hopper, "reaches 256 elements or more", "fwd bf16 n1 c8 k8 i300x300 f3x3 d128 p1"},
    {"tma-groups", hopper, "32 channels per group are summed in boxes of 64", "fwd bf16 n1 g2 c64 k64 i8x8 f3x3"},
    {"tma-group-start", hopper, "4 input and 4 output channels per group",
     "bwd_weight bf16 n1 g32 c128 k128 i8x8 f3x3"},
    {"tma-store-stride", [](KernelConfig& c) { hopper_with(c, [](KernelConfig&) {}); },
     "36 output channels of 2 bytes are not a multiple of 16 bytes", "fwd bf16 n1 c64 k36 i8x8 f3x3"},
    {"tma-halo-step",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.gemm.loader_a = Loader::kTmaHalo;
         t.gemm.specialization = Specialization::kFilter3x3;
         t.gemm.staging = Staging::kShared;
         t.gemm.vector_c = 4;
       });
     },
     "stride=1x2x2 dilation=1x1x1: loader_a=tma_halo takes 1", "fwd bf16 n1 c64 k64 i8x8 f3x3 s2 p1"},
    {"tma-halo-half",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.gemm.loader_a = Loader::kTmaHalo;
         t.gemm.tile.k = 32;
       });
     },
     "64 channels are summed over; loader_a=tma_halo with tile.k=32 takes 32", "fwd bf16 n1 c64 k64 i8x8 f3x3 p1"},
    {"tma-merge-width",
     [](KernelConfig& c) {
       hopper_with(c, [](KernelConfig& t) {
         t.gemm.groups_per_tile = 2;
         t.finite_only = true;
       });
     },
     "32 channels in groups_per_tile=2 groups are not one box of 64", "fwd bf16 n1 g4 c64 k64 i8x8 f3x3"},
    {"tma-narrow-box",
     [](KernelConfig& c) { hopper_with(c, [](KernelConfig& t) { t.gemm.swizzle_a = t.gemm.swizzle_b = 64; }); },
     "128 channels fill boxes of 64, so that swizzle_a=64", "fwd bf16 n1 c128 k128 i8x8 f3x3"},
    {"tma-store-groups", [](KernelConfig& c) { hopper_with(c, [](KernelConfig&) {}); },
     "64 output channels per group are not a multiple of tile.n=128", "fwd bf16 n1 g2 c128 k128 i8x8 f3x3"},
    {"tma-store-view", [](KernelConfig& c) { hopper_with(c, [](KernelConfig&) {}); },
     "strided backward data writes 4 interleaved sets", "bwd_data bf16 n1 c64 k64 i8x8 f3x3 s2"},
    {"tma-regions", hopper, "9 stride phases; this kernel has room for 8", "bwd_data bf16 n1 c64 k64 i9x9 f3x3 s3"},
    {"taps-columns", [](KernelConfig& c) { taps_with(c, [](KernelConfig&) {}); },
     "1 groups, 30 output channels times 3x3 taps", "fwd bf16 n1 c64 k30 i20x20 f3x3 p1"},
    {"taps-filter",
     [](KernelConfig& c) {
       taps_with(c, [](KernelConfig& t) {
         t.direct.filter_h = t.direct.filter_w = 3;
         t.direct.stride_h = t.direct.stride_w = 1;
       });
     },
     "filter=1x1 stride=1x1 dilation=1x1: the kernel is made for 3x3", "fwd bf16 n1 c64 k3 i8x8 f1x1"},
    {"taps-stride", [](KernelConfig& c) { taps_with(c, [](KernelConfig&) {}); },
     "stride=2x2: pipeline taps multiplies every source pixel", "fwd bf16 n1 c64 k3 i20x20 f3x3 p1 s2"},
    {"taps-width", [](KernelConfig& c) { taps_with(c, [](KernelConfig&) {}); },
     "filter=3 with dilation=20 along w reaches over 40 of 64 pixels", "fwd bf16 n1 c64 k3 i90x90 f1x3 d1x20"},
    {"taps-memory", [](KernelConfig& c) { taps_with(c, [](KernelConfig&) {}); },
     "for 8192 channels and 3 output rows in the making", "fwd bf16 n1 c8192 k3 i20x20 f3x3 p1"},
    {"rows-channels", [](KernelConfig& c) { rows_with(c, [](KernelConfig&) {}); }, "1 groups, 3 channels, dilation=2x2",
     "fwd bf16 n1 c3 k64 i32x32 f7x7 d2"},
    {"rows-filter", [](KernelConfig& c) { rows_with(c, [](KernelConfig&) {}); },
     "5 filter rows of 15 numbers, 2 octets as they start; this kernel has filter_rows=7 of 3",
     "fwd bf16 n1 c3 k64 i32x32 f5x5 s2"},
    {"rows-pitch", [](KernelConfig& c) { rows_with(c, [](KernelConfig&) {}); }, "30 pixels of 3 channels are 180 bytes",
     "fwd bf16 n1 c3 k64 i32x30 f7x7 s2 p3"},
    {"rows-memory",
     [](KernelConfig& c) {
       rows_with(c, [](KernelConfig& t) {
         t.gemm.filter_rows = 220;
         t.gemm.tile.k = 5280;
         t.gemm.tile.n = t.gemm.mma.n = 8;
         t.gemm.staging = Staging::kDirect;
         t.gemm.vector_c = 1;
         t.gemm.stages = 8;
       });
     },
     "no patch of image rows fits 8 slots", "fwd bf16 n1 c3 k64 i240x208 f220x7 s2"},
    {"rows-weight-channels", [](KernelConfig& c) { rows_weight_with(c, [](KernelConfig&) {}); },
     "1 groups, 3 to 36 channels, stride=1x1 dilation=1x1", "bwd_weight bf16 n1 c3 k36 i32x32 f7x7"},
    {"rows-weight-pitch", [](KernelConfig& c) { rows_weight_with(c, [](KernelConfig&) {}); },
     "30 pixels of 3 channels are 180 bytes", "bwd_weight bf16 n1 c3 k64 i32x30 f7x7 s2 p3"},
    {"rows-weight-memory", [](KernelConfig& c) { rows_weight_with(c, [](KernelConfig&) {}); },
     "stride=64x64 with filter=3x3: image rows under two rows of eight outputs do not fit beside 6 slots",
     "bwd_weight bf16 n1 c16 k64 i512x512 f3x3 s64"},
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
    {"groups-per-tile",
     [](KernelConfig& c) {
       c.gemm.groups_per_tile = 4;
       c.finite_only = true;
     },
     "g=6 is not a multiple of groups_per_tile=4", "fwd bf16 n1 g6 c12 k12 i8x8 f3x3"},
    {"tensor-size", [](KernelConfig& c) { c.gemm.pipeline = Pipeline::kTma; }, "a tensor has 4294967296 elements",
     "fwd bf16 n1024 c256 k8 i128x128 f3x3"},
    {"history", [](KernelConfig& c) { c.direct.history = false; }, "the kernel reads no history; use one with",
     "fwd bf16 n1 g8 c8 k8 i8 f3 pcausal history"},
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

std::vector<std::string> ids(const std::vector<Decline>& list) {
  std::vector<std::string> out;
  for (const Decline& decline : list) out.emplace_back(decline.id);
  return out;
}

class TargetRow : public testing::TestWithParam<RowCase> {};

TEST_P(TargetRow, TripsAndSaysWhy) {
  const RowCase& row = GetParam();
  KernelConfig config;
  ASSERT_TRUE(declines(config).empty()) << to_text(declines(config));
  row.change(config);
  const std::vector<Decline> found = declines(config);
  ASSERT_THAT(ids(found), testing::Contains(row.id));
  EXPECT_FALSE(is_valid(config));
  for (const Decline& decline : found) {
    if (decline.id == row.id) {
      EXPECT_THAT(decline.message, HasSubstr(row.message));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, TargetRow, testing::ValuesIn(kTargetCases));

const Constraint* find_row(std::span<const Constraint> rows, std::string_view id) {
  for (const Constraint& row : rows)
    if (row.id == id) return &row;
  return nullptr;
}

class ProblemRow : public testing::TestWithParam<RowCase> {};

// The row is asked directly: kernels that many rows speak of do not exist yet, so declines() stops before them.
TEST_P(ProblemRow, TripsAndSaysWhy) {
  const RowCase& row = GetParam();
  const auto problem = parse_problem(row.problem);
  ASSERT_TRUE(problem.ok()) << problem.status().message();
  const Constraint* constraint = find_row(problem_rows(), row.id);
  ASSERT_NE(constraint, nullptr);
  KernelConfig config = config_for(*problem, Target::kSm80);
  const Case before{config, info_of(config.target), &*problem, row.requests};
  EXPECT_TRUE(!constraint->applies(before) || constraint->holds(before)) << "trips without the change";
  row.change(config);
  const Case at{config, info_of(config.target), &*problem, row.requests};
  ASSERT_TRUE(constraint->applies(at));
  ASSERT_FALSE(constraint->holds(at));
  EXPECT_THAT(constraint->message(at), HasSubstr(row.message));
}

INSTANTIATE_TEST_SUITE_P(All, ProblemRow, testing::ValuesIn(kProblemCases));

TEST(Constraints, AllRowsAreTripped) {
  std::set<std::string_view> tripped;
  for (const RowCase& row : kTargetCases) tripped.insert(row.id);
  for (const RowCase& row : kProblemCases) tripped.insert(row.id);
  std::set<std::string_view> rows;
  for (const auto& part : {target_rows(), problem_rows()}) {
    for (const Constraint& row : part) {
      EXPECT_TRUE(rows.insert(row.id).second) << row.id << " stands twice";
      EXPECT_TRUE(tripped.contains(row.id)) << row.id << " has no case";
      EXPECT_FALSE(row.rule.empty());
    }
  }
  EXPECT_EQ(rows.size(), tripped.size());
}

TEST(Constraints, SharedMemoryIsTheKernelsOwnFormula) {
  KernelConfig config;
  for (const short k : {16, 32, 64}) {
    config.gemm.tile = {128, 64, k};
    EXPECT_EQ(shared_bytes_of(config), shared_bytes(config));
  }
  // (128 + 64) rows of 32 + 8 elements of 2 bytes, and a coordinate for each row, column and twice each k.
  config.gemm.tile = {128, 64, 32};
  EXPECT_EQ(shared_bytes_of(config), 192 * 40 * 2 + (192 + 64) * gemm_storage::kCoordinateBytes);
}

TEST(Constraints, ThreadsCountEveryRole) {
  KernelConfig config;
  EXPECT_EQ(threads_of(config), 128);
  config.target = Target::kGfx942;
  EXPECT_EQ(threads_of(config), 256);
  config.gemm.load_warps = 4;
  EXPECT_EQ(threads_of(config), 512);
}

TEST(Constraints, TextJoinsReasons) {
  KernelConfig config;
  config.dims = 0;
  config.gemm.stages = 0;
  EXPECT_THAT(to_text(declines(config)),
              testing::AllOf(HasSubstr("dims-range: dims=0"), HasSubstr("; stages-range: ")));
}

// No valid problem is refused: the generic kernel takes every problem on every target that multiplies its type.
TEST(Constraints, GenericKernelAcceptsEveryProblem) {
  Random random(7);
  for (int i = 0; i < 2000; ++i) {
    const ConvProblem problem = random_problem(random);
    for (const TargetInfo& target : targets()) {
      KernelConfig config = config_for(problem, target.target);
      const std::vector<MmaShape> shapes = mma_shapes(target, multiply_type(config));
      if (shapes.empty() || !shapes.front().portable) continue;
      config.gemm.mma = shapes.front().shape;
      const std::vector<Decline> reasons = declines(config, problem, {.strict_nonfinite = true});
      ASSERT_TRUE(reasons.empty()) << to_text(problem) << " on " << target.name << ": " << to_text(reasons);
      ASSERT_TRUE(accepts(config, problem));
    }
  }
}

TEST(Constraints, ProblemRowsWaitForAValidConfig) {
  const auto problem = parse_problem("fwd bf16 n1 c8 k8 i8x8 f3x3");
  ASSERT_TRUE(problem.ok());
  KernelConfig config = config_for(*problem, Target::kSm80);
  config.gemm.pipeline = Pipeline::kCompV6;
  EXPECT_THAT(ids(declines(config, *problem)), testing::Contains("stages-range"));
  EXPECT_THAT(ids(declines(config, *problem)), testing::Not(testing::Contains("k-iterations")));
  EXPECT_FALSE(accepts(config, *problem));
}

TEST(Signature, FollowsTheProblem) {
  const auto problem = parse_problem("bwd_data fp16 n1 c8 k8 i8x8x8 f3x3x3 +bias+relu");
  ASSERT_TRUE(problem.ok()) << problem.status().message();
  const KernelConfig config = config_for(*problem, Target::kGfx942);
  EXPECT_EQ(config.direction, Direction::kBackwardData);
  EXPECT_EQ(config.dims, 3);
  EXPECT_EQ(config.target, Target::kGfx942);
  EXPECT_TRUE(config.epilogue.bias);
  EXPECT_EQ(config.epilogue.activation, Activation::kRelu);
  EXPECT_EQ(signature_difference(config, *problem), "");
}

TEST(Signature, SetTypesFollowsTheDirection) {
  KernelConfig config{.direction = Direction::kBackwardWeight};
  set_types(config, DataType::kE4m3, DataType::kF32);
  EXPECT_EQ(config.x, DataType::kE4m3);
  EXPECT_EQ(config.y, DataType::kE4m3);
  EXPECT_EQ(config.w, DataType::kF32);
  EXPECT_EQ(output_type(config), DataType::kF32);
}

}  // namespace
}  // namespace wt
