// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/wavelet/select.h - which wavelet kernel serves a direction.
#pragma once

#include "kernel/gemm/wavelet/kernel.h"
#include "kernel/gemm/wavelet/weight_kernel.h"
#include "kernel/split_sum.h"

namespace wt {

template <KernelConfig kConfig, Direction kDirection = kConfig.direction>
struct WaveletKernel : WaveletGemm<kConfig> {};
template <KernelConfig kConfig>
struct WaveletKernel<kConfig, Direction::kBackwardWeight> : WaveletWeightGemm<kConfig> {};

}  // namespace wt
