// SPDX-License-Identifier: Apache-2.0
// kernels/four_wave_weight/kind.cc - the weight gradient by CDNA's four waves.
#include "kernels/four_wave_weight/kind.h"

#include "kernels/beside/device/split_sum_arguments.h"
#include "kernels/four_wave/device/layout.h"

namespace wt::kinds {
namespace {

constexpr Pipeline kPipelines[] = {Pipeline::kFourWave};
constexpr Target kTargets[] = {Target::kGfx90a, Target::kGfx942, Target::kGfx950};
constexpr Direction kDirections[] = {Direction::kBackwardWeight};
constexpr std::string_view kReadFields[] = {"gemm.tile",     "gemm.warps",    "gemm.mma",          "gemm.pipeline",
                                            "gemm.stages",   "gemm.loader_a", "gemm.loader_b",     "gemm.vector_a",
                                            "gemm.vector_b", "gemm.split_k",  "gemm.block_swizzle"};

int64_t shared_bytes(const KernelConfig& config) { return four_wave_layout::shared_bytes(config); }

std::vector<LaunchEntry> entries(const KernelConfig& config) {
  if (config.gemm.split_k != SplitK::kWorkspace) return {};
  return {{kSumSuffix, "wt::SplitSum"}};
}

}  // namespace

extern const KernelKind kFourWaveWeight = {.id = Kind::kFourWaveWeight,
                                           .header = "kernels/four_wave_weight/device/kernel.h",
                                           .class_name = "wt::FourWaveWeight",
                                           .pipelines = kPipelines,
                                           .targets = kTargets,
                                           .directions = kDirections,
                                           .fields = kReadFields,
                                           .propose = four_wave_weight_kind::propose,
                                           .target_rows = four_wave_weight_kind::target_rows,
                                           .problem_rows = four_wave_weight_kind::problem_rows,
                                           .shared_bytes = shared_bytes,
                                           .predict = four_wave_weight_kind::predict,
                                           .bind = four_wave_weight_kind::bind,
                                           .entries = entries};

}  // namespace wt::kinds
