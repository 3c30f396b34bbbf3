// SPDX-License-Identifier: Apache-2.0
#include "dispatch/selection.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>

#include "config/constraints.h"
#include "config/fields.h"
#include "config/kernels.h"
#include "config/quarantine.h"
#include "config/signature.h"
#include "dispatch/cost_correction.h"
#include "dispatch/cost_model.h"

namespace wt {
namespace {

struct Proposal {
  KernelConfig config;
  double correction;  // of the model's predictions for it
  bool starts_group;  // it reads its inputs otherwise than the one before, so that other constraints may decide
};
using Proposals = std::vector<Proposal>;

// Configs that read their inputs alike are mostly declined for the same reason.
bool is_alike(const KernelConfig& a, const KernelConfig& b) {
  const GemmConfig &x = a.gemm, &y = b.gemm;
  return a.family == b.family && x.pipeline == y.pipeline && x.loader_a == y.loader_a && x.swizzle_a == y.swizzle_a &&
         x.specialization == y.specialization && x.vector_a == y.vector_a && x.groups_per_tile == y.groups_per_tile &&
         a.finite_only == b.finite_only;
}

// Valid on their target, in order of preference, each once.
Proposals propose(const KernelConfig& signature, Candidates which) {
  std::vector<KernelConfig> all;
  for (const KernelKind* kind : kernel_kinds()) {
    if (!kind->targets.empty() && std::ranges::find(kind->targets, signature.target) == kind->targets.end()) continue;
    kind->propose(signature, info_of(signature.target), which == Candidates::kFew ? Breadth::kFew : Breadth::kAll, all);
  }
  Proposals valid;
  std::set<KernelConfig, ConfigLess> seen;
  for (const KernelConfig& config : all) {
    if (is_valid(config) && seen.insert(config).second)
      valid.push_back({config, cost_correction(config), valid.empty() || !is_alike(config, valid.back().config)});
  }
  return valid;
}

// A network has few signatures and many sizes, so the proposals of a signature are made once a process.
const Proposals& proposals_of(const KernelConfig& signature, Candidates which) {
  struct Memory {  // never freed, and its vectors never change: what is picked points into them
    std::shared_mutex mutex;
    std::map<KernelConfig, Proposals, ConfigLess> known[2];
  };
  static Memory& memory = *new Memory;
  auto& known = memory.known[which == Candidates::kAll];
  {
    const std::shared_lock lock(memory.mutex);
    if (const auto found = known.find(signature); found != known.end()) return found->second;
  }
  Proposals proposals = propose(signature, which);
  const std::unique_lock lock(memory.mutex);
  return known.try_emplace(signature, std::move(proposals)).first->second;
}

bool trips(const Constraint& row, const Case& at) { return row.applies(at) && !row.holds(at); }

// The proposals are valid on their target; what is left to ask are the rows that read the problem.
const Constraint* first_decline(const Case& at) {
  for (const Constraint& row : problem_rows())
    if (trips(row, at)) return &row;
  return nullptr;
}

bool is_quarantined(const KernelConfig& config) {
  return !quarantine_list().empty() && find_quarantined(name_of(config), quarantine_list());
}

Requests requests_of(const PlanOptions& options) {
  return {.deterministic = options.deterministic, .strict_nonfinite = options.strict_nonfinite};
}

}  // namespace

std::vector<RankedConfig> rank(const ConvProblem& problem, Target target, int multiprocessors,
                               const PlanOptions& options, Candidates which) {
  std::vector<RankedConfig> accepting;
  for (const auto& [config, correction, starts_group] : proposals_of(config_for(problem, target), which)) {
    if (first_decline({config, info_of(target), &problem, requests_of(options)}) || is_quarantined(config)) continue;
    accepting.push_back({&config, predicted_us(config, problem, multiprocessors) * correction});
  }
  // Equal predictions stay in the order of preference, which is that of their addresses.
  std::ranges::sort(accepting, [](const RankedConfig& a, const RankedConfig& b) {
    return a.predicted_us != b.predicted_us ? a.predicted_us < b.predicted_us : a.config < b.config;
  });
  return accepting;
}

std::optional<RankedConfig> pick(const ConvProblem& problem, Target target, int multiprocessors,
                                 const PlanOptions& options, const std::function<bool(const KernelConfig&)>& allowed) {
  const TargetInfo& info = info_of(target);
  const Requests requests = requests_of(options);
  std::optional<RankedConfig> best;
  // WHY: all constraints cost more than a prediction, and that more than one constraint. So a group's first config is
  // asked all, and the rest first what declined it; what is left is asked all only where it would be the best.
  const Constraint* declined = nullptr;
  for (const auto& [config, correction, starts_group] : proposals_of(config_for(problem, target), Candidates::kAll)) {
    const Case at{config, info, &problem, requests};
    if (!starts_group && declined && trips(*declined, at)) continue;
    // Predictions of the direct family are dear, and made for what is accepted only.
    const bool ask_all = starts_group || config.family == Family::kDirect;
    if (ask_all) {
      declined = first_decline(at);
      if (declined) continue;
    }
    const double us = predicted_us(config, problem, multiprocessors) * correction;
    if (best && !(us < best->predicted_us)) continue;
    if (!ask_all && first_decline(at)) continue;
    if (!is_quarantined(config) && allowed(config)) best = {&config, us};
  }
  return best;
}

size_t proposal_count(const ConvProblem& problem, Target target, Candidates which) {
  return proposals_of(config_for(problem, target), which).size();
}

}  // namespace wt
