// SPDX-License-Identifier: Apache-2.0
// tests/config/constraints/weight_few_test.cc - cases of the rows of weight gradients of few output channels.
#include "kernels/tma_weight_few/device/layout.h"
#include "tests/config/row_cases.h"

namespace wt {
namespace {

// 40 columns under one row of taps, and one change.
template <class Change>
void few_with(KernelConfig& c, Change change) {
  hopper(c);
  c.kind = Kind::kTmaWeightFew;
  c.direction = Direction::kBackwardWeight;
  c.finite_only = true;
  c.gemm.loader_a = Loader::kAsync;
  c.gemm.loader_b = Loader::kTmaTiled;
  c.gemm.tile = {40, 128, 128};
  c.gemm.mma = {64, 40, 16};
  c.gemm.warps = {1, 8, 1};
  c.gemm.swap_ab = true;
  c.gemm.staging = Staging::kDirect;
  c.gemm.specialization = Specialization::kFilter3x3;
  c.gemm.vector_a = 4;
  c.gemm.filter_rows = 1;
  c.gemm.split_k = SplitK::kWorkspace;
  change(c);
}

const RowCase kTargetCases[] = {
    {"weight-few-kind", [](KernelConfig& c) { few_with(c, [](KernelConfig& t) { t.finite_only = false; }); },
     "specialization=filter3x3 finite_only=false split_k=workspace"},
    {"weight-few-kind", [](KernelConfig& c) { few_with(c, [](KernelConfig& t) { t.gemm.split_k = SplitK::kNone; }); },
     "finite_only=true split_k=none"},
    {"weight-few-tile", [](KernelConfig& c) { few_with(c, [](KernelConfig& t) { t.gemm.filter_rows = 2; }); },
     "tile=40x128x128 warps=1x8 load_warps=4 filter_rows=2"},
    {"weight-few-tile", [](KernelConfig& c) { few_with(c, [](KernelConfig& t) { t.gemm.tile.k = 32; }); },
     "tile=40x128x32 warps=1x8"},
    {"weight-few-tile",
     [](KernelConfig& c) {
       few_with(c, [](KernelConfig& t) {  // nine taps of sums are more than there are registers
         t.gemm.filter_rows = 3;
         t.gemm.tile.m = t.gemm.mma.n = 48;
       });
     },
     "tile=48x128x128 warps=1x8 load_warps=4 filter_rows=3"},
};

const RowCase kProblemCases[] = {
    {"weight-few-step", [](KernelConfig& c) { few_with(c, [](KernelConfig&) {}); },
     "stride=2x2 dilation=1x1 g=1: a weight gradient with loader_a=async takes 1",
     "bwd_weight bf16 n1 c64 k36 i8x8 f3x3 s2 p1"},
    {"weight-few-channels", [](KernelConfig& c) { few_with(c, [](KernelConfig&) {}); },
     "64 input and 44 output channels; this kernel takes multiples of 8, and up to 40 in multiples of 4",
     "bwd_weight bf16 n1 c64 k44 i8x8 f3x3 p1"},
    {"weight-few-channels", [](KernelConfig& c) { few_with(c, [](KernelConfig&) {}); },
     "20 input and 36 output channels", "bwd_weight bf16 n1 c20 k36 i8x8 f3x3 p1"},
};

const TrippedRows kTripped(kTargetCases, kProblemCases);
INSTANTIATE_TEST_SUITE_P(WeightFew, TargetRow, testing::ValuesIn(kTargetCases));
INSTANTIATE_TEST_SUITE_P(WeightFew, ProblemRow, testing::ValuesIn(kProblemCases));

}  // namespace
}  // namespace wt
