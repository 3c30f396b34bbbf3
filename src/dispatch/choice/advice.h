// SPDX-License-Identifier: Apache-2.0
// dispatch/choice/advice.h - what of a layer to change, so that it takes less time: the same layer with other channels,
// another layout or another type, decided as it is and predicted.
//
//   problem --variants--> decide() --predicted time--> those that are faster, the fastest first
#pragma once

#include <string>
#include <vector>

#include "dispatch/choice/decision.h"

namespace wt {

struct Advice {
  std::string change;  // "c 12 to 16, k 36 to 48 (zeros in the added channels)"
  ConvProblem problem;
  double us = 0;     // predicted
  double share = 0;  // of the predicted time of the problem as it is
};

// Predictions on both sides, even where the problem was measured: a variant never was. Nothing where no variant takes
// less than kWorthIt of the time, or where the device has no predictions.
inline constexpr double kWorthIt = 0.95;
std::vector<Advice> advice_for(const DeviceInfo& device, const ConvProblem& problem, PlanOptions options);

// Workspace of what was decided, in bytes.
int64_t workspace_bytes(const Decision& decision, const DeviceInfo& device);

// The least time by a GPU's rates: the larger of moving the problem's bytes and of its products without padding.
double limit_us(const ConvProblem& problem, const Rates& rates);

}  // namespace wt
