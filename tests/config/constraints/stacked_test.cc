// SPDX-License-Identifier: Apache-2.0
// tests/config/constraints/stacked_test.cc - cases of the rows that speak of design stacked.
#include "kernels/stacked/device/shape.h"
#include "tests/config/row_cases.h"

namespace wt {
namespace {

DirectConfig& make_stacked(KernelConfig& c) {
  c.target = Target::kSm90a;
  c.kind = Kind::kStacked;
  c.fixed.filter_h = c.fixed.filter_w = 3;
  c.fixed.stride_h = c.fixed.stride_w = c.fixed.dilation_h = c.fixed.dilation_w = 1;
  c.direct.group_channels = 32;
  c.direct.block_channels = 64;
  c.direct.block_size = stacked::kThreads;
  c.direct.prefetch = 4;
  return c.direct;
}

const RowCase kTargetCases[] = {
    {"direct-stacked-shape", [](KernelConfig& c) { make_stacked(c).group_channels = 24; },
     "direction=fwd filter=3x3 stride=1x1 dilation=1x1 group_channels=24 block_channels=64 block_size=384 prefetch=4: "
     "this kind"},
    {"direct-stacked-shape",
     [](KernelConfig& c) {
       make_stacked(c);
       c.fixed.stride_h = c.fixed.stride_w = 2;
       c.direction = Direction::kBackwardData;
     },
     "direction=bwd_data filter=3x3 stride=2x2"},
    {"direct-stacked-memory", [](KernelConfig& c) { make_stacked(c).prefetch = 12; },
     "filter=3x3 group_channels=32 prefetch=12 take"},
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
