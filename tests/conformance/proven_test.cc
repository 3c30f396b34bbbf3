// SPDX-License-Identifier: Apache-2.0
// Kernels whose form rests on what no source proves: refused by name until probes of the device have passed. The
// simulator stands in for a GPU.
#include <fnmatch.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include "config/quarantine.h"
#include "conformance/run.h"
#include "dispatch/choice/candidates.h"
#include "dispatch/choice/proven.h"
#include "runtime/device.h"

namespace wt::conformance {
namespace {

class Proven : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("wavetile-proven-" + std::to_string(::getpid()));
    ::setenv("WAVETILE_PROVEN_FORMS", (folder_ / "forms.txt").c_str(), 1);
    const auto device = open_device("sim:sm_100a");
    ASSERT_TRUE(device.ok()) << device.status().message();
    device_ = *device;
    for (const Probe& probe : probes(Target::kSm100a)) known_.push_back(probe.name);
  }
  void TearDown() override {
    ::unsetenv("WAVETILE_PROVEN_FORMS");
    std::filesystem::remove_all(folder_);
  }

  static std::vector<Probe> probes_of(const UnprovenForm& form) {
    std::vector<Probe> list = probes(Target::kSm100a);
    std::erase_if(list, [&](const Probe& probe) {
      return ::fnmatch(std::string(form.probes).c_str(), probe.name.c_str(), 0) != 0;
    });
    return list;
  }

  // What the form's probes leave on the device.
  std::vector<ProbeResult> run(const UnprovenForm& form) const {
    const std::vector<Probe> list = probes_of(form);
    std::vector<ProbeResult> results;
    Result<Suite> suite = Suite::prepare(device_, list);
    EXPECT_TRUE(suite.ok()) << suite.status().message();
    if (!suite.ok()) return results;
    for (const Probe& probe : list) {
      const Result<Bytes> bytes = suite->run(probe);
      results.push_back({probe.name, bytes.ok() && *bytes == probe.expected});
    }
    return results;
  }

  // A kernel of the form, and whether plans on the device may take it.
  RankedCandidate asked() const {
    const auto problem = parse_problem("fwd bf16 n1 c72 k72 i19x11 f3x3 p1");
    for (const RankedCandidate& c : rank_candidates(*problem, device_->info(), {}, Breadth::kAll))
      if (unproven_form(c.config) && (c.accepts() || c.declines.front().id == "unproven-form")) return c;
    ADD_FAILURE() << "no kernel of such a form is proposed";
    return {};
  }

  std::filesystem::path folder_;
  std::shared_ptr<Device> device_;
  std::vector<std::string> known_;
};

TEST_F(Proven, EveryFormHasProbes) {
  ASSERT_FALSE(unproven_forms().empty());
  for (const UnprovenForm& form : unproven_forms()) EXPECT_GE(probes_of(form).size(), 5u) << form.id;
}

TEST_F(Proven, KernelsAreRefusedByNameUntilEveryProbeHasPassed) {
  const UnprovenForm& form = unproven_forms().front();
  const RankedCandidate before = asked();
  ASSERT_FALSE(before.accepts());
  EXPECT_NE(before.declines.front().message.find(form.fact), std::string::npos) << before.declines.front().message;
  EXPECT_NE(before.declines.front().message.find("wavetile conformance"), std::string::npos);

  std::vector<ProbeResult> results = run(form);
  ASSERT_FALSE(results.empty());
  for (const ProbeResult& result : results) EXPECT_TRUE(result.passed) << result.name;

  // Not by some of them, nor by those of another GPU.
  const std::vector<ProbeResult> some(results.begin(), results.end() - 1);
  ASSERT_TRUE(record_probes(device_->info(), some, known_).ok());
  EXPECT_FALSE(asked().accepts());
  DeviceInfo other = device_->info();
  other.name = "another";
  ASSERT_TRUE(record_probes(other, results, known_).ok());
  EXPECT_FALSE(asked().accepts());

  const auto proven = record_probes(device_->info(), results, known_);
  ASSERT_TRUE(proven.ok()) << proven.status().message();
  EXPECT_TRUE(proven->contains(std::string(form.id)));
  EXPECT_TRUE(asked().accepts());
  // A run of other probes leaves it.
  ASSERT_TRUE(record_probes(device_->info(), {}, known_).ok());
  EXPECT_TRUE(asked().accepts());

  results.front().passed = false;
  ASSERT_TRUE(record_probes(device_->info(), results, known_).ok());
  EXPECT_FALSE(asked().accepts());
}

}  // namespace
}  // namespace wt::conformance
