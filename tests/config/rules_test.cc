// SPDX-License-Identifier: Apache-2.0
#include "rules/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "config/fields.h"
#include "config/quarantine.h"
#include "kernels/device/gemm/storage.h"
#include "kernels/kind.h"

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
                           std::string name(targets()[static_cast<size_t>(param.param)].name);
                           std::ranges::replace(name, '-', '_');  // gtest's names are words
                           return name;
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
    EXPECT_LE(tiny.size(), 32u);  // some of every pipeline
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
    return std::tuple(c.direction, operand_a(c), c.dims, c.kind, c.gemm.pipeline, c.gemm.scheduler);
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
  const auto on_tensor =
      std::ranges::count_if(tests.kernels, [](const KernelConfig& c) { return c.kind == Kind::kTcgen05; });
  if (!is_amd(target())) {
    EXPECT_LE(tests.kernels.size() - static_cast<size_t>(on_tensor), 160u);
  }
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

// 5 minutes and 30 MB on two cores (docs/packs.md) leave room for about this many.
TEST_P(EveryTarget, DefaultIsSmallEnoughForAPack) {
  const size_t kernels = list(target(), RuleSet::kDefault).kernels.size();
  EXPECT_LE(kernels, has_wgmma(target()) || has_tensor_memory(target()) ? 480u : 300u);
}

// Whatever a plain problem of the default types is, a pack of default has a kernel that takes it.
TEST_P(EveryTarget, DefaultHasAGenericKernelForEverySignature) {
  const std::vector<TypeCombination> usual = type_combinations(false);
  std::set<std::tuple<Direction, DataType, Layout, int>> plain, full;
  for (const KernelConfig& c : list(target(), RuleSet::kDefault).kernels)
    if (kind_of(c)->generic && c.epilogue == EpilogueConfig{})
      plain.emplace(c.direction, operand_a(c), c.layout, c.dims);
  for (const KernelConfig& c : list(target(), RuleSet::kFull).kernels) {
    const TypeCombination types{operand_a(c), operand_b(c), output_type(c)};
    if (std::ranges::find(usual, types) != usual.end()) full.emplace(c.direction, operand_a(c), c.layout, c.dims);
  }
  EXPECT_EQ(plain, full);
}

// Every best guess for a usual problem is in the pack, also with a bias.
TEST(Rules, DefaultHoldsTheBestGuesses) {
  const ConfigSet pack = set_of(list(Target::kSm90a, RuleSet::kDefault));
  for (const char* text :
       {"fwd bf16 n2 c64 k64 i14x14 f3x3 p1", "fwd fp16 n2 c64 k64 i14x14 f1x1", "fwd bf16 n2 c3 k64 i32x32 f7x7 s2 p3",
        "fwd bf16 n2 c64 k64 i14x14 f3x3 p1 +bias+relu", "fwd fp16 n2 c64 k64 i14x14 f3x3 p1 +bias",
        "bwd_data bf16 n2 c64 k64 i15x15 f3x3 s2 p1", "bwd_weight fp16 n2 c32 k32 i14x14 f3x3 p1",
        "fwd fp32 n2 c8 k8 i9 f3 NCW", "fwd tf32 n2 c32 k32 i9x9x9 f3 p1", "fwd e4m3>bf16 n2 c32 k32 i9x9 f3 p1"}) {
    const auto problem = parse_problem(text);
    ASSERT_TRUE(problem.ok()) << problem.status().message();
    const std::vector<Candidate> few = candidates_for(View(*problem, usual_rates(Target::kSm90a)), Breadth::kFew);
    ASSERT_FALSE(few.empty()) << text;
    for (const Candidate& candidate : few) EXPECT_TRUE(pack.contains(candidate.config)) << name_of(candidate.config);
  }
}

TEST_P(EveryTarget, TestsShowEachPipelineInEachDirection) {
  const auto shown = [](const RuleResult& result) {
    std::set<std::tuple<Direction, Kind, Pipeline, Scheduler, Loader, Loader, Staging, SplitK>> values;
    for (const KernelConfig& c : result.kernels)
      values.emplace(c.direction, c.kind, c.gemm.pipeline, c.gemm.scheduler, c.gemm.loader_a, c.gemm.loader_b,
                     c.gemm.staging, c.gemm.split_k);
    return values;
  };
  EXPECT_EQ(shown(list(target(), RuleSet::kTests)), shown(list(target(), RuleSet::kFull)));
}

// No GPU has run the kernel on tensor memory: its tests have every direction, type, form and schedule.
TEST_P(EveryTarget, TestsShowEveryFormOnTensorMemory) {
  const auto shown = [](const RuleResult& result) {
    std::set<std::tuple<Direction, DataType, DataType, Loader, Loader, Staging, SplitK, Specialization,
                        std::tuple<int, bool, bool, int, int, bool, bool>>>
        values;
    for (const KernelConfig& c : result.kernels) {
      const GemmConfig& gemm = c.gemm;
      if (c.kind != Kind::kTcgen05) continue;
      values.emplace(c.direction, operand_a(c), operand_b(c), gemm.loader_a, gemm.loader_b, gemm.staging, gemm.split_k,
                     gemm.specialization,
                     std::tuple(gemm.mma.m, gemm.persistent, gemm.double_buffer, gemm.cluster_m, gemm.cluster_n,
                                gemm.groups_per_tile > 1, gemm.aligned_copy));
    }
    return values;
  };
  const auto tests = shown(list(target(), RuleSet::kTests));
  EXPECT_EQ(tests, shown(list(target(), RuleSet::kFull)));
  if (target() == Target::kSm100a) {
    EXPECT_GT(tests.size(), 500u);
  }
}

// No GPU has run AMD's kernels: their tests have every pipeline, direction and type in every form.
TEST_P(EveryTarget, TestsShowEveryFormOnAmd) {
  if (!is_amd(target())) return;
  const auto shown = [](const RuleResult& result) {
    std::set<std::tuple<std::tuple<Direction, Kind, Pipeline, Scheduler, DataType, DataType>,
                        std::tuple<Loader, Loader, Staging, SplitK, StreamK, Specialization, int, int>,
                        std::tuple<int, bool, bool, bool, bool, int, int, int, bool>>>
        values;
    for (const KernelConfig& c : result.kernels) {
      const GemmConfig& gemm = c.gemm;
      values.emplace(std::tuple(c.direction, c.kind, gemm.pipeline, gemm.scheduler, operand_a(c), operand_b(c)),
                     std::tuple(gemm.loader_a, gemm.loader_b, gemm.staging, gemm.split_k, gemm.stream_k,
                                gemm.specialization, int{gemm.mma.m}, int{gemm.mma.k}),
                     std::tuple(int{gemm.stages}, gemm.double_buffer, gemm.aligned_copy, gemm.stream_k_persistent,
                                gemm.groups_per_tile > 1, int{gemm.load_warps}, int{c.fixed.filter_w},
                                int{c.direct.group_channels}, c.direct.history));
    }
    return values;
  };
  const auto tests = shown(list(target(), RuleSet::kTests));
  EXPECT_EQ(tests, shown(list(target(), RuleSet::kFull)));
  EXPECT_GT(tests.size(), 160u);
}

// gfx1250 multiplies fp8 as it is by 16x16x64 in the portable kernels forward; the basic kernel, whose tiles are
// shorter, widens it to fp16, whose WMMA is 16x16x32.
TEST(Rules, Gfx1250MultipliesFp8ByItsOwnInstruction) {
  int as_it_is = 0, widened = 0;
  for (const KernelConfig& config : list(Target::kGfx1250, RuleSet::kFull).kernels) {
    if (config.family() != Family::kGemm) continue;
    const int bytes = size_of(multiply_type(config));
    if (bytes < 4) {
      EXPECT_EQ(config.gemm.mma, (Extent3{16, 16, static_cast<short>(bytes == 1 ? 64 : 32)})) << name_of(config);
    }
    as_it_is += bytes == 1;
    widened += bytes == 2 && size_of(operand_a(config)) == 1;
    if (bytes == 1) {
      EXPECT_EQ(config.kind, Kind::kPortable) << name_of(config);
    }
  }
  EXPECT_GT(as_it_is, 0);
  EXPECT_GT(widened, 0);
}

// gfx1201 multiplies fp8 as it is, forward by every portable pipeline; two different fp8 types meet in fp16.
TEST(Rules, Gfx1201MultipliesFp8AsItIs) {
  std::set<Pipeline> forward;
  for (const KernelConfig& config : list(Target::kGfx1201, RuleSet::kFull).kernels) {
    if (size_of(operand_a(config)) != 1 || config.family() != Family::kGemm) continue;
    const bool alike = operand_a(config) == operand_b(config);
    EXPECT_EQ(multiply_type(config), alike ? operand_a(config) : DataType::kF16) << name_of(config);
    if (config.direction == Direction::kForward) forward.insert(config.gemm.pipeline);
    if (config.direction != Direction::kForward) {
      EXPECT_EQ(config.kind, Kind::kBasic) << name_of(config);
    }
  }
  EXPECT_EQ(forward.size(), 8u);
}

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
  const std::vector<Candidate> few = candidates_for(View(*problem, usual_rates(Target::kSm90a)), Breadth::kFew);
  const std::vector<Candidate> all = candidates_for(View(*problem, usual_rates(Target::kSm90a)), Breadth::kAll);
  EXPECT_TRUE(std::ranges::any_of(few, [](const Candidate& c) { return c.accepts(); }));
  EXPECT_GT(all.size(), few.size());
  for (const Candidate& candidate : all) EXPECT_TRUE(candidate.config.epilogue.bias);
  // On CDNA the 32x32x8 instruction declines small tiles, with the row.
  const std::vector<Candidate> cdna = candidates_for(View(*problem, usual_rates(Target::kGfx942)), Breadth::kAll);
  const auto declined =
      std::ranges::find_if(cdna, [](const Candidate& c) { return !c.accepts() && c.config.kind == Kind::kBasic; });
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

TEST(Kernels, EveryKindHasADescriptorAndWhatItNeeds) {
  for (size_t i = 0; i < enum_table<Kind>().names.size(); ++i) {
    const auto id = static_cast<Kind>(i);
    if (id == Kind::kTrial) continue;  // tests/trial_kernel has it
    const KernelKind& kind = kind_of(id);
    EXPECT_EQ(kind.id, id);
    EXPECT_TRUE(kind.propose && kind.predict && kind.bind) << text_of(id);
    EXPECT_FALSE(kind.header.empty() || kind.class_name.empty()) << text_of(id);
    if (id != Kind::kPortable && family_of(id) == Family::kGemm) {
      ASSERT_EQ(kind.pipelines.size(), 1u) << text_of(id);
      EXPECT_EQ(kind.pipelines.front(), only_pipeline(id));
    }
  }
}

TEST(Kernels, KindsAreFoundByTargetDirectionAndPipeline) {
  KernelConfig config;
  ASSERT_NE(kind_of(config), nullptr);
  EXPECT_EQ(kind_of(config)->id, Kind::kBasic);
  EXPECT_TRUE(kind_of(config)->generic);
  EXPECT_EQ(unread_field(*kind_of(config), config), "");
  config.gemm.swizzle_a = 128;
  EXPECT_EQ(unread_field(*kind_of(config), config), "gemm.swizzle_a");
  config = {.kind = Kind::kDepthwiseGather};
  ASSERT_NE(kind_of(config), nullptr);
  EXPECT_EQ(kind_of(config)->id, Kind::kDepthwiseGather);
  config.kind = Kind::kDepthwiseStream;
  ASSERT_NE(kind_of(config), nullptr);
  EXPECT_EQ(kind_of(config)->id, Kind::kDepthwiseStream);
  config.kind = Kind::kGroups;  // whose products are 16x16x16
  config.target = Target::kGfx1250;
  EXPECT_EQ(kind_of(config), nullptr);
}

}  // namespace
}  // namespace wt
