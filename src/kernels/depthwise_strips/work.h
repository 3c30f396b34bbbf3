// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_strips/work.h - what a tile of a strips kernel costs a multiprocessor.
#pragma once

#include <cstdint>

#include "kernels/depthwise_strips/device/arguments.h"
#include "kernels/depthwise_strips/device/shape.h"
#include "launch/rates.h"
#include "problem/problem.h"

namespace wt {

// Counted from the device code: matrix instructions, passes through shared memory and instructions, in clocks of a
// multiprocessor, beside the bytes of the layer.
class StripsWork {
 public:
  StripsWork(const KernelConfig& config, const ConvProblem& problem, const Rates& rates);

  double busy_us(const StripsArguments& tile, const strips::Sizes& sizes, int64_t resident) const;

 private:
  struct Clocks {
    double tensor = 0, shared = 0, issue = 0;
    double alone = 0;  // of a warp that has its scheduler to itself
  };
  Clocks matrix(const StripsArguments& tile) const;  // of a warp, for all steps of a matrix of a mean class

  const KernelConfig& config_;
  const Rates& rates_;
  double bytes_us_;
};

}  // namespace wt
