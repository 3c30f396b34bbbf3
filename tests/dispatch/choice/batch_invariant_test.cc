// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/choice/batch_invariant_test.cc - one choice for every batch: kernel, parts, and what is around them.
#include "dispatch/choice/batch_invariant.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "config/fields.h"
#include "dispatch/choice/candidates.h"
#include "dispatch/choice/decision_json.h"
#include "dispatch/choice/filter.h"
#include "dispatch/plan/images.h"
#include "kernels/kind.h"
#include "problem/random_problem.h"

namespace wt {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Kind = Decision::Kind;

const PlanOptions kInvariant = {.batch_invariant = true};

// Everything that fixes the order of an image's sums, ranges of images aside.
std::string order_of(const Decision& decision, const DeviceInfo& device) {
  if (decision.kind == Kind::kRanges) {
    const std::string order = order_of(*decision.inner, device);
    EXPECT_TRUE(!decision.rest || order_of(*decision.rest, device) == order) << to_text(decision.problem);
    return order;
  }
  if (decision.inner) return fmt::format("{}({})", name_of(decision.kind), order_of(*decision.inner, device));
  const Binding binding = bind(*decision.config, decision.problem, device, decision.options.splits);
  EXPECT_EQ(decision.config->gemm.stream_k, StreamK::kOff);
  EXPECT_FALSE(decision.config->finite_only) << "a NaN of another image might reach this one";
  return fmt::format("{} in {} parts", decision.kernel, binding.parts);
}

std::string order_of_images(const DeviceInfo& device, const ConvProblem& problem, int64_t images,
                            const PlanOptions& options = kInvariant) {
  const ConvProblem some = of_images(problem, images);
  const Result<Decision> decision = decide(device, some, options);
  EXPECT_TRUE(decision.ok()) << to_text(some) << ": " << decision.status().message();
  return decision.ok() ? order_of(*decision, device) : "";
}

class BatchInvariantChoice : public testing::TestWithParam<Target> {};

TEST_P(BatchInvariantChoice, IsTheSameForEveryBatch) {
  const DeviceInfo device = usual_device(GetParam());
  Random random(26);
  RandomLimits limits;
  limits.directions = {Direction::kForward, Direction::kBackwardData};
  limits.max_channels = 300;
  limits.max_in = 40;
  limits.max_multiply_adds = int64_t{1} << 30;
  std::vector<ConvProblem> problems;
  for (int i = 0; i < 40; ++i) problems.push_back(random_problem(random, limits));
  // Sums that few tiles divide, small groups, channels first, a history, and one line of all images.
  for (const char* text : {"fwd bf16 n1 c2048 k64 i7x7 f3x3 p1", "bwd_data fp16 n1 c64 k2048 i7x7 f3x3 p1",
                           "fwd bf16 n1 c512 k512 i14x14 f3x3 p1", "fwd bf16 n1 g96 c96 k96 i28x28 f7x7 p3",
                           "fwd bf16 n1 g8 c64 k64 i28x28 f3x3 p1", "fwd bf16 NCHW n1 c256 k256 i50x50 f3x3 p1",
                           "fwd bf16 n1 c64 k64 i256 f4 pcausal history", "fwd bf16 n1 c3 k64 i7x7 f1x1"})
    problems.push_back(*parse_problem(text));
  for (const ConvProblem& problem : problems) {
    const std::string order = order_of_images(device, problem, kCanonicalImages[0]);
    for (const int64_t images : {1, 2, 3, 7, 64, 300})
      EXPECT_EQ(order_of_images(device, problem, images), order) << to_text(problem) << " of " << images;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, BatchInvariantChoice,
                         testing::Values(Target::kSm80, Target::kSm90a, Target::kSm100a, Target::kGfx942,
                                         Target::kGfx1100));

// What the option is for: without it the choice of one image is not that of many.
TEST(BatchInvariant, FreeChoicesDiffer) {
  const DeviceInfo device = usual_device(Target::kSm90a);
  const ConvProblem problem = *parse_problem("fwd bf16 n1 c2048 k64 i7x7 f3x3 p1");
  EXPECT_NE(order_of_images(device, problem, 1, {}), order_of_images(device, problem, 256, {}));
}

TEST(BatchInvariant, NamesItsPrice) {
  const DeviceInfo device = usual_device(Target::kSm90a);
  const ConvProblem problem = *parse_problem("fwd bf16 n1 c2048 k64 i7x7 f3x3 p1");
  const Result<Decision> decision = decide(device, problem, kInvariant), free = decide(device, problem, {});
  ASSERT_TRUE(decision.ok() && free.ok()) << decision.status().message();
  ASSERT_TRUE(decision->invariance);
  EXPECT_THAT(kCanonicalImages, testing::Contains(decision->invariance->images));
  EXPECT_DOUBLE_EQ(decision->invariance->us, decision->expected_us());
  EXPECT_DOUBLE_EQ(decision->invariance->free_us, free->expected_us());
  EXPECT_EQ(decision->invariance->free_kernel, free->leaf().kernel);
  EXPECT_GE(decision->expected_us(), free->expected_us());
  EXPECT_THAT(to_text(*decision->invariance), AllOf(HasSubstr("decided as for "), HasSubstr("of its speed")));
  EXPECT_THAT(decision->why(), HasSubstr("batch-invariant, as for "));
  EXPECT_EQ(to_json(*decision)["batch_invariant"]["free_us"], free->expected_us());
}

TEST(BatchInvariant, RefusesWhatContradictsIt) {
  const DeviceInfo device = usual_device(Target::kSm90a);
  const ConvProblem problem = *parse_problem("fwd bf16 n4 c64 k64 i28x28 f3x3 p1");
  const auto refusal = [&](PlanOptions options) {
    options.batch_invariant = true;
    const Result<Decision> decision = decide(device, problem, options);
    EXPECT_FALSE(decision.ok());
    return decision.status().message();
  };
  EXPECT_THAT(refusal({.deterministic = false}), HasSubstr("one order of sums"));
  EXPECT_THAT(refusal({.tuning = Tuning::kFirstUse}), HasSubstr("the batch at hand"));
  EXPECT_THAT(refusal({.fallback = true}), HasSubstr("not batch-invariant"));
}

// Stream-K cuts by the number of tiles: it is neither chosen nor taken by name, and a list says why.
TEST(BatchInvariant, LeavesStreamKOut) {
  const DeviceInfo device = usual_device(Target::kSm90a);
  const ConvProblem problem = *parse_problem("fwd bf16 n16 c256 k256 i28x28 f3x3 p1");
  PlanOptions options = kInvariant;
  for (const RankedCandidate& candidate : rank_candidates(problem, device, {})) {
    if (candidate.accepts() && candidate.config.gemm.stream_k != StreamK::kOff) options.kernel = candidate.name;
  }
  ASSERT_NE(options.kernel, "") << "no stream-K kernel takes the problem";
  const Result<Decision> named = decide(device, problem, options);
  EXPECT_EQ(named.status().code(), Code::kUnsupported);
  EXPECT_THAT(named.status().message(), AllOf(HasSubstr("is not batch-invariant"), HasSubstr("stream-K cuts sums")));
  for (const RankedCandidate& candidate : rank_candidates(problem, device, kInvariant)) {
    if (candidate.name != options.kernel) continue;
    ASSERT_EQ(candidate.declines.size(), 1u);
    EXPECT_EQ(candidate.declines.front().id, "batch-invariant");
  }
}

// Lines of an odd number of channels turn round with every image of odd size.
TEST(BatchInvariant, LeavesOutWhatDependsOnThePlace) {
  const DeviceInfo device = usual_device(Target::kSm90a);
  const ConvProblem problem = *parse_problem("fwd bf16 n16 c3 k64 i7x7 f1x1");
  std::set<std::string> lines;
  for (const RankedCandidate& candidate : rank_candidates(problem, device, {.strict_nonfinite = true})) {
    if (candidate.accepts() && candidate.config.kind == wt::Kind::kRows) lines.insert(candidate.name);
  }
  EXPECT_FALSE(lines.empty());
  for (const RankedCandidate& candidate : rank_candidates(problem, device, kInvariant)) {
    if (!lines.contains(candidate.name)) continue;
    EXPECT_THAT(to_text(candidate.declines), HasSubstr("its place in the batch"));
  }
}

// More images than a kernel's indices reach are ranges, by the same kernel.
TEST(BatchInvariant, DividesLargeBatches) {
  const DeviceInfo device = usual_device(Target::kSm90a);
  const ConvProblem problem = *parse_problem("fwd bf16 n9 c1024 k64 i512x512 f3x3 p1 +bias");
  const Result<Decision> decision = decide(device, problem, kInvariant);
  ASSERT_TRUE(decision.ok()) << decision.status().message();
  EXPECT_EQ(decision->kind, Kind::kRanges);
  EXPECT_EQ(order_of(*decision, device), order_of_images(device, problem, 1));
  // amax is one number of all images, so that they stay together.
  const Result<Decision> amax =
      decide(device, *parse_problem("fwd bf16 n9 c1024 k64 i512x512 f3x3 p1 +amax"), kInvariant);
  EXPECT_TRUE(!amax.ok() || amax->kind == Kind::kKernel);
}

// A limit that a batch of 16 keeps and one of 64 would not: fewer images at a time, not another kernel.
TEST(BatchInvariant, KeepsTheWorkspaceLimit) {
  const DeviceInfo device = usual_device(Target::kSm90a);
  const ConvProblem problem = *parse_problem("fwd bf16 NCHW n16 c256 k256 i50x50 f3x3 p1");
  PlanOptions options = kInvariant;
  options.workspace_limit = int64_t{45} << 20;
  const std::string order = order_of_images(device, problem, 16, options);
  EXPECT_THAT(order, HasSubstr("transposed("));
  EXPECT_EQ(order_of_images(device, problem, 64, options), order);
  const Result<Decision> large = decide(device, of_images(problem, 64), options);
  ASSERT_TRUE(large.ok());
  EXPECT_EQ(large->kind, Kind::kRanges);
}

// A weight gradient is decided for its own batch.
TEST(BatchInvariant, LeavesWeightGradientsAsTheyAre) {
  const DeviceInfo device = usual_device(Target::kSm90a);
  const ConvProblem problem = *parse_problem("bwd_weight bf16 n16 c64 k64 i28x28 f3x3 p1");
  const Result<Decision> decision = decide(device, problem, kInvariant), free = decide(device, problem, {});
  ASSERT_TRUE(decision.ok() && free.ok());
  EXPECT_EQ(decision->leaf().kernel, free->leaf().kernel);
  EXPECT_FALSE(decision->invariance);
}

}  // namespace
}  // namespace wt
