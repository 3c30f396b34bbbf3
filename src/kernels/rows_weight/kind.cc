// SPDX-License-Identifier: Apache-2.0
// kernels/rows_weight/kind.cc - the weight gradient of few input channels.
#include "kernels/rows_weight/kind.h"

#include <array>

#include "base/format.h"
#include "kernels/beside/device/split_sum_arguments.h"
#include "kernels/rows_weight/device/layout.h"
#include "kernels/rows_weight/view.h"

namespace wt::kinds {
namespace {

constexpr Pipeline kPipelines[] = {Pipeline::kRows};
constexpr Target kTargets[] = {Target::kSm90a,  Target::kSm100a, Target::kSm103a,
                               Target::kSm110a, Target::kSm120a, Target::kSm121a};
constexpr Direction kDirections[] = {Direction::kBackwardWeight};
constexpr std::string_view kReadFields[] = {"gemm.tile",    "gemm.warps",     "gemm.mma",      "gemm.pipeline",
                                            "gemm.stages",  "gemm.loader_a",  "gemm.loader_b", "gemm.split_k",
                                            "gemm.staging", "gemm.load_warps"};

int64_t shared_bytes(const KernelConfig& config) { return rows_weight_layout::shared_bytes(config, 0, 0); }
std::vector<LaunchEntry> entries(const KernelConfig&) { return {{kSumSuffix, "wt::RowsWeightSum"}}; }
TileCount tile_count(const KernelConfig& config, const View& seen) {
  const RowsWeightView view = rows_weight_view(config, seen);
  return {view.tiles_m * view.tiles_n, view.units};
}

std::vector<std::string> small_sizes(const KernelConfig& config) {
  const char* const rest = std::array{"i40 f3 s2 p1", "i16x16 f3x3 s2 p1", "i5x9x9 f3x3x3 p1"}[config.dims - 1];
  return {fmt::format("c3 k64 {}", rest), fmt::format("c3 k63 {}", rest)};
}

}  // namespace

extern const KernelKind kRowsWeight = {.id = Kind::kRowsWeight,
                                       .header = "kernels/rows_weight/device/kernel.h",
                                       .class_name = "wt::RowsWeightGemm",
                                       .pipelines = kPipelines,
                                       .targets = kTargets,
                                       .directions = kDirections,
                                       .fields = kReadFields,
                                       .propose = rows_weight_kind::propose,
                                       .may_serve = rows_weight_kind::may_serve,
                                       .target_rows = rows_weight_kind::target_rows,
                                       .problem_rows = rows_weight_kind::problem_rows,
                                       .shared_bytes = shared_bytes,
                                       .predict = rows_weight_kind::predict,
                                       .bind = rows_weight_kind::bind,
                                       .entries = entries,
                                       .tile_count = tile_count,
                                       .small_sizes = small_sizes};

}  // namespace wt::kinds
