// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/spills_test.cc - a sample of the rule sets compiles without spills; `wavetile pack build` does
// all.
#include "tests/dispatch/spills.h"

#include <set>
#include <tuple>

#include "rules/rules.h"

#if WT_HAVE_NVRTC

namespace wt {
namespace {

// From default, the first of each direction and pipeline.
TEST(Spills, NoneInASampleOfDefault) {
  std::vector<KernelConfig> sample;
  std::set<std::tuple<Target, Direction, Pipeline>> seen;
  for (const Target target : {Target::kSm80, Target::kSm90a})
    for (const KernelConfig& config : list_kernels({.target = target, .rule_set = RuleSet::kDefault}).kernels)
      if (seen.emplace(target, config.direction, config.gemm.pipeline).second) sample.push_back(config);
  ASSERT_GE(sample.size(), 9u);
  expect_no_spills(sample);
}

}  // namespace
}  // namespace wt

#endif  // WT_HAVE_NVRTC
