// SPDX-License-Identifier: Apache-2.0
#include "dispatch/choice/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/format.h"
#include "config/fields.h"
#include "dispatch/choice/candidates.h"
#include "dispatch/plan/cache.h"
#include "problem/random_problem.h"

namespace wt {
namespace {

bool any(const KernelConfig&) { return true; }

// The quick ways must choose what the slow one, which gives names and reasons, lists first.
void expect_the_same(const ConvProblem& problem, Target target) {
  SCOPED_TRACE(to_text(problem));
  const std::vector<RankedConfig> ranked = rank(problem, usual_rates(target), {});
  ASSERT_FALSE(ranked.empty());
  const auto best = pick(View(problem, usual_rates(target)), {}, any);
  ASSERT_TRUE(best);
  EXPECT_EQ(name_of(*best->config), name_of(*ranked.front().config));
  EXPECT_EQ(best->predicted_us, ranked.front().predicted_us);
  const DeviceInfo device = device_of(usual_gpu(target));
  std::vector<std::string> slow, quick;
  for (const RankedCandidate& candidate : rank_candidates(problem, device, {}, Breadth::kAll))
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
  Random random(5);
  for (const Target target : {Target::kSm90a, Target::kSm80, Target::kGfx942}) {
    for (int i = 0; i < 8; ++i) {
      ConvProblem problem = random_problem(random, {.max_channels = 256, .max_multiply_adds = int64_t{1} << 30});
      // Channels that fill vectors and boxes, of which narrow kernels decline the more.
      if (problem.g == 1 && i % 2 == 0) problem.c = problem.k = 64 * random.between(1, 4);
      expect_the_same(problem, target);
    }
  }
}

// The least prediction of each kind, in microseconds.
std::map<Kind, double> least_by_kind(const std::string& text, Target target) {
  std::map<Kind, double> least;
  for (const RankedConfig& candidate : rank(*parse_problem(text), usual_rates(target), {})) {
    double& us = least.try_emplace(candidate.config->kind, candidate.predicted_us).first->second;
    us = std::min(us, candidate.predicted_us);
  }
  return least;
}

TEST(Selection, PredictionsCountWhatEpiloguesRead) {
  std::set<Kind> counted;
  for (const char* text : {"fwd bf16 n64 c64 k256 i56x56 f1x1", "fwd bf16 n64 c64 k64 i56x56 f3x3 p1",
                           "fwd bf16 n64 c8 k64 i112x112 f3x3 p1", "fwd bf16 n64 c96 k96 g96 i56x56 f3x3 p1",
                           "fwd bf16 n64 c64 k64 g64 i56x56 f7x7 p3", "fwd bf16 n64 c3 k64 i112x112 f3x3 p1",
                           "fwd bf16 n64 c128 k128 g32 i56x56 f3x3 p1", "fwd bf16 n64 c512 k512 g32 i56x56 f3x3 p1",
                           "bwd_data bf16 n64 c64 k256 i56x56 f1x1", "bwd_data bf16 n64 c96 k96 g96 i56x56 f3x3 p1"}) {
    for (const Target target : {Target::kSm90a, Target::kSm80, Target::kGfx942}) {
      SCOPED_TRACE(fmt::format("{} {}", text, text_of(target)));
      const std::map<Kind, double> plain = least_by_kind(text, target);
      const std::map<Kind, double> residual = least_by_kind(std::string(text) + " +residual", target);
      const std::map<Kind, double> added = least_by_kind(std::string(text) + " +add=1:1", target);
      for (const auto& [kind, us] : plain) {
        if (!residual.contains(kind) || !added.contains(kind)) continue;
        EXPECT_GE(residual.at(kind), us) << text_of(kind);
        EXPECT_GE(added.at(kind), residual.at(kind)) << text_of(kind);
        if (added.at(kind) > us) counted.insert(kind);  // others wait for their products
      }
    }
  }
  for (const Kind kind : {Kind::kTma, Kind::kTmaHalo, Kind::kRows, Kind::kPortable, Kind::kDepthwiseStream,
                          Kind::kDepthwiseBanded, Kind::kGroups, Kind::kStacked})
    EXPECT_TRUE(counted.contains(kind)) << text_of(kind);
  // Memory is all that this layer waits for, and there are 1.8 times as many bytes.
  const std::string unit = "fwd bf16 n64 c64 k256 i56x56 f1x1";
  const double ratio = least_by_kind(unit + " +residual", Target::kSm90a).at(Kind::kTma) /
                       least_by_kind(unit, Target::kSm90a).at(Kind::kTma);
  EXPECT_GT(ratio, 1.5);
  EXPECT_LT(ratio, 1.8);
}

TEST(Selection, RandomProblemsAlwaysHaveAKernel) {
  Random random(11);
  for (int i = 0; i < 60; ++i) {
    const ConvProblem problem = random_problem(random, {.empty_batch = true});
    EXPECT_TRUE(pick(View(problem, usual_rates(Target::kSm90a)), {}, any)) << to_text(problem);
  }
}

TEST(Selection, WhatIsNotAllowedIsPassedOver) {
  const ConvProblem problem = *parse_problem("fwd bf16 n16 c256 k256 i56x56 f3x3 p1");
  const std::vector<RankedConfig> ranked = rank(problem, usual_rates(Target::kSm90a), {});
  const auto second = pick(View(problem, usual_rates(Target::kSm90a)), {},
                           [&](const KernelConfig& config) { return !(config == *ranked[0].config); });
  EXPECT_EQ(name_of(*second->config), name_of(*ranked[1].config));
  EXPECT_FALSE(pick(View(problem, usual_rates(Target::kSm90a)), {}, [](const KernelConfig&) { return false; }));
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
