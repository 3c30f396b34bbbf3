// SPDX-License-Identifier: Apache-2.0
// The probes of AMD targets in the simulator: it leaves what the manuals say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "config/targets.h"
#include "conformance/run.h"
#include "problem/problem.h"
#include "runtime/sim/device.h"

namespace wt::conformance {
namespace {

class AmdProbes : public testing::TestWithParam<Target> {};

TEST_P(AmdProbes, LeaveWhatTheManualsSay) {
  const std::vector<Probe> list = probes(GetParam());
  auto device = open_sim_device(GetParam());
  ASSERT_TRUE(device.ok()) << device.status().message();
  Result<Suite> suite = Suite::prepare(*device, list);
  ASSERT_TRUE(suite.ok()) << suite.status().message();
  for (const Probe& probe : list) {
    const Result<Bytes> bytes = suite->run(probe);
    ASSERT_TRUE(bytes.ok()) << probe.name << ": " << bytes.status().message();
    EXPECT_EQ(to_text(compare(*bytes, probe.expected), bytes->size(), "simulated", "right"), "") << probe.name;
  }
}

TEST_P(AmdProbes, CoverEveryMatrixInstruction) {
  std::set<std::string> names;
  for (const Probe& probe : probes(GetParam())) {
    EXPECT_TRUE(names.insert(probe.name).second) << probe.name << " is there twice";
    EXPECT_NE(probe.expected, probe.output) << probe.name << " would pass without running";
  }
  for (const MmaShape& mma : info_of(GetParam()).mma) {
    if (mma.type == DataType::kTf32) continue;  // multiplied as fp32
    const std::string name = fmt::format("mma.{}_{}x{}x{}", name_of(mma.type), mma.shape.m, mma.shape.n, mma.shape.k);
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, AmdProbes,
                         testing::Values(Target::kGfx90a, Target::kGfx942, Target::kGfx950, Target::kGfx1100,
                                         Target::kGfx1201, Target::kGfx1250),
                         [](const auto& test) { return std::string(info_of(test.param).name); });

// A card between the named ones is compared with the simulator of the named one whose device code it runs.
TEST(GenericTargets, HaveTheProbesOfTheNamedOnes) {
  EXPECT_EQ(probes(Target::kGfx11Generic).size(), probes(Target::kGfx1100).size());
  EXPECT_EQ(probes(Target::kGfx12Generic).front().expected, probes(Target::kGfx1201).front().expected);
}

}  // namespace
}  // namespace wt::conformance
