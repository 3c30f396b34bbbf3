// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/choice/split_facts_test.cc - what people are told of a split is what is launched.
#include <set>

#include "dispatch/choice/split_facts.h"
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
