// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/amd_direct_slow_test.cc - direct kernels of AMD in the simulator, exact on small integers, and
// their machine code without scratch.
#include <gmock/gmock.h>

#include <set>
#include <tuple>

#include "rules/rules.h"
#include "tests/dispatch/kernels/amd_direct_cases.h"
#include "tests/dispatch/spills.h"

namespace wt {
namespace {

constexpr Kind kGather = Kind::kDepthwiseGather, kStream = Kind::kDepthwiseStream, kGroups = Kind::kGroups;

class AmdDirectExact : public testing::TestWithParam<DirectCase> {};

// Every direction on every target, the targets in turns with the completion policies: the first accepting kernel and
// the last.
TEST_P(AmdDirectExact, InEveryDirection) {
  const char* const policies[] = {"early", "late", "random"};
  size_t turn = 0;
  for (const Target target : kDirectTargets) {
    if (!GetParam().on_rdna && info_of(target).warp_size == 32) continue;
    ::setenv("WAVETILE_SIM_COMPLETION", policies[turn++ % 3], 1);
    const auto device = open_device("sim:" + std::string(info_of(target).name));
    ::unsetenv("WAVETILE_SIM_COMPLETION");
    ASSERT_TRUE(device.ok()) << device.status().message();
    for (const Direction direction : {Direction::kForward, Direction::kBackwardData, Direction::kBackwardWeight}) {
      const ConvProblem forward = problem_of(GetParam().text);
      const ConvProblem problem = direction == Direction::kForward ? forward : with_direction(forward, direction);
      if (direction == Direction::kBackwardWeight && !GetParam().gradient) continue;
      const auto kernels = direct_kernels_of(problem, target, GetParam().kind);
      ASSERT_FALSE(kernels.empty()) << info_of(target).name << ' ' << to_text(problem);
      expect_exact(*device, problem, kernels.front());
      if (kernels.size() > 1) expect_exact(*device, problem, kernels.back());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Edges, AmdDirectExact,
                         testing::Values(DirectCase{"fwd bf16 n2 c16 k16 g16 i9x9 f3x3 p1 +bias+relu", kStream},
                                         DirectCase{"fwd fp16 n1 c17 k17 g17 i10x6 f3x3 s2 p1", kStream},
                                         DirectCase{"fwd bf16 n1 c8 k8 g8 i3x4 f7x7 p3", kStream},
                                         DirectCase{"fwd fp32 n1 c4 k4 g4 i9x8 f5x5 s2 p2 +residual", kStream},
                                         DirectCase{"fwd bf16 n2 c16 k16 g16 i21 f4 p3:0", kStream},
                                         DirectCase{"fwd bf16 n1 c4 k4 g4 i4x5x6 f3x3x3 s2x1x1 p1", kStream},
                                         DirectCase{"fwd bf16 n2 c5 k5 g5 i9x37 f3x3 p1 NCHW +bias+relu", kStream},
                                         DirectCase{"fwd bf16 n1 c8 k8 g8 i16x17 f3x3 d7 p7 +scale+bias", kGather},
                                         DirectCase{"fwd fp16 n1 c5 k15 g5 i6x6 f3x3 s3x2 d2 p2", kGather},
                                         DirectCase{"fwd bf16 n1 c2 k2 g2 i8x9 f31x31 p15", kGather},
                                         DirectCase{"fwd fp32 n1 c2 k4 g2 i41 f9 s2 d3 p5:1 NCW", kGather},
                                         DirectCase{"fwd e4m3>bf16 n1 c4 k4 g4 i3x4x5 f2x3x2 s1x2x1 p1", kGather},
                                         DirectCase{"fwd bf16 n2 c32 k32 g2 i5x6 f3x3 p1 +bias+residual+relu", kGroups},
                                         DirectCase{"fwd fp16 n3 c96 k96 g3 i9x9 f3x3 s2 p1 +amax", kGroups, false},
                                         DirectCase{"fwd fp16 n3 c48 k48 g3 i9x9 f3x3 s2 p1 +amax", kGroups, true,
                                                    false},
                                         DirectCase{"fwd bf16 n2 c24 k24 g6 i7x40 f3x3 p1:0x2:1 +scale+bias", kGroups},
                                         DirectCase{"fwd bf16 n2 c40 k40 g5 i6x9 f5x5 p2", kGroups, false, false},
                                         DirectCase{"fwd bf16 n3 c16 k16 g1 i71 f4 p3:0 +bias+relu", kGroups},
                                         DirectCase{"fwd fp16 n2 c32 k32 g2 i37 f3 s2 p1", kGroups}));

// Causal, with what came before in a tensor of its own.
TEST(AmdDirect, ReadsHistory) {
  for (const Target target : kDirectTargets) {
    const auto device = open_device("sim:" + std::string(info_of(target).name));
    ASSERT_TRUE(device.ok()) << device.status().message();
    for (const Kind kind : {kStream, kGather, Kind::kDepthwiseStep}) {
      const ConvProblem problem = problem_of("fwd bf16 n2 c24 k24 g24 i21 f4 pcausal history");
      const auto kernels = direct_kernels_of(problem, target, kind);
      ASSERT_FALSE(kernels.empty());
      EXPECT_TRUE(kernels.front().direct.history);
      expect_exact(*device, problem, kernels.front());
    }
  }
}

#if WT_HAVE_CLANG
// One of each direction, kind, filter and stride: scratch memory would be a spill.
TEST(AmdDirect, NoScratchInASample) {
  for (const Target target : {Target::kGfx942, Target::kGfx1100}) {
    std::vector<KernelConfig> sample;
    std::set<std::tuple<Direction, Kind, int, int, int, int>> seen;
    const RuleQuery query{.target = target,
                          .rule_set = RuleSet::kProfiler,
                          .types = {DataType::kBf16},
                          .dims = {1, 2},
                          .layouts = {Layout::kChannelsLast}};
    for (const KernelConfig& config : list_kernels(query).kernels) {
      if (config.family() == Family::kDirect && config.x == config.y && config.x == config.w &&
          seen.emplace(config.direction, config.kind, config.dims == 1 ? 0 : config.fixed.filter_h,
                       config.fixed.stride_h, config.dims, config.kind == kGroups ? config.direct.vector_in : 0)
              .second)
        sample.push_back(config);
    }
    EXPECT_GE(sample.size(), 25u);
    expect_no_spills(sample, compile::Backend::kClang);
  }
}
#endif  // WT_HAVE_CLANG

}  // namespace
}  // namespace wt
