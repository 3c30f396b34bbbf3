// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05/kind.cc - Blackwell's kernels by bulk tensor copies and products into tensor memory.
#include "kernels/tcgen05/kind.h"

#include "base/format.h"
#include "kernels/beside/device/split_sum_arguments.h"
#include "kernels/tcgen05/device/layout.h"
#include "kernels/tma/seen.h"

namespace wt::kinds {
namespace {

constexpr Pipeline kPipelines[] = {Pipeline::kTcgen05};
constexpr Target kTargets[] = {Target::kSm100a, Target::kSm103a, Target::kSm110a};
constexpr std::string_view kReadFields[] = {"gemm.tile",          "gemm.warps",           "gemm.mma",
                                            "gemm.pipeline",      "gemm.stages",          "gemm.loader_a",
                                            "gemm.loader_b",      "gemm.swizzle_a",       "gemm.swizzle_b",
                                            "gemm.persistent",    "gemm.raster",          "gemm.block_swizzle",
                                            "gemm.staging",       "gemm.specialization",  "gemm.split_k",
                                            "gemm.vector_c",      "gemm.cluster_m",       "gemm.cluster_n",
                                            "gemm.multicast_a",   "gemm.multicast_b",     "gemm.load_warps",
                                            "gemm.double_buffer", "gemm.groups_per_tile", "gemm.aligned_copy",
                                            "finite_only"};

int64_t shared_bytes(const KernelConfig& config) {
  return tma_layout::box_k(config) > 0 ? tcgen05_layout::shared_bytes(config) : 0;
}
// A chunk of 64 columns and 32 rows a warp, and addresses; sums lie in tensor memory.
int registers(const KernelConfig&) { return 128; }

// Channels off 16 bytes, patches of few of them, and rows of 32 bytes; usual layers have the rest.
std::vector<std::string> small_sizes(const KernelConfig& config) {
  const GemmConfig& gemm = config.gemm;
  const char* const image = config.dims == 1 ? "i160" : config.dims == 2 ? "i16x16" : "i8x8x8";
  if (gemm.aligned_copy && gemm.specialization == Specialization::kPatch) {
    const char* const channels = config.direction == Direction::kForward ? "c3 k64" : "c6 k64";
    return {fmt::format("{} {} f4 s4", channels, image), fmt::format("c6 k60 {} f4 s4", image)};
  }
  if (gemm.aligned_copy) return {fmt::format("c30 k33 {} f3 p1", image), fmt::format("c30 k34 {} f3 p1", image)};
  if (tcgen05_layout::has_scales(config)) return {fmt::format("c160 k48 {} f3 p1", image)};
  if (gemm.swizzle_a == 32 && size_of(operand_a(config)) == 4) return {fmt::format("c8 k8 {} f3 p1", image)};
  return {};
}

std::vector<LaunchEntry> entries(const KernelConfig& config) {
  std::vector<LaunchEntry> list = seen_entries(config);
  if (config.gemm.split_k == SplitK::kWorkspace) list.push_back({kSumSuffix, "wt::SplitSum"});
  return list;
}

}  // namespace

extern const KernelKind kTcgen05 = {.id = Kind::kTcgen05,
                                    .header = "kernels/tcgen05/device/entries.h",
                                    .class_name = "wt::Tcgen05Kernel",
                                    .pipelines = kPipelines,
                                    .targets = kTargets,
                                    .fields = kReadFields,
                                    .scaled = true,
                                    .propose = tcgen05_kind::propose,
                                    .target_rows = tcgen05_kind::target_rows,
                                    .problem_rows = tcgen05_kind::problem_rows,
                                    .shared_bytes = shared_bytes,
                                    .registers = registers,
                                    .predict = tcgen05_kind::predict,
                                    .bind = tcgen05_kind::bind,
                                    .entries = entries,
                                    .small_sizes = small_sizes};

}  // namespace wt::kinds
