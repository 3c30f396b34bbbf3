// SPDX-License-Identifier: Apache-2.0
// Every probe of tensor memory and launch control in the simulator of sm_100a, under every completion policy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/run.h"
#include "runtime/sim/device.h"

namespace wt::conformance {
namespace {

TEST(Simulator, AgreesWithTheManualsOfSm100a) {
  std::vector<Probe> list = probes(Target::kSm100a);
  std::erase_if(list, [](const Probe& probe) { return probe.since != Target::kSm100a; });  // others run on sm_90a
  EXPECT_GT(list.size(), 100u);
  for (const auto completion : {sim::Completion::kEarly, sim::Completion::kLate, sim::Completion::kRandom}) {
    sim::Options options;
    options.completion = completion;
    options.seed = 1 + static_cast<uint64_t>(completion);
    const auto device = open_sim_device(Target::kSm100a, options);
    ASSERT_TRUE(device.ok()) << device.status().message();
    Result<Suite> suite = Suite::prepare(*device, list);
    ASSERT_TRUE(suite.ok()) << suite.status().message();
    for (const Probe& probe : list) {
      const Result<Bytes> bytes = suite->run(probe);
      ASSERT_TRUE(bytes.ok()) << probe.name << ": " << bytes.status().message();
      EXPECT_EQ(to_text(compare(*bytes, probe.expected), bytes->size(), "simulated", "right"), "") << probe.name;
    }
  }
}

}  // namespace
}  // namespace wt::conformance
