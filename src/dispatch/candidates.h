// SPDX-License-Identifier: Apache-2.0
// dispatch/candidates.h - the kernels that could serve a problem, best first, and why the others do not.
//
//   config/rules.h: candidates_for --cost_model.h, tuning/lookup.h--> ranked, for people
//
// selection.h makes the same choice without names and reasons, for plans.
#pragma once

#include <string>
#include <vector>

#include "config/rules.h"
#include "dispatch/plan.h"

namespace wt {

struct RankedCandidate {
  KernelConfig config;
  std::string name;
  std::vector<Decline> declines;  // empty: accepts
  double predicted_us = 0;        // by cost_correction.h, where it accepts
  double measured_us = 0;         // by tuning, on this kind of GPU; 0: never, or it was not right
  bool tuned = false;             // the tuning database's choice
  bool accepts() const { return declines.empty(); }
};

// What of a problem one kernel computes, and what tuning remembers: a plan adds a bias gradient and the next history.
ConvProblem kernel_problem(const ConvProblem& problem);

// Those that accept come first, by their predicted time; then those that decline, with their reasons.
std::vector<RankedCandidate> rank_candidates(const ConvProblem& problem, Target target, const PlanOptions& options,
                                             Candidates which = Candidates::kAll);

// The same for a device, with its multiprocessors and what tuning knows: the tuned kernel stands first, and kernels in
// quarantine decline.
std::vector<RankedCandidate> rank_candidates(const ConvProblem& problem, const DeviceInfo& device,
                                             const PlanOptions& options, Candidates which = Candidates::kAll);

}  // namespace wt
