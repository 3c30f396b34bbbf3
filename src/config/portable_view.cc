// SPDX-License-Identifier: Apache-2.0
#include "config/portable_view.h"

#include <utility>

#include "config/merged_problem.h"

namespace wt {

namespace {

// WHY: rows of taps that only together make vectors need what the portable loaders have not, a place for every tap.
bool is_plain(const WaveletView& view) { return !view.padded() && !view.row_is_one_run; }

}  // namespace

const WaveletView* portable_view(const KernelConfig& config, const ConvProblem& problem) {
  const bool merges = config.gemm.groups_per_tile > 1;
  const std::optional<WaveletView>& view = wavelet_view(config, merges ? merged_problem(config, problem) : problem);
  return view && is_plain(*view) ? &*view : nullptr;
}

const WaveletWeightView* portable_weight_view(const KernelConfig& config, const ConvProblem& problem) {
  KernelConfig gathering = config;  // its A is what is gathered
  std::swap(gathering.gemm.vector_a, gathering.gemm.vector_b);
  const bool merges = config.gemm.groups_per_tile > 1;
  const std::optional<WaveletWeightView>& view =
      wavelet_weight_view(gathering, merges ? merged_problem(config, problem) : problem);
  return view && is_plain(view->walk) ? &*view : nullptr;
}

}  // namespace wt
