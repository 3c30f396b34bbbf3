// SPDX-License-Identifier: Apache-2.0
// dispatch/trial/bias_gradient.h - one trial of a bias gradient alone: computed, verified, then timed (see trial.h).
#pragma once

#include "dispatch/trial/trial.h"

namespace wt {

// The sums of the problem's dy, or of what its bias_gradient says, without the weight gradient.
TrialResult run_bias_gradient_trial(const std::shared_ptr<Device>& device, const ConvProblem& problem,
                                    const TrialOptions& options);

}  // namespace wt
