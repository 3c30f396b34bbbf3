// SPDX-License-Identifier: Apache-2.0
// kernels/taps/device/entries.h - which kernel for few output channels a config names.
#pragma once

#include "kernels/taps/device/kernel.h"
#include "kernels/taps/device/row_kernel.h"

namespace wt {

template <KernelConfig kConfig, bool kSumsRows = taps_layout::sums_rows(kConfig)>
struct TapsKernel : TapsGemm<kConfig> {};
template <KernelConfig kConfig>
struct TapsKernel<kConfig, true> : TapsRowGemm<kConfig> {};

}  // namespace wt
