// SPDX-License-Identifier: Apache-2.0
#include "dispatch/cost_model.h"

#include "kernel/gemm/portable/layout.h"
#include "kernel/gemm/rows/weight_layout.h"

namespace wt {

double predicted_us(const KernelConfig& config, const ConvProblem& problem, int multiprocessors) {
  if (config.family == Family::kDirect) return predicted_direct_us(config, problem, multiprocessors);
  if (config.gemm.pipeline == Pipeline::kTaps) return predicted_taps_us(config, problem, multiprocessors);
  if (rows_weight_layout::serves(config)) return predicted_rows_weight_us(config, problem, multiprocessors);
  if (config.gemm.pipeline == Pipeline::kRows) return predicted_rows_us(config, problem, multiprocessors);
  if (portable_layout::serves(config)) return predicted_portable_us(config, problem, multiprocessors);
  if (config.gemm.pipeline == Pipeline::kFourWave) return predicted_four_wave_us(config, problem, multiprocessors);
  if (config.gemm.pipeline == Pipeline::kWavelet) return predicted_wavelet_us(config, problem, multiprocessors);
  if (config.gemm.pipeline == Pipeline::kTma) return predicted_tma_us(config, problem, multiprocessors);
  return predicted_generic_us(config, problem, multiprocessors);
}

}  // namespace wt
