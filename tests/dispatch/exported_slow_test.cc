// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/exported_slow_test.cc - an exported tree, built by CMake and the host compiler, runs in the simulator.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/files.h"
#include "compile/embedded_headers.h"
#include "config/fields.h"
#include "config/rules.h"
#include "dispatch/kernel_plan.h"
#include "dispatch/registry.h"
#include "dispatch/trial.h"
#include "generate/export.h"
#include "kernel/gemm/tma/weight_few_layout.h"
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

// Types by role: x*w>y forward, dy*w>dx and x*dy>dw.
std::string types_of(const KernelConfig& c) {
  const auto text = [](DataType a, DataType b, DataType out) {
    return fmt::format("{}*{}>{}", text_of(a), text_of(b), text_of(out));
  };
  if (c.direction == Direction::kForward) return text(c.x, c.w, c.y);
  return c.direction == Direction::kBackwardData ? text(c.y, c.w, c.x) : text(c.x, c.y, c.w);
}

std::string epilogue_of(const EpilogueConfig& epilogue) {
  std::string text = " ";
  if (epilogue.scale) text += "+scale";
  if (epilogue.bias) text += "+bias";
  if (epilogue.residual) text += "+residual";
  if (epilogue.activation != Activation::kNone) text += fmt::format("+{}", text_of(epilogue.activation));
  if (epilogue.amax) text += "+amax";
  return text;
}

// A depthwise layer, or one of small groups, with the sizes that a direct kernel is compiled for, 3 and 1 where it
// takes any.
std::string direct_sizes(const KernelConfig& config) {
  const DirectConfig& direct = config.direct;
  const auto in_dims = [&](int d, int h, int w) {
    // Small groups have one row in one dimension, the others one column.
    if (config.dims == 1) return fmt::format("{}", direct.design == DirectDesign::kGroups ? w : h);
    return config.dims == 2 ? fmt::format("{}x{}", h, w) : fmt::format("{}x{}x{}", d, h, w);
  };
  const auto or_else = [](int size, int free) { return size ? size : free; };
  const int h = or_else(direct.filter_h, 3), w = or_else(direct.filter_w, 3);
  const int out = direct.images == 1 ? 9 : 8;  // images=16 is for up to 8 columns of output
  const int image = direct.design == DirectDesign::kBanded ? out * direct.stride_w : out;
  const bool small = direct.design == DirectDesign::kGroups || direct.design == DirectDesign::kStacked;
  const int groups = small ? 8 : 64;
  // A group fills a bundle; in finite_only kernels several share it.
  const int width = small ? direct.vector_in / (config.finite_only ? 2 : 1) : 1;
  const int channels = groups * width;
  return fmt::format("i{} c{} k{} g{} f{} s{} p{}", in_dims(image, image, image), channels, channels, groups,
                     in_dims(3, h, w), in_dims(1, or_else(direct.stride_h, 1), or_else(direct.stride_w, 1)),
                     in_dims(1, h / 2, w / 2));
}

// A layer that begins or ends in few channels, with the filter that its kernel is compiled for; empty: another kernel.
std::string few_channels(const KernelConfig& config) {
  const GemmConfig& gemm = config.gemm;
  if (gemm.pipeline == Pipeline::kRows && config.direction == Direction::kBackwardWeight)
    return "c3 k64 i16x16 f3x3 s2 p1";
  if (gemm.pipeline == Pipeline::kRows) {
    const int rows = gemm.filter_rows, octets = gemm.tile.k / 8 / rows;
    // Odd numbers of many channels want two filters, for which there may be no room.
    const int most = (8 * octets - 1) / rows, even = most / 2 * 2, many = 64, pad = rows / 2;
    const int few = most > 8 && even % 8 != 0 ? even : most;
    const bool forward = config.direction == Direction::kForward;
    return fmt::format("c{} k{} i16x16 f{}x{} p{}", forward ? few : many, forward ? many : few, rows, rows, pad);
  }
  if (weight_few::serves(config)) return fmt::format("c64 k{} i9x9 f3x3 p1", gemm.tile.m - 4);
  if (gemm.pipeline != Pipeline::kTaps || config.direct.filter_h == 0) return "";
  const bool forward = config.direction == Direction::kForward;
  return fmt::format("c{} k{} i12x12 f{}x{} s{} p1", forward ? 64 : 1, forward ? 1 : 64, config.direct.filter_h,
                     config.direct.filter_w, config.direct.stride_h);
}

// Small problems of every shape that special kernels ask for; a kernel takes the first it accepts.
std::optional<ConvProblem> problem_for(const KernelConfig& config) {
  struct Size {
    const char *image, *rest;
  };
  // The last two are for weight gradients in one dimension, whose sums are short elsewhere.
  constexpr Size kSizes[] = {{"9", "c64 k64 f3 p1"}, {"8", "c64 k64 f1"},       {"8", "c16 k16 f2 s2"},
                             {"9", "c96 k96 f3 p1"}, {"9", "c64 k64 f3 s2 p1"}, {"150", "c64 k64 f3 p1"},
                             {"150", "c64 k64 f1"}};
  const char* layout =
      config.layout == Layout::kChannelsLast ? "" : std::array{"NCW", "NCHW", "NCDHW"}[config.dims - 1];
  if (config.family == Family::kDirect) {
    const auto problem = parse_problem(fmt::format("{} {} n1 {} {}{}", text_of(config.direction), types_of(config),
                                                   direct_sizes(config), layout, epilogue_of(config.epilogue)));
    if (problem.ok() && accepts(config, *problem)) return *problem;
    return std::nullopt;
  }
  if (const std::string sizes = few_channels(config); !sizes.empty()) {
    const auto problem = parse_problem(fmt::format("{} {} n1 {} {}", text_of(config.direction), types_of(config), sizes,
                                                   epilogue_of(config.epilogue)));
    if (problem.ok() && accepts(config, *problem)) return *problem;
    return std::nullopt;
  }
  for (const Size& size : kSizes) {
    std::string image = size.image;
    for (int i = 1; i < config.dims; ++i) image += fmt::format("x{}", size.image);
    const auto problem = parse_problem(fmt::format("{} {} n1 g{} i{} {} {}{}", text_of(config.direction),
                                                   types_of(config), int{config.gemm.groups_per_tile}, image, size.rest,
                                                   layout, epilogue_of(config.epilogue)));
    if (problem.ok() && accepts(config, *problem, {.deterministic = false})) return *problem;
  }
  return std::nullopt;
}

class ExportedKernels : public testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "wavetile-exported-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(root_); }

  // Of the tests rule set, the first of each direction, design and pipeline that one of the small problems fits; all of
  // them where WAVETILE_TEST_ALL_EXPORTED is set, which takes minutes.
  std::map<std::string, ConvProblem> sample() {
    const bool all = std::getenv("WAVETILE_TEST_ALL_EXPORTED") != nullptr;
    std::set<std::tuple<Direction, Family, DirectDesign, Pipeline, Loader, bool>> seen;
    std::map<std::string, ConvProblem> problems;
    for (const KernelConfig& config : list_kernels({.target = GetParam(), .rule_set = RuleSet::kTests}).kernels) {
      const std::tuple category(config.direction, config.family, config.direct.design, config.gemm.pipeline,
                                config.gemm.loader_a, config.gemm.loader_b == Loader::kTmaHalo);
      if (!all && seen.contains(category)) continue;
      const std::optional<ConvProblem> problem = problem_for(config);
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
                         testing::Values(Target::kSm80, Target::kSm90a, Target::kGfx942, Target::kGfx1100),
                         [](const auto& param) { return std::string(text_of(param.param)); });

}  // namespace
}  // namespace wt
