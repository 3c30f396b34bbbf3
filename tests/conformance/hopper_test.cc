// SPDX-License-Identifier: Apache-2.0
// Every probe of sm_90a in the simulator, under every completion policy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/run.h"
#include "runtime/sim/device.h"

namespace wt::conformance {
namespace {

TEST(Simulator, AgreesWithTheManualsOfSm90a) {
  const std::vector<Probe> list = probes(Target::kSm90a);
  for (const auto completion : {sim::Completion::kEarly, sim::Completion::kLate, sim::Completion::kRandom}) {
    sim::Options options;
    options.completion = completion;
    options.seed = 1 + static_cast<uint64_t>(completion);
    const auto device = open_sim_device(Target::kSm90a, options);
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

}  // namespace
}  // namespace wt::conformance
