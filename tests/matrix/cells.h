// SPDX-License-Identifier: Apache-2.0
// tests/matrix/cells.h - every type pair x direction x number of dimensions, and the kernels that each cell is tried
// with.
#pragma once

#include <stdlib.h>

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "config/fields.h"
#include "dispatch/choice/selection.h"
#include "dispatch/plan/kernel.h"
#include "generate/source.h"
#include "runtime/sim/device.h"
#include "tests/dispatch/exact_trial.h"
#include "tests/dispatch/tuning_scratch.h"

namespace wt::matrix {

// Every cell of every simulated target, with each kind of kernel, instead of what CI has time for.
inline bool all_cells() { return std::getenv("WAVETILE_TEST_ALL_CELLS") != nullptr; }

inline const char* const kInputs[] = {"fp32",      "tf32",      "fp16",      "bf16",     "e4m3*e4m3",
                                      "e4m3*e5m2", "e5m2*e4m3", "e5m2*e5m2", "int8*int8"};
inline const char* const kOutputs[] = {"fp32", "tf32", "fp16", "bf16", "e4m3", "e5m2", "int8"};

// Every pair of input and output types that validates in the direction.
inline std::vector<std::string> type_pairs(Direction direction) {
  std::vector<std::string> pairs;
  for (const std::string in : kInputs) {
    for (const std::string out : kOutputs) {
      const std::string types = in + ">" + out;
      if (parse_problem(std::string(name_of(direction)) + " " + types + " n1 c8 k8 i4 f1").ok()) pairs.push_back(types);
    }
  }
  return pairs;
}

// The sizes of a problem in one, two and three dimensions.
struct Shape {
  const char* what;
  const char* sizes[kMaxDims];
};

// Channels that end inside blocks of 32 and 64, and are whole 16 bytes of every type; pixels that end inside tiles.
inline constexpr Shape kDense = {"dense",
                                 {"n2 c48 k80 i9 f3 p1", "n1 c48 k80 i5x6 f3x3 p1", "n1 c48 k80 i3x4x3 f3x1x2 p1x0x1"}};
// What other kinds of kernels ask for.
inline constexpr Shape kShapes[] = {
    kDense,
    {"unit filter", {"n2 c48 k80 i9 f1", "n1 c48 k80 i5x6 f1x1", "n1 c48 k80 i3x4x3 f1x1x1"}},
    {"strided", {"n2 c48 k80 i9 f3 s2 p1", "n1 c48 k80 i9x8 f3x3 s2 p1", "n1 c48 k80 i5x4x5 f3x3x3 s2 p1"}},
    {"patches", {"n2 c16 k64 i8 f2 s2", "n1 c16 k64 i8x8 f2x2 s2", "n1 c16 k64 i4x4x4 f2x2x2 s2"}},
    {"depthwise", {"n1 c64 k64 g64 i9 f3 p1", "n1 c64 k64 g64 i9x9 f3x3 p1", "n1 c64 k64 g64 i4x5x6 f3x3x3 p1"}},
    {"small groups", {"n1 c64 k64 g8 i9 f3 p1", "n1 c64 k64 g8 i9x9 f3x3 p1", "n1 c64 k64 g8 i4x5x6 f3x3x3 p1"}},
    {"few inputs", {"n1 c3 k64 i16 f3 p1", "n1 c3 k64 i16x16 f3x3 p1", "n1 c3 k64 i4x5x16 f3x3x3 p1"}},
    {"few outputs", {"n1 c64 k3 i16 f3 p1", "n1 c64 k3 i12x12 f3x3 p1", "n1 c64 k3 i4x5x16 f3x3x3 p1"}},
    {"channels first",
     {"n2 c48 k80 i9 f3 p1 NCW", "n1 c48 k80 i5x6 f3x3 p1 NCHW", "n1 c48 k80 i3x4x3 f3x1x2 p1x0x1 NCDHW"}},
};

inline ConvProblem problem_of_cell(Direction direction, const std::string& types, const Shape& shape, int dims) {
  return problem_of(std::string(name_of(direction)) + " " + types + " " + shape.sizes[dims - 1]);
}

// The model's pick and the first of each other way of storing; of all cells, one kernel of each kind and way out of the
// accumulators.
inline std::vector<KernelConfig> kernels_of(const ConvProblem& problem, Target target) {
  std::vector<KernelConfig> kernels;
  std::set<std::tuple<Kind, Staging, SplitK, StreamK, bool, bool, bool>> seen;
  PlanOptions options;
  options.deterministic = !all_cells();
  for (const RankedConfig& ranked : rank(problem, usual_rates(target), options)) {
    const KernelConfig& config = *ranked.config;
    const GemmConfig& gemm = config.gemm;
    const bool halo = gemm.loader_a == Loader::kTmaHalo || gemm.loader_b == Loader::kTmaHalo;
    const auto way = all_cells()
                         ? std::tuple(config.kind, gemm.staging, gemm.split_k, gemm.stream_k, halo,
                                      gemm.groups_per_tile > 1, config.finite_only)
                         : std::tuple(Kind::kBasic, gemm.staging, SplitK::kNone, StreamK::kOff, false, false, false);
    if (seen.insert(way).second) kernels.push_back(config);
  }
  return kernels;
}

// Kernels are compiled for these tests alone, quickly rather than well: there are many, and each runs once.
class Kernels : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("WAVETILE_CACHE_DIR", cache_.path().c_str(), 1);
    ::setenv("WAVETILE_CXX_FLAGS", "-O0", 1);
  }
  void TearDown() override {
    ::unsetenv("WAVETILE_CACHE_DIR");
    ::unsetenv("WAVETILE_CXX_FLAGS");
  }

  // Fills the cache on all cores; what does not compile is reported where its plan is made.
  static void compile_ahead(const std::vector<KernelConfig>& kernels) {
    std::vector<compile::Source> sources;
    for (const KernelConfig& config : kernels) {
      const Result<std::string> text = generate_source(config);
      ASSERT_TRUE(text.ok()) << text.status().message();
      sources.push_back({name_of(config), *text, config.target});
    }
    compile::compile_all(compile::Backend::kHost, sources);
  }

  static std::shared_ptr<Device> simulated(Target target) {
    const auto device = open_device(fmt::format("sim:{}", text_of(target)));
    EXPECT_TRUE(device.ok()) << device.status().message();
    return device.ok() ? *device : nullptr;
  }

 private:
  tuning::ScratchFolder cache_;
};

// Every simulated target.
inline std::vector<Target> matrix_targets() {
  std::vector<Target> targets;
  for (const DeviceInfo& device : list_sim_devices()) targets.push_back(device.target);
  return targets;
}
// Those of which CI tries more than the cells in two dimensions: each has device code of its own.
inline bool in_ci(Target target) {
  return target == Target::kSm80 || target == Target::kSm90a || target == Target::kGfx942 || target == Target::kGfx1100;
}

}  // namespace wt::matrix
