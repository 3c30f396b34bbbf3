// SPDX-License-Identifier: Apache-2.0
// kernels/taps/proposals.cc - Hopper's kernel for few output channels: every pixel times every tap, then sums.
#include <iterator>

#include "kernels/shared/warpgroup.h"
#include "kernels/taps/device/layout.h"
#include "kernels/taps/kind.h"
#include "problem/measures.h"
#include "problem/problem.h"

namespace wt::taps_kind {
namespace {

// Which best guesses a shape is among: forward ends in few channels, backward data of a first layer begins with them.
enum class Few { kNo, kForward, kBackward };

struct Shape {
  short columns;
  int stages, min_blocks;
  unsigned char filter = 0, stride = 0;  // 0: any
  Few few = Few::kNo;
};

// Output channels times taps: 3x3 of 1, 3 and 4 channels; 5x5, 7x7 and 9x9 of 3.
constexpr Shape kShapes[] = {
    {16, 6, 4},
    {32, 6, 3},
    {40, 6, 3},
    {56, 6, 3},
    {80, 6, 2},
    {104, 6, 2},
    {152, 4, 2},
    {200, 4, 1},
    {248, 6, 1},
    {16, 6, 4, 3, 1},
    {32, 6, 3, 3, 1, Few::kForward},
    {32, 4, 4, 3, 1},
    {32, 6, 3, 3, 2, Few::kBackward},
    {32, 4, 4, 3, 2},
    {40, 6, 3, 3, 1},
    {80, 6, 2, 3, 1},
    {32, 6, 3, 5, 1},
    {80, 6, 2, 5, 1},
    {56, 6, 3, 7, 1},
    {152, 4, 2, 7, 1},
    {152, 4, 2, 7, 2, Few::kBackward},
    {152, 3, 2, 7, 2},
    {16, 6, 4, 3, 2},
    {40, 6, 3, 3, 2},
    {48, 6, 3, 4, 2},
    {16, 6, 4, 4, 2},
    {80, 6, 2, 5, 2},
    {32, 6, 3, 5, 2},
    {112, 4, 2, 6, 2},
    {40, 6, 3, 6, 2},
    {56, 6, 3, 7, 2},
    {248, 6, 1, 9, 1, Few::kForward},
    {248, 3, 1, 9, 1},
};

// Output channels times a row of taps, where the filter's rows are summed over by the products: large filters, whose
// products would take longer to add up than to make.
struct RowShape {
  short columns;
  int stages, groups, min_blocks;
  unsigned char filter;
};
// WHY as many stages as fit: groups keep as many rows as the filter has, and copies run ahead with what is left.
constexpr RowShape kRowShapes[] = {
    {32, 20, 3, 1, 9}, {32, 20, 2, 1, 9}, {16, 20, 3, 1, 9}, {24, 20, 3, 1, 7}, {32, 20, 3, 1, 7},
    {16, 10, 2, 2, 5}, {24, 10, 2, 2, 5}, {16, 20, 3, 1, 5}, {16, 10, 2, 2, 3}, {16, 20, 3, 1, 3},
};

bool is_few(Few few, Direction direction) {
  return few == (direction == Direction::kForward ? Few::kForward : Few::kBackward);
}

KernelConfig config_of(const KernelConfig& base, short columns, int stages, int min_blocks, int groups) {
  KernelConfig config = base;
  config.min_blocks = static_cast<unsigned char>(min_blocks);
  GemmConfig& gemm = config.gemm;
  gemm.pipeline = Pipeline::kTaps;
  gemm.tile = {static_cast<short>(taps_layout::kPixels * groups), columns, taps_layout::kDepth};
  gemm.mma = warpgroup_mma(base.target, columns, 16);
  gemm.warps = {static_cast<short>(4 * groups), 1, 1};
  gemm.stages = static_cast<unsigned char>(stages);
  gemm.loader_a = Loader::kTmaTiled;
  gemm.swizzle_a = gemm.swizzle_b = 128;
  gemm.load_warps = 1;
  return config;
}

// One dimension: any filter, and those whose sums stay in registers.
constexpr Shape kLineShapes[] = {{16, 6, 4, 3, 1}, {32, 6, 3, 3, 1}, {16, 6, 4, 5, 1}, {16, 6, 4, 7, 1},
                                 {32, 6, 3, 7, 1}, {16, 6, 4, 9, 1}, {32, 6, 3, 9, 1}};

void propose_lines(const KernelConfig& base, std::vector<KernelConfig>& configs) {
  for (const Shape& shape : kShapes) {
    if (shape.filter == 0) configs.push_back(config_of(base, shape.columns, shape.stages, shape.min_blocks, 1));
  }
  for (const Shape& shape : kLineShapes) {
    configs.push_back(config_of(base, shape.columns, shape.stages, shape.min_blocks, 1));
    FixedSizes& fixed = configs.back().fixed;
    fixed.filter_h = fixed.stride_h = 1;
    fixed.filter_w = shape.filter;
    fixed.stride_w = shape.stride;
  }
}

}  // namespace

void propose(const KernelConfig& base, const TargetInfo&, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (base.layout != Layout::kChannelsLast || base.direction == Direction::kBackwardWeight) return;
  if (!is_16_bit(operand_a(base)) || operand_a(base) != operand_b(base)) return;
  if (base.dims != 2 && breadth == Breadth::kFew) return;  // packs hold what is used most
  if (base.dims == 1) return propose_lines(base, configs);
  for (const Shape& shape : kShapes) {
    if (breadth == Breadth::kFew && !is_few(shape.few, base.direction)) continue;
    if (base.direction == Direction::kForward && shape.stride > 1) continue;
    if (base.dims == 3 && shape.columns > 16 && shape.min_blocks > 3) continue;  // WHY: planes take registers too
    KernelConfig config = config_of(base, shape.columns, shape.stages, shape.min_blocks, 1);
    config.fixed.filter_h = config.fixed.filter_w = shape.filter;
    config.fixed.stride_h = config.fixed.stride_w = shape.stride;
    configs.push_back(config);
    // Steps over zeros count where every filter plane has them.
    for (const short depth : {32, 16}) {
      if (base.dims != 3) continue;
      configs.push_back(config);
      configs.back().gemm.tile.k = depth;
    }
  }
  if (breadth == Breadth::kFew || base.dims != 2) return;
  for (const RowShape& shape : kRowShapes) {
    KernelConfig config = config_of(base, shape.columns, shape.stages, shape.min_blocks, shape.groups);
    config.gemm.filter_rows = shape.filter;
    config.fixed.filter_h = config.fixed.filter_w = shape.filter;
    config.fixed.stride_h = config.fixed.stride_w = 1;
    configs.push_back(config);
  }
}

bool may_serve(const ConvProblem& problem) {
  const int64_t channels = problem.direction == Direction::kForward ? problem.k : problem.c;
  const bool rows = channels * problem.filter[2] <= kRowShapes[0].columns;
  return problem.g == 1 &&
         (rows || channels * problem.filter[1] * problem.filter[2] <= kShapes[std::size(kShapes) - 1].columns);
}

}  // namespace wt::taps_kind
