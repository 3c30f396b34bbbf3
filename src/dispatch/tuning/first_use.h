// SPDX-License-Identifier: Apache-2.0
// dispatch/tuning/first_use.h - tuning inside the making of a plan (Tuning::kFirstUse).
#pragma once

#include "dispatch/tuning/lookup.h"

namespace wt::tuning {

// Measures within options.tuning_seconds and saves what it finds. Refused while a stream captures: nothing was run
// then, and the capture goes on. On a simulator nothing is measured, and the note says so.
Result<Tuned> tune_now(const std::shared_ptr<Device>& device, const ConvProblem& problem, const PlanOptions& options);

}  // namespace wt::tuning
