// SPDX-License-Identifier: Apache-2.0
// dispatch/cost_correction.h - what measurements say of the cost model's errors, as a factor for each configuration.
//
//   bench/results/model_*.json --bench/model_quality.py fit--> cost_correction.inc --> factor --> selection.h
//
// The model is mechanical; what it leaves out (a loader's gaps, a store's pattern) depends on the configuration and is
// fitted: the logarithm of measured over predicted time, as a sum over the values of fields.
#pragma once

#include "config/kernel_config.h"
#include "problem/problem.h"

namespace wt {

// 1 where nothing was fitted. Reads the fields by name: ask once a configuration.
double cost_correction(const KernelConfig& config);

// predicted_us of cost_model.h times the correction: what kernels are ranked by.
double corrected_us(const KernelConfig& config, const ConvProblem& problem, int multiprocessors);

}  // namespace wt
