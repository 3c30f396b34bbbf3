// SPDX-License-Identifier: Apache-2.0
#include "dispatch/choice/kernel_decision.h"

#include <algorithm>

#include "config/fields.h"
#include "dispatch/choice/batch_invariant.h"
#include "dispatch/choice/candidates.h"
#include "dispatch/choice/filter.h"
#include "dispatch/choice/kernel_files.h"
#include "dispatch/choice/selection.h"
#include "dispatch/plan/images.h"

namespace wt {
namespace {

Decision registered_kernel(const ConvProblem& problem, const PlanOptions& options, const RegisteredChoice& choice,
                           const std::string& notes) {
  const RegisteredKernel& kernel = *choice.kernel;
  Decision decision = kernel_decision(problem, options, kernel.config,
                                      fmt::format("registered with {} priority, predicted {:.2f} us{}",
                                                  name_of(kernel.priority), choice.predicted_us, notes));
  decision.predicted_us = choice.predicted_us;
  return decision;
}

// What the caller's function takes of the kernels that accept; nothing where it leaves the choice to us.
Result<std::optional<Decision>> selected_kernel(const DeviceInfo& device, const ConvProblem& problem,
                                                const PlanOptions& options, const std::vector<KernelConfig>& failed) {
  std::vector<RankedCandidate> candidates = rank_candidates(problem, device, options);
  std::erase_if(candidates, [&](const RankedCandidate& candidate) {
    return !candidate.accepts() || std::ranges::find(failed, candidate.config) != failed.end();
  });
  std::optional<Decision> decision;
  if (candidates.empty()) return decision;
  const int64_t chosen = options.select.choose(options.select, problem, candidates);
  if (chosen == -1) return decision;
  if (chosen < -1 || chosen >= static_cast<int64_t>(candidates.size())) {
    return bad_input("the selection function chose kernel {} of {} for '{}'; give an index, or -1 for the usual choice",
                     chosen, candidates.size(), to_text(problem));
  }
  const RankedCandidate& candidate = candidates[static_cast<size_t>(chosen)];
  decision = kernel_decision(
      problem, options, candidate.config,
      fmt::format("selected by the caller's function, {} of {} kernels", chosen + 1, candidates.size()));
  decision->predicted_us = candidate.predicted_us;
  decision->measured_us = candidate.measured_us;
  return decision;
}

}  // namespace

Decision kernel_decision(const ConvProblem& problem, const PlanOptions& options, const KernelConfig& config,
                         std::string reason) {
  Decision decision;
  decision.problem = problem;
  decision.options = options;
  decision.reason = std::move(reason);
  decision.kernel = name_of(config);
  decision.config = config;
  return decision;
}

Result<Decision> named_kernel(const DeviceInfo& device, const ConvProblem& problem, const PlanOptions& options) {
  WT_TRY_ASSIGN(const RankedCandidate candidate, named_candidate(problem, device, options));
  if (!candidate.accepts()) {
    return unsupported("kernel {} declines '{}': {}", candidate.name, to_text(problem), to_text(candidate.declines));
  }
  if (options.batch_invariant && has_images(problem)) {
    const ConvProblem image = of_images(problem, 1);
    const View view(problem, rates_of(device)), one(image, rates_of(device));
    if (const auto why = varies_with_batch(candidate.config, view, one, device, options))
      return unsupported("kernel {} is not batch-invariant for '{}': {}", candidate.name, to_text(problem), *why);
  }
  Decision decision = kernel_decision(problem, options, candidate.config,
                                      is_json(options.kernel) ? "configured by the caller" : "asked for by name");
  decision.predicted_us = candidate.predicted_us;
  return decision;
}

Decision tuned_kernel(const ConvProblem& problem, const PlanOptions& options, const tuning::Tuned& tuned) {
  const tuning::Entry& entry = *tuned.entry;
  std::string reason = fmt::format("tuned: {:.2f} us measured, the best of {} tried of {} candidates",
                                   entry.best.median_us, entry.tried, entry.candidates);
  if (!entry.complete) reason += "; tuning ended before all were tried";
  if (!tuned.mark.empty()) reason += "; " + tuned.mark;
  Decision decision = kernel_decision(problem, options, *tuned.config, std::move(reason));
  decision.measured_us = entry.best.median_us;
  decision.borrowed = !tuned.mark.empty();
  return decision;
}

Result<KernelDecision> decide_kernel(const DeviceInfo& device, const ConvProblem& problem, const PlanOptions& options,
                                     tuning::CodeCheck check, const std::vector<KernelConfig>& failed,
                                     const std::string& note) {
  KernelDecision decision;
  std::string notes = note;
  if (options.select.choose) {
    WT_TRY_ASSIGN(decision.found, selected_kernel(device, problem, options, failed));
    if (decision.found) return decision;
  }
  const std::shared_ptr<const View> view = View::of(problem, rates_of(device));
  WT_TRY_ASSIGN(Filter filter, Filter::make(device, *view, options));
  for (const KernelConfig& config : failed) filter.exclude(config);
  const auto allowed = [&](const KernelConfig& config) { return filter.allows(config); };
  const auto take = [&](const RegisteredChoice& own) {
    decision.found = registered_kernel(problem, options, own, notes);
    return decision;
  };
  if (const RegisteredChoice own = best_registered(*view, options, Priority::kHigh, allowed); own.kernel)
    return take(own);
  if (options.tuning != Tuning::kOff) {
    const tuning::Tuned tuned = tuning::find_tuned(device, problem, options, check);
    // An entry was measured by itself: the option is asked here, all else of the entry when it was found.
    const bool kept = !options.batch_invariant || !tuned.config || allowed(*tuned.config);
    if (kept && tuned.config && std::ranges::find(failed, *tuned.config) == failed.end()) {
      decision.found = tuned_kernel(problem, options, tuned);
      return decision;
    }
    if (!tuned.note.empty()) notes = "; " + tuned.note + notes;
  }
  const RegisteredChoice own = best_registered(*view, options, Priority::kNormal, allowed);
  const std::optional<RankedConfig> best = pick(*view, options, allowed);
  if (own.kernel && (!best || own.predicted_us < best->predicted_us)) return take(own);
  if (!best) {
    if (const RegisteredChoice last = best_registered(*view, options, Priority::kLow, allowed); last.kernel)
      return take(last);
    decision.nothing = filter.nothing_left();
    return decision;
  }
  decision.found = kernel_decision(problem, options, *best->config,
                                   fmt::format("least predicted time, {:.2f} us, of {} kernels{}{}", best->predicted_us,
                                               proposal_count(problem, device.target), filter.note(), notes));
  decision.found->predicted_us = best->predicted_us;
  decision.found->view = view;
  return decision;
}

}  // namespace wt
