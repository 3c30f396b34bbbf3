// SPDX-License-Identifier: Apache-2.0
#include "dispatch/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "config/fields.h"
#include "dispatch/candidates.h"
#include "dispatch/cost_correction.h"
#include "dispatch/plan_cache.h"
#include "problem/random_problem.h"

namespace wt {
namespace {

bool any(const KernelConfig&) { return true; }

// The quick ways must choose what the slow one, which gives names and reasons, lists first.
void expect_the_same(const ConvProblem& problem, Target target) {
  SCOPED_TRACE(to_text(problem));
  const std::vector<RankedConfig> ranked = rank(problem, target, 132, {});
  ASSERT_FALSE(ranked.empty());
  const auto best = pick(problem, target, 132, {}, any);
  ASSERT_TRUE(best);
  EXPECT_EQ(name_of(*best->config), name_of(*ranked.front().config));
  EXPECT_EQ(best->predicted_us, ranked.front().predicted_us);
  DeviceInfo device;
  device.kind = DeviceKind::kSim;
  device.target = target;
  device.multiprocessors = 132;
  std::vector<std::string> slow, quick;
  for (const RankedCandidate& candidate : rank_candidates(problem, device, {}, Candidates::kAll))
    if (candidate.accepts()) slow.push_back(candidate.name);
  for (const RankedConfig& candidate : ranked) quick.push_back(name_of(*candidate.config));
  EXPECT_EQ(quick, slow);
  for (const RankedConfig& candidate : ranked) {
    EXPECT_TRUE(std::isfinite(candidate.predicted_us) && candidate.predicted_us > 0) << name_of(*candidate.config);
  }
}

TEST(Selection, TheQuickWayChoosesTheSame) {
  for (const char* text :
       {"fwd bf16 n16 c256 k256 i56x56 f3x3 p1", "bwd_data bf16 n16 c256 k256 i25x25 f3x3 s2 p1",
        "bwd_weight bf16 n16 c256 k256 i28x28 f3x3 p1", "fwd bf16 n8 c96 k96 g96 i28x28 f3x3 p1",
        "fwd bf16 n8 c3 k64 i32x32 f7x7 s2 p3 +bias+relu", "bwd_weight fp16 n2 c32 k64 g4 i9x9 f3x3 p1",
        "fwd e4m3>bf16 n4 c64 k64 i14x14 f3x3 p1", "fwd fp32 n2 c5 k7 i9x9 f3x3 p1 NCHW"}) {
    expect_the_same(*parse_problem(text), Target::kSm90a);
  }
  expect_the_same(*parse_problem("fwd bf16 n16 c256 k256 i56x56 f3x3 p1"), Target::kSm80);
}

TEST(Selection, RandomProblemsAlwaysHaveAKernel) {
  Random random(11);
  for (int i = 0; i < 60; ++i) {
    const ConvProblem problem = random_problem(random, {.empty_batch = true});
    EXPECT_TRUE(pick(problem, Target::kSm90a, 132, {}, any)) << to_text(problem);
  }
}

TEST(Selection, WhatIsNotAllowedIsPassedOver) {
  const ConvProblem problem = *parse_problem("fwd bf16 n16 c256 k256 i56x56 f3x3 p1");
  const std::vector<RankedConfig> ranked = rank(problem, Target::kSm90a, 132, {});
  const auto second = pick(problem, Target::kSm90a, 132, {},
                           [&](const KernelConfig& config) { return !(config == *ranked[0].config); });
  EXPECT_EQ(name_of(*second->config), name_of(*ranked[1].config));
  EXPECT_FALSE(pick(problem, Target::kSm90a, 132, {}, [](const KernelConfig&) { return false; }));
}

TEST(Selection, TheCorrectionIsAPositiveFactor) {
  const ConvProblem problem = *parse_problem("fwd bf16 n16 c256 k256 i56x56 f3x3 p1");
  for (const RankedConfig& candidate : rank(problem, Target::kSm90a, 132, {})) {
    const double factor = cost_correction(*candidate.config);
    EXPECT_GT(factor, 0.02) << name_of(*candidate.config);
    EXPECT_LT(factor, 50) << name_of(*candidate.config);
    EXPECT_DOUBLE_EQ(corrected_us(*candidate.config, problem, 132), candidate.predicted_us);
  }
}

PlanKey key_of(const char* text, PlanOptions options = {}) { return {*parse_problem(text), std::move(options)}; }

TEST(PlanCache, FindsByEveryPartOfTheKey) {
  PlanCache<int> cache(10);
  const PlanKey key = key_of("fwd bf16 n16 c256 k256 i56x56 f3x3 p1");
  EXPECT_EQ(cache.find(key), nullptr);
  const auto value = cache.insert(key, std::make_shared<const int>(1));
  EXPECT_EQ(cache.find(key_of("fwd bf16 n16 c256 k256 i56x56 f3x3 p1")), value);
  EXPECT_EQ(cache.find(key_of("fwd bf16 n17 c256 k256 i56x56 f3x3 p1")), nullptr);
  EXPECT_EQ(cache.find(key_of("fwd bf16 n16 c256 k256 i56x56 f3x3 p1 +amax")), nullptr);
  EXPECT_EQ(cache.find(key_of("fwd bf16 n16 c256 k256 i56x56 f3x3 p1", {.tuning = Tuning::kOff})), nullptr);
  EXPECT_EQ(cache.find(key_of("fwd bf16 n16 c256 k256 i56x56 f3x3 p1", {.fallback = true})), nullptr);
  EXPECT_EQ(cache.insert(key, std::make_shared<const int>(2)), value) << "the first stays";
}

TEST(PlanCache, DropsWhatWasNotUsedForLongest) {
  PlanCache<int> cache(2);
  const PlanKey a = key_of("fwd bf16 n1 c1 k1 i1x1 f1x1"), b = key_of("fwd bf16 n2 c1 k1 i1x1 f1x1"),
                c = key_of("fwd bf16 n3 c1 k1 i1x1 f1x1");
  cache.insert(a, std::make_shared<const int>(1));
  cache.insert(b, std::make_shared<const int>(2));
  EXPECT_NE(cache.find(a), nullptr);
  cache.insert(c, std::make_shared<const int>(3));
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_NE(cache.find(a), nullptr);
  EXPECT_EQ(cache.find(b), nullptr);
  EXPECT_NE(cache.find(c), nullptr);
}

}  // namespace
}  // namespace wt
