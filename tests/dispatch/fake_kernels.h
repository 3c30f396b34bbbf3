// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/fake_kernels.h - a GPU of the fake driver whose kernels give right results and take the times they are
// told, so that tuning can be tested without a GPU or a compiler.
#pragma once

#include <cstring>
#include <map>
#include <set>

#include "compile/pack.h"
#include "config/fields.h"
#include "dispatch/choice/selection.h"
#include "kernels/beside/device/split_sum_arguments.h"
#include "problem/reference.h"
#include "tests/dispatch/tuning_scratch.h"
#include "tests/fake_driver/fake_gpu.h"

namespace wt {

class FakeKernels : public FakeGpu {
 protected:
  static constexpr const char* kProblem = "fwd bf16 n1 c16 k16 i4x4 f3x3 p1";

  void SetUp() override {
    FakeGpu::SetUp();
    ::setenv("WAVETILE_TUNING_DB", database_path().c_str(), 1);
    ::setenv("WAVETILE_CACHE_DIR", (folder_.path() / "cache").c_str(), 1);
    problem_ = *parse_problem(kProblem);
    ranked_ = rank(problem_, usual_rates(Target::kSm90a), {});
    ASSERT_GT(ranked_.size(), 50u);
    for (const RankedConfig& candidate : ranked_) names_.push_back(name_of(*candidate.config));
    write_pack("1");
    answer_ = make_tensors(problem_, Fill::kRandom, 1);
    reference(problem_, answer_);
    fake_on_launch(run, this);
    device_ = open();
  }
  void TearDown() override {
    device_.reset();
    for (const char* name : {"WAVETILE_TUNING_DB", "WAVETILE_CACHE_DIR", "WAVETILE_PACK"}) ::unsetenv(name);
    FakeGpu::TearDown();
  }

  std::filesystem::path database_path() const { return folder_.path() / "tuning.db"; }

  // Every candidate, or those with these numbers, as a module whose image is its name, and that of the sum of its
  // parts. Another `generation` stands for another source, and for other machine code unless `code` says otherwise.
  void write_pack(const std::string& generation, const std::set<size_t>& numbers = {}, std::string code = "") {
    if (code.empty()) code = generation;
    std::vector<compile::PackInput> inputs;
    for (const RankedConfig& candidate : ranked_) {
      const std::string name = name_of(*candidate.config);
      if (!numbers.empty() && !numbers.contains(static_cast<size_t>(&candidate - ranked_.data()))) continue;
      compile::Module module = module_with(name + " " + name + kSumSuffix + " code" + code);
      module.name = name;
      module.key = key_of_module(name, generation);
      module.compiler = compiler_;
      inputs.push_back({*candidate.config, module});
    }
    const std::filesystem::path file = folder_.path() / (generation + ".wtpack");
    const auto info = compile::write_pack(file, compile::Backend::kNvrtc, Target::kSm90a, "tests", inputs);
    ASSERT_TRUE(info.ok()) << info.status().message();
    ::setenv("WAVETILE_PACK", file.c_str(), 1);
  }

  static std::string key_of_module(const std::string& name, const std::string& generation) {
    return "key" + generation + " " + name;
  }

  // The output is the memory of its size that was poisoned last.
  static void run(const FakeLaunch* launch, void* user) {
    auto& self = *static_cast<FakeKernels*>(user);
    ++self.launches_[launch->kernel];
    const auto time = self.times_.find(launch->kernel);
    fake_set_kernel_time(time == self.times_.end() ? self.usual_us_ : time->second, 0);
    const size_t bytes = self.answer_.y.size();
    for (int i = fake_fill_count() - 1; i >= 0; --i) {
      const FakeFill& fill = *fake_fill(i);
      if (fill.value != 0xff || fill.bytes != bytes) continue;
      std::memcpy(fill.address, self.answer_.y.data(), bytes);
      if (self.wrong_.contains(launch->kernel)) static_cast<unsigned char*>(fill.address)[33] ^= 0x40;
      return;
    }
  }

  Result<std::shared_ptr<const Plan>> plan(PlanOptions options = {}) { return make_plan(device_, problem_, options); }

  tuning::ScratchFolder folder_;
  std::string compiler_ = "NVRTC 13.0";  // of the packs that are written
  ConvProblem problem_;
  std::vector<RankedConfig> ranked_;
  std::vector<std::string> names_;  // of ranked_
  HostTensors answer_;
  std::map<std::string, double> times_;  // by kernel; the others take usual_us_
  double usual_us_ = 50;
  std::set<std::string> wrong_;
  std::map<std::string, int> launches_;
  std::shared_ptr<Device> device_;
};

}  // namespace wt
