// SPDX-License-Identifier: Apache-2.0
// dispatch/cost_model.h - how long a kernel should take on a problem, before anything is compiled.
//
//   config + problem + multiprocessors --> microseconds: launch, first data, products or copies, output, sum of parts
//
// Plain functions; the cost_model_*.cc say which constants are measured and which are guesses. They rank, they promise
// nothing.
#pragma once

#include "config/kernel_config.h"
#include "problem/problem.h"

namespace wt {

// The config accepts the problem.
double predicted_us(const KernelConfig& config, const ConvProblem& problem, int multiprocessors);

// Of the direct family: cost_model_direct.cc, and of its design stacked: cost_model_stacked.cc.
double predicted_direct_us(const KernelConfig& config, const ConvProblem& problem, int multiprocessors);
double predicted_stacked_us(const KernelConfig& config, const ConvProblem& problem, int multiprocessors);

// Of the gemm family's generic kernel and its pipelines: cost_model_generic.cc, cost_model_taps.cc,
// cost_model_rows.cc, cost_model_rows_weight.cc, cost_model_wavelet.cc.
double predicted_generic_us(const KernelConfig& config, const ConvProblem& problem, int multiprocessors);
double predicted_taps_us(const KernelConfig& config, const ConvProblem& problem, int multiprocessors);
double predicted_rows_us(const KernelConfig& config, const ConvProblem& problem, int multiprocessors);
double predicted_rows_weight_us(const KernelConfig& config, const ConvProblem& problem, int multiprocessors);
double predicted_portable_us(const KernelConfig& config, const ConvProblem& problem, int multiprocessors);
double predicted_tma_us(const KernelConfig& config, const ConvProblem& problem, int multiprocessors);
double predicted_four_wave_us(const KernelConfig& config, const ConvProblem& problem, int multiprocessors);
double predicted_wavelet_us(const KernelConfig& config, const ConvProblem& problem, int multiprocessors);

// Into how many parts the sums of a forward or backward-data kernel with split_k go: the count with the least predicted
// time, which the launch then has too.
int64_t planned_splits(const KernelConfig& config, const ConvProblem& problem, int multiprocessors);

}  // namespace wt
