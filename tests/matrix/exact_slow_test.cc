// SPDX-License-Identifier: Apache-2.0
// tests/matrix/exact_slow_test.cc - types x directions x ways of storing x dimensions in the simulator, on small
// integers.
//
// In CI every cell on sm_90a and the cells in two dimensions of other targets; WAVETILE_TEST_ALL_CELLS=1 tries all.
#include "tests/matrix/cells.h"

namespace wt::matrix {
namespace {

using Part = std::tuple<Target, Direction, int>;  // dimensions

class Matrix : public Kernels, public testing::WithParamInterface<Part> {};

TEST_P(Matrix, EveryCellIsExact) {
  const auto [target, direction, dims] = GetParam();
  struct Run {
    ConvProblem problem;
    KernelConfig config;
  };
  std::vector<Run> runs;
  std::vector<KernelConfig> kernels;
  std::set<std::string> names;
  for (const std::string& types : type_pairs(direction)) {
    for (const Shape& shape : kShapes) {
      const ConvProblem problem = problem_of_cell(direction, types, shape, dims);
      const std::vector<KernelConfig> serving = kernels_of(problem, target);
      EXPECT_FALSE(serving.empty()) << "no kernel for " << to_text(problem);
      for (const KernelConfig& config : serving) {
        runs.push_back({problem, config});
        if (names.insert(name_of(config)).second) kernels.push_back(config);
      }
      if (!all_cells()) break;
    }
  }
  compile_ahead(kernels);
  const auto device = simulated(target);
  ASSERT_NE(device, nullptr);
  for (const Run& run : runs) expect_exact(device, run.problem, run.config);
  RecordProperty("kernels", static_cast<int>(kernels.size()));
  RecordProperty("runs", static_cast<int>(runs.size()));
}

std::vector<Part> parts() {
  std::vector<Part> parts;
  for (const Target target : matrix_targets()) {
    for (const Direction direction : {Direction::kForward, Direction::kBackwardData, Direction::kBackwardWeight}) {
      for (int dims = 1; dims <= kMaxDims; ++dims) {
        if (all_cells() || target == Target::kSm90a || dims == 2) parts.emplace_back(target, direction, dims);
      }
    }
  }
  return parts;
}

std::string name_of_part(const testing::TestParamInfo<Part>& part) {
  const auto [target, direction, dims] = part.param;
  return fmt::format("{}_{}_{}d", text_of(target), name_of(direction), dims);
}

INSTANTIATE_TEST_SUITE_P(Cells, Matrix, testing::ValuesIn(parts()), name_of_part);

}  // namespace
}  // namespace wt::matrix
