// SPDX-License-Identifier: Apache-2.0
// dispatch/trial/cudnn.h - cuDNN on the tensors of a trial: verified and timed by the same code as our kernels.
#pragma once

#include <optional>
#include <string>

#include "dispatch/trial/trial.h"

namespace wt {

struct CudnnResult {
  std::optional<Timing> tuned;      // the fastest of its plans whose result was right
  std::optional<Timing> heuristic;  // the first of its plans, which it would take without measuring
  std::string engine;               // of the fastest
  std::string heuristic_engine;
  int64_t workspace_bytes = 0;  // of the fastest
  size_t plans = 0;             // that were tried
  size_t wrong = 0;             // of these, outside the bound that our kernels must keep
  size_t library_version = 0;   // 91900 for 9.19.0
  Status status;                // why there is no time
};

// The outputs of `tensors` are overwritten. options.timer and options.repeat hold for both sides.
CudnnResult time_cudnn(TrialTensors& tensors, const TrialOptions& options);

}  // namespace wt
