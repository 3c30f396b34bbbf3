// SPDX-License-Identifier: Apache-2.0
// dispatch/plan/first_rows.h - a problem with a history as two without: x alone with zeros before it, and the few rows
// that the history meets. The image is not copied, only these rows.
//
//   forward:          x --main--> y; history, first rows of x --join--> first --> first rows of y
//   backward data:    dy --main--> dx; first rows of dy --first--> gradient of the history
//   backward weight:  history, first rows of dy --first--> fp32, which main adds to its sum over x and dy --> dw
//
// Forward, main writes the first rows too, and first's are copied over them. Of one image main writes the others alone,
// and first its own rows of y.
#pragma once

#include "dispatch/plan/history.h"

namespace wt {

// Why the rows cannot be computed apart; empty: they can.
std::string first_rows_obstacle(const ConvProblem& problem);

// Whether the rows after the first lie in one run, forward: where there is one image, channels last.
bool has_one_run(const ConvProblem& problem);

// The two problems. `one_run`: of has_one_run alone, and not where bits must not depend on the batch.
ConvProblem main_part(const ConvProblem& problem, bool one_run = false);
ConvProblem first_part(const ConvProblem& problem);

// Workspace beyond that of the two plans, in bytes, and the time that moving rows should take.
int64_t first_rows_bytes(const ConvProblem& problem, bool one_run = false);
double first_rows_us(const ConvProblem& problem, const Rates& rates, bool one_run = false);

// `main` and `first` execute the two parts, one after the other. `scratch_in` is never kNothing.
Result<std::shared_ptr<const Plan>> make_first_rows_plan(const std::shared_ptr<Device>& device,
                                                         const ConvProblem& problem, std::shared_ptr<const Plan> main,
                                                         std::shared_ptr<const Plan> first, JoinIn scratch_in,
                                                         const std::string& reason);

}  // namespace wt
