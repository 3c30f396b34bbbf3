// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/tuning/contenders_test.cc - which kernels are worth compiling for a set of problems.
#include "dispatch/tuning/contenders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "config/fields.h"
#include "dispatch/choice/selection.h"
#include "kernels/kind.h"

namespace wt::tuning {
namespace {

const std::vector<ConvProblem>& problems() {
  static const std::vector<ConvProblem> list = {*parse_problem("fwd bf16 n16 c256 k256 i56x56 f3x3 p1"),
                                                *parse_problem("fwd bf16 n8 c64 k128 i28x28"),
                                                *parse_problem("bwd_weight bf16 n8 c96 k96 g96 i28x28 f3x3 p1")};
  return list;
}

std::vector<RankedConfig> ranked(const ConvProblem& problem) { return rank(problem, usual_rates(Target::kSm90a), {}); }

TEST(TuningContenders, HoldTheFirstOfEveryProblemAndWhatComesNear) {
  const std::vector<KernelConfig> kernels = contenders(problems(), Target::kSm90a, {.within = 1.2});
  const std::set<KernelConfig, ConfigLess> distinct(kernels.begin(), kernels.end());
  EXPECT_EQ(distinct.size(), kernels.size());
  size_t near = 0, ranked_in_all = 0;
  for (const ConvProblem& problem : problems()) {
    const std::vector<RankedConfig> all = ranked(problem);
    std::set<const KernelKind*> kinds;
    for (const RankedConfig& candidate : all) {
      const double times = candidate.predicted_us / all.front().predicted_us;
      const bool is_kinds_best = kinds.insert(kind_of(*candidate.config)).second;
      const bool is_near = times <= 1.2 || (is_kinds_best && times <= 1.8);
      EXPECT_TRUE(!is_near || distinct.contains(*candidate.config)) << name_of(*candidate.config) << " " << times;
      near += is_near;
    }
    ranked_in_all += all.size();
  }
  EXPECT_LT(kernels.size(), ranked_in_all);
  EXPECT_GE(near, kernels.size()) << "nothing that comes near to no problem";
}

TEST(TuningContenders, ALimitKeepsTheNearest) {
  const std::vector<KernelConfig> all = contenders(problems(), Target::kSm90a, {});
  const std::vector<KernelConfig> few = contenders(problems(), Target::kSm90a, {.most = 8});
  ASSERT_EQ(few.size(), 8u);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), all.begin()));
  for (const ConvProblem& problem : problems())
    EXPECT_EQ(std::ranges::count(few, *ranked(problem).front().config), 1) << to_text(problem) << ", the first";
}

TEST(TuningContenders, AreTheSameWhateverTheOrder) {
  std::vector<ConvProblem> turned = problems();
  std::ranges::reverse(turned);
  EXPECT_EQ(contenders(turned, Target::kSm90a, {.most = 20}), contenders(problems(), Target::kSm90a, {.most = 20}));
}

}  // namespace
}  // namespace wt::tuning
