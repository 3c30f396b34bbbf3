// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/portable_test.cc - the portable pipelines: each of them on the simulator, which are chosen.
#include <gmock/gmock.h>

#include "config/rules.h"
#include "exact_trial.h"
#include "portable_kernels.h"

namespace wt {
namespace {

struct Portable {
  const char* device;
  Target target;
};

class PortableExact : public testing::TestWithParam<Portable> {};

// Every pipeline and scheduler in every direction, on a problem with tails everywhere, padding, stride and groups.
TEST_P(PortableExact, EveryPipelineInEveryDirection) {
  const auto device = open_device(GetParam().device);
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const char* text : {"fwd bf16 n2 c48 k80 g2 i9x7 f3x3 s2 p1 +bias", "bwd_data bf16 n1 c48 k64 i9x8 f3x3 s2 p1",
                           "bwd_weight bf16 n2 c16 k80 i9x7 f3x3 s2 p1"}) {
    const ConvProblem problem = problem_of(text);
    const auto kernels = one_of_each_loop(problem, GetParam().target);
    ASSERT_GE(kernels.size(), info_of(GetParam().target).async_copy ? 11u : 8u) << text;
    for (const KernelConfig& config : kernels) expect_exact(*device, problem, config);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, PortableExact,
                         testing::Values(Portable{"sim:sm_80", Target::kSm80}, Portable{"sim:gfx942", Target::kGfx942},
                                         Portable{"sim:gfx1201", Target::kGfx1201}),
                         [](const auto& param) { return std::string(text_of(param.param.target)); });

}  // namespace
}  // namespace wt
