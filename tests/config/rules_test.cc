// SPDX-License-Identifier: Apache-2.0
#include "config/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "config/fields.h"
#include "config/kernels.h"
#include "config/quarantine.h"
#include "kernel/gemm/storage.h"

namespace wt {
namespace {

using testing::HasSubstr;
using ConfigSet = std::set<KernelConfig, ConfigLess>;

ConfigSet set_of(const RuleResult& result) { return {result.kernels.begin(), result.kernels.end()}; }

bool contains(const ConfigSet& outer, const ConfigSet& inner) {
  return std::includes(outer.begin(), outer.end(), inner.begin(), inner.end(), ConfigLess{});
}

RuleResult list(Target target, RuleSet rule_set) { return list_kernels({.target = target, .rule_set = rule_set}); }

class EveryTarget : public testing::TestWithParam<int> {
 protected:
  Target target() const { return targets()[static_cast<size_t>(GetParam())].target; }
};
INSTANTIATE_TEST_SUITE_P(All, EveryTarget, testing::Range(0, static_cast<int>(targets().size())),
                         [](const auto& param) {
                           return std::string(targets()[static_cast<size_t>(param.param)].name);
                         });

TEST_P(EveryTarget, SetsAreNested) {
  for (RuleQuery query :
       {RuleQuery{.target = target()}, RuleQuery{.target = target(), .types = {DataType::kF32}, .dims = {2}}}) {
    query.rule_set = RuleSet::kFull;
    const ConfigSet full = set_of(list_kernels(query));
    query.rule_set = RuleSet::kFullTests;
    const ConfigSet full_tests = set_of(list_kernels(query));
    query.rule_set = RuleSet::kTiny;
    const ConfigSet tiny = set_of(list_kernels(query));
    EXPECT_TRUE(contains(full, full_tests));
    EXPECT_TRUE(contains(full_tests, tiny));
    EXPECT_GE(tiny.size(), 10u);
    EXPECT_LE(tiny.size(), 20u);
    const double share = static_cast<double>(full_tests.size()) / static_cast<double>(full.size());
    EXPECT_GT(share, 0.18);
    EXPECT_LT(share, 0.25);
    for (const RuleSet other : {RuleSet::kDefault, RuleSet::kProfiler, RuleSet::kTests}) {
      query.rule_set = other;
      EXPECT_TRUE(contains(full, set_of(list_kernels(query)))) << name_of(other);
    }
  }
}

TEST_P(EveryTarget, FullTestsShowEachCategoryAndPipelineScheduler) {
  const auto category = [](const KernelConfig& c) {
    return std::tuple(c.direction, operand_a(c), c.dims, c.family, c.gemm.pipeline, c.gemm.scheduler);
  };
  std::set<decltype(category(KernelConfig{}))> full, tests;
  for (const KernelConfig& config : list(target(), RuleSet::kFull).kernels) full.insert(category(config));
  for (const KernelConfig& config : list(target(), RuleSet::kFullTests).kernels) tests.insert(category(config));
  EXPECT_EQ(full, tests);
}

TEST_P(EveryTarget, OnlyValidKernelsThatExistAreListed) {
  for (const RuleSet rule_set : {RuleSet::kDefault, RuleSet::kFull}) {
    const RuleResult result = list(target(), rule_set);
    EXPECT_FALSE(result.kernels.empty());
    std::set<std::string> names;
    for (const KernelConfig& config : result.kernels) {
      ASSERT_TRUE(is_valid(config)) << to_text(declines(config));
      ASSERT_NE(kind_of(config), nullptr);
      ASSERT_EQ(config.target, target());
      ASSERT_TRUE(names.insert(name_of(config)).second) << name_of(config);
    }
  }
}

TEST_P(EveryTarget, TestsAreFewAndCoverTheValues) {
  const auto values = [](const RuleResult& result) {
    std::set<std::tuple<Direction, DataType, DataType, DataType>> types;
    std::set<std::tuple<Direction, Layout, int>> shapes;
    std::set<std::tuple<Direction, bool, bool, bool, bool, Activation>> epilogues;
    for (const KernelConfig& c : result.kernels) {
      types.emplace(c.direction, c.x, c.w, c.y);
      shapes.emplace(c.direction, c.layout, c.dims);
      epilogues.emplace(c.direction, c.epilogue.scale, c.epilogue.bias, c.epilogue.residual, c.epilogue.amax,
                        c.epilogue.activation);
    }
    return std::tuple(types, shapes, epilogues);
  };
  const RuleResult tests = list(target(), RuleSet::kTests);
  EXPECT_LE(tests.kernels.size(), 150u);
  EXPECT_EQ(values(tests), values(list(target(), RuleSet::kFull)));
}

TEST(Rules, ListingIsDeterministicAndSorted) {
  const RuleResult first = list(Target::kGfx942, RuleSet::kFull), second = list(Target::kGfx942, RuleSet::kFull);
  EXPECT_EQ(first.kernels, second.kernels);
  EXPECT_EQ(first.rejected, second.rejected);
  EXPECT_TRUE(std::is_sorted(first.kernels.begin(), first.kernels.end(), ConfigLess{}));
}

TEST(Rules, RejectionsAreCountedByRow) {
  // 32x32x8 instructions do not fit the small tiles.
  const RuleResult result = list(Target::kGfx942, RuleSet::kFull);
  ASSERT_TRUE(result.rejected.contains("tile-warps"));
  EXPECT_GT(result.rejected.at("tile-warps"), 0);
}

TEST(Rules, QueriesNarrow) {
  const RuleResult result = list_kernels({.target = Target::kSm90a,
                                          .rule_set = RuleSet::kFull,
                                          .directions = {Direction::kBackwardData},
                                          .types = {DataType::kF16},
                                          .dims = {1, 3},
                                          .layouts = {Layout::kChannelsFirst}});
  ASSERT_FALSE(result.kernels.empty());
  std::set<int> dims;
  for (const KernelConfig& config : result.kernels) {
    EXPECT_EQ(config.direction, Direction::kBackwardData);
    EXPECT_EQ(config.w, DataType::kF16);
    EXPECT_EQ(config.layout, Layout::kChannelsFirst);
    dims.insert(config.dims);
  }
  EXPECT_EQ(dims, (std::set<int>{1, 3}));
}

TEST(Rules, DefaultIsSmallEnoughForAPack) { EXPECT_LE(list(Target::kSm90a, RuleSet::kDefault).kernels.size(), 1500u); }

TEST(Rules, NamesRoundTrip) {
  for (int i = 0; i < kRuleSets; ++i) {
    const auto back = parse_rule_set(name_of(static_cast<RuleSet>(i)));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(*back, static_cast<RuleSet>(i));
    EXPECT_FALSE(meaning_of(*back).empty());
  }
  EXPECT_THAT(parse_rule_set("huge").status().message(),
              HasSubstr("huge is not a rule set; choose one of default, full"));
}

TEST(Rules, CandidatesCarryReasons) {
  const auto problem = parse_problem("fwd bf16 n2 c12 k36 i9x9 f3x3 p1 +bias");
  ASSERT_TRUE(problem.ok());
  const std::vector<Candidate> few = candidates_for(*problem, Target::kSm90a, Candidates::kFew);
  const std::vector<Candidate> all = candidates_for(*problem, Target::kSm90a, Candidates::kAll);
  EXPECT_TRUE(std::ranges::any_of(few, [](const Candidate& c) { return c.accepts(); }));
  EXPECT_GT(all.size(), few.size());
  for (const Candidate& candidate : all) EXPECT_TRUE(candidate.config.epilogue.bias);
  // On CDNA the 32x32x8 instruction declines small tiles, with the row.
  const std::vector<Candidate> cdna = candidates_for(*problem, Target::kGfx942, Candidates::kAll);
  const auto declined = std::ranges::find_if(cdna, [](const Candidate& c) { return !c.accepts(); });
  ASSERT_NE(declined, cdna.end());
  EXPECT_EQ(declined->declines.front().id, "tile-warps");
}

TEST(Quarantine, EntriesNameKernelsAndReasons) {
  for (const Quarantined& entry : quarantine_list()) {
    EXPECT_TRUE(entry.name.starts_with("wt_")) << entry.name;
    EXPECT_FALSE(entry.reason.empty()) << entry.name;
  }
  static constexpr Quarantined kList[] = {{"wt_a", "wrong for stride 3"}, {"wt_b", "deadlock"}};
  ASSERT_NE(find_quarantined("wt_b", kList), nullptr);
  EXPECT_EQ(find_quarantined("wt_b", kList)->reason, "deadlock");
  EXPECT_EQ(find_quarantined("wt_c", kList), nullptr);
}

// A kernel in quarantine leaves every list and is named with its reason.
TEST(Quarantine, TakesKernelsOutOfLists) {
  const KernelConfig victim = list(Target::kSm80, RuleSet::kDefault).kernels.front();
  const std::string name = name_of(victim);
  const Quarantined entries[] = {{name, "a test says so"}};
  const ScopedQuarantine scope(entries);
  const RuleResult result = list(Target::kSm80, RuleSet::kFull);
  EXPECT_FALSE(set_of(result).contains(victim));
  ASSERT_EQ(result.quarantined.size(), 1u);
  EXPECT_EQ(result.quarantined[0].first, name);
  EXPECT_EQ(result.quarantined[0].second, "a test says so");
}

TEST(Kernels, KindsAreFoundByFamilyPipelineAndTarget) {
  KernelConfig config;
  ASSERT_NE(kind_of(config), nullptr);
  EXPECT_EQ(kind_of(config)->id, "gemm-basic");
  EXPECT_TRUE(kind_of(config)->generic);
  EXPECT_EQ(unread_field(*kind_of(config), config), "");
  config.gemm.swizzle_a = 128;
  EXPECT_EQ(unread_field(*kind_of(config), config), "gemm.swizzle_a");
  config.family = Family::kDirect;
  EXPECT_EQ(kind_of(config), nullptr);
}

}  // namespace
}  // namespace wt
