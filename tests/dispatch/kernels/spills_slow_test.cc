// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/spills_slow_test.cc - every kernel of tiny compiles without spills.
#include "rules/rules.h"
#include "tests/dispatch/spills.h"

#if WT_HAVE_NVRTC

namespace wt {
namespace {

class TinySpills : public testing::TestWithParam<Target> {};

TEST_P(TinySpills, None) { expect_no_spills(list_kernels({.target = GetParam(), .rule_set = RuleSet::kTiny}).kernels); }

INSTANTIATE_TEST_SUITE_P(Targets, TinySpills, testing::Values(Target::kSm80, Target::kSm90a),
                         [](const auto& param) { return std::string(text_of(param.param)); });

}  // namespace
}  // namespace wt

#endif  // WT_HAVE_NVRTC
