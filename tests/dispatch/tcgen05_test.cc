// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/tcgen05_test.cc - a sample of the forms of the kernel on tensor memory, and which layers it is chosen
// for.
#include "tests/dispatch/tcgen05_forms.h"

namespace wt::tcgen05_test {

TEST_P(Tcgen05, IsExact) { expect_form(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Sample, Tcgen05, testing::ValuesIn(forms(true)), test_name);

namespace {

TEST(Tcgen05Choice, IsTheKernelOfLargeLayers) {
  for (const char* text : {"fwd bf16 n32 c256 k256 i56x56 f3x3 p1", "bwd_data bf16 n32 c256 k256 i56x56 f3x3 p1",
                           "bwd_weight bf16 n32 c256 k256 i56x56 f3x3 p1", "fwd e4m3 n32 c256 k256 i56x56 f3x3 p1"}) {
    const auto ranked = rank_candidates(problem_of(text), Target::kSm100a, {}, Breadth::kAll);
    ASSERT_FALSE(ranked.empty());
    EXPECT_EQ(ranked.front().config.kind, Kind::kTcgen05) << text << ": " << ranked.front().name;
  }
}

}  // namespace
}  // namespace wt::tcgen05_test
