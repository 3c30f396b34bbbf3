// SPDX-License-Identifier: Apache-2.0
// kernels/wavelet/bind.h - launches of the Hopper kernels whose load warps gather.
#pragma once

#include "kernels/view.h"
#include "launch/binding.h"

namespace wt {

template <int kPhases>
struct WaveletArguments;
struct WaveletView;
struct WaveletWeightArguments;
struct WaveletWeightView;

// The walk over the gathered tensor, as it is in every parameter block.
template <int kPhases>
void set_walk(WaveletArguments<kPhases>& arguments, const KernelConfig& config, const WaveletView& view);
extern template void set_walk<3>(WaveletArguments<3>&, const KernelConfig&, const WaveletView&);
extern template void set_walk<96>(WaveletArguments<96>&, const KernelConfig&, const WaveletView&);

// The walk of a weight gradient and where its sums lie in dw; how the work is divided is the caller's.
WaveletWeightArguments weight_arguments(const KernelConfig& config, const WaveletWeightView& view);

// Weight gradients: bind_weight.cc.
Binding bind_wavelet_weight(const KernelConfig& config, const View& seen, const DeviceInfo& device, int splits);

}  // namespace wt
