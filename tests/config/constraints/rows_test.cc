// SPDX-License-Identifier: Apache-2.0
// tests/config/constraints/rows_test.cc - cases of the rows that speak of pipeline rows.
#include "tests/config/row_cases.h"

namespace wt {
namespace {

// A kernel of pipeline rows, and one change.
template <class Change>
void rows_with(KernelConfig& c, Change change) {
  hopper(c);
  c.min_blocks = 1;
  c.kind = Kind::kRows;
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
  c.kind = Kind::kRowsWeight;
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

const RowCase kTargetCases[] = {
    {"rows-shape", [](KernelConfig& c) { rows_with(c, [](KernelConfig& t) { t.gemm.tile.k = 208; }); },
     "tile=192x64x208 warps=12x1 load_warps=1 filter_rows=7"},
    {"rows-kind", [](KernelConfig& c) { rows_with(c, [](KernelConfig& t) { t.w = DataType::kF16; }); },
     "direction=fwd operands bf16 and fp16"},
    {"rows-staging", [](KernelConfig& c) { rows_with(c, [](KernelConfig& t) { t.y = DataType::kF32; }); },
     "staging=shared vector_c=8 tile.n=64 with output fp32"},
    {"rows-staging",
     [](KernelConfig& c) {
       rows_with(c, [](KernelConfig& t) {
         t.gemm.staging = Staging::kDirect;
         t.gemm.tile.n = t.gemm.mma.n = 48;
       });
     },
     "staging=direct vector_c=8 tile.n=48 with output bf16"},
    {"rows-weight-shape", [](KernelConfig& c) { rows_weight_with(c, [](KernelConfig& t) { t.gemm.load_warps = 2; }); },
     "tile=192x64x32 warps=4x1x2 load_warps=2"},
    {"rows-weight-kind",
     [](KernelConfig& c) { rows_weight_with(c, [](KernelConfig& t) { t.gemm.split_k = SplitK::kNone; }); },
     "split_k=none loader_a=register"},
};

const RowCase kProblemCases[] = {
    {"rows-channels", [](KernelConfig& c) { rows_with(c, [](KernelConfig&) {}); },
     "1 groups, 3 channels, dilation=1x2x2", "fwd bf16 n1 c3 k64 i32x32 f7x7 d2"},
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
     "1 groups, 3 to 36 channels, stride=1x1x1 dilation=1x1x1", "bwd_weight bf16 n1 c3 k36 i32x32 f7x7"},
    {"rows-weight-pitch", [](KernelConfig& c) { rows_weight_with(c, [](KernelConfig&) {}); },
     "30 pixels of 3 channels are 180 bytes", "bwd_weight bf16 n1 c3 k64 i32x30 f7x7 s2 p3"},
    {"rows-weight-memory", [](KernelConfig& c) { rows_weight_with(c, [](KernelConfig&) {}); },
     "stride=64x64 with filter=3x3: image rows under two rows of eight outputs do not fit beside 6 slots",
     "bwd_weight bf16 n1 c16 k64 i512x512 f3x3 s64"},
};

INSTANTIATE_TEST_SUITE_P(Rows, TargetRow, testing::ValuesIn(kTargetCases));
INSTANTIATE_TEST_SUITE_P(Rows, ProblemRow, testing::ValuesIn(kProblemCases));
const TrippedRows kTripped(kTargetCases, kProblemCases);

}  // namespace
}  // namespace wt
