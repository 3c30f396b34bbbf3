// SPDX-License-Identifier: Apache-2.0
// config/kernels/gemm_taps.cc - Hopper's kernel for few output channels: every pixel times every tap, then sums.
#include "config/kernels.h"
#include "kernel/gemm/taps/layout.h"

namespace wt {

namespace {

constexpr Pipeline kPipelines[] = {Pipeline::kTaps};
constexpr Target kTargets[] = {Target::kSm90a};
constexpr std::string_view kReadFields[] = {"gemm.tile",      "gemm.warps",     "gemm.mma",
                                            "gemm.pipeline",  "gemm.stages",    "gemm.loader_a",
                                            "gemm.swizzle_a", "gemm.swizzle_b", "gemm.load_warps"};

// Which best guesses a shape is among: forward ends in few channels, backward data of a first layer begins with them.
enum class Few { kNo, kBoth, kForward, kBackward };

struct Shape {
  short columns;
  int stages, min_blocks;
  Few few;
};

// Output channels times taps: 3x3 of 1, 3 and 4 channels; 5x5, 7x7 and 9x9 of 3.
constexpr Shape kShapes[] = {
    {16, 6, 4, Few::kNo},        {32, 6, 3, Few::kBoth}, {40, 6, 3, Few::kNo},
    {56, 6, 3, Few::kNo},        {80, 6, 2, Few::kNo},   {104, 6, 2, Few::kNo},
    {152, 4, 2, Few::kBackward}, {200, 4, 1, Few::kNo},  {248, 6, 1, Few::kForward},
};

bool is_few(Few few, Direction direction) {
  return few == Few::kBoth || few == (direction == Direction::kForward ? Few::kForward : Few::kBackward);
}

bool is_16_bit(DataType type) { return type == DataType::kBf16 || type == DataType::kF16; }

void propose(const KernelConfig& base, const TargetInfo&, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (base.layout != Layout::kChannelsLast || base.dims != 2 || base.direction == Direction::kBackwardWeight) return;
  if (!is_16_bit(operand_a(base)) || operand_a(base) != operand_b(base)) return;
  for (const Shape& shape : kShapes) {
    if (breadth == Breadth::kFew && !is_few(shape.few, base.direction)) continue;
    KernelConfig config = base;
    config.family = Family::kGemm;
    config.min_blocks = static_cast<unsigned char>(shape.min_blocks);
    GemmConfig& gemm = config.gemm;
    gemm.pipeline = Pipeline::kTaps;
    gemm.tile = {taps_layout::kPixels, shape.columns, taps_layout::kDepth};
    gemm.mma = {64, shape.columns, 16};
    gemm.warps = {4, 1, 1};
    gemm.stages = static_cast<unsigned char>(shape.stages);
    gemm.loader_a = Loader::kTmaTiled;
    gemm.swizzle_a = gemm.swizzle_b = 128;
    gemm.load_warps = 1;
    configs.push_back(config);
  }
}

}  // namespace

extern const KernelKind kGemmTaps = {.id = "gemm-taps",
                                     .header = "kernel/gemm/taps/kernel.h",
                                     .class_name = "wt::TapsGemm",
                                     .family = Family::kGemm,
                                     .pipelines = kPipelines,
                                     .targets = kTargets,
                                     .fields = kReadFields,
                                     .generic = false,
                                     .propose = propose};

}  // namespace wt
