// SPDX-License-Identifier: Apache-2.0
// dispatch/choice/candidates.h - the kernels that could serve a problem, best first, and why the others do not.
//
//   rules/rules.h: candidates_for --predictions, tuning/lookup.h--> ranked, for people
//
// selection.h makes the same choice without names and reasons, for plans; decision.h is what they do with it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dispatch/choice/registry.h"
#include "dispatch/plan/plan.h"
#include "rules/rules.h"

namespace wt {

struct RankedCandidate {
  KernelConfig config;
  std::string name;
  std::vector<Decline> declines;            // empty: accepts
  double predicted_us = 0;                  // where it accepts
  double measured_us = 0;                   // by tuning, on this kind of GPU; 0: never, or it was not right
  bool tuned = false;                       // the tuning database's choice
  std::string mark;                         // of that: how what was measured differs from what will run; usually empty
  std::optional<Priority> registered = {};  // of PlanOptions::kernels
  bool accepts() const { return declines.empty(); }
};

// Of the registered kernels of one priority that accept the problem, the one of the least predicted time that `allowed`
// lets pass. Points into the registry.
struct RegisteredChoice {
  const RegisteredKernel* kernel = nullptr;  // null: none
  double predicted_us = 0;
};
RegisteredChoice best_registered(const View& view, const PlanOptions& options, Priority priority,
                                 const std::function<bool(const KernelConfig&)>& allowed);

// The one kernel that PlanOptions::kernel names or spells out, with its reasons where it declines; an error where there
// is no such kernel.
Result<RankedCandidate> named_candidate(const ConvProblem& problem, const DeviceInfo& device,
                                        const PlanOptions& options);
// The same with what a plan passes over kernels for (filter.h), to answer whether that kernel can run the problem.
Result<RankedCandidate> asked_candidate(const DeviceInfo& device, const ConvProblem& problem,
                                        const PlanOptions& options);
// "NAME can run it, predicted 12.30 us", or "NAME cannot: id: message".
std::string answer_text(const RankedCandidate& candidate);

// What of a problem one kernel computes, and what tuning remembers: a plan adds a bias gradient and the next history.
ConvProblem kernel_problem(const ConvProblem& problem);

// Those that accept come first, by their predicted time; then those that decline, with their reasons.
std::vector<RankedCandidate> rank_candidates(const ConvProblem& problem, Target target, const PlanOptions& options,
                                             Breadth which = Breadth::kAll);

// The same for a device, with its multiprocessors and what tuning knows: the tuned kernel stands first, and kernels
// that a plan passes over decline (filter.h).
std::vector<RankedCandidate> rank_candidates(const ConvProblem& problem, const DeviceInfo& device,
                                             const PlanOptions& options, Breadth which = Breadth::kAll);

// What explain lists: the best guesses of them, and first the one that a plan takes, whether it is among them or not.
std::vector<RankedCandidate> listed_candidates(const ConvProblem& problem, const DeviceInfo& device,
                                               const PlanOptions& options);

}  // namespace wt
