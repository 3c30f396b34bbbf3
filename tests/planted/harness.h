// SPDX-License-Identifier: Apache-2.0
// tests/planted/harness.h - runs a kernel with a bug planted in its device headers, and compares what the simulator
// says.
//
//   embedded headers --> scratch/src, one of them changed --WAVETILE_SOURCE_DIR--> kernel.so --simulator--> report
#pragma once

#include <filesystem>

#include "compile/embedded_headers.h"
#include "config/enum_names.h"
#include "config/targets.h"
#include "runtime/sim/device.h"
#include "tests/dispatch/exact_trial.h"
#include "tests/dispatch/tuning_scratch.h"
#include "tests/places.h"
#include "tests/planted/bugs.h"

namespace wt::planted {

namespace fs = std::filesystem;

// All files of this folder.
inline const std::vector<Kernel>& planted_kernels() {
  static const std::vector<Kernel> all = [] {
    std::vector<Kernel> kernels;
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(places::kSourceTree) / "tests/planted"))
      if (entry.path().extension() == ".bugs") files.push_back(entry.path());
    std::ranges::sort(files);
    for (const fs::path& file : files) {
      const Result<std::string> text = read_file(file);
      EXPECT_TRUE(text.ok()) << text.status().message();
      const Result<std::vector<Kernel>> parsed = parse_bugs(text.ok() ? *text : "");
      EXPECT_TRUE(parsed.ok()) << file << ": " << parsed.status().message();
      if (parsed.ok()) kernels.insert(kernels.end(), parsed->begin(), parsed->end());
    }
    return kernels;
  }();
  return all;
}

inline std::string header_text(const std::string& name) {
  for (const compile::EmbeddedHeader& header : compile::embedded_headers())
    if (header.name == name) return std::string(header.text);
  ADD_FAILURE() << name << " is no device header";
  return "";
}

// "kernels/tma/device/kernel.h:117", where the header has the text once.
inline std::string place_of(const std::string& header, const std::string& text) {
  const std::string whole = header_text(header);
  const size_t at = whole.find(text);
  EXPECT_TRUE(at != std::string::npos && whole.find(text, at + 1) == std::string::npos)
      << header << " must have this once: " << text;
  if (at == std::string::npos) return "";
  return header + ":" + std::to_string(1 + std::count(whole.begin(), whole.begin() + static_cast<long>(at), '\n'));
}

// When asynchronous work happens must not matter to what is found.
inline constexpr sim::Completion kRuns[] = {sim::Completion::kEarly, sim::Completion::kLate, sim::Completion::kRandom};

class PlantedBugs : public testing::TestWithParam<Kernel> {
 protected:
  void SetUp() override {
    for (const compile::EmbeddedHeader& header : compile::embedded_headers())
      ASSERT_TRUE(write_file(path_of(header.name), std::string(header.text)).ok());
    ::setenv("WAVETILE_SOURCE_DIR", tree_.path().c_str(), 1);
    ::setenv("WAVETILE_CACHE_DIR", cache_.path().c_str(), 1);
    ::setenv("WAVETILE_CXX_FLAGS", "-O0", 1);  // each kernel runs three times
    problem_ = problem_of(GetParam().problem);
    choose();
  }
  void TearDown() override {
    for (const char* name : {"WAVETILE_SOURCE_DIR", "WAVETILE_CACHE_DIR", "WAVETILE_CXX_FLAGS"}) ::unsetenv(name);
  }

  // The sample; or the first of the others, and with WAVETILE_TEST_ALL_PLANTED=1 (.ci/run every_bug) all of them.
  void run_bugs(bool sample) {
    for (const sim::Completion completion : kRuns)
      ASSERT_EQ(outcome(completion), "") << name_of(config_) << " is not right without a bug";
    const bool all = sample || std::getenv("WAVETILE_TEST_ALL_PLANTED");
    int planted = 0;
    for (const Bug& bug : GetParam().bugs)
      if (bug.sample == sample && (all || planted == 0)) plant(bug), ++planted;
    EXPECT_GT(planted, 0);
  }

 private:
  fs::path path_of(std::string_view header) const { return tree_.path() / "src" / header; }

  void choose() {
    const auto target = from_text<Target>(GetParam().target);
    ASSERT_TRUE(target.has_value()) << GetParam().target;
    target_ = *target;
    for (const RankedCandidate& c : rank_candidates(problem_, target_, {}, Breadth::kAll)) {
      if (!c.accepts() || text_of(c.config.kind) != GetParam().kind) continue;
      if (c.name.find(GetParam().part) == std::string::npos) continue;
      config_ = c.config;
      return;
    }
    FAIL() << "no kernel of kind " << GetParam().kind << " with " << GetParam().part << " takes " << GetParam().problem;
  }

  // The simulator's report, "wrong result", or nothing.
  std::string outcome(sim::Completion completion) const {
    sim::Options options;
    options.completion = completion;
    options.threads = 1;
    options.step_limit = 20'000'000;
    options.stall_seconds = 5;
    const auto device = open_sim_device(target_, options);
    if (!device.ok()) return device.status().message();
    const auto plan = make_kernel_plan(*device, problem_, config_, "planted");
    if (!plan.ok()) return plan.status().message();
    const auto tensors = TrialTensors::make(*device, problem_, true, 7);
    if (!tensors.ok()) return tensors.status().message();
    TrialOptions trial;
    trial.exact = true;
    trial.seed = 7;
    trial.time = false;
    const TrialResult result = run_trial(**tensors, **plan, trial);
    if (result.verified) return "";
    const std::string& said = result.status.message();
    return said.find("simulator: ") == std::string::npos ? "wrong result" : said;
  }

  // Without the kernel's name, which is long.
  static std::string brief(const std::string& said) {
    if (said.empty()) return "not found";
    const size_t at = said.find("simulator: "), block = said.find(", block", at);
    if (at == std::string::npos || block == std::string::npos) return said;
    return said.substr(at, said.find(": kernel", at) - at) + said.substr(block);
  }

  static bool meets(const std::string& said, const Expectation& expected) {
    if (expected.fault == "wrong result") return said == expected.fault;
    if (said.find("simulator: " + expected.fault) == std::string::npos) return false;
    if (expected.header.empty()) return true;
    const std::string place = place_of(expected.header, expected.text);
    const size_t at = said.find(place);
    return at != std::string::npos && !std::isdigit(static_cast<unsigned char>(said.c_str()[at + place.size()]));
  }

  void plant(const Bug& bug) {
    ASSERT_FALSE(bug.says.empty()) << bug.what;
    ASSERT_NE(place_of(bug.header, bug.before), "") << bug.what;
    ASSERT_EQ(std::ranges::count(bug.before, '\n'), std::ranges::count(bug.after, '\n')) << "lines move: " << bug.what;
    const std::string original = header_text(bug.header);
    std::string text = original;
    text.replace(text.find(bug.before), bug.before.size(), bug.after);
    ASSERT_TRUE(write_file(path_of(bug.header), text).ok());
    for (const sim::Completion completion : kRuns) {
      const std::string said = outcome(completion);
      if (std::getenv("WAVETILE_TEST_SHOW")) fmt::print("{}: {}: {}\n", GetParam().name, bug.what, brief(said));
      const bool found = std::ranges::any_of(bug.says, [&](const Expectation& e) { return meets(said, e); });
      EXPECT_TRUE(found) << bug.what << ", completion " << static_cast<int>(completion) << ": " << brief(said);
    }
    ASSERT_TRUE(write_file(path_of(bug.header), original).ok());
  }

  tuning::ScratchFolder tree_, cache_;
  ConvProblem problem_;
  Target target_ = Target::kSm90a;
  KernelConfig config_;
};

inline std::vector<Kernel> kernels_with(bool sample) {
  std::vector<Kernel> kernels;
  for (const Kernel& kernel : planted_kernels())
    if (std::ranges::any_of(kernel.bugs, [&](const Bug& bug) { return bug.sample == sample; }))
      kernels.push_back(kernel);
  return kernels;
}

inline std::string test_name(const testing::TestParamInfo<Kernel>& info) { return info.param.name; }
inline void PrintTo(const Kernel& kernel, std::ostream* out) { *out << kernel.name; }

}  // namespace wt::planted
