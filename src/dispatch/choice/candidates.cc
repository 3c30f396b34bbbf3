// SPDX-License-Identifier: Apache-2.0
#include "dispatch/choice/candidates.h"

#include <algorithm>

#include "config/fields.h"
#include "config/signature.h"
#include "config/targets.h"
#include "dispatch/choice/filter.h"
#include "dispatch/choice/kernel_files.h"
#include "dispatch/tuning/lookup.h"

namespace wt {
namespace {

Requests requests_of(const PlanOptions& options) {
  return {.deterministic = options.deterministic, .strict_nonfinite = options.strict_nonfinite};
}

// The caller's kernels, those for another signature left out.
void add_registered(const View& view, const PlanOptions& options, std::vector<RankedCandidate>& ranked) {
  if (!options.kernels) return;
  for (const RegisteredKernel* kernel : options.kernels->matching(view.problem())) {
    auto place = std::ranges::find(ranked, kernel->config, &RankedCandidate::config);
    if (place == ranked.end())
      place =
          ranked.insert(place, {kernel->config, kernel->name, declines(kernel->config, view, requests_of(options))});
    place->registered = kernel->priority;
  }
}

std::vector<RankedCandidate> collect(const View& view, const PlanOptions& options, Breadth which) {
  const Requests requests = requests_of(options);
  std::vector<RankedCandidate> ranked;
  for (Candidate& candidate : candidates_for(view, which, requests)) {
    ranked.push_back({candidate.config, name_of(candidate.config), std::move(candidate.declines)});
  }
  add_registered(view, options, ranked);
  for (RankedCandidate& candidate : ranked) {
    if (candidate.accepts()) candidate.predicted_us = predicted_us(candidate.config, view, options.splits);
  }
  return ranked;
}

void order(std::vector<RankedCandidate>& ranked) {
  std::ranges::stable_sort(ranked, [](const RankedCandidate& a, const RankedCandidate& b) {
    if (a.accepts() != b.accepts()) return a.accepts();
    const Priority one = a.registered.value_or(Priority::kNormal), other = b.registered.value_or(Priority::kNormal);
    if (one != other) return one > other;
    if (a.tuned != b.tuned) return a.tuned;
    return a.accepts() && a.predicted_us < b.predicted_us;
  });
}

// "kernel NAME" of the JSON of one config for the problem.
Result<KernelConfig> spelled_config(const ConvProblem& problem, const DeviceInfo& device, const std::string& json) {
  WT_TRY_ASSIGN(const std::vector<KernelConfig> configs, configs_from(json));
  std::vector<KernelConfig> fitting;
  for (const KernelConfig& config : configs)
    if (config.target == device.target && signature_difference(config, problem).empty()) fitting.push_back(config);
  if (fitting.size() == 1) return fitting.front();
  if (fitting.size() > 1) {
    return bad_input("{} of the {} kernels that were given are for '{}'; give one", fitting.size(), configs.size(),
                     to_text(problem));
  }
  const KernelConfig& first = configs.front();
  if (first.target != device.target) {
    return bad_input("kernel {} is for {}, and the device for {}", name_of(first), info_of(first.target).name,
                     info_of(device.target).name);
  }
  return unsupported("kernel {} declines '{}': signature: {}", name_of(first), to_text(problem),
                     signature_difference(first, problem));
}

}  // namespace

RegisteredChoice best_registered(const View& view, const PlanOptions& options, Priority priority,
                                 const std::function<bool(const KernelConfig&)>& allowed) {
  RegisteredChoice best;
  if (!options.kernels) return best;
  for (const RegisteredKernel* kernel : options.kernels->matching(view.problem())) {
    if (kernel->priority != priority || !declines(kernel->config, view, requests_of(options)).empty()) continue;
    const double us = predicted_us(kernel->config, view, options.splits);
    if ((!best.kernel || us < best.predicted_us) && allowed(kernel->config)) best = {kernel, us};
  }
  return best;
}

Result<RankedCandidate> named_candidate(const ConvProblem& problem, const DeviceInfo& device,
                                        const PlanOptions& options) {
  const View view(problem, rates_of(device));
  std::optional<RankedCandidate> found;
  if (is_json(options.kernel)) {
    WT_TRY_ASSIGN(const KernelConfig config, spelled_config(problem, device, options.kernel));
    found = {config, name_of(config), declines(config, view, requests_of(options))};
  } else {
    std::vector<RankedCandidate> all = collect(view, options, Breadth::kAll);
    const auto named = std::ranges::find(all, options.kernel, &RankedCandidate::name);
    if (named == all.end()) {
      return bad_input(
          "no kernel for '{}' on {} is called '{}'; 'wavetile explain' lists their names, and --kernel also "
          "takes the JSON of a kernel that is not among them",
          to_text(problem), info_of(device.target).name, options.kernel);
    }
    found = std::move(*named);
  }
  if (found->accepts()) found->predicted_us = predicted_us(found->config, view, options.splits);
  return std::move(*found);
}

Result<RankedCandidate> asked_candidate(const DeviceInfo& device, const ConvProblem& asked,
                                        const PlanOptions& options) {
  if (device.kind == DeviceKind::kCpu) return unsupported("the CPU has no generated kernels to ask about");
  if (options.kernel.empty()) return bad_input("no kernel is named; give its name, or the JSON of a config");
  WT_TRY(validate(asked));
  const ConvProblem problem = kernel_problem(asked);
  if (is_json(options.kernel)) {  // of another target or signature it is declined, which is an answer
    WT_TRY_ASSIGN(const std::vector<KernelConfig> configs, configs_from(options.kernel));
    const KernelConfig& config = configs.front();
    if (config.target != device.target)
      return RankedCandidate{config,
                             name_of(config),
                             {{"target", fmt::format("it is for {}, and the device for {}", info_of(config.target).name,
                                                     info_of(device.target).name)}}};
    if (configs.size() == 1 && !signature_difference(config, problem).empty())
      return RankedCandidate{config, name_of(config), declines(config, problem, requests_of(options))};
  }
  WT_TRY_ASSIGN(RankedCandidate candidate, named_candidate(problem, device, options));
  if (!candidate.accepts()) return candidate;
  const View view(problem, rates_of(device));
  WT_TRY_ASSIGN(const Filter filter, Filter::make(device, view, options));
  if (const std::optional<Decline> decline = filter.decline_of(candidate.config))
    candidate.declines.push_back(*decline);
  return candidate;
}

std::string answer_text(const RankedCandidate& candidate) {
  if (!candidate.accepts()) return fmt::format("{} cannot: {}", candidate.name, to_text(candidate.declines));
  return fmt::format("{} can run it, predicted {:.2f} us", candidate.name, candidate.predicted_us);
}

ConvProblem kernel_problem(const ConvProblem& problem) {
  ConvProblem own = problem;
  own.bias_gradient = BiasGradient::kNone;
  own.new_history = false;
  return own;
}

std::vector<RankedCandidate> rank_candidates(const ConvProblem& problem, Target target, const PlanOptions& options,
                                             Breadth which) {
  std::vector<RankedCandidate> ranked = collect(View(problem, usual_rates(target)), options, which);
  order(ranked);
  return ranked;
}

std::vector<RankedCandidate> rank_candidates(const ConvProblem& asked, const DeviceInfo& device,
                                             const PlanOptions& options, Breadth which) {
  const ConvProblem problem = kernel_problem(asked);
  const View view(problem, rates_of(device));
  std::vector<RankedCandidate> ranked = collect(view, options, which);
  const tuning::Tuned tuned = options.tuning == Tuning::kOff
                                  ? tuning::Tuned()
                                  : tuning::find_tuned(device, problem, options, tuning::CodeCheck::kKnown);
  if (tuned.config && std::ranges::find(ranked, *tuned.config, &RankedCandidate::config) == ranked.end()) {
    ranked.push_back({*tuned.config, name_of(*tuned.config), {}});
    ranked.back().predicted_us = predicted_us(*tuned.config, view, options.splits);
  }
  const Result<Filter> filter = Filter::make(device, view, options);
  const std::vector<tuning::Measurement> rows = tuning::find_measurements(device, problem, options);
  for (RankedCandidate& candidate : ranked) {
    const auto row = std::ranges::find(rows, candidate.name, &tuning::Measurement::kernel);
    const bool right = row != rows.end() && (row->outcome == tuning::Outcome::kTimed ||  //
                                             row->outcome == tuning::Outcome::kSlower);
    if (right) candidate.measured_us = row->median_us;
    candidate.tuned = tuned.config && candidate.config == *tuned.config;
    if (candidate.tuned) {
      candidate.measured_us = tuned.entry->best.median_us;
      candidate.mark = tuned.mark;
    }
    if (!candidate.accepts()) continue;
    const std::optional<Decline> decline =
        filter.ok() ? filter->decline_of(candidate.config) : Decline{"packs", filter.status().message()};
    if (decline) candidate.declines.push_back(*decline);
  }
  order(ranked);
  return ranked;
}

std::vector<RankedCandidate> listed_candidates(const ConvProblem& problem, const DeviceInfo& device,
                                               const PlanOptions& options) {
  std::vector<RankedCandidate> all = rank_candidates(problem, device, options, Breadth::kAll);
  std::vector<RankedCandidate> few = rank_candidates(problem, device, options, Breadth::kFew);
  if (!all.empty() && all.front().accepts() && (few.empty() || few.front().name != all.front().name)) {
    few.insert(few.begin(), std::move(all.front()));
  }
  return few;
}

}  // namespace wt
