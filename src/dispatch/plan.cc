// SPDX-License-Identifier: Apache-2.0
#include "dispatch/plan.h"

#include "base/integers.h"
#include "base/log.h"
#include "compile/compiler.h"
#include "config/fields.h"
#include "config/targets.h"
#include "dispatch/bias_gradient.h"
#include "dispatch/bind.h"
#include "dispatch/candidates.h"
#include "dispatch/cpu_plan.h"
#include "dispatch/history_plan.h"
#include "dispatch/images_plan.h"
#include "dispatch/kernel_plan.h"
#include "dispatch/packs.h"
#include "dispatch/selection.h"
#include "dispatch/transposed_plan.h"
#include "dispatch/tuning/first_use.h"
#include "dispatch/tuning/lookup.h"
#include "problem/history.h"

namespace wt {
namespace {

using PlanResult = Result<std::shared_ptr<const Plan>>;

// The candidate that the caller named, which must exist and accept the problem.
Result<RankedCandidate> named_candidate(const ConvProblem& problem, const DeviceInfo& device,
                                        const PlanOptions& options) {
  for (RankedCandidate& candidate : rank_candidates(problem, device.target, options, Candidates::kAll)) {
    if (candidate.name != options.kernel) continue;
    if (candidate.accepts()) return std::move(candidate);
    return unsupported("kernel {} declines '{}': {}", candidate.name, to_text(problem), to_text(candidate.declines));
  }
  return bad_input("no kernel for '{}' on {} is called '{}'; 'wavetile explain' lists their names", to_text(problem),
                   info_of(device.target).name, options.kernel);
}

// Which kernels a choice may fall on, beside the constraint table.
class Filter {
 public:
  static Result<Filter> make(const DeviceInfo& device, const ConvProblem& problem, const PlanOptions& options) {
    Filter filter(device, problem, options);
    WT_TRY_ASSIGN(filter.packs_, installed_packs(device));
    filter.in_quarantine_ = tuning::quarantined_now(device);
    // Without a compiler only what packs hold can be had.
    if (filter.packs_) filter.compiler_ = compile::available(backend_for(device), device.target);
    return filter;
  }

  bool allows(const KernelConfig& config) {
    if (!compiler_.ok() && !packs_->contains(name_of(config))) return ++absent_, false;
    if (options_.workspace_limit && bind(config, problem_, device_).workspace_bytes > *options_.workspace_limit)
      return ++too_large_, false;
    if (!tuning::quarantine_reason(in_quarantine_, device_, config).empty()) return ++quarantined_, false;
    for (const KernelConfig& failed : failed_)
      if (failed == config) return false;
    return true;
  }
  void exclude(const KernelConfig& config) { failed_.push_back(config); }

  std::string note() const {
    std::string text;
    if (absent_) text += fmt::format("; without a compiler only the {} of packs can be had", packs_->size());
    if (too_large_) text += "; others were passed over for the workspace limit";
    if (quarantined_) text += "; others are in quarantine for wrong results";
    return text;
  }

  Status nothing_left() const {
    const std::string_view target = info_of(device_.target).name;
    if (!compiler_.ok()) {
      return unsupported("none of the {} kernels of WAVETILE_PACK for {} accepts '{}', and none can be compiled: {}",
                         packs_->size(), target, to_text(problem_), compiler_.message());
    }
    return unsupported("no kernel for {} accepts '{}'{}; 'wavetile explain' says why each declines", target,
                       to_text(problem_), note());
  }

 private:
  Filter(const DeviceInfo& device, const ConvProblem& problem, const PlanOptions& options)
      : device_(device), problem_(problem), options_(options) {}

  const DeviceInfo& device_;
  const ConvProblem& problem_;
  const PlanOptions& options_;
  std::shared_ptr<const Registry> packs_;
  Status compiler_;
  tuning::Quarantined in_quarantine_;
  std::vector<KernelConfig> failed_;
  int absent_ = 0, too_large_ = 0, quarantined_ = 0;
};

PlanResult tuned_plan(const std::shared_ptr<Device>& device, const ConvProblem& problem, const tuning::Tuned& tuned) {
  const tuning::Entry& entry = *tuned.entry;
  std::string reason = fmt::format("tuned: {:.2f} us measured, the best of {} tried of {} candidates",
                                   entry.best.median_us, entry.tried, entry.candidates);
  if (!entry.complete) reason += "; tuning ended before all were tried";
  return make_kernel_plan(device, problem, *tuned.config, std::move(reason), {.measured_us = entry.best.median_us});
}

PlanResult predicted_plan(const std::shared_ptr<Device>& device, const ConvProblem& problem, const PlanOptions& options,
                          std::string note) {
  const DeviceInfo& info = device->info();
  WT_TRY_ASSIGN(Filter filter, Filter::make(info, problem, options));
  for (;;) {
    const std::optional<RankedConfig> best = pick(problem, info.target, info.multiprocessors, options,
                                                  [&](const KernelConfig& c) { return filter.allows(c); });
    if (!best) return filter.nothing_left();
    std::string reason = fmt::format("least predicted time, {:.2f} us, of {} kernels{}{}", best->predicted_us,
                                     proposal_count(problem, info.target), filter.note(), note);
    PlanResult plan =
        make_kernel_plan(device, problem, *best->config, std::move(reason), {.predicted_us = best->predicted_us});
    if (plan.ok() || !options.fallback) return plan;
    const std::string name = name_of(*best->config);
    log::warn("{} cannot be used, the next candidate is taken as asked: {}", name, plan.status().message());
    note += fmt::format("; {} could not be used: {}", name, plan.status().message().substr(0, 200));
    filter.exclude(*best->config);
  }
}

// The kernel that the caller named; a channels-last one serves a channels-first problem between transpositions.
PlanResult named_plan(const std::shared_ptr<Device>& device, const ConvProblem& problem, const PlanOptions& options) {
  constexpr const char* kReason = "asked for by name";
  const Result<RankedCandidate> own = named_candidate(problem, device->info(), options);
  if (own.ok()) return make_kernel_plan(device, problem, own->config, kReason);
  if (problem.layout == Layout::kChannelsLast || problem.history) return own.status();
  const ConvProblem last = channels_last(problem);
  const Result<RankedCandidate> inner = named_candidate(last, device->info(), options);
  if (!inner.ok()) return own.status();
  WT_TRY_ASSIGN(std::shared_ptr<const Plan> plan, make_kernel_plan(device, last, inner->config, kReason));
  return make_transposed_plan(device, problem, std::move(plan));
}

// What the kernel that would be chosen takes, measured or predicted; nothing: there is none.
Result<std::optional<double>> expected_us(const DeviceInfo& info, const ConvProblem& problem,
                                          const PlanOptions& options) {
  if (options.tuning != Tuning::kOff) {
    const tuning::Tuned tuned = tuning::find_tuned(info, problem, options);
    if (tuned.config) return std::optional(tuned.entry->best.median_us);
  }
  WT_TRY_ASSIGN(Filter filter, Filter::make(info, problem, options));
  const std::optional<RankedConfig> best = pick(problem, info.target, info.multiprocessors, options,
                                                [&](const KernelConfig& c) { return filter.allows(c); });
  return best ? std::optional(best->predicted_us) : std::nullopt;
}

// The options of a channels-last plan between transpositions, where that should be faster than any channels-first
// kernel and fits the workspace; else nothing.
Result<std::optional<PlanOptions>> options_between_transpositions(const DeviceInfo& info, const ConvProblem& problem,
                                                                  const PlanOptions& options) {
  const std::optional<PlanOptions> no;
  if (problem.layout == Layout::kChannelsLast || problem.history || !problem.epilogue.store.empty() ||
      !compile::available(backend_for(info), info.target).ok())
    return no;
  PlanOptions inner = options;
  if (inner.workspace_limit) {
    *inner.workspace_limit -= transposition_bytes(problem);
    if (*inner.workspace_limit < 0) return no;
  }
  WT_TRY_ASSIGN(const std::optional<double> own, expected_us(info, problem, options));
  WT_TRY_ASSIGN(const std::optional<double> last, expected_us(info, channels_last(problem), inner));
  if (!last || (own && *own <= *last + transposition_us(problem))) return no;
  return std::optional(inner);
}

// Whether ranges of images, each within a kernel's indices, should be faster than a kernel that reaches all of them.
Result<bool> divides_images(const DeviceInfo& info, const ConvProblem& problem, const PlanOptions& options) {
  const int64_t images = images_a_range(problem);
  if (images == problem.n) return false;
  if (!options.kernel.empty()) return !named_candidate(problem, info, options).ok();
  WT_TRY_ASSIGN(const std::optional<double> own, expected_us(info, problem, options));
  WT_TRY_ASSIGN(const std::optional<double> part, expected_us(info, of_images(problem, images), options));
  const auto ranges = static_cast<double>(ceil_div(problem.n, images));
  return part && (!own || ranges * *part < *own);
}

PlanResult choose(const std::shared_ptr<Device>& device, const ConvProblem& problem, const PlanOptions& options);

PlanResult plan_of_ranges(const std::shared_ptr<Device>& device, const ConvProblem& problem,
                          const PlanOptions& options) {
  const int64_t images = images_a_range(problem), left = problem.n % images;
  WT_TRY_ASSIGN(std::shared_ptr<const Plan> whole, choose(device, of_images(problem, images), options));
  std::shared_ptr<const Plan> rest;
  if (left > 0) {
    WT_TRY_ASSIGN(rest, choose(device, of_images(problem, left), options));
  }
  return make_images_plan(problem, std::move(whole), std::move(rest));
}

PlanResult choose(const std::shared_ptr<Device>& device, const ConvProblem& problem, const PlanOptions& options) {
  const DeviceInfo& info = device->info();
  WT_TRY_ASSIGN(const bool divides, divides_images(info, problem, options));
  if (divides) return plan_of_ranges(device, problem, options);
  if (!options.kernel.empty()) return named_plan(device, problem, options);
  WT_TRY_ASSIGN(const std::optional<PlanOptions> between, options_between_transpositions(info, problem, options));
  if (between) {
    WT_TRY_ASSIGN(std::shared_ptr<const Plan> inner, choose(device, channels_last(problem), *between));
    return make_transposed_plan(device, problem, std::move(inner));
  }
  std::string note;
  if (options.tuning != Tuning::kOff) {
    tuning::Tuned tuned = tuning::find_tuned(info, problem, options);
    if (!tuned.config && options.tuning == Tuning::kFirstUse) {
      WT_TRY_ASSIGN(tuned, tuning::tune_now(device, problem, options));
    }
    if (tuned.config) {
      PlanResult plan = tuned_plan(device, problem, tuned);
      if (plan.ok() || !options.fallback) return plan;
      tuned.note = fmt::format("the tuned kernel could not be used: {}", plan.status().message().substr(0, 200));
      log::warn("{}", tuned.note);
    }
    if (!tuned.note.empty()) note = "; " + tuned.note;
  }
  return predicted_plan(device, problem, options, std::move(note));
}

// Whether a kernel over history and x joined should be faster than one that reads the history.
Result<bool> joins_history(const DeviceInfo& info, const ConvProblem& native, const PlanOptions& options) {
  const ConvProblem joined = joined_problem(native);
  if (!options.kernel.empty()) return !named_candidate(native, info, options).ok();
  WT_TRY_ASSIGN(const std::optional<double> own, expected_us(info, native, options));
  if (!own) return true;
  PlanOptions inner = options;
  if (inner.workspace_limit && (*inner.workspace_limit -= join_bytes(native)) < 0) return false;
  WT_TRY_ASSIGN(const std::optional<double> last, expected_us(info, joined, inner));
  return last && *last + join_us(native) < *own;
}

PlanResult plan_with_history(const std::shared_ptr<Device>& device, const ConvProblem& problem,
                             const PlanOptions& options) {
  const ConvProblem native = kernel_problem(problem);
  bool joins = true;
  const bool on_host = device->info().kind == DeviceKind::kCpu;
  if (!on_host) {
    WT_TRY_ASSIGN(joins, joins_history(device->info(), native, options));
  }
  PlanOptions inner_options = options;
  if (joins && inner_options.workspace_limit) {
    *inner_options.workspace_limit -= join_bytes(native);
    if (*inner_options.workspace_limit < 0) {
      return unsupported(
          "no kernel that reads a history accepts '{}', and joining history and x takes {} bytes of "
          "workspace, {} more than the limit",
          to_text(problem), join_bytes(native), -*inner_options.workspace_limit);
    }
  }
  WT_TRY_ASSIGN(std::shared_ptr<const Plan> inner,
                joins ? make_plan(device, joined_problem(problem), inner_options) : choose(device, native, options));
  return make_history_plan(device, problem, std::move(inner), joins);
}

}  // namespace

PlanResult make_plan(const std::shared_ptr<Device>& device, const ConvProblem& problem, const PlanOptions& options) {
  WT_TRY(validate(problem));
  if (problem.bias_gradient != BiasGradient::kNone) {
    WT_TRY_ASSIGN(std::shared_ptr<const Plan> inner, make_plan(device, kernel_problem(problem), options));
    return make_bias_gradient_plan(device, problem, options, std::move(inner));
  }
  if (problem.history) return plan_with_history(device, problem, options);
  if (device->info().kind == DeviceKind::kCpu) return make_cpu_plan(device, problem, options);
  return choose(device, problem, options);
}

}  // namespace wt
