// SPDX-License-Identifier: Apache-2.0
// tests/config/constraints_stacked_test.cc - cases of the rows that speak of design stacked.
#include "kernel/direct/stacked_shape.h"
#include "tests/config/row_cases.h"

namespace wt {
namespace {

DirectConfig& make_stacked(KernelConfig& c) {
  c.target = Target::kSm90a;
  c.family = Family::kDirect;
  c.direct.design = DirectDesign::kStacked;
  c.direct.filter_h = c.direct.filter_w = 3;
  c.direct.stride_h = c.direct.stride_w = c.direct.dilation_h = c.direct.dilation_w = 1;
  c.direct.vector_in = 32;
  c.direct.vector_out = 64;
  c.direct.block_size = stacked::kThreads;
  c.direct.prefetch = 4;
  return c.direct;
}

const RowCase kTargetCases[] = {
    {"direct-stacked-shape", [](KernelConfig& c) { make_stacked(c).vector_in = 24; },
     "direction=fwd filter=3x3 stride=1x1 dilation=1x1 vectors=24/64 block_size=384 prefetch=4: design stacked takes"},
    {"direct-stacked-shape",
     [](KernelConfig& c) {
       make_stacked(c).stride_h = 2;
       c.direct.stride_w = 2;
       c.direction = Direction::kBackwardData;
     },
     "direction=bwd_data filter=3x3 stride=2x2"},
    {"direct-stacked-memory", [](KernelConfig& c) { make_stacked(c).prefetch = 12; },
     "filter=3x3 vectors=32 prefetch=12 take"},
};

const RowCase kProblemCases[] = {
    {"direct-stacked-width", [](KernelConfig& c) { make_stacked(c); },
     "16 input and 16 output channels per group; the kernel is made for 32", "fwd bf16 n1 g4 c64 k64 i8x8 f3x3"},
};

INSTANTIATE_TEST_SUITE_P(Stacked, TargetRow, testing::ValuesIn(kTargetCases));
INSTANTIATE_TEST_SUITE_P(Stacked, ProblemRow, testing::ValuesIn(kProblemCases));
const TrippedRows kTripped(kTargetCases, kProblemCases);

}  // namespace
}  // namespace wt
