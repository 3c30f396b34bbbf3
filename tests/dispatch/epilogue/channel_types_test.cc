// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/epilogue/channel_types_test.cc - scale and bias in bf16 and fp16, in a kernel of each kind of every
// maker; channel_types_slow_test.cc has Hopper's.
#include "tests/dispatch/channel_types.h"

namespace wt {
namespace {

TEST(ChannelTypes, InKernelsOfEveryMaker) {
  expect_each_exact("sim:sm_80", "fwd bf16 n1 c16 k24 i9x7 f3x3 p1 +scale=fp16+bias=bf16+relu");
  expect_each_exact("sim:sm_80", "bwd_data fp32 n1 c12 k8 i7x6 f3x3 p1 NCHW +bias=fp16");
  expect_each_exact("sim:gfx942", "fwd fp16 n1 c64 k72 i5x3 f3x3 p1 +scale=bf16+bias=fp16");
}

}  // namespace
}  // namespace wt
