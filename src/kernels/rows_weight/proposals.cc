// SPDX-License-Identifier: Apache-2.0
// kernels/rows_weight/proposals.cc - Hopper's weight gradients for few channels, from raw image rows.
#include "kernels/rows_weight/device/layout.h"
#include "kernels/rows_weight/kind.h"
#include "kernels/rows_weight/view.h"
#include "kernels/shared/warpgroup.h"
#include "problem/measures.h"
#include "problem/problem.h"

namespace wt::rows_weight_kind {
namespace {

// Positions of the window, two in a word: 32 words of 3x3 filters with up to 6 channels, 96 of 7x7 with 3.
struct Shape {
  short positions, columns;
  short groups_m, groups_k;
  int stages;
  bool guess, guess_words;  // among the best guesses with one load warp, with four
};
constexpr Shape kShapes[] = {
    {192, 64, 1, 2, 6, true, false},  {64, 64, 1, 2, 6, true, true},    {64, 64, 1, 3, 6, false, false},
    {64, 32, 1, 2, 6, true, false},   {64, 32, 1, 3, 6, false, false},  {128, 64, 1, 2, 6, false, false},
    {192, 64, 3, 1, 6, false, false}, {192, 64, 3, 2, 6, false, false}, {192, 128, 3, 1, 4, false, false},
    {64, 128, 1, 2, 4, false, false}, {256, 64, 2, 1, 6, false, false},
};

// For any number of output channels, which load warps bring.
constexpr Shape kWordShapes[] = {
    {64, 32, 1, 2, 6, false, false},  {64, 32, 1, 3, 6, false, false},  {128, 32, 1, 2, 6, false, false},
    {192, 32, 1, 2, 6, false, false}, {64, 64, 1, 2, 6, false, false},  {128, 64, 1, 2, 6, false, false},
    {192, 64, 1, 2, 4, false, false}, {192, 64, 3, 1, 4, false, false}, {192, 128, 3, 1, 4, false, false},
};

KernelConfig config_of(const KernelConfig& base, const Shape& shape, int load_warps) {
  KernelConfig config = base;
  config.min_blocks = 1;
  GemmConfig& gemm = config.gemm;
  gemm.pipeline = Pipeline::kRows;
  gemm.tile = {shape.positions, shape.columns, static_cast<short>(16 * shape.groups_k)};
  gemm.mma = warpgroup_mma(base.target, shape.columns, 16);
  gemm.warps = {static_cast<short>(4 * shape.groups_m), 1, shape.groups_k};
  gemm.stages = static_cast<unsigned char>(shape.stages);
  gemm.loader_a = Loader::kRegister;
  gemm.split_k = SplitK::kWorkspace;
  gemm.load_warps = static_cast<unsigned char>(load_warps);
  return config;
}

}  // namespace

void propose(const KernelConfig& base, const TargetInfo&, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (base.layout != Layout::kChannelsLast || base.direction != Direction::kBackwardWeight) return;
  if (!is_16_bit(base.x) || base.x != base.y) return;
  // WHY not fp16: packs have a limit, and layers of images in fp16 are rare.
  if (breadth == Breadth::kFew && (base.x != DataType::kBf16 || base.dims != 2)) return;
  for (const Shape& shape : kShapes) {
    for (const int load_warps : {1, 4}) {
      if (breadth == Breadth::kFew && !(load_warps == 1 ? shape.guess : shape.guess_words)) continue;
      configs.push_back(config_of(base, shape, load_warps));
    }
  }
  if (breadth == Breadth::kFew) return;
  for (const Shape& shape : kWordShapes) {
    configs.push_back(config_of(base, shape, 4));
    configs.back().gemm.loader_b = Loader::kVector;
  }
}

bool may_serve(const ConvProblem& problem) {
  if (problem.direction != Direction::kBackwardWeight || problem.g != 1) return false;
  const ConvProblem source = rows_weight_source(problem);
  return rows_weight_layout::takes_channels(source.c);
}

}  // namespace wt::rows_weight_kind
