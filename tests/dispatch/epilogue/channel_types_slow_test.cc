// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/epilogue/channel_types_slow_test.cc - scale and bias in bf16 and fp16, in one Hopper kernel of each
// way out of the accumulators, on the simulator.
#include "tests/dispatch/channel_types.h"

namespace wt {
namespace {

TEST(ChannelTypesSlow, InEachKernel) {
  for (const char* text : {"fwd bf16 n1 c64 k72 i6x7 f3x3 p1 +scale=fp16+bias=bf16+residual",
                           "bwd_data bf16 n1 c40 k64 i7x6 f3x3 s2 p1 +scale=bf16+bias=fp16",
                           "bwd_weight bf16>fp32 n1 c64 k72 i6x7 f3x3 p1 +scale=bf16+bias=bf16",
                           "fwd fp16 n1 c128 k128 g16 i6x7 f3x3 p1 +bias=fp16",
                           "fwd bf16 n2 c64 k64 g64 i9x7 f3x3 p1 +scale=bf16+bias=bf16"})
    expect_each_exact("sim:sm_90a", text);
}

}  // namespace
}  // namespace wt
