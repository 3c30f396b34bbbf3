// SPDX-License-Identifier: Apache-2.0
// problem/channel_sums.h - the sums of a tensor over images and pixels, one per channel: the gradient of a bias.
//
// Sums in double, on the host: what kernels are compared with, and how the CPU computes a bias gradient.
#pragma once

#include <vector>

#include "problem/problem.h"

namespace wt {

// The tensor that is summed.
struct ChannelTensor {
  DataType type = DataType::kF32;
  Layout layout = Layout::kChannelsLast;
  int64_t images = 0, channels = 0, pixels = 0;

  int64_t terms() const { return images * pixels; }  // of one sum
  int64_t elements() const { return terms() * channels; }
};

// The tensor of a problem's bias gradient: dy, or x (BiasGradient).
ChannelTensor bias_gradient_tensor(const ConvProblem& problem, BiasGradient which);

struct ChannelSum {
  double total = 0;
  double square_sum = 0;
};

// The same bits with every number of threads.
std::vector<ChannelSum> channel_sums(const ChannelTensor& tensor, const void* data);

}  // namespace wt
