// SPDX-License-Identifier: Apache-2.0
// kernels/wavelet/view.h - a convolution as the wavelet kernels see it: which numbers along k lie next to each other.
//
// Both the constraint table and the binding of launches ask here, so that they agree.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "config/kernel_config.h"
#include "kernels/view.h"
#include "problem/problem.h"

namespace wt {

// Pixels of one dimension that meet the same taps. Taps are walked so that image positions rise.
struct WalkPhase {
  int64_t size, start, taps, filter, out;  // pixels; image position; taps; first tap; first output pixel
};
struct WalkDim {
  std::vector<WalkPhase> phases;  // longest first
  int64_t step, tap_step, filter_step, out_step;
};

struct WaveletView {
  // The same tensors in memory as a problem that is easier: a patch (stride = filter along w, no padding) is a filter
  // of one tap with that many times the channels.
  ConvProblem problem;
  WalkDim dim[kMaxDims];
  int64_t depth;    // channels of a group that are summed over
  int64_t columns;  // output channels of a group
  // Numbers that follow each other along k (kernels/wavelet/device/arguments.h).
  bool row_is_one_run;
  int64_t run, head, real;

  bool padded() const { return run != real; }
  int64_t numbers() const;  // along k, of the first phases
  int64_t phase_count() const;
};

// Weight gradients: one tensor is gathered under the taps, the other is read as it lies. Gathering dy is better where
// there are few output channels. It multiplies numbers of x by zeros beside dy, so such kernels are finite_only.
struct WaveletWeightView {
  WaveletView walk;      // over the gathered tensor, from the plain one's pixels; columns are the plain one's channels
  bool gathers_outputs;  // the gathered tensor is dy, which needs unit stride; else x
};

// Parts of the problem's view: a result is good as long as that, but for vectors of odd lengths only until the next.

// Forward and backward data. Backward data that is finite_only has stride phases as columns (kernel/gemm/wavelet/
// phase_columns.h): one walk over the stride's lattice, for strides without dilation. Nothing where vectors of
// `vector_a` do not fit the channels or rows of the image.
const std::optional<WaveletView>& wavelet_view(const KernelConfig& config, const View& seen);

// Backward weight. Nothing where vectors do not fit, or the kernel gathers dy and the stride is not 1.
const std::optional<WaveletWeightView>& wavelet_weight_view(const KernelConfig& config, const View& seen);

// How many of a filter's k-blocks may stay in shared memory: all of them, or none.
int wavelet_kept_blocks(const KernelConfig& config, int64_t blocks);

}  // namespace wt
