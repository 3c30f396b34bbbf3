// SPDX-License-Identifier: Apache-2.0
// config/portable_view.h - a convolution as the portable kernels see it: the walk of wavelet_view.h where every tap's
// channels are whole vectors, and groups_per_tile groups are one.
#pragma once

#include "config/wavelet_view.h"

namespace wt {

// Both are null where there is no such view, and good until the thread asks about another problem (wavelet_view.h).

// Forward and backward data. Nothing where vectors of `vector_a` do not fit the channels that are summed over.
const WaveletView* portable_view(const KernelConfig& config, const ConvProblem& problem);

// Backward weight: A is dy by vectors of `vector_a`, B is x, gathered, by vectors of `vector_b`.
const WaveletWeightView* portable_weight_view(const KernelConfig& config, const ConvProblem& problem);

}  // namespace wt
