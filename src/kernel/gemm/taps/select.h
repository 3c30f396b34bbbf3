// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/taps/select.h - which kernel for few output channels a config names.
#pragma once

#include "kernel/gemm/taps/kernel.h"
#include "kernel/gemm/taps/row_kernel.h"

namespace wt {

template <KernelConfig kConfig, bool kSumsRows = taps_layout::sums_rows(kConfig)>
struct TapsKernel : TapsGemm<kConfig> {};
template <KernelConfig kConfig>
struct TapsKernel<kConfig, true> : TapsRowGemm<kConfig> {};

}  // namespace wt
