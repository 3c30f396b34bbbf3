// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/choice/split_facts_test.cc - what people are told of a split is what is launched.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "compile/compiler.h"
#include "dispatch/choice/split_facts.h"
#include "dispatch/plan/plan.h"
#include "generate/source.h"
#include "kernels/resources.h"
#include "kernels/shared/split.h"
#include "runtime/sim/device.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

DeviceInfo hopper() {
  DeviceInfo device;
  device.target = Target::kSm90a;
  device.multiprocessors = 132;
  return device;
}

// Every way to divide a sum: three parts are asked for, and three is what is told.
TEST(SplitFacts, TellWhatIsLaunched) {
  std::set<std::pair<std::string, SplitK>> ways;
  for (const char* text : {"bwd_weight bf16 n16 c64 k64 i56x56 f3x3 p1", "bwd_weight bf16 n16 c64 k36 i56x56 f3x3 p1",
                           "bwd_weight bf16 n16 c3 k64 i56x56 f3x3 p1", "fwd bf16 n1 c1024 k64 i7x7 f1x1"}) {
    const ConvProblem problem = problem_of(text);
    for (const RankedCandidate& c : rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll)) {
      if (!c.accepts() || c.config.family() != Family::kGemm || c.config.gemm.split_k == SplitK::kNone) continue;
      const auto facts = split_facts(c.config, problem, hopper(), 3);
      ASSERT_TRUE(facts) << c.name;
      EXPECT_EQ(facts->parts, 3) << c.name;
      EXPECT_GT(facts->tiles, 0) << c.name;
      EXPECT_GE(facts->blocks, 3) << c.name;
      ways.emplace(text_of(c.config.gemm.pipeline), c.config.gemm.split_k);
    }
  }
  EXPECT_GE(ways.size(), 5u);
}

// max(1, blocks at once / tiles), at most 128 and the k-blocks.
TEST(SplitFacts, CountByOccupancy) {
  const ConvProblem problem = problem_of("bwd_weight bf16 n16 c256 k256 i25x25 f3x3 p1");
  for (const RankedCandidate& c : rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll)) {
    if (!c.accepts() || c.config.gemm.pipeline != Pipeline::kTma || c.config.gemm.tile != Extent3{128, 128, 64})
      continue;
    const auto facts = split_facts(c.config, problem, hopper());
    if (!facts || facts->stream.blocks > 0) continue;
    EXPECT_EQ(facts->tiles, 36);
    EXPECT_EQ(facts->blocks, 157);
    EXPECT_EQ(facts->by_occupancy, 132 * c.config.min_blocks / 36) << c.name;
  }
}

// Parts that fill the GPU: the fewer blocks a compiled kernel's registers leave room for, the fewer parts; before it is
// compiled they count as if registers were no limit, so that its workspace is large enough.
TEST(SplitFacts, PartsByOccupancyAreOfTheCompiledKernel) {
  const ConvProblem problem = problem_of("bwd_weight bf16 n16 c128 k128 i56x56 f3x3 p1");
  DeviceInfo device;
  device.target = Target::kGfx942;
  device.multiprocessors = 304;
  int found = 0;
  for (const RankedCandidate& c : rank_candidates(problem, device.target, {}, Breadth::kAll)) {
    if (!c.accepts() || c.config.gemm.pipeline != Pipeline::kCompV4 || c.config.gemm.split_k != SplitK::kWorkspace ||
        c.config.gemm.tile != Extent3{64, 64, 32} || c.config.gemm.vector_b != 8 || c.config.gemm.groups_per_tile > 1)
      continue;
    // 36 tiles; 16 KiB of 64 KiB and 256 threads of 2048 let four blocks share a compute unit.
    const View view(problem, rates_of(device));
    EXPECT_EQ(bind(c.config, view, device, kSplitsByOccupancy).parts, 304 * 4 / 36) << c.name;
    EXPECT_EQ(parts_by_occupancy(c.config, view, 0), 304 * 4 / 36) << c.name;
    EXPECT_EQ(parts_by_occupancy(c.config, view, 168), 304 * 3 / 36) << c.name;  // 131072 / (168 * 256)
    EXPECT_EQ(parts_by_occupancy(c.config, view, 256), 304 * 2 / 36) << c.name;
    ++found;
  }
  EXPECT_GT(found, 0);
}

#if WT_HAVE_CLANG
TEST(SplitFacts, RegistersAreThoseOfTheCompiler) {
  const ConvProblem problem = problem_of("bwd_weight bf16 n16 c64 k64 i56x56 f3x3 p1");
  const auto ranked = rank_candidates(problem, Target::kGfx942, {}, Breadth::kAll);
  const auto divided = std::ranges::find_if(
      ranked, [](const RankedCandidate& c) { return c.accepts() && c.config.gemm.split_k == SplitK::kWorkspace; });
  ASSERT_NE(divided, ranked.end());
  const auto source = generate_source(divided->config);
  ASSERT_TRUE(source.ok());
  const auto module = compile::compile(compile::Backend::kClang, {divided->name, *source, Target::kGfx942});
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_GT(module->resources.registers, 32);
  EXPECT_GE(resident_blocks(divided->config, 0), resident_blocks(divided->config, module->resources.registers));
  EXPECT_EQ(resident_blocks(divided->config, 512), 1);
}
#endif

TEST(SplitFacts, APlanSaysItsParts) {
  const auto opened = open_sim_device(Target::kGfx942, {});
  ASSERT_TRUE(opened.ok());
  const auto& device = *opened;
  PlanOptions options;
  options.splits = kSplitsByOccupancy;
  const ConvProblem problem = problem_of("bwd_weight bf16 n4 c64 k64 i9x9 f3x3 p1");
  for (const RankedCandidate& c : rank_candidates(problem, Target::kGfx942, {}, Breadth::kAll)) {
    if (!c.accepts() || c.config.gemm.split_k != SplitK::kWorkspace) continue;
    options.kernel = c.name;
    break;
  }
  const auto plan = make_plan(device, problem, options);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_THAT((*plan)->description().reason, testing::HasSubstr("parts by occupancy"));
  TrialOptions trial;
  trial.exact = true;
  const auto tensors = TrialTensors::make(device, problem, trial.exact, trial.seed);
  ASSERT_TRUE(tensors.ok());
  const TrialResult result = run_trial(**tensors, **plan, trial);
  EXPECT_TRUE(result.verified) << result.status.message();
  options.splits = -2;
  EXPECT_THAT(make_plan(device, problem, options).status().message(), testing::HasSubstr("splits=-2"));
}

// 274 tiles: two rounds are whole, and ten tiles are cut.
TEST(SplitFacts, TellHowStreamsAreCut) {
  const ConvProblem problem = problem_of("fwd bf16 n16 c512 k256 i33x33 f3x3 p1");
  int found = 0;
  for (const RankedCandidate& c : rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll)) {
    const GemmConfig& gemm = c.config.gemm;
    if (!c.accepts() || gemm.stream_k == StreamK::kOff || gemm.tile != Extent3{128, 128, 64}) continue;
    const auto facts = split_facts(c.config, problem, hopper());
    ASSERT_TRUE(facts) << c.name;
    EXPECT_EQ(facts->stream.rounds, 2);
    EXPECT_EQ(facts->stream.tiles, 10);
    EXPECT_EQ(facts->stream.depth, 72);
    EXPECT_EQ(facts->stream.share, 5);
    ++found;
  }
  EXPECT_GT(found, 0);
}

// Forward kernels that do not divide have nothing to tell.
TEST(SplitFacts, NoneForWholeSums) {
  const ConvProblem problem = problem_of("fwd bf16 n16 c256 k256 i56x56 f3x3 p1");
  const auto ranked = rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll);
  ASSERT_EQ(ranked.front().config.gemm.split_k, SplitK::kNone);
  EXPECT_FALSE(split_facts(ranked.front().config, problem, hopper()));
}

TEST(SplitFacts, AreToldInALine) {
  EXPECT_EQ(to_text({.tiles = 36, .blocks = 157, .parts = 3, .by_occupancy = 4}),
            "3 parts by predicted time, 4 by occupancy alone (tiles 36, k-blocks of each 157)");
  SplitFacts facts;
  facts.stream = {.blocks = 132, .rounds = 2, .tiles = 10, .depth = 72, .share = 5, .rest = 60};
  EXPECT_EQ(to_text(facts),
            "stream-K: 2 rounds of 132 whole tiles, then 10 tiles of 72 k-blocks cut into shares of 5 or 6");
  facts.stream = {.blocks = 132, .rounds = 2, .tiles = 0, .depth = 72};
  EXPECT_EQ(to_text(facts), "stream-K: 2 rounds of 132 whole tiles, then none");
}

}  // namespace
}  // namespace wt
