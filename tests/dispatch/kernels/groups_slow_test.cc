// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/groups_slow_test.cc - kernels for small groups on the simulator: exact on small integers in
// every direction, apart from each other's non-finite values.
#include <gmock/gmock.h>

#include <cmath>
#include <set>
#include <tuple>

#include "dispatch/choice/candidates.h"
#include "rules/rules.h"
#include "tests/dispatch/exact_trial.h"
#include "tests/dispatch/spills.h"

namespace wt {
namespace {

// The accepting kernels of the design, best guess first.
std::vector<RankedCandidate> groups_kernels(const ConvProblem& problem, Target target) {
  std::vector<RankedCandidate> kernels = rank_candidates(problem, target, {}, Breadth::kAll);
  std::erase_if(kernels, [&](const RankedCandidate& c) {
    return !c.accepts() || c.config.family() != Family::kDirect || c.config.kind != Kind::kGroups;
  });
  return kernels;
}

class GroupsExact : public testing::TestWithParam<const char*> {};

TEST_P(GroupsExact, InEveryDirection) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const Direction direction : {Direction::kForward, Direction::kBackwardData, Direction::kBackwardWeight}) {
    const ConvProblem forward = problem_of(GetParam());
    const ConvProblem problem = direction == Direction::kForward ? forward : with_direction(forward, direction);
    const auto kernels = groups_kernels(problem, Target::kSm90a);
    ASSERT_FALSE(kernels.empty()) << to_text(problem);
    expect_exact(*device, problem, kernels.front().config);
  }
}

INSTANTIATE_TEST_SUITE_P(Edges, GroupsExact,
                         testing::Values("fwd bf16 n2 c64 k64 g8 i9x9 f3x3 p1",         // images side by side
                                         "fwd bf16 n1 c8 k8 g1 i3x100 f3x3 p1",         // rows in two segments
                                         "fwd bf16 n5 c8 k8 g1 i1x1 f3x3 p1",           // smaller than the filter
                                         "fwd bf16 n1 c16 k16 g2 i9x10 f3x3 p0:2x2:0",  // uneven padding
                                         "fwd bf16 n2 c72 k72 g9 i11x10 f3x3 s2 p1",    // channels beyond a block
                                         "fwd bf16 n1 c8 k8 g1 i6x7 f3x3 s2 p2:0x0:1",  // pixels that no tap meets
                                         "fwd fp16 n1 c32 k32 g2 i5x20 f3x3 p1 +bias+relu",
                                         "fwd bf16 n3 c64 k64 g2 i5x7 f3x3 p1 +scale+residual+amax",
                                         "fwd bf16 n1 c32 k32 g1 i5x5 f3x3 s2 p1",
                                         "fwd bf16 n1 c16 k16 g4 i6x5 f3x3 p1",  // two groups a bundle
                                         "fwd bf16 n1 c24 k24 g2 i6x5 f3x3 p1",  // the same, of 24 channels
                                         "fwd bf16 n1 c8 k8 g1 i7x9 f5x5 p2"));

// Every shape of tile, width of bundle and share of a warp, once.
TEST(GroupsExact, EveryVariantOfAWidth) {
  const auto device = open_device("sim:sm_80");
  ASSERT_TRUE(device.ok()) << device.status().message();
  const ConvProblem problem = problem_of("fwd bf16 n2 c32 k32 g1 i4x37 f3x3 p1");
  const auto kernels = groups_kernels(problem, Target::kSm80);
  EXPECT_GE(kernels.size(), 3u);
  for (const RankedCandidate& kernel : kernels) expect_exact(*device, problem, kernel.config);
}

// Random data, blocks and warps in three orders: the same bits.
TEST(GroupsWeight, DoesNotDependOnTheOrderOfBlocks) {
  const ConvProblem problem = problem_of("bwd_weight bf16 n3 c64 k64 g8 i13x12 f3x3 p1");
  const auto kernels = groups_kernels(problem, Target::kSm90a);
  ASSERT_FALSE(kernels.empty());
  std::vector<std::byte> first;
  for (const char* seed : {"1", "2", "3"}) {
    ::setenv("WAVETILE_SIM_SEED", seed, 1);
    const auto device = open_device("sim:sm_90a");
    ASSERT_TRUE(device.ok());
    const auto plan = make_kernel_plan(*device, problem, kernels.front().config, "tested");
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    const auto tensors = TrialTensors::make(*device, problem, false, 5);
    ASSERT_TRUE(tensors.ok());
    TrialOptions options;
    options.seed = 5;
    options.time = false;
    const TrialResult result = run_trial(**tensors, **plan, options);
    ASSERT_TRUE(result.verified) << result.status.message();
    const Buffer& dw = output_of(problem, (*tensors)->host());
    const std::vector<std::byte> bytes(dw.data(), dw.data() + dw.size());
    if (first.empty()) first = bytes;
    EXPECT_TRUE(bytes == first) << "seed " << seed;
  }
  ::unsetenv("WAVETILE_SIM_SEED");
}

// The first image's first pixel is infinite in channel 3 of 64. Forward and backward data it reaches the outputs of its
// group that its taps meet, backward weight the taps of its channel, and nothing else.
TEST(GroupsNonFinite, StaysInItsGroupAndReach) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const char* text :
       {"fwd bf16 n2 c64 k64 g8 i5x6 f3x3 p1", "bwd_data bf16 n2 c64 k64 g8 i5x6 f3x3 s2 p1",
        "bwd_weight bf16 n2 c64 k64 g8 i5x6 f3x3 p1", "bwd_weight bf16 n2 c64 k64 g16 i5x6 f3x3 p1"}) {
    const ConvProblem problem = problem_of(text);
    auto kernels = groups_kernels(problem, Target::kSm90a);
    std::erase_if(kernels, [](const RankedCandidate& c) { return c.config.finite_only; });
    ASSERT_FALSE(kernels.empty()) << text;
    const auto plan = make_kernel_plan(*device, problem, kernels.front().config, "tested");
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    const auto tensors = TrialTensors::make(*device, problem, true, 7);
    ASSERT_TRUE(tensors.ok()) << tensors.status().message();
    const bool data = problem.direction == Direction::kBackwardData;
    const bool weight = problem.direction == Direction::kBackwardWeight;
    void* input = (*tensors)->pointers()[data ? Tensor::kY : Tensor::kX];
    const uint16_t infinity = 0x7f80;
    ASSERT_TRUE((*device)->copy_in(static_cast<uint16_t*>(input) + 3, &infinity, sizeof infinity).ok());
    ASSERT_TRUE((*tensors)->reserve_workspace((*plan)->workspace_bytes()).ok());
    ASSERT_TRUE((*plan)->execute((*tensors)->pointers(), nullptr).ok());
    ASSERT_TRUE((*tensors)->fetch_outputs().ok());
    const Buffer& out = output_of(problem, (*tensors)->host());
    const auto* bits = reinterpret_cast<const uint16_t*>(out.data());
    int64_t reached = 0;
    for (int64_t i = 0; i < problem.output_elements(); ++i) {
      if ((bits[i] & 0x7f80) != 0x7f80) continue;
      ++reached;
      const int64_t per_group = problem.c_per_group();
      if (weight) {
        EXPECT_EQ(i % per_group, 3) << text << " element " << i;
        EXPECT_EQ(i / per_group / 9 / per_group, 0) << text << " element " << i;
        EXPECT_GE(i / per_group % 9, 0);
        // The corner meets dy only through its upper left taps.
        EXPECT_LE(i / per_group % 9 % 3, 1) << text << " element " << i;
        EXPECT_LE(i / per_group % 9 / 3, 1) << text << " element " << i;
      } else {
        EXPECT_LT(i % 64, per_group) << text << " element " << i;
        const int64_t pixel = i / 64, width = data ? problem.in[2] : problem.out()[2];
        EXPECT_LE(pixel % width, 1) << text << " element " << i;
        EXPECT_LE(pixel / width, 1) << text << " element " << i;
      }
    }
    EXPECT_GT(reached, 0) << text;
  }
}

#if WT_HAVE_NVRTC
TEST(GroupsSpills, None) {
  std::vector<KernelConfig> kernels;
  for (const Target target : {Target::kSm80, Target::kSm90a}) {
    const RuleQuery query{.target = target,
                          .rule_set = RuleSet::kProfiler,
                          .types = {DataType::kBf16},
                          .dims = {2},
                          .layouts = {Layout::kChannelsLast}};
    size_t taken = 0;
    for (const KernelConfig& config : list_kernels(query).kernels) {
      if (config.family() != Family::kDirect || config.kind != Kind::kGroups || config.finite_only) continue;
      // Every fifth, and all that are close to the limit.
      if (++taken % 5 == 0 || (target == Target::kSm90a && config.direct.tile_w == 128)) kernels.push_back(config);
    }
  }
  EXPECT_GE(kernels.size(), 15u);
  expect_no_spills(kernels);
}
#endif  // WT_HAVE_NVRTC

}  // namespace
}  // namespace wt
