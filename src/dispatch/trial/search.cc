// SPDX-License-Identifier: Apache-2.0
#include "dispatch/trial/search.h"

#include <algorithm>
#include <set>
#include <span>

#include "base/log.h"
#include "base/parallel.h"
#include "compile/compiler.h"
#include "dispatch/choice/packs.h"
#include "dispatch/choice/proven.h"
#include "dispatch/plan/kernel.h"
#include "generate/source.h"

namespace wt {
namespace {

// Fills the compiler's cache with what no pack has, so that the plans below only load.
Status compile_ahead(const DeviceInfo& device, const std::vector<RankedCandidate>& candidates,
                     const SearchOptions& options, const SearchProgress& progress) {
  WT_TRY_ASSIGN(const std::shared_ptr<const Registry> packs, installed_packs(device));
  const Registry* own = options.trial.plan.kernels.get();
  std::vector<compile::Source> sources;
  for (const RankedCandidate& candidate : candidates) {
    if ((packs && packs->contains(candidate.name)) || (own && own->contains(candidate.name))) continue;
    Result<std::string> text = generate_source(candidate.config);
    if (text.ok()) sources.push_back({candidate.name, std::move(*text), candidate.config.target});
  }
  const compile::Backend backend =
      device.kind == DeviceKind::kSim ? compile::Backend::kHost : compile::backend_of(device.target);
  const size_t slice = 4 * static_cast<size_t>(hardware_threads()), skipped = candidates.size() - sources.size();
  for (size_t begun = 0; begun < sources.size() && !(options.stop && options.stop()); begun += slice) {
    const auto part = std::span(sources).subspan(begun, std::min(slice, sources.size() - begun));
    const auto show = [&](size_t done, const compile::Source& source, const Result<compile::Module>&) {
      if (progress) progress(skipped + begun + done, 2 * candidates.size(), source.name);
    };
    compile::compile_all(backend, part, show);  // a failure comes back when its plan is made
  }
  return {};
}

SearchRow try_candidate(TrialTensors& tensors, const RankedCandidate& candidate, const TrialOptions& options) {
  SearchRow row{candidate.config, {}};
  const Result<std::shared_ptr<const Plan>> plan =
      make_kernel_plan(tensors.device(), tensors.problem(), candidate.config, "tried by search", {},
                       options.plan.splits, nullptr, options.plan.kernels.get());
  if (!plan.ok()) {
    row.result.status = plan.status();
    row.result.plan.kernel = candidate.name;
    return row;
  }
  if (options.plan.workspace_limit && (*plan)->workspace_bytes() > *options.plan.workspace_limit) {
    row.result.status = unsupported("needs {} bytes of workspace, more than the limit of {}",
                                    (*plan)->workspace_bytes(), *options.plan.workspace_limit);
    row.result.plan.kernel = candidate.name;
    return row;
  }
  row.result = run_trial(tensors, **plan, options);
  return row;
}

}  // namespace

Result<SearchReport> search(const std::shared_ptr<Device>& device, const ConvProblem& asked,
                            const SearchOptions& options, const SearchProgress& progress) {
  const ConvProblem problem = kernel_problem(asked);
  if (device->info().kind == DeviceKind::kCpu) {
    return unsupported("device {} has no generated kernels to search; use a GPU or sim:sm_90a", device->info().id);
  }
  std::vector<RankedCandidate> candidates =
      rank_candidates(problem, device->info().target, options.trial.plan, options.candidates);
  const bool is_gpu_device = is_gpu(device->info().kind);  // the simulator may try what no GPU has shown
  const std::set<std::string> proven = is_gpu_device ? proven_forms(device->info()) : std::set<std::string>();
  std::erase_if(candidates, [&](const RankedCandidate& candidate) {
    return !candidate.accepts() || (is_gpu_device && !unproven_reason(proven, candidate.config).empty()) ||
           candidate.name.find(options.filter) == std::string::npos ||
           (!options.names.empty() && !options.names.contains(candidate.name)) ||
           (options.own_only && !candidate.registered);
  });
  if (candidates.empty()) {
    if (options.filter.empty() && options.names.empty()) return unsupported("no kernel accepts '{}'", to_text(problem));
    return unsupported("no kernel {}{}accepts '{}'; 'wavetile explain' lists them",
                       options.names.empty() ? "" : fmt::format("of the {} that were named ", options.names.size()),
                       options.filter.empty() ? "" : fmt::format("with '{}' in its name ", options.filter),
                       to_text(problem));
  }
  if (options.best > 0 && candidates.size() > options.best) candidates.resize(options.best);  // they come ranked
  if (progress) progress(0, 2 * candidates.size(), candidates.front().name);
  WT_TRY(compile_ahead(device->info(), candidates, options, progress));
  WT_TRY_ASSIGN(const std::unique_ptr<TrialTensors> tensors,
                TrialTensors::make(device, problem, options.trial.exact, options.trial.seed));

  SearchReport report{problem, {}, 0, 0};
  for (const RankedCandidate& candidate : candidates) {
    if (options.stop && options.stop()) break;
    SearchRow row = try_candidate(*tensors, candidate, options.trial);
    if (row.result.status.code() == Code::kVerificationFailed) {
      ++report.wrong;
      log::error("WRONG RESULT by {}: {}; repeat with: {}", candidate.name, row.result.status.message(),
                 row.result.replay);
    } else if (!row.result.status.ok()) {
      ++report.failed;
      log::warn("{} could not be tried: {}", candidate.name, row.result.status.message());
    }
    report.rows.push_back(std::move(row));
    if (progress) progress(candidates.size() + report.rows.size(), 2 * candidates.size(), candidate.name);
  }
  report.not_tried = candidates.size() - report.rows.size();
  std::stable_sort(report.rows.begin(), report.rows.end(), [](const SearchRow& a, const SearchRow& b) {
    if (a.ranks() != b.ranks()) return a.ranks();
    return a.ranks() && a.result.timing->median_us < b.result.timing->median_us;
  });
  return report;
}

}  // namespace wt
