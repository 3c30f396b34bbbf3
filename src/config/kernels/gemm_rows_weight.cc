// SPDX-License-Identifier: Apache-2.0
// config/kernels/gemm_rows_weight.cc - Hopper's weight gradients for few channels, from raw image rows.
#include "config/kernels.h"
#include "config/rows_weight_view.h"
#include "kernel/gemm/rows/weight_layout.h"
#include "problem/problem.h"

namespace wt {

namespace {

constexpr Pipeline kPipelines[] = {Pipeline::kRows};
constexpr Target kTargets[] = {Target::kSm90a};
constexpr Direction kDirections[] = {Direction::kBackwardWeight};
constexpr std::string_view kReadFields[] = {"gemm.tile",     "gemm.warps",   "gemm.mma",
                                            "gemm.pipeline", "gemm.stages",  "gemm.loader_a",
                                            "gemm.split_k",  "gemm.staging", "gemm.load_warps"};

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

bool is_16_bit(DataType type) { return type == DataType::kBf16 || type == DataType::kF16; }

KernelConfig config_of(const KernelConfig& base, const Shape& shape, int load_warps) {
  KernelConfig config = base;
  config.family = Family::kGemm;
  config.min_blocks = 1;
  GemmConfig& gemm = config.gemm;
  gemm.pipeline = Pipeline::kRows;
  gemm.tile = {shape.positions, shape.columns, static_cast<short>(16 * shape.groups_k)};
  gemm.mma = {64, shape.columns, 16};
  gemm.warps = {static_cast<short>(4 * shape.groups_m), 1, shape.groups_k};
  gemm.stages = static_cast<unsigned char>(shape.stages);
  gemm.loader_a = Loader::kRegister;
  gemm.split_k = SplitK::kWorkspace;
  gemm.load_warps = static_cast<unsigned char>(load_warps);
  return config;
}

void propose(const KernelConfig& base, const TargetInfo&, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (base.layout != Layout::kChannelsLast || base.dims != 2 || base.direction != Direction::kBackwardWeight) return;
  if (!is_16_bit(base.x) || base.x != base.y) return;
  // WHY not fp16: packs have a limit, and layers of images in fp16 are rare.
  if (breadth == Breadth::kFew && base.x != DataType::kBf16) return;
  for (const Shape& shape : kShapes) {
    for (const int load_warps : {1, 4}) {
      if (breadth == Breadth::kFew && !(load_warps == 1 ? shape.guess : shape.guess_words)) continue;
      configs.push_back(config_of(base, shape, load_warps));
    }
  }
}

bool may_serve(const ConvProblem& problem) {
  if (problem.direction != Direction::kBackwardWeight || problem.g != 1) return false;
  const ConvProblem source = rows_weight_source(problem);
  return source.c <= rows_weight_layout::kMostChannels && source.k % 8 == 0;
}

}  // namespace

extern const KernelKind kGemmRowsWeight = {.id = "gemm-rows-weight",
                                           .header = "kernel/gemm/rows/weight_kernel.h",
                                           .class_name = "wt::RowsWeightGemm",
                                           .family = Family::kGemm,
                                           .pipelines = kPipelines,
                                           .targets = kTargets,
                                           .directions = kDirections,
                                           .fields = kReadFields,
                                           .generic = false,
                                           .propose = propose,
                                           .may_serve = may_serve};

}  // namespace wt
