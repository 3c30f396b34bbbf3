// SPDX-License-Identifier: Apache-2.0
// kernels/four_wave/kind.cc - CDNA's four-wave kernel.
#include "kernels/four_wave/kind.h"

#include "kernels/beside/device/fnuz_copy_arguments.h"
#include "kernels/beside/device/transpose_filter_arguments.h"
#include "kernels/four_wave/device/layout.h"

namespace wt::kinds {
namespace {

constexpr Pipeline kPipelines[] = {Pipeline::kFourWave};
constexpr Target kTargets[] = {Target::kGfx90a, Target::kGfx942, Target::kGfx950};
constexpr Direction kDirections[] = {Direction::kForward, Direction::kBackwardData};
constexpr std::string_view kReadFields[] = {"gemm.tile",          "gemm.warps",    "gemm.mma",         "gemm.pipeline",
                                            "gemm.stages",        "gemm.loader_a", "gemm.loader_b",    "gemm.vector_a",
                                            "gemm.block_swizzle", "gemm.vector_b", "gemm.aligned_copy"};

int64_t shared_bytes(const KernelConfig& config) { return four_wave_layout::shared_bytes(config); }

std::vector<LaunchEntry> entries(const KernelConfig& config) {
  std::vector<LaunchEntry> list;
  if (config.direction != Direction::kForward) list.push_back({kTransposeSuffix, "wt::TransposeFilter"});
  if (config.gemm.aligned_copy) list.push_back({kFnuzSuffix, "wt::FnuzCopy"});
  return list;
}

}  // namespace

extern const KernelKind kFourWave = {.id = Kind::kFourWave,
                                     .header = "kernels/four_wave/device/kernel.h",
                                     .class_name = "wt::FourWaveGemm",
                                     .pipelines = kPipelines,
                                     .targets = kTargets,
                                     .directions = kDirections,
                                     .fields = kReadFields,
                                     .propose = four_wave_kind::propose,
                                     .target_rows = four_wave_kind::target_rows,
                                     .problem_rows = four_wave_kind::problem_rows,
                                     .shared_bytes = shared_bytes,
                                     .predict = four_wave_kind::predict,
                                     .bind = four_wave_kind::bind,
                                     .entries = entries};

}  // namespace wt::kinds
