// SPDX-License-Identifier: Apache-2.0
// kernels/taps/kind.cc - few output channels: products by tap, summed where they land.
#include "kernels/taps/kind.h"

#include "base/format.h"
#include "kernels/taps/device/layout.h"

namespace wt::kinds {
namespace {

constexpr Pipeline kPipelines[] = {Pipeline::kTaps};
constexpr Target kTargets[] = {Target::kSm90a,  Target::kSm100a, Target::kSm103a,
                               Target::kSm110a, Target::kSm120a, Target::kSm121a};
constexpr std::string_view kReadFields[] = {"gemm.tile",       "gemm.warps",       "gemm.mma",       "gemm.pipeline",
                                            "gemm.stages",     "gemm.loader_a",    "gemm.swizzle_a", "gemm.swizzle_b",
                                            "gemm.load_warps", "gemm.filter_rows", "fixed.filter_h", "fixed.filter_w",
                                            "fixed.stride_h",  "fixed.stride_w"};

int64_t shared_bytes(const KernelConfig& config) { return taps_layout::shared_bytes(config, 1, 0); }

std::vector<std::string> small_sizes(const KernelConfig& config) {
  const FixedSizes& fixed = config.fixed;
  if (fixed.filter_h == 0) return {};
  const char* const channels = config.direction == Direction::kForward ? "c64 k1" : "c1 k64";
  if (config.dims == 1) return {fmt::format("{} i40 f{} s{} p1", channels, fixed.filter_w, fixed.stride_w)};
  if (config.dims == 2)
    return {fmt::format("{} i12x12 f{}x{} s{} p1", channels, fixed.filter_h, fixed.filter_w, fixed.stride_h)};
  std::vector<std::string> sizes;
  for (const int depth : {3, 1})
    sizes.push_back(fmt::format("{} i5x12x12 f{}x{}x{} s1x{}x{} p1", channels, depth, fixed.filter_h, fixed.filter_w,
                                fixed.stride_h, fixed.stride_w));
  return sizes;
}

}  // namespace

extern const KernelKind kTaps = {.id = Kind::kTaps,
                                 .header = "kernels/taps/device/entries.h",
                                 .class_name = "wt::TapsKernel",
                                 .pipelines = kPipelines,
                                 .targets = kTargets,
                                 .fields = kReadFields,
                                 .propose = taps_kind::propose,
                                 .may_serve = taps_kind::may_serve,
                                 .target_rows = taps_kind::target_rows,
                                 .problem_rows = taps_kind::problem_rows,
                                 .shared_bytes = shared_bytes,
                                 .predict = taps_kind::predict,
                                 .bind = taps_kind::bind,
                                 .small_sizes = small_sizes};

}  // namespace wt::kinds
