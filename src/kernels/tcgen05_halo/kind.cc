// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05_halo/kind.cc - Blackwell's kernels whose patches serve several taps.
#include "kernels/tcgen05_halo/kind.h"

#include "base/format.h"
#include "kernels/beside/device/split_sum_arguments.h"
#include "kernels/tcgen05/device/layout.h"
#include "kernels/tma/seen.h"

namespace wt::kinds {
namespace {

constexpr Pipeline kPipelines[] = {Pipeline::kTcgen05};
constexpr Target kTargets[] = {Target::kSm100a, Target::kSm103a, Target::kSm110a};
constexpr std::string_view kReadFields[] = {
    "gemm.tile",          "gemm.warps",         "gemm.mma",         "gemm.pipeline",        "gemm.stages",
    "gemm.loader_a",      "gemm.loader_b",      "gemm.swizzle_a",   "gemm.swizzle_b",       "gemm.persistent",
    "gemm.raster",        "gemm.block_swizzle", "gemm.staging",     "gemm.specialization",  "gemm.split_k",
    "gemm.vector_c",      "gemm.load_warps",    "gemm.filter_rows", "gemm.groups_per_tile", "gemm.aligned_copy",
    "gemm.double_buffer", "finite_only"};

int64_t shared_bytes(const KernelConfig& config) {
  return tma_layout::box_k(config) > 0 && config.gemm.filter_rows > 0 ? tcgen05_layout::shared_bytes(config) : 0;
}
int registers(const KernelConfig&) { return 128; }  // as kind tcgen05, whose loop this is

// Filters of the taps that the kernel has below each other.
std::vector<std::string> small_sizes(const KernelConfig& config) {
  const int taps = config.gemm.filter_rows, pad = taps / 2;
  const int groups = config.gemm.groups_per_tile;
  const std::string channels = groups > 1                        ? fmt::format("c64 k64 g{}", groups)
                               : config.gemm.aligned_copy        ? "c30 k34"
                               : size_of(operand_a(config)) == 1 ? "c48 k80"
                                                                 : "c40 k72";
  if (config.dims == 1) return {fmt::format("{} i40 f{} p{}", channels, taps, pad)};
  const int wide = config.gemm.specialization == Specialization::kFilter3x3 ? 3 : 2;
  if (config.dims == 2) return {fmt::format("{} i19x11 f{}x{} p{}x1", channels, taps, wide, pad)};
  return {fmt::format("{} i3x19x9 f2x{}x{} p0x{}x1", channels, taps, wide, pad)};
}

std::vector<LaunchEntry> entries(const KernelConfig& config) {
  std::vector<LaunchEntry> list = seen_entries(config);
  if (config.gemm.split_k == SplitK::kWorkspace) list.push_back({kSumSuffix, "wt::SplitSum"});
  return list;
}

}  // namespace

extern const KernelKind kTcgen05Halo = {.id = Kind::kTcgen05Halo,
                                        .header = "kernels/tcgen05_halo/device/entries.h",
                                        .class_name = "wt::Tcgen05HaloKernel",
                                        .pipelines = kPipelines,
                                        .targets = kTargets,
                                        .fields = kReadFields,
                                        .propose = tcgen05_halo_kind::propose,
                                        .target_rows = tcgen05_halo_kind::target_rows,
                                        .problem_rows = tcgen05_halo_kind::problem_rows,
                                        .shared_bytes = shared_bytes,
                                        .registers = registers,
                                        .predict = tcgen05_halo_kind::predict,
                                        .bind = tcgen05_halo_kind::bind,
                                        .entries = entries,
                                        .small_sizes = small_sizes};

}  // namespace wt::kinds
