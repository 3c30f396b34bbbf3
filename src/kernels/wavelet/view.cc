// SPDX-License-Identifier: Apache-2.0
#include "kernels/wavelet/view.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <vector>

#include "base/integers.h"
#include "config/targets.h"
#include "kernels/wavelet/device/layout.h"
#include "problem/gemm_view.h"

namespace wt {

namespace {

bool is_patch(const ConvProblem& p) {
  // Scale and bias of dx run over its channels, which the other view has more of.
  if (p.direction == Direction::kBackwardData && (p.epilogue.scale || p.epilogue.bias)) return false;
  return p.g == 1 && p.layout == Layout::kChannelsLast && p.filter[2] > 1 && p.stride[2] == p.filter[2] &&
         p.dilation[2] == 1 && p.pad_lower[2] == 0 && p.pad_upper[2] == 0 && p.in[2] % p.filter[2] == 0;
}

WalkDim forward_dim(const ConvProblem& p, size_t i) {
  return {{{p.out()[i], -p.pad_lower[i], p.filter[i], 0, 0}}, p.stride[i], p.dilation[i], 1, 1};
}

WalkDim backward_dim(const ConvProblem& p, size_t i) {
  WalkDim dim{{}, 1, 1, -1, p.stride[i]};
  for (const DimPhase& phase : dim_phases(p, static_cast<int>(i))) {
    const int64_t last = std::max<int64_t>(phase.tap_count - 1, 0);
    dim.tap_step = -phase.shift_step;
    dim.filter_step = -phase.tap_step;
    dim.phases.push_back({phase.count, phase.shift_first + last * phase.shift_step, phase.tap_count,
                          phase.tap_first + last * phase.tap_step, phase.offset});
  }
  // Long sums first: the blocks that start last then have the least to do.
  std::ranges::stable_sort(dim.phases, std::greater{}, &WalkPhase::taps);
  return dim;
}

// Every phase at once: points of the stride's lattice, under every shift of dy that any of them sees.
WalkDim lattice_dim(const ConvProblem& p, size_t i) {
  const int64_t stride = p.stride[i], pad = p.pad_lower[i];
  const int64_t first = -floor_div(p.filter[i] - 1 - pad, stride);  // pixel 0 under the last tap, rounded up
  const int64_t last = floor_div(stride - 1 + pad, stride);
  return {{{(p.in[i] + stride - 1) / stride, first, last - first + 1, 0, 0}}, 1, 1, 1, stride};
}

}  // namespace

int64_t WaveletView::phase_count() const {
  int64_t count = 0;
  for (const WalkDim& each : dim) count += static_cast<int64_t>(each.phases.size());
  return count;
}

namespace {

// A walk over x (forward) or dy (backward data), whatever the direction that asks. `filled`: what only fills vectors
// need not be zero. `lattice`: phases are columns.
std::optional<WaveletView> walk_view(const ConvProblem& problem, int64_t vector, bool filled, bool lattice = false) {
  WaveletView view{.problem = problem};
  ConvProblem& p = view.problem;
  if (is_patch(p)) {
    p.c *= p.filter[2];
    p.in[2] /= p.filter[2];
    p.filter[2] = p.stride[2] = 1;
  }
  const bool forward = p.direction == Direction::kForward;
  for (size_t i = 0; i < kMaxDims; ++i)
    view.dim[i] = forward ? forward_dim(p, i) : lattice ? lattice_dim(p, i) : backward_dim(p, i);
  view.depth = forward ? p.c_per_group() : p.k_per_group();
  view.columns = forward ? p.k_per_group() : p.c_per_group();
  if (lattice) view.columns *= p.stride[0] * p.stride[1] * p.stride[2];
  view.row_is_one_run = false;
  view.run = view.real = view.depth;
  view.head = 0;
  if (view.depth % vector == 0) return view;

  // The channels of one tap do not fill vectors; those of a row of taps may, where they touch in memory.
  const WalkDim& w = view.dim[2];
  const int64_t width = (forward ? p.in[2] : p.out()[2]) * view.depth;
  if (p.g != 1 || w.phases.size() != 1) return std::nullopt;
  const WalkPhase& phase = w.phases.front();
  if ((w.tap_step != 1 && phase.taps != 1) || w.step * view.depth % vector != 0 || width % vector != 0)
    return std::nullopt;
  view.row_is_one_run = true;
  view.real = phase.taps * view.depth;
  view.head = ((phase.start * view.depth) % vector + vector) % vector;
  view.run = round_up(view.head + view.real, vector);
  if (!filled && view.padded()) return std::nullopt;
  return view;
}

bool has_unit_stride(const ConvProblem& p) { return p.stride == Spatial{1, 1, 1}; }

}  // namespace

int64_t WaveletView::numbers() const {
  int64_t runs = 1;
  for (size_t i = 0; i < kMaxDims; ++i)
    if (i < 2 || !row_is_one_run) runs *= dim[i].phases.front().taps;
  return runs * run;
}

namespace {

std::optional<WaveletWeightView> weight_view(const KernelConfig& config, const ConvProblem& problem) {
  const bool outputs = config.finite_only;
  if (outputs && !has_unit_stride(problem)) return std::nullopt;
  ConvProblem walked = problem;
  walked.epilogue = {};
  walked.direction = outputs ? Direction::kBackwardData : Direction::kForward;
  // What only fills vectors stands in rows of the product that are not stored.
  const auto walk = walk_view(walked, config.gemm.vector_a, true);
  if (!walk || walk->columns % config.gemm.vector_b != 0) return std::nullopt;
  return WaveletWeightView{*walk, outputs};
}

// The views of one problem, by what of a config they depend on.
template <class Known>
class Walks {
 public:
  explicit Walks(const View&) : known_(kOdd + 1) {}

  template <class Make>
  const std::optional<Known>& get(size_t index, const Make& make) {
    std::optional<std::optional<Known>>& known = known_.at(index);
    if (!known || index == kOdd) known = make();
    return *known;
  }

  static constexpr size_t kOdd = 127;  // vectors that are no power of two up to 32: not remembered

 private:
  std::vector<std::optional<std::optional<Known>>> known_;
};

bool is_usual(unsigned char vector) { return std::has_single_bit(vector) && vector <= 32; }
size_t log2_of(unsigned char vector) { return static_cast<size_t>(std::countr_zero(vector)); }

}  // namespace

const std::optional<WaveletView>& wavelet_view(const KernelConfig& config, const View& seen) {
  auto& walks = seen.part<Walks<WaveletView>>();
  const ConvProblem& problem = seen.problem();
  const bool async = config.gemm.loader_a == Loader::kAsync, lattice = wavelet_layout::has_phase_columns(config);
  const unsigned char vector = config.gemm.vector_a;
  const size_t index = is_usual(vector) ? (log2_of(vector) * 2 + async) * 2 + lattice : walks.kOdd;
  return walks.get(index, [&]() -> std::optional<WaveletView> {
    if (lattice && (has_unit_stride(problem) || problem.dilation != Spatial{1, 1, 1})) return std::nullopt;
    // Copies that land by themselves cannot clear what only fills vectors.
    return walk_view(problem, vector, !async, lattice);
  });
}

const std::optional<WaveletWeightView>& wavelet_weight_view(const KernelConfig& config, const View& seen) {
  auto& walks = seen.part<Walks<WaveletWeightView>>();
  const unsigned char a = config.gemm.vector_a, b = config.gemm.vector_b;
  const size_t index = is_usual(a) && is_usual(b) ? (log2_of(a) * 8 + log2_of(b)) * 2 + config.finite_only : walks.kOdd;
  return walks.get(index, [&] { return weight_view(config, seen.problem()); });
}

int wavelet_kept_blocks(const KernelConfig& config, int64_t blocks) {
  constexpr int64_t kReservedBytes = 1024;  // of a block, by the hardware
  const TargetInfo& target = info_of(config.target);
  const int64_t room = std::min<int64_t>(target.shared_per_block,
                                         target.shared_per_unit / std::max<int>(config.min_blocks, 1) - kReservedBytes);
  const int64_t beyond = std::max<int64_t>(blocks - config.gemm.stages, 0) * wavelet_layout::b_bytes(config);
  return wavelet_layout::shared_bytes(config) + beyond <= room ? static_cast<int>(blocks) : 0;
}

}  // namespace wt
