// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/trial/twins_test.cc - two names for one kernel are found, and kernels that only launches tell apart
// are none. twins_slow_test.cc compiles kernels.
#include "dispatch/trial/twins.h"

#include <gmock/gmock.h>

#include "config/fields.h"
#include "kernels/constraints.h"
#include "tests/dispatch/exact_trial.h"
#include "tests/dispatch/portable_kernels.h"

namespace wt {
namespace {

using ::testing::HasSubstr;

// What compilers made of the kernels, as if it were all the same.
std::vector<CodeCheck> as_one_code(const std::vector<KernelConfig>& kernels) {
  std::vector<CodeCheck> checks;
  for (const KernelConfig& config : kernels) checks.push_back({.config = config, .machine_code = "code"});
  find_twins(checks);
  return checks;
}

KernelConfig streamed(StreamK order, bool all) {
  return best_with(
      problem_of("bwd_weight fp16 n16 c512 k512 i14x14 f3x3 p1"), Target::kGfx942,
      [&](const KernelConfig& c) { return c.gemm.stream_k == order && c.gemm.stream_k_persistent == all; });
}

TEST(Twins, AreNamesThatLaunchesDoNotTellApart) {
  const ConvProblem problem = problem_of("fwd fp16 n1 c64 k64 i9x9 f3x3 p1");
  const KernelConfig first = best_with(problem, Target::kGfx942, [](const KernelConfig& c) {
    return c.gemm.pipeline == Pipeline::kMem && c.gemm.scheduler == Scheduler::kIntrawave;
  });
  KernelConfig second = first;
  second.gemm.scheduler = Scheduler::kInterwave;  // of one machine code it would be a name and nothing else
  ASSERT_TRUE(accepts(second, problem));
  const std::vector<CodeCheck> checks = as_one_code({first, second});
  EXPECT_TRUE(checks[0].faults.empty());
  ASSERT_EQ(checks[1].faults.size(), 1u);
  EXPECT_THAT(checks[1].faults.front(), HasSubstr("the same machine code and launches as " + name_of(first)));
}

TEST(Twins, AreNotThoseThatDifferInGridOrWorkspace) {
  for (const CodeCheck& check : as_one_code({streamed(StreamK::kLinear, false), streamed(StreamK::kLinear, true)}))
    EXPECT_TRUE(check.faults.empty()) << check.faults.front();
}

// Problems have one signature; and what was not compiled has no code.
TEST(Twins, AreOfOneSignatureAndCompiled) {
  const KernelConfig first = streamed(StreamK::kLinear, false);
  KernelConfig other = first;
  other.dims = 3;
  for (const CodeCheck& check : as_one_code({first, other})) EXPECT_TRUE(check.faults.empty());
  std::vector<CodeCheck> missing(2, CodeCheck{.config = first});
  find_twins(missing);
  EXPECT_TRUE(missing[1].faults.empty());
}

}  // namespace
}  // namespace wt
