// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/exported_slow_test.cc - an exported tree, built by CMake and the host compiler, runs in the
// simulator.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/files.h"
#include "compile/embedded_headers.h"
#include "config/fields.h"
#include "dispatch/choice/registry.h"
#include "dispatch/plan/kernel.h"
#include "dispatch/trial/small_problem.h"
#include "dispatch/trial/trial.h"
#include "generate/export.h"
#include "rules/rules.h"
#include "runtime/sim/device.h"

namespace wt {
namespace {

namespace fs = std::filesystem;

std::vector<DeviceHeader> headers() {
  std::vector<DeviceHeader> list;
  for (const compile::EmbeddedHeader& header : compile::embedded_headers())
    list.push_back({std::string(header.name), std::string(header.text)});
  return list;
}

class ExportedKernels : public testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "wavetile-exported-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(root_); }

  // From the tests rule set, the first of each direction, kind, pipeline and loader that one of the small problems fits
  // (of a target that another resembles, of each direction and kind); all of them where WAVETILE_TEST_ALL_EXPORTED is
  // 1, which takes minutes, and of a larger number N every Nth; with "N:K" from the Kth on, counted from 0.
  std::map<std::string, ConvProblem> sample() {
    const char* const asked = std::getenv("WAVETILE_TEST_ALL_EXPORTED");
    const bool all = asked != nullptr;
    const int step = all ? std::max(1, std::atoi(asked)) : 1;
    const char* const colon = all ? std::strchr(asked, ':') : nullptr;
    int number = step - (colon ? std::atoi(colon + 1) % step : 0);
    std::set<std::tuple<Direction, Kind, Pipeline, Loader>> seen;
    std::map<std::string, ConvProblem> problems;
    for (const KernelConfig& config : list_kernels({.target = GetParam(), .rule_set = RuleSet::kTests}).kernels) {
      const bool resembles = is_amd(GetParam()) && GetParam() != Target::kGfx942 && GetParam() != Target::kGfx1100;
      const std::tuple category(config.direction, config.kind, resembles ? Pipeline::kBasicV1 : config.gemm.pipeline,
                                resembles ? Loader::kGather : config.gemm.loader_a);
      if (all ? number++ % step != 0 : seen.contains(category)) continue;
      const std::optional<ConvProblem> problem = small_problem_for(config);
      if (!problem) {
        EXPECT_FALSE(all) << "no small problem fits " << name_of(config);
        continue;
      }
      seen.insert(category);
      kernels_.push_back(config);
      problems.emplace(name_of(config), *problem);
    }
    return problems;
  }

  testing::AssertionResult run(const std::string& command) const {
    const fs::path log = root_ / "log.txt";
    if (std::system(fmt::format("{} > {} 2>&1", command, log.string()).c_str()) == 0)
      return testing::AssertionSuccess();
    return testing::AssertionFailure() << command << "\n" << *read_file(log);
  }

  fs::path root_;
  std::vector<KernelConfig> kernels_;
};

TEST_P(ExportedKernels, BuildAndRunInTheSimulator) {
  const std::map<std::string, ConvProblem> problems = sample();
  // Each direction has at least the generic kernel.
  ASSERT_GE(kernels_.size(), 3u);
  const fs::path tree = root_ / "tree", build = root_ / "build";
  ASSERT_TRUE(export_kernels({.folder = tree,
                              .target = {GetParam(), true},
                              .rule_set = "tests",
                              .kernels = kernels_,
                              .headers = headers()})
                  .ok());
  ASSERT_TRUE(run(fmt::format("cmake -S {} -B {} -DCMAKE_BUILD_TYPE=Release", tree.string(), build.string())));
  ASSERT_TRUE(run(fmt::format("cmake --build {} -j2", build.string())));

  // The library registers its kernels as data, and is itself a module that a simulated device loads.
  const fs::path library = build / "libwavetile_kernels.so";
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  const auto exported =
      reinterpret_cast<decltype(&wavetile_exported_kernels)>(dlsym(handle, "wavetile_exported_kernels"));
  ASSERT_NE(exported, nullptr);
  int count = 0;
  const wavetile_exported::Kernel* const* list = exported(&count);
  Registry registry(compile::Backend::kHost, GetParam());
  const Status added = registry.add_exported({list, static_cast<size_t>(count)});
  ASSERT_TRUE(added.ok()) << added.message();
  ASSERT_EQ(registry.size(), kernels_.size());

  compile::Module module;
  module.backend = compile::Backend::kHost;
  module.target = GetParam();
  module.name = "wavetile_kernels";
  module.image = *read_file(library);
  // Under every completion policy, each with a seed of its own: nothing is reported, and all results are right.
  for (const auto completion : {sim::Completion::kEarly, sim::Completion::kLate, sim::Completion::kRandom}) {
    sim::Options simulation;
    simulation.completion = completion;
    simulation.seed = 1 + static_cast<uint64_t>(completion);
    const auto device = open_sim_device(GetParam(), simulation);
    ASSERT_TRUE(device.ok()) << device.status().message();
    for (const KernelConfig& config : kernels_) {
      const std::string name = name_of(config);
      ASSERT_TRUE(registry.contains(name)) << name;
      const ConvProblem& problem = problems.at(name);
      const auto plan = make_kernel_plan(*device, problem, config, module, "exported");
      ASSERT_TRUE(plan.ok()) << plan.status().message();
      TrialOptions options;
      options.exact = true;
      const auto tensors = TrialTensors::make(*device, problem, options.exact, options.seed);
      ASSERT_TRUE(tensors.ok()) << tensors.status().message();
      const TrialResult result = run_trial(**tensors, **plan, options);
      EXPECT_TRUE(result.verified) << name << " on '" << to_text(problem) << "', seed " << simulation.seed << ": "
                                   << result.status.message();
    }
  }
  dlclose(handle);
}

INSTANTIATE_TEST_SUITE_P(Targets, ExportedKernels,
                         testing::Values(Target::kSm80, Target::kSm90a, Target::kSm100a, Target::kGfx90a,
                                         Target::kGfx942, Target::kGfx950, Target::kGfx1100, Target::kGfx1201,
                                         Target::kGfx1250),
                         [](const auto& param) { return std::string(text_of(param.param)); });

}  // namespace
}  // namespace wt
