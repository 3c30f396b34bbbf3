// SPDX-License-Identifier: Apache-2.0
// The probes themselves: complete, distinct, and told apart when a byte differs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "conformance/isolated.h"
#include "conformance/run.h"
#include "runtime/sim/device.h"

namespace wt::conformance {
namespace {

TEST(Probes, HaveUniqueNamesAndExpectations) {
  std::set<std::string> names;
  for (const Probe& probe : probes(Target::kSm90a)) {
    EXPECT_TRUE(names.insert(probe.name).second) << probe.name << " is there twice";
    EXPECT_EQ(probe.expected.size(), probe.output.size()) << probe.name;
    EXPECT_NE(probe.expected, probe.output) << probe.name << " would pass without running";
  }
  EXPECT_GT(names.size(), 250u);
}

TEST(Probes, CoverEveryNAndTypeOfWgmma) {
  std::set<std::string> found;
  for (const Probe& probe : probes(Target::kSm90a)) {
    if (!probe.name.starts_with("wgmma.")) continue;
    const size_t n = probe.name.find(".n");
    found.insert(probe.name.substr(n + 1, probe.name.find('.', n + 1) - n - 1));
    found.insert(probe.name.substr(6, n - 6));
  }
  for (int n = 8; n <= 256; n += 8) EXPECT_TRUE(found.contains(fmt::format("n{}", n))) << n;
  for (const char* types : {"bf16_bf16", "fp16_fp16", "tf32_tf32", "e4m3_e4m3", "e4m3_e5m2", "e5m2_e4m3", "e5m2_e5m2"})
    EXPECT_TRUE(found.contains(types)) << types;
}

TEST(Probes, OfSm80UseNothingOfHopper) {
  const std::vector<Probe> list = probes(Target::kSm80);
  EXPECT_FALSE(list.empty());
  for (const Probe& probe : list) {
    EXPECT_FALSE(probe.map) << probe.name;
    EXPECT_FALSE(probe.name.starts_with("wgmma") || probe.name.starts_with("cluster")) << probe.name;
  }
}

TEST(Compare, NamesTheFirstByteThatDiffers) {
  const Bytes left = {1, 2, 3, 4}, right = {1, 9, 3, 8};
  EXPECT_EQ(to_text(compare(left, right), 4, "here", "there"),
            "2 of 4 bytes differ, first at 0x1: 0x02 here, 0x09 there");
  EXPECT_EQ(to_text(compare(left, left), 4, "here", "there"), "");
}

TEST(Isolated, AnswersForEveryProbeInOrder) {
  const Result<DeviceInfo> info = isolated_info("sim:sm_80");
  ASSERT_TRUE(info.ok()) << info.status().message();
  EXPECT_EQ(info->id, "sim:sm_80");
  EXPECT_EQ(info->target, Target::kSm80);
  std::vector<Probe> list = probes(Target::kSm80);
  std::erase_if(list, [](const Probe& probe) { return !probe.name.starts_with("ldmatrix"); });
  ASSERT_EQ(list.size(), 4u);
  list[1].shape.threads = 64;  // which the kernel refuses
  size_t told = 0;
  const auto results = run_isolated("sim:sm_80", list, [&](size_t done) { told = done; });
  ASSERT_TRUE(results.ok()) << results.status().message();
  ASSERT_EQ(results->size(), 4u);
  EXPECT_EQ(told, 4u);
  for (const size_t i : {0u, 2u, 3u}) {
    ASSERT_TRUE((*results)[i].ok()) << (*results)[i].status().message();
    EXPECT_EQ(*(*results)[i], list[i].expected);
  }
  EXPECT_THAT((*results)[1].status().message(), testing::HasSubstr("64 threads"));
}

TEST(Isolated, PassesOnWhyADeviceDoesNotOpen) {
  const Result<DeviceInfo> info = isolated_info("sim:sm_99");
  ASSERT_FALSE(info.ok());
  EXPECT_THAT(info.status().message(), testing::HasSubstr("sm_99"));
  EXPECT_FALSE(run_isolated("sim:sm_99", probes(Target::kSm80)).ok());
}

// The probes that sm_80 has, in both simulators and under every completion policy.
TEST(Simulator, AgreesWithTheManualsOfSm80) {
  for (const Target target : {Target::kSm80, Target::kSm90a}) {
    const std::vector<Probe> list = probes(Target::kSm80);
    for (const auto completion : {sim::Completion::kEarly, sim::Completion::kLate, sim::Completion::kRandom}) {
      sim::Options options;
      options.completion = completion;
      const auto device = open_sim_device(target, options);
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
}

}  // namespace
}  // namespace wt::conformance
