// SPDX-License-Identifier: Apache-2.0
// dispatch/trial/roof.h - how fast a device was seen to multiply and to move bytes in this very run, and the least time
// that follows from it for a problem.
//
//   measure(): products and copies of several sizes, timed briefly and for longer --> saw() each result --> limit_us()
//
// WHY the best of all that was seen: a power limit or a busy machine lowers the clock for some runs and not for others,
// and a roof that a row of the same table stands above is none.
#pragma once

#include <map>
#include <memory>

#include "dispatch/trial/trial.h"

namespace wt {

class Roof {
 public:
  // Times matrix products (1x1 convolutions) of this input type, and copies (depthwise 1x1). What cannot be measured is
  // left out: a simulator has no times.
  void measure(const std::shared_ptr<Device>& device, DataType type);
  // A right and timed result raises the roof where it is above it. Padding counts as no work.
  void saw(const TrialResult& result);
  void saw(const ConvProblem& problem, double us);

  double gigaflops(DataType type) const;  // 0: none was seen
  double gigabytes() const { return gigabytes_; }
  // The larger of the problem's bytes and its products at these rates; 0: not known.
  double limit_us(const ConvProblem& problem) const;

 private:
  std::map<DataType, double> gigaflops_;
  double gigabytes_ = 0;
};

}  // namespace wt
