// SPDX-License-Identifier: Apache-2.0
// dispatch/plan/first_rows.h - a problem with a history as two without: x alone with zeros before it, and the few rows
// that the history meets. The image is not copied, only these rows.
//
//   forward          x --main--> y, and history, first rows of x --join--> first --> first rows of y, written over
//   main's backward data    dy --main--> dx, and first rows of dy --first--> gradient of the history backward weight
//   history, first rows of dy --first--> fp32, which main adds to its sum over x, dy --> dw
#pragma once

#include "dispatch/plan/history.h"

namespace wt {

// Why the rows cannot be computed apart; empty: they can.
std::string first_rows_obstacle(const ConvProblem& problem);

// The two problems.
ConvProblem main_part(const ConvProblem& problem);
ConvProblem first_part(const ConvProblem& problem);

// Workspace beyond that of the two plans, in bytes, and the time that moving rows should take.
int64_t first_rows_bytes(const ConvProblem& problem);
double first_rows_us(const ConvProblem& problem, const Rates& rates);

// `main` and `first` execute the two parts, one after the other. `scratch_in` is never kNothing.
Result<std::shared_ptr<const Plan>> make_first_rows_plan(const std::shared_ptr<Device>& device,
                                                         const ConvProblem& problem, std::shared_ptr<const Plan> main,
                                                         std::shared_ptr<const Plan> first, JoinIn scratch_in,
                                                         const std::string& reason);

}  // namespace wt
