// SPDX-License-Identifier: Apache-2.0
// Every probe of sm_90a, and of Blackwell, in the simulator, under every completion policy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/run.h"
#include "runtime/sim/device.h"

namespace wt::conformance {
namespace {

void expect_agreement(Target target) {
  const std::vector<Probe> list = probes(target);
  for (const auto completion : {sim::Completion::kEarly, sim::Completion::kLate, sim::Completion::kRandom}) {
    sim::Options options;
    options.completion = completion;
    options.seed = 1 + static_cast<uint64_t>(completion);
    const auto device = open_sim_device(target, options);
    ASSERT_TRUE(device.ok()) << device.status().message();
    Result<Suite> suite = Suite::prepare(*device, list);
    ASSERT_TRUE(suite.ok()) << suite.status().message();
    for (const Probe& probe : list) {
      const Result<Bytes> bytes = suite->run(probe);
      if (!probe.refused.empty()) {
        ASSERT_FALSE(bytes.ok()) << probe.name;
        EXPECT_THAT(bytes.status().message(), testing::HasSubstr(probe.refused)) << probe.name;
        continue;
      }
      ASSERT_TRUE(bytes.ok()) << probe.name << ": " << bytes.status().message();
      EXPECT_EQ(to_text(compare(*bytes, probe.expected), bytes->size(), "simulated", "right"), "") << probe.name;
    }
  }
}

TEST(Simulator, AgreesWithTheManualsOfSm90a) { expect_agreement(Target::kSm90a); }
// Products of warpgroups by mma.sync read every layout that wgmma does.
TEST(Simulator, AgreesWithTheManualsOfSm100a) { expect_agreement(Target::kSm100a); }

TEST(Probes, OfBlackwellHaveNoWgmmaOfOtherTypes) {
  int products = 0;
  for (const Probe& probe : probes(Target::kSm120a)) {
    EXPECT_FALSE(probe.needs_wgmma) << probe.name;
    products += probe.name.starts_with("wgmma.");
  }
  EXPECT_GT(products, 20);
  EXPECT_LT(probes(Target::kSm120a).size(), probes(Target::kSm100a).size());  // which has tensor memory too
}

}  // namespace
}  // namespace wt::conformance
