// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/tma/select.h - which Hopper kernel serves a direction.
#pragma once

#include "kernel/gemm/tma/fold_kernel.h"
#include "kernel/gemm/tma/halo_kernel.h"
#include "kernel/gemm/tma/kernel.h"
#include "kernel/gemm/tma/stream_sum.h"
#include "kernel/gemm/tma/weight_few_kernel.h"
#include "kernel/gemm/tma/weight_halo_kernel.h"
#include "kernel/gemm/tma/weight_kernel.h"
#include "kernel/merge_groups.h"
#include "kernel/split_sum.h"
#include "kernel/transpose.h"
#include "kernel/whole_rows.h"

namespace wt {

template <KernelConfig kConfig, bool kGradient = kConfig.direction == Direction::kBackwardWeight,
          bool kHalo = tma_layout::is_halo(kConfig) || weight_halo::serves(kConfig),
          bool kFew = weight_few::serves(kConfig) || tma_layout::folds_taps(kConfig)>
struct TmaKernel : TmaGemm<kConfig> {};
template <KernelConfig kConfig>
struct TmaKernel<kConfig, false, false, true> : TmaFoldGemm<kConfig> {};
template <KernelConfig kConfig>
struct TmaKernel<kConfig, true, false, false> : TmaWeightGemm<kConfig> {};
template <KernelConfig kConfig>
struct TmaKernel<kConfig, false, true, false> : TmaHaloGemm<kConfig> {};
template <KernelConfig kConfig>
struct TmaKernel<kConfig, true, true, false> : TmaWeightHaloGemm<kConfig> {};
template <KernelConfig kConfig>
struct TmaKernel<kConfig, true, false, true> : TmaWeightFewGemm<kConfig> {};

// And which sum of its parts.
template <KernelConfig kConfig, bool kHalo = weight_halo::serves(kConfig), bool kFew = weight_few::serves(kConfig)>
struct TmaWeightSum : PartSum<kConfig, WeightPlaces<kConfig>> {};
template <KernelConfig kConfig>
struct TmaWeightSum<kConfig, true, false> : PartSum<kConfig, WeightHaloPlaces<kConfig>> {};
template <KernelConfig kConfig>
struct TmaWeightSum<kConfig, false, true> : PartSum<kConfig, WeightFewPlaces<kConfig>> {};

// And of the pieces that stream-K leaves.
template <KernelConfig kConfig, bool kGradient = kConfig.direction == Direction::kBackwardWeight>
struct TmaStreamSum : StreamSum<kConfig, StreamPlaces<kConfig>> {};
template <KernelConfig kConfig>
struct TmaStreamSum<kConfig, true> : StreamSum<kConfig, WeightStreamPlaces<kConfig>> {};

}  // namespace wt
