// SPDX-License-Identifier: Apache-2.0
// kernels/wavelet/device/entries.h - which wavelet kernel serves a direction.
#pragma once

#include "kernels/beside/device/split_sum.h"
#include "kernels/wavelet/device/kernel.h"
#include "kernels/wavelet/device/weight_kernel.h"

namespace wt {

template <KernelConfig kConfig, Direction kDirection = kConfig.direction>
struct WaveletKernel : WaveletGemm<kConfig> {};
template <KernelConfig kConfig>
struct WaveletKernel<kConfig, Direction::kBackwardWeight> : WaveletWeightGemm<kConfig> {};

}  // namespace wt
