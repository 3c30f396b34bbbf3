// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/epilogue/user_epilogue_slow_test.cc - the user's text and all that needs auxiliary tensors, in one
// Hopper kernel of each way out of the accumulators, on the simulator. user_epilogue_test.cc has the other targets.
#include "tests/dispatch/user_epilogue_steps.h"

namespace wt {
namespace {

TEST(UserEpilogueSlow, ExpressionInEachKernel) {
  for (const char* text : {"fwd bf16 n1 c64 k72 i6x7 f3x3 p1", "bwd_data bf16 n1 c40 k64 i7x6 f3x3 s2 p1",
                           "bwd_weight bf16 n1 c64 k72 i6x7 f3x3 p1", "fwd bf16 n1 c128 k128 g16 i6x7 f3x3 p1",
                           "bwd_weight bf16 n1 c64 k64 g8 i6x7 f3x3 p1", "bwd_data bf16 n2 c64 k64 g64 i9x7 f3x3 p1"})
    expect_each("sim:sm_90a", text, kAllSteps);
}

TEST(UserEpilogueSlow, StoreInEachKernel) {
  for (const char* text : {"fwd bf16 n1 c64 k72 i6x7 f3x3 p1", "bwd_weight bf16 n2 c64 k64 g64 i9x7 f3x3 p1"})
    expect_each("sim:sm_90a", text, kStores);
}

}  // namespace
}  // namespace wt
