// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/amd_direct_test.cc - direct kernels on AMD: some in the simulator, which are chosen, what is
// declined.
#include <gmock/gmock.h>

#include <set>

#include "config/enum_names.h"
#include "kernels/constraints.h"
#include "rules/rules.h"
#include "tests/dispatch/kernels/amd_direct_cases.h"

namespace wt {
namespace {

constexpr Kind kGather = Kind::kDepthwiseGather, kStream = Kind::kDepthwiseStream, kGroups = Kind::kGroups;

// One problem of each kind and direction on 64 and on 32 lanes; amd_direct_slow_test.cc has the edges.
TEST(AmdDirect, OneProblemOfEachKind) {
  for (const Target target : {Target::kGfx942, Target::kGfx1100}) {
    const auto device = open_device("sim:" + std::string(info_of(target).name));
    ASSERT_TRUE(device.ok()) << device.status().message();
    for (const DirectCase& at : {DirectCase{"fwd bf16 n1 c17 k17 g17 i6x7 f3x3 p1 +bias+relu", kStream},
                                 DirectCase{"bwd_data fp16 n1 c8 k8 g8 i7x6 f3x3 s2 p1", kStream},
                                 DirectCase{"bwd_weight bf16 n1 c8 k8 g8 i19 f4 p3:0", kStream},
                                 DirectCase{"fwd bf16 n1 c4 k8 g4 i7x6 f3x2 s2x3 d2 p1 NCHW", kGather},
                                 DirectCase{"bwd_weight fp32 n1 c4 k4 g4 i3x4x5 f2x3x2 p1", kGather},
                                 DirectCase{"fwd bf16 n2 c32 k32 g2 i5x6 f3x3 p1 +bias+residual+relu", kGroups},
                                 DirectCase{"bwd_data bf16 n1 c32 k32 g2 i7x6 f3x3 s2 p1", kGroups},
                                 DirectCase{"bwd_weight bf16 n1 c16 k16 g4 i7x6 f3x3 p1", kGroups}}) {
      const ConvProblem problem = problem_of(at.text);
      const auto kernels = direct_kernels_of(problem, target, at.kind);
      ASSERT_FALSE(kernels.empty()) << at.text;
      expect_exact(*device, problem, kernels.front());
    }
  }
}

// What a choice without tuning takes; the prediction is not far from the time of the bytes.
TEST(AmdDirect, DepthwiseAndSmallGroupsAreChosen) {
  for (const Target target : kDirectTargets) {
    const Rates rates = usual_rates(target);
    for (const char* text :
         {"fwd bf16 n8 c512 k512 g512 i28x28 f3x3 p1", "bwd_data bf16 n64 c96 k96 g96 i112x112 f3x3 s2 p1",
          "bwd_weight bf16 n64 c960 k960 g960 i7x7 f3x3 p1", "fwd bf16 n4 c4096 k4096 g4096 i4096 f4 p3:0",
          "fwd fp32 n16 c64 k64 g64 i56x56 f3x3 p1", "fwd bf16 n16 c64 k64 g64 i56x56 f3x3 p1 NCHW",
          "fwd bf16 n16 c256 k256 g16 i56x56 f3x3 p1", "bwd_data bf16 n16 c256 k256 g16 i56x56 f3x3 p1"}) {
      const ConvProblem problem = problem_of(text);
      const auto ranked = rank_candidates(problem, target, {}, Breadth::kAll);
      ASSERT_FALSE(ranked.empty());
      EXPECT_EQ(ranked.front().config.family(), Family::kDirect) << info_of(target).name << ' ' << ranked.front().name;
      const double bytes = 2.0 * static_cast<double>(problem.x_elements() + problem.y_elements()) / rates.memory;
      EXPECT_GT(ranked.front().predicted_us, bytes) << info_of(target).name << ' ' << text;
      EXPECT_LT(ranked.front().predicted_us, 4 * bytes + 4 * rates.launch_us) << info_of(target).name << ' ' << text;
    }
  }
}

TEST(AmdDirect, RuleSetsHoldThem) {
  for (const Target target : kDirectTargets) {
    for (const RuleSet set : {RuleSet::kDefault, RuleSet::kTests}) {
      std::set<std::pair<Kind, Direction>> found;
      for (const KernelConfig& config : list_kernels({.target = target, .rule_set = set}).kernels)
        found.emplace(config.kind, config.direction);
      for (const Kind kind : {kGather, kStream, kGroups}) {
        for (const Direction direction : {Direction::kForward, Direction::kBackwardData, Direction::kBackwardWeight}) {
          EXPECT_TRUE(found.contains({kind, direction}))
              << info_of(target).name << ' ' << name_of(set) << ' ' << text_of(kind) << ' ' << text_of(direction);
        }
      }
    }
  }
}

// Kernels that wait for copies of their own one by one are NVIDIA's.
TEST(AmdDirect, RowsInSharedMemoryAreDeclined) {
  KernelConfig config{.kind = kGather, .target = Target::kGfx942};
  config.min_blocks = 2;
  config.direct.vector_in = config.direct.vector_out = 4;
  config.direct.sub_w = 8;
  config.direct.prefetch = 2;
  config.direct.block_size = 256;
  config.fixed.stride_h = config.fixed.stride_w = config.fixed.dilation_h = config.fixed.dilation_w = 1;
  const auto reasons = declines(config);
  ASSERT_FALSE(reasons.empty());
  EXPECT_EQ(reasons.front().id, "direct-gather-tile");
  EXPECT_THAT(reasons.front().message, testing::HasSubstr("prefetch=2 on gfx942"));
}

}  // namespace
}  // namespace wt
