// SPDX-License-Identifier: Apache-2.0
// kernels/rows/kind.cc - few input channels: raw rows in shared memory.
#include "kernels/rows/kind.h"

#include "base/format.h"
#include "kernels/rows/device/layout.h"
#include "kernels/rows/view.h"

namespace wt::kinds {
namespace {

constexpr Pipeline kPipelines[] = {Pipeline::kRows};
constexpr Target kTargets[] = {Target::kSm90a,  Target::kSm100a, Target::kSm103a,
                               Target::kSm110a, Target::kSm120a, Target::kSm121a};
constexpr Direction kDirections[] = {Direction::kForward, Direction::kBackwardData};
constexpr std::string_view kReadFields[] = {"gemm.tile",     "gemm.warps",      "gemm.mma",        "gemm.pipeline",
                                            "gemm.stages",   "gemm.loader_a",   "gemm.persistent", "gemm.staging",
                                            "gemm.vector_c", "gemm.load_warps", "gemm.filter_rows"};

int64_t shared_bytes(const KernelConfig& config) { return rows_layout::shared_bytes(config, 1, 0); }

// Any number of channels and taps that fills the kernel's runs.
std::vector<std::string> small_sizes(const KernelConfig& config) {
  const bool forward = config.direction == Direction::kForward;
  const int rows = config.gemm.filter_rows, planes = rows % 3 == 0 && rows > 3 ? 3 : 1;
  std::vector<std::string> sizes;
  for (const int taps : {rows, 3, 5, 7, 1, 2}) {
    const std::string rest = config.dims == 1   ? fmt::format("i40 f{} p{}", taps, taps / 2)
                             : config.dims == 2 ? fmt::format("i16x16 f{}x{} p{}", rows, taps, rows / 2)
                                                : fmt::format("i5x9x9 f{}x{}x{} p1", planes, rows / planes, taps);
    for (int few = 64; few > 0; --few)
      sizes.push_back(fmt::format("c{} k{} {}", forward ? few : 64, forward ? 64 : few, rest));
  }
  return sizes;
}

// Where all images are one line, an image of odd size turns even and odd pixels round for the next one, and windows of
// odd channels start at another number of a step.
bool sums_by_place(const View& view) { return rows_is_flat(view.problem()) && rows_runs(view).classes == 2; }

}  // namespace

extern const KernelKind kRows = {.id = Kind::kRows,
                                 .header = "kernels/rows/device/kernel.h",
                                 .class_name = "wt::RowsGemm",
                                 .pipelines = kPipelines,
                                 .targets = kTargets,
                                 .directions = kDirections,
                                 .fields = kReadFields,
                                 .propose = rows_kind::propose,
                                 .may_serve = rows_kind::may_serve,
                                 .sums_by_place = sums_by_place,
                                 .target_rows = rows_kind::target_rows,
                                 .problem_rows = rows_kind::problem_rows,
                                 .shared_bytes = shared_bytes,
                                 .predict = rows_kind::predict,
                                 .bind = rows_kind::bind,
                                 .small_sizes = small_sizes};

}  // namespace wt::kinds
