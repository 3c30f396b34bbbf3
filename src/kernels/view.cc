// SPDX-License-Identifier: Apache-2.0
#include "kernels/view.h"

#include "kernels/shared/merged_problem.h"
#include "kernels/tma/device/layout.h"
#include "problem/patch_view.h"

namespace wt {

namespace {

// Numbers that share a byte are one channel to copies of bytes.
ConvProblem packed(ConvProblem problem) {
  problem.c /= packed_in_byte(problem.x);
  return problem;
}

}  // namespace

const View& View::seen_by(const KernelConfig& config) const {
  if (config.kind != Kind::kBasic && packed_in_byte(problem_.x) > 1) {
    if (!packed_) packed_.reset(new View(packed(problem_), &asked_, rates_));
    return *packed_;
  }
  if (!tma_layout::sees_patches(config)) return *this;
  if (!is_patch_) is_patch_ = is_patch(problem_);
  if (!*is_patch_) return *this;
  const bool packed = tma_layout::packs_patches(config);
  std::unique_ptr<const View>& known = patches_[packed];
  if (!known) known.reset(new View(patch_view(problem_, packed), &asked_, rates_));
  return *known;
}

const View& View::merged(int groups) const {
  if (groups == 1) return *this;
  for (const auto& [count, known] : merged_)
    if (count == groups) return *known;
  return *merged_.emplace_back(groups, new View(merged_problem(groups, problem_), nullptr, rates_)).second;
}

}  // namespace wt
