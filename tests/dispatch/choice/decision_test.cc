// SPDX-License-Identifier: Apache-2.0
#include "dispatch/choice/decision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/choice/candidates.h"
#include "dispatch/choice/filter.h"
#include "dispatch/plan/history.h"
#include "dispatch/plan/transposed.h"
#include "kernels/kind.h"

namespace wt {
namespace {

using testing::Contains;
using testing::HasSubstr;
using Kind = Decision::Kind;

DeviceInfo hopper() { return usual_device(Target::kSm90a); }

Decision decided(const char* text, const PlanOptions& options = {}) {
  Result<Decision> decision = decide(hopper(), *parse_problem(text), options);
  EXPECT_TRUE(decision.ok()) << text << ": " << decision.status().message();
  return decision.ok() ? *decision : Decision();
}

std::vector<Kind> kinds_of(const Decision& decision) {
  std::vector<Kind> kinds;
  for (const Decision* part = &decision; part; part = part->inner.get()) kinds.push_back(part->kind);
  return kinds;
}

TEST(Decision, IsATreeOfWhatRuns) {
  using Kinds = std::vector<Kind>;
  EXPECT_EQ(kinds_of(decided("fwd bf16 n16 c256 k256 i56x56 f3x3 p1")), Kinds{Kind::kKernel});
  EXPECT_EQ(kinds_of(decided("fwd bf16 NCHW n16 c256 k256 i50x50 f3x3 p1")), (Kinds{Kind::kTransposed, Kind::kKernel}));
  EXPECT_EQ(kinds_of(decided("fwd bf16 n9 c1024 k64 i512x512 f3x3 p1 +bias")), (Kinds{Kind::kRanges, Kind::kKernel}));
  EXPECT_EQ(kinds_of(decided("fwd bf16 n4 c64 k64 i256 f4 pcausal history")), (Kinds{Kind::kJoined, Kind::kKernel}));
  EXPECT_EQ(kinds_of(decided("fwd bf16 n4 c4096 k4096 g4096 i2048 f4 pcausal history new_history")),
            (Kinds{Kind::kNextHistory, Kind::kKernel}));
  EXPECT_EQ(kinds_of(decided("bwd_weight bf16 NCHW n16 c256 k256 i56x56 f3x3 p1 bias_gradient")),
            (Kinds{Kind::kBiasGradient, Kind::kTransposed, Kind::kKernel}));
}

TEST(Decision, AddsTheTimesOfItsParts) {
  const Decision turned = decided("fwd bf16 NCHW n16 c256 k256 i50x50 f3x3 p1");
  EXPECT_GT(turned.around_us, 0);
  EXPECT_DOUBLE_EQ(turned.expected_us(),
                   transposition_us(turned.problem, rates_of(hopper())) + turned.leaf().predicted_us);
  EXPECT_THAT(turned.why(), HasSubstr("channels-last kernel between 3 transpositions: least predicted time"));
  EXPECT_THAT(turned.passed_over, Contains(HasSubstr("on channels-first tensors, ")));

  const Decision ranges = decided("fwd bf16 n9 c1024 k64 i512x512 f3x3 p1 +bias");
  ASSERT_TRUE(ranges.rest);
  EXPECT_EQ(ranges.inner->problem.n, 5);
  EXPECT_EQ(ranges.rest->problem.n, 4);
  EXPECT_DOUBLE_EQ(ranges.expected_us(), ranges.inner->predicted_us + ranges.rest->predicted_us);
}

// The plan's launches are bound by the view that the choice has made, of the GPU that is meant.
TEST(Decision, KeepsTheViewOfItsKernel) {
  const ConvProblem problem = *parse_problem("fwd bf16 n256 c64 k256 i56x56 f1x1");
  const auto decide_for = [&](std::string_view gpu) {
    const Result<Decision> decision = decide(device_of(**find_gpu(gpu)), problem, {});
    EXPECT_TRUE(decision.ok());
    return *decision;
  };
  const Decision fast = decide_for("H200"), slow = decide_for("H100 PCIe");
  ASSERT_TRUE(fast.view && slow.view);
  EXPECT_EQ(fast.view->problem(), problem);
  EXPECT_EQ(slow.view->rates().gpu, "H100 PCIe");
  EXPECT_EQ(predicted_us(*slow.config, *slow.view), slow.predicted_us);
  EXPECT_GT(slow.predicted_us, 1.5 * fast.predicted_us) << "bytes at 1.8 TB/s, not at 4.3";
}

// A way that the workspace forbids is said, and so is one that is slower.
TEST(Decision, SaysWhatItPassesOver) {
  const char* text = "fwd bf16 NCHW n16 c256 k256 i50x50 f3x3 p1";
  const Decision limited = decided(text, {.workspace_limit = 0});
  EXPECT_EQ(limited.kind, Kind::kKernel);
  EXPECT_THAT(limited.passed_over, Contains(HasSubstr("more than the limit")));
  const Decision slower = decided("fwd bf16 NCHW n8 g64 c64 k64 i28x28 f3x3 p1");
  EXPECT_EQ(slower.kind, Kind::kKernel);
  EXPECT_THAT(slower.passed_over, Contains(HasSubstr("between transpositions, ")));
}

TEST(Decision, TakesANamedKernelOrSaysWhyNot) {
  const char* text = "bwd_weight bf16 n16 c64 k64 i56x56 f3x3 p1";
  const Decision best = decided(text);
  const Decision named = decided(text, {.kernel = best.kernel});
  EXPECT_EQ(named.kernel, best.kernel);
  EXPECT_EQ(named.reason, "asked for by name");
  EXPECT_DOUBLE_EQ(named.predicted_us, best.predicted_us);
  const auto unknown = decide(hopper(), *parse_problem(text), {.kernel = "wt_of_nobody"});
  EXPECT_EQ(unknown.status().code(), Code::kBadInput);
  EXPECT_THAT(unknown.status().message(), HasSubstr("'wt_of_nobody'"));
}

// Two ways that are closed, each with its reason.
TEST(Decision, SaysWhyAWayIsClosed) {
  const char* store = "fwd bf16 NCHW n16 c256 k256 i50x50 f3x3 p1 +store=\"out.put(value)\"";
  EXPECT_THAT(decided(store).passed_over, Contains(HasSubstr("cannot follow a user's store")));
  const Decision reads = decided("fwd bf16 n4 c4096 k4096 g4096 i2048 f4 pcausal history", {.workspace_limit = 0});
  EXPECT_THAT(reads.passed_over, Contains(HasSubstr("joining takes")));
}

TEST(Decision, RefusesABiasGradientOfTooManyChannels) {
  const auto refused = decide(hopper(), *parse_problem("bwd_weight bf16 n1 c1 k16777217 i1x1 f1x1 bias_gradient"), {});
  EXPECT_EQ(refused.status().code(), Code::kUnsupported);
  EXPECT_THAT(refused.status().message(), HasSubstr("the kernel counts to 16777216"));
}

// Sums in more parts take longer, and the prediction knows.
TEST(Decision, PredictsForTheSplitsThatAreAskedFor) {
  const char* text = "bwd_weight bf16 n64 c64 k64 i56x56 f3x3 p1";
  const Decision best = decided(text);
  ASSERT_NE(best.config->gemm.split_k, SplitK::kNone) << best.kernel;
  const Decision one = decided(text, {.kernel = best.kernel, .splits = 1});
  EXPECT_GT(one.predicted_us, best.predicted_us);
  for (const int splits : {-2, 129}) {
    const auto refused = decide(hopper(), *parse_problem(text), {.splits = splits});
    EXPECT_EQ(refused.status().code(), Code::kBadInput);
    EXPECT_THAT(refused.status().message(), HasSubstr("use 1 to 128"));
  }
}

// What a plan passes over declines with a reason in the list for people too.
TEST(Decision, KernelsBeyondTheWorkspaceLimitDecline) {
  const ConvProblem problem = *parse_problem("bwd_weight bf16 n64 c64 k64 i56x56 f3x3 p1");
  const PlanOptions options{.workspace_limit = 0};
  const auto ranked = rank_candidates(problem, hopper(), options, Breadth::kAll);
  EXPECT_EQ(ranked.front().name, decided("bwd_weight bf16 n64 c64 k64 i56x56 f3x3 p1", options).kernel);
  int declined = 0;
  for (const RankedCandidate& candidate : ranked) {
    for (const Decline& decline : candidate.declines) {
      if (decline.id != "workspace-limit") continue;
      ++declined;
      EXPECT_THAT(decline.message, HasSubstr("bytes of workspace, and the limit is 0"));
    }
  }
  EXPECT_GT(declined, 0);
}

}  // namespace
}  // namespace wt
