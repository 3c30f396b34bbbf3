// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/depthwise.h - one channel a group: direct loops, since a GEMM would multiply mostly zeros.
//
// Channels-last is vectorised over channels, channels-first over the pixels of a row. The tensors that are read must be
// stored as fp32 (provider.cc converts other types first).
#pragma once

#include "runtime/cpu/gemm.h"

namespace wt::cpu {

class Depthwise {
 public:
  // One channel in and out of every group, and a filter whose weights for a few channels fit a stack.
  static bool accepts(const ConvProblem& problem);

  Depthwise(const ConvProblem& problem, int threads);

  void run(const Inputs& inputs, const Finisher& finisher) const;

 private:
  void data_channels_last(const float* source, const Source& weights, const Finisher& finisher) const;
  void data_channels_first(const float* source, const Source& weights, const Finisher& finisher) const;
  void weight_channels_last(const float* x, const float* dy, const Finisher& finisher) const;
  void weight_channels_first(const float* x, const float* dy, const Finisher& finisher) const;
  int64_t chunk() const;  // channels that channels-last takes at a time

  ConvProblem problem_;
  Geometry geometry_;
  int threads_;
};

}  // namespace wt::cpu
