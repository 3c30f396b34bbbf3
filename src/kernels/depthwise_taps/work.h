// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_taps/work.h - what the tiles of a depthwise_taps kernel cost a multiprocessor.
#pragma once

#include "kernels/depthwise_taps/device/arguments.h"
#include "launch/rates.h"
#include "problem/problem.h"

namespace wt {

// Counted from the device code: passes through shared memory, matrix instructions, instructions and copies, in clocks
// of a multiprocessor, beside the bytes of the layer. `resident`: blocks of a multiprocessor.
double taps_busy_us(const KernelConfig& config, const ConvProblem& problem, const Rates& rates,
                    const DepthwiseTapsArguments& arguments, int64_t resident);

}  // namespace wt
