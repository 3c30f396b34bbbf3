// SPDX-License-Identifier: Apache-2.0
// dispatch/plan/history.h - causal problems with a history, and the history for the next call.
//
//   a kernel that reads the history:   history, x --kernel--> y, or y and the new history
//   any kernel, both joined:           history, x --join--> workspace --plan--> y, dw
//   any kernel, the first rows apart:  first_rows.h
//   then                               history, x --> new history
#pragma once

#include "dispatch/plan/plan.h"
#include "launch/rates.h"

namespace wt {

// Workspace beyond the inner plan's, in bytes, and the time that joining should take.
int64_t join_bytes(const ConvProblem& problem);
double join_us(const ConvProblem& problem, const Rates& rates);

// The time that the launch for the next history should take; 0 where there is none.
double next_history_us(const ConvProblem& problem, const Rates& rates);

// Where what a plan copies lies.
enum class JoinIn {
  kNothing,    // the kernel reads the history itself
  kWorkspace,  // the caller's
  kOwnMemory,  // of every execute, on the CPU, where the caller allows no workspace
};

// `inner` executes joined_problem(problem) (problem/history.h), or, with kNothing, the problem itself, whose new
// history is written after it where it leaves that out. On the CPU history and x are always joined. `reason` stands
// before the inner plan's.
Result<std::shared_ptr<const Plan>> make_history_plan(const std::shared_ptr<Device>& device, const ConvProblem& problem,
                                                      std::shared_ptr<const Plan> inner, JoinIn join_in,
                                                      const std::string& reason);

}  // namespace wt
