// SPDX-License-Identifier: Apache-2.0
// tests/config/constraints/taps_test.cc - cases of the rows that speak of pipeline taps.
#include "tests/config/row_cases.h"

namespace wt {
namespace {

// A kernel of pipeline taps, and one change.
template <class Change>
void taps_with(KernelConfig& c, Change change) {
  hopper(c);
  c.kind = Kind::kTaps;
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

const RowCase kTargetCases[] = {
    {"taps-shape", [](KernelConfig& c) { taps_with(c, [](KernelConfig& t) { t.gemm.tile.m = 128; }); },
     "tile=128x32x64 warps=4x1 load_warps=1"},
    {"taps-rows", [](KernelConfig& c) { taps_with(c, [](KernelConfig& t) { t.gemm.filter_rows = 9; }); },
     "filter_rows=9 with filter=0x0 stride=0x0"},
    {"taps-kind",
     [](KernelConfig& c) {
       taps_with(c, [](KernelConfig& t) {
         t.dims = 3;
         t.gemm.filter_rows = 3;
       });
     },
     "dims=3 filter_rows=3 direction=fwd"},
};

const RowCase kProblemCases[] = {
    {"taps-columns", [](KernelConfig& c) { taps_with(c, [](KernelConfig&) {}); },
     "1 groups, 30 output channels times 3x3 taps", "fwd bf16 n1 c64 k30 i20x20 f3x3 p1"},
    {"taps-filter",
     [](KernelConfig& c) {
       taps_with(c, [](KernelConfig& t) {
         t.fixed.filter_h = t.fixed.filter_w = 3;
         t.fixed.stride_h = t.fixed.stride_w = 1;
       });
     },
     "filter=1x1 stride=1x1 dilation=1x1: the kernel is made for 3x3", "fwd bf16 n1 c64 k3 i8x8 f1x1"},
    {"taps-ring",
     [](KernelConfig& c) {
       taps_with(c, [](KernelConfig& t) {
         t.fixed.filter_h = t.fixed.filter_w = t.gemm.filter_rows = 3;
         t.fixed.stride_h = t.fixed.stride_w = 1;
       });
     },
     "130 channels are 3 blocks of 64; with filter_rows=3 they do not fit stages=4", "fwd bf16 n1 c130 k3 i8x8 f3x3"},
    {"taps-depth", [](KernelConfig& c) { taps_with(c, [](KernelConfig& t) { t.gemm.tile.k = 16; }); },
     "24 channels are summed over; this kernel has tile.k=16", "fwd bf16 n1 c24 k3 i20x20 f3x3 p1"},
    {"taps-stride", [](KernelConfig& c) { taps_with(c, [](KernelConfig&) {}); },
     "stride=1x2x2: pipeline taps multiplies every source pixel", "fwd bf16 n1 c64 k3 i20x20 f3x3 p1 s2"},
    {"taps-width", [](KernelConfig& c) { taps_with(c, [](KernelConfig&) {}); },
     "filter=3 with dilation=20 along w reaches over 40 of 64 pixels", "fwd bf16 n1 c64 k3 i90x90 f1x3 d1x20"},
    {"taps-memory", [](KernelConfig& c) { taps_with(c, [](KernelConfig&) {}); },
     "for 8192 channels and 3 output rows in the making", "fwd bf16 n1 c8192 k3 i20x20 f3x3 p1"},
};

INSTANTIATE_TEST_SUITE_P(Taps, TargetRow, testing::ValuesIn(kTargetCases));
INSTANTIATE_TEST_SUITE_P(Taps, ProblemRow, testing::ValuesIn(kProblemCases));
const TrippedRows kTripped(kTargetCases, kProblemCases);

}  // namespace
}  // namespace wt
