// SPDX-License-Identifier: Apache-2.0
#include "dispatch/candidates.h"

#include <algorithm>

#include "config/fields.h"
#include "config/targets.h"
#include "dispatch/cost_correction.h"
#include "dispatch/tuning/lookup.h"

namespace wt {
namespace {

std::vector<RankedCandidate> collect(const ConvProblem& problem, Target target, int multiprocessors,
                                     const PlanOptions& options, Candidates which) {
  const Requests requests{.deterministic = options.deterministic, .strict_nonfinite = options.strict_nonfinite};
  std::vector<RankedCandidate> ranked;
  for (Candidate& candidate : candidates_for(problem, target, which, requests)) {
    ranked.push_back({candidate.config, name_of(candidate.config), std::move(candidate.declines)});
  }
  for (RankedCandidate& candidate : ranked) {
    if (candidate.accepts()) candidate.predicted_us = corrected_us(candidate.config, problem, multiprocessors);
  }
  return ranked;
}

void order(std::vector<RankedCandidate>& ranked) {
  std::ranges::stable_sort(ranked, [](const RankedCandidate& a, const RankedCandidate& b) {
    if (a.accepts() != b.accepts()) return a.accepts();
    if (a.tuned != b.tuned) return a.tuned;
    return a.accepts() && a.predicted_us < b.predicted_us;
  });
}

}  // namespace

ConvProblem kernel_problem(const ConvProblem& problem) {
  ConvProblem own = problem;
  own.bias_gradient = BiasGradient::kNone;
  own.new_history = false;
  return own;
}

std::vector<RankedCandidate> rank_candidates(const ConvProblem& problem, Target target, const PlanOptions& options,
                                             Candidates which) {
  std::vector<RankedCandidate> ranked = collect(problem, target, info_of(target).units, options, which);
  order(ranked);
  return ranked;
}

std::vector<RankedCandidate> rank_candidates(const ConvProblem& asked, const DeviceInfo& device,
                                             const PlanOptions& options, Candidates which) {
  const ConvProblem problem = kernel_problem(asked);
  std::vector<RankedCandidate> ranked = collect(problem, device.target, device.multiprocessors, options, which);
  const tuning::Tuned tuned =
      options.tuning == Tuning::kOff ? tuning::Tuned() : tuning::find_tuned(device, problem, options);
  if (tuned.config && std::ranges::find(ranked, *tuned.config, &RankedCandidate::config) == ranked.end()) {
    ranked.push_back({*tuned.config, name_of(*tuned.config), {}});
    ranked.back().predicted_us = corrected_us(*tuned.config, problem, device.multiprocessors);
  }
  const tuning::Quarantined in_quarantine = tuning::quarantined_now(device);
  const std::vector<tuning::Measurement> rows = tuning::find_measurements(device, problem, options);
  for (RankedCandidate& candidate : ranked) {
    const auto row = std::ranges::find(rows, candidate.name, &tuning::Measurement::kernel);
    const bool right = row != rows.end() && (row->outcome == tuning::Outcome::kTimed ||  //
                                             row->outcome == tuning::Outcome::kSlower);
    if (right) candidate.measured_us = row->median_us;
    candidate.tuned = tuned.config && candidate.config == *tuned.config;
    if (candidate.tuned) candidate.measured_us = tuned.entry->best.median_us;
    if (std::string reason = tuning::quarantine_reason(in_quarantine, device, candidate.config); !reason.empty())
      candidate.declines.push_back({"quarantined", std::move(reason)});
  }
  order(ranked);
  return ranked;
}

}  // namespace wt
