// SPDX-License-Identifier: Apache-2.0
// runtime/cudnn/convolution.h - one convolution as cuDNN's execution plans, in the order of cuDNN's own preference.
//
//   ConvProblem --tensors with strides, one operation--> graph --heuristics--> plans --execute--> the same tensors
#pragma once

#include <memory>
#include <string>

#include "problem/problem.h"
#include "runtime/cudnn/library.h"
#include "runtime/device.h"

namespace wt::cudnn {

class Convolution {
 public:
  // What cuDNN does not have (an epilogue other than none, fp8) is unsupported. At most `most` plans are made: those of
  // its heuristics first, then of its fallback.
  static Result<std::unique_ptr<Convolution>> make(std::shared_ptr<Device> device, const ConvProblem& problem,
                                                   size_t most);
  virtual ~Convolution() = default;

  virtual size_t plans() const = 0;  // at least one
  virtual int64_t workspace_bytes(size_t plan) const = 0;
  virtual std::string name(size_t plan) const = 0;  // "engine 34"
  // Enqueues; x, w and y by role, as a plan of ours takes them.
  virtual Status execute(size_t plan, void* x, void* w, void* y, void* workspace, Stream stream) const = 0;
};

}  // namespace wt::cudnn
