// SPDX-License-Identifier: Apache-2.0
// kernels/shared/direct_cost.h - what predictions of the kinds for depthwise and small groups share.
//
// Such layers wait for memory: bytes once at the device's rate, worsened by narrow accesses and by the last wave of
// blocks; or for their multiply-adds. Factors of the machine's rates were set by eye on times of the depthwise suite
// and of grouped ResNets on an H200: the first choice was then 0.4 % behind the fastest in the mean.
#pragma once

#include "config/kernel_config.h"
#include "kernels/view.h"
#include "problem/problem.h"

namespace wt::direct_model {

// Factors of the machine's rates: 3 us, 2 us, 2.5 us and 4.3 TB/s on an H200.
inline constexpr double kLaunch = 0.634;
inline constexpr double kFirstData = 0.747;
inline constexpr double kSum = 0.5286;  // the launch that adds partial sums
inline constexpr double kMemory = 1.011;
inline constexpr double kMatrix = 0.41;       // of the matrix unit's rate, which m16n8k16 reaches two thirds of
inline constexpr double kStreamBytes = 1.15;  // bytes once, as far as a thread's loads stay behind that rate

double launch_us(const Rates& rates);
double matrix_products_per_us(const Rates& rates);  // m16n8k16 of one multiprocessor
double bytes_us(double bytes, const Rates& rates);
double bytes_us(const ConvProblem& problem, const Rates& rates);  // all tensors once
double multiply_us(const ConvProblem& problem, const Rates& rates, double share);

// How far narrow accesses of a thread stay behind the device's rate, beside the factor of a wide one.
double narrow(int bytes);

// What a weight gradient takes: two launches and the sums of warps at a block's end, and how much longer than `busy`
// says; fitted to the layers of the depthwise suite and of grouped ResNets.
struct Gradient {
  double start = 1.586, slope = 1;  // start: in launches of the machine
};

// Launches around `busy` microseconds. `planes`: those of a three-dimensional filter come from the L2 again; seen on
// the kernels of one layer, 108 channels of 16x28x28.
double whole_us(const View& seen, double busy, double planes, const Gradient& gradient);

}  // namespace wt::direct_model
