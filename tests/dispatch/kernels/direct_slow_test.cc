// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/direct_slow_test.cc - depthwise kernels on the simulator, exact on small integers, in every
// direction.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "config/fields.h"
#include "dispatch/choice/candidates.h"
#include "dispatch/plan/kernel.h"
#include "dispatch/trial/trial.h"
#include "kernels/depthwise_banded/device/shape.h"
#include "kernels/depthwise_stream/device/shape.h"
#include "kernels/device/direct/arguments.h"
#include "launch/binding.h"
#include "rules/rules.h"
#include "tests/dispatch/exact_trial.h"
#include "tests/dispatch/spills.h"

namespace wt {
namespace {

// The accepting kernels of the direct family, best guess first.
std::vector<RankedCandidate> direct_kernels(const ConvProblem& problem, Target target, Kind design) {
  std::vector<RankedCandidate> kernels = rank_candidates(problem, target, {}, Breadth::kAll);
  std::erase_if(kernels, [&](const RankedCandidate& c) {
    return !c.accepts() || c.config.family() != Family::kDirect || c.config.kind != design;
  });
  return kernels;
}

struct EdgeCase {
  const char* text;
  Kind design;
};

class DirectExact : public testing::TestWithParam<EdgeCase> {};

// The first and the last accepting kernel of the design: the widest vectors and the narrowest.
TEST_P(DirectExact, InEveryDirection) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const Direction direction : {Direction::kForward, Direction::kBackwardData, Direction::kBackwardWeight}) {
    const ConvProblem forward = problem_of(GetParam().text);
    ConvProblem problem = with_direction(forward, direction);
    if (direction == Direction::kForward) problem = forward;
    const auto kernels = direct_kernels(problem, Target::kSm90a, GetParam().design);
    ASSERT_FALSE(kernels.empty()) << to_text(problem);
    expect_exact(*device, problem, kernels.front().config);
    if (kernels.size() > 1) expect_exact(*device, problem, kernels.back().config);
  }
}

constexpr Kind kGather = Kind::kDepthwiseGather, kStream = Kind::kDepthwiseStream, kBanded = Kind::kDepthwiseBanded;

INSTANTIATE_TEST_SUITE_P(Edges, DirectExact,
                         testing::Values(EdgeCase{"fwd bf16 n2 c16 k16 g16 i9x9 f3x3 p1 +bias+relu", kStream},
                                         EdgeCase{"fwd bf16 n1 c1 k1 g1 i7x11 f3x3 p1", kStream},
                                         EdgeCase{"fwd fp16 n1 c17 k17 g17 i10x6 f3x3 s2 p1", kStream},
                                         EdgeCase{"fwd bf16 n1 c100 k100 g100 i6x5 f3x3 p1:0x2:1", kStream},
                                         EdgeCase{"fwd bf16 n1 c8 k8 g8 i3x4 f7x7 p3", kStream},
                                         EdgeCase{"fwd fp32 n1 c4 k4 g4 i9x8 f5x5 s2 p2 +residual", kStream},
                                         EdgeCase{"fwd bf16 n2 c16 k16 g16 i21 f4 p3:0", kStream},
                                         EdgeCase{"fwd fp32 n1 c3 k3 g3 i20 f7 s2 p3", kStream},
                                         EdgeCase{"fwd bf16 n1 c4 k4 g4 i4x5x6 f3x3x3 s2x1x1 p1", kStream},
                                         EdgeCase{"fwd bf16 n2 c5 k5 g5 i9x37 f3x3 p1 NCHW +bias+relu", kStream},
                                         EdgeCase{"fwd fp32 n1 c2 k2 g2 i11x12 f5x5 s2 p2 NCHW", kStream},
                                         EdgeCase{"fwd bf16 n1 c2 k2 g2 i4x6x9 f2x3x3 s2x1x1 p1 NCDHW", kStream},
                                         EdgeCase{"fwd bf16 n2 c16 k16 g16 i9x17 f3x3 p1", kBanded},
                                         EdgeCase{"fwd bf16 n3 c40 k40 g40 i8x7 f7x7 p3 +bias", kBanded},
                                         EdgeCase{"fwd fp16 n1 c8 k8 g8 i14x14 f5x5 p2 +scale+residual", kBanded},
                                         EdgeCase{"fwd bf16 n1 c8 k8 g8 i4x130 f7x7 p3:1x2:5", kBanded},
                                         EdgeCase{"fwd bf16 n5 c24 k24 g24 i6x14 f3x3 p1 +bias+relu+amax", kBanded},
                                         EdgeCase{"fwd bf16 n1 c8 k8 g8 i3x9 f5x5 p2", kBanded},
                                         EdgeCase{"fwd bf16 n2 c20 k20 g20 i3x4x10 f3x3x3 p1 +bias+residual", kBanded},
                                         EdgeCase{"fwd fp16 n1 c4 k4 g4 i5x6x7 f3x3x3 p0:2x1:0x1", kBanded},
                                         EdgeCase{"fwd bf16 n1 c3 k3 g3 i9x9 f2x4 s5x6", kGather},
                                         EdgeCase{"fwd bf16 n1 c8 k8 g8 i16x17 f3x3 d7 p7 +scale+bias", kGather},
                                         EdgeCase{"fwd bf16 n2 c4 k8 g4 i7x6 f3x3 s2 p1", kGather},
                                         EdgeCase{"fwd fp16 n1 c5 k15 g5 i6x6 f3x3 s3x2 d2 p2", kGather},
                                         EdgeCase{"fwd bf16 n1 c2 k2 g2 i8x9 f31x31 p15", kGather},
                                         EdgeCase{"fwd bf16 n2 c16 k16 g16 i37 f12 p11:0", kGather},
                                         EdgeCase{"fwd bf16 n1 c4 k8 g4 i9x11 f2x5 p1", kGather},
                                         EdgeCase{"fwd bf16 n2 c4 k4 g4 i40x5 f3x3 p1", kGather},
                                         EdgeCase{"fwd bf16 n1 c3 k3 g3 i9x37 f3x3 p1 NCHW +bias", kGather},
                                         EdgeCase{"fwd fp32 n1 c2 k4 g2 i41 f9 s2 d3 p5:1 NCW", kGather},
                                         EdgeCase{"fwd e4m3>bf16 n1 c4 k4 g4 i3x4x5 f2x3x2 s1x2x1 p1", kGather}));

// Large filters with rows in shared memory: blocks of several rows and runs, channels beyond a block, both directions.
TEST(DirectGather, SlidesAlongRowsInSharedMemory) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const char* text :
       {"fwd bf16 n2 c40 k40 g40 i9x19 f9x7 p4x3 +bias", "fwd bf16 n1 c8 k8 g8 i5x70 f3x31 p1x15",
        "bwd_data bf16 n1 c8 k8 g8 i6x17 f5x11 p2:1x5:3", "bwd_data bf16 n1 c8 k8 g8 i3x4 f9x9 p8"}) {
    const ConvProblem problem = problem_of(text);
    auto kernels = direct_kernels(problem, Target::kSm90a, kGather);
    std::erase_if(kernels, [](const RankedCandidate& c) { return c.config.direct.prefetch < 2; });
    ASSERT_EQ(kernels.size(), 1u) << text;
    expect_exact(*device, problem, kernels.front().config);
  }
}

// Rows by tensor maps: images side by side and a row in two parts, channels beyond the last block, padding on one side,
// beyond the filter and missing, images smaller than the filter, walks that enter further images.
TEST(DirectBanded, CopiesRowsInBulk) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const char* text :
       {"fwd bf16 n9 c24 k24 g24 i5x14 f3x3 p1 +bias+relu", "fwd bf16 n18 c40 k40 g40 i7x7 f7x7 p3",
        "fwd fp16 n1 c8 k8 g8 i4x130 f7x7 p3:1x2:5", "fwd bf16 n2 c8 k8 g8 i3x9 f5x5 p6x2 +residual+amax",
        "bwd_data bf16 n3 c16 k16 g16 i9x12 f5x5 p2", "bwd_data bf16 n2 c8 k8 g8 i8x9 f3x3 p0:2",
        "bwd_data bf16 n1 c8 k8 g8 i6x17 f3x3 p4x1", "fwd bf16 n17 c24 k24 g24 i14x14 f5x5 s2 p2 +bias",
        "fwd bf16 n2 c8 k8 g8 i9x31 f5x5 s2 p1", "fwd fp16 n1 c8 k8 g8 i5x2 f5x5 s2 p1:2x3:4"}) {
    const ConvProblem problem = problem_of(text);
    auto kernels = direct_kernels(problem, Target::kSm90a, kBanded);
    std::erase_if(kernels, [](const RankedCandidate& c) { return !banded::in_bulk(c.config); });
    ASSERT_FALSE(kernels.empty()) << text;
    // With and without fragments read ahead, with more and fewer rows on their way.
    for (const RankedCandidate& kernel : kernels) expect_exact(*device, problem, kernel.config);
  }
}

// Rows of several planes on their way at once, across the steps' ends.
TEST(DirectStream, ReadsPlanesAhead) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const char* text :
       {"fwd bf16 n1 c4 k4 g4 i3x5x6 f2x3x3 s2x1x1 p1", "bwd_data bf16 n1 c4 k4 g4 i3x5x6 f2x3x3 s2x1x1 p1"}) {
    const ConvProblem problem = problem_of(text);
    auto kernels = direct_kernels(problem, Target::kSm90a, kStream);
    std::erase_if(kernels, [](const RankedCandidate& c) { return c.config.direct.prefetch < 3; });
    ASSERT_FALSE(kernels.empty()) << text;
    expect_exact(*device, problem, kernels.front().config);
  }
}

// Steps on their way in shared memory: more of them than a strip has, whole pixels of more channels than a warp's
// lanes.
TEST(DirectStream, KeepsStepsAheadInSharedMemory) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const char* text : {"fwd bf16 n1 c144 k144 g144 i5x6 f3x3 p1 +bias", "bwd_data bf16 n2 c24 k24 g24 i4x9 f3x3 p1",
                           "bwd_weight bf16 n2 c24 k24 g24 i9x6 f3x3 p1", "fwd fp16 n1 c24 k24 g24 i11x9 f5x5 s2 p2",
                           "bwd_weight bf16 n1 c20 k20 g20 i4x7x6 f3x3x3 s2 p1"}) {
    const ConvProblem problem = problem_of(text);
    auto kernels = direct_kernels(problem, Target::kSm90a, kStream);
    std::erase_if(kernels, [](const RankedCandidate& c) { return !stream_has_ring(c.config); });
    ASSERT_FALSE(kernels.empty()) << text;
    expect_exact(*device, problem, std::ranges::max(kernels, {}, [](const RankedCandidate& c) {
                                     return c.config.direct.prefetch;
                                   }).config);
  }
}

// The weights of a filter that shared memory holds only in parts are staged in parts.
TEST(DirectGather, StagesLargeFiltersInParts) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok());
  for (const char* text :
       {"fwd bf16 n1 c16 k16 g16 i9x5x5 f9x31x31 p4x15x15", "bwd_data bf16 n1 c1 k32 g1 i5x5 f21x21 p10"}) {
    const ConvProblem problem = problem_of(text);
    const auto kernels = direct_kernels(problem, Target::kSm90a, kGather);
    ASSERT_FALSE(kernels.empty());
    const Binding binding = bind(kernels.front().config, problem, (*device)->info());
    GatherArguments arguments;
    std::memcpy(&arguments, binding.launches.front().params.data(), sizeof arguments);
    EXPECT_LT(arguments.filter_rows, arguments.filter[0] * arguments.filter[1]) << text;
    if (problem.direction == Direction::kBackwardData) expect_exact(*device, problem, kernels.front().config);
  }
}

// Random data, blocks and warps in three orders: the same bits.
TEST(DirectWeight, DoesNotDependOnTheOrderOfBlocks) {
  for (const auto& [text, design] : {std::pair{"bwd_weight bf16>fp32 n3 c8 k8 g8 i13x12 f3x3 p1", kStream},
                                     std::pair{"bwd_weight bf16 n9 c8 k8 g8 i13x12 f5x5 p2", kBanded},
                                     std::pair{"bwd_weight bf16 n2 c12 k12 g12 i4x5x9 f3x3x3 p1", kBanded},
                                     std::pair{"bwd_weight bf16>fp32 n3 c8 k8 g8 i13x12 f4x3 p1", kGather}}) {
    const ConvProblem problem = problem_of(text);
    const auto kernels = direct_kernels(problem, Target::kSm90a, design);
    ASSERT_FALSE(kernels.empty()) << text;
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
      ASSERT_TRUE(result.verified) << text << ": " << result.status.message();
      const Buffer& dw = output_of(problem, (*tensors)->host());
      const std::vector<std::byte> bytes(dw.data(), dw.data() + dw.size());
      if (first.empty()) first = bytes;
      EXPECT_TRUE(bytes == first) << text << ", seed " << seed;
    }
    ::unsetenv("WAVETILE_SIM_SEED");
  }
}

#if WT_HAVE_NVRTC
// One of each direction, design and filter that a 16-bit layer can have.
TEST(DirectSpills, NoneInASample) {
  std::vector<KernelConfig> sample;
  std::set<std::tuple<Direction, Kind, int, int, int, bool>> seen;
  const RuleQuery query{.target = Target::kSm90a,
                        .rule_set = RuleSet::kProfiler,
                        .types = {DataType::kBf16},
                        .dims = {2, 3},
                        .layouts = {Layout::kChannelsLast}};
  for (const KernelConfig& config : list_kernels(query).kernels) {
    if (config.kind == Kind::kGroups) continue;  // groups_slow_test.cc
    if (config.dims == 3 && config.kind != Kind::kDepthwiseBanded) continue;
    if (config.family() == Family::kDirect && config.x == config.y && config.x == config.w &&
        seen.emplace(config.direction, config.kind, config.fixed.filter_h, config.fixed.stride_h, config.dims,
                     banded::in_bulk(config))
            .second)
      sample.push_back(config);
  }
  // Three directions of gather, three banded filters, by tensor maps too, and a cube, six filters and strides of
  // stream.
  EXPECT_GE(sample.size(), 30u);
  expect_no_spills(sample);
}
#endif  // WT_HAVE_NVRTC

}  // namespace
}  // namespace wt
