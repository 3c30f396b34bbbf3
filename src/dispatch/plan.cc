// SPDX-License-Identifier: Apache-2.0
#include "dispatch/plan.h"

#include <algorithm>

#include "compile/compiler.h"
#include "config/targets.h"
#include "dispatch/bind.h"
#include "dispatch/candidates.h"
#include "dispatch/cpu_plan.h"
#include "dispatch/kernel_plan.h"
#include "dispatch/packs.h"

namespace wt {
namespace {

// The candidate that the caller named, which must exist and accept the problem.
Result<RankedCandidate> named_candidate(const ConvProblem& problem, Target target, const PlanOptions& options) {
  for (RankedCandidate& candidate : rank_candidates(problem, target, options, Candidates::kAll)) {
    if (candidate.name != options.kernel) continue;
    if (candidate.accepts()) return std::move(candidate);
    return unsupported("kernel {} declines '{}': {}", candidate.name, to_text(problem), to_text(candidate.declines));
  }
  return bad_input("no kernel for '{}' on {} is called '{}'; 'wavetile explain' lists their names", to_text(problem),
                   info_of(target).name, options.kernel);
}

// Without a compiler only what packs hold can be had.
Status drop_what_cannot_be_had(const DeviceInfo& device, const ConvProblem& problem,
                               std::vector<RankedCandidate>& ranked) {
  WT_TRY_ASSIGN(const std::shared_ptr<const Registry> packs, installed_packs(device));
  if (!packs) return {};
  const Status compiler = compile::available(backend_for(device), device.target);
  if (compiler.ok()) return {};
  std::erase_if(ranked, [&](const RankedCandidate& candidate) { return !packs->contains(candidate.name); });
  if (std::ranges::any_of(ranked, &RankedCandidate::accepts)) return {};
  return unsupported("none of the {} kernels of WAVETILE_PACK for {} accepts '{}', and none can be compiled: {}",
                     packs->size(), info_of(device.target).name, to_text(problem), compiler.message());
}

Result<std::shared_ptr<const Plan>> choose(const std::shared_ptr<Device>& device, const ConvProblem& problem,
                                           const PlanOptions& options) {
  const Target target = device->info().target;
  if (!options.kernel.empty()) {
    WT_TRY_ASSIGN(const RankedCandidate candidate, named_candidate(problem, target, options));
    return make_kernel_plan(device, problem, candidate.config, "asked for by name");
  }
  std::vector<RankedCandidate> ranked = rank_candidates(problem, target, options, Candidates::kAll);
  WT_TRY(drop_what_cannot_be_had(device->info(), problem, ranked));
  const auto accepting = std::ranges::count_if(ranked, &RankedCandidate::accepts);
  int too_large = 0;
  for (const RankedCandidate& candidate : ranked) {
    if (!candidate.accepts()) break;
    if (options.workspace_limit &&
        bind(candidate.config, problem, device->info()).workspace_bytes > *options.workspace_limit) {
      ++too_large;
      continue;
    }
    std::string reason = fmt::format("preferred among {} of {} kernels that accept", accepting, ranked.size());
    if (too_large) reason += fmt::format("; {} passed over for the workspace limit", too_large);
    return make_kernel_plan(device, problem, candidate.config, std::move(reason));
  }
  return unsupported("no kernel for {} accepts '{}'; 'wavetile explain' says why each declines", info_of(target).name,
                     to_text(problem));
}

}  // namespace

Result<std::shared_ptr<const Plan>> make_plan(const std::shared_ptr<Device>& device, const ConvProblem& problem,
                                              const PlanOptions& options) {
  WT_TRY(validate(problem));
  if (device->info().kind == DeviceKind::kCpu) return make_cpu_plan(device, problem, options);
  return choose(device, problem, options);
}

}  // namespace wt
