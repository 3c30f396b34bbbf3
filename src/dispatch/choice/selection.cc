// SPDX-License-Identifier: Apache-2.0
#include "dispatch/choice/selection.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <unordered_map>

#include "config/fields.h"
#include "config/quarantine.h"
#include "config/signature.h"
#include "kernels/constraints.h"
#include "kernels/kind.h"
#include "problem/random.h"

namespace wt {
namespace {

// Proposals of one kind that are alike().
struct Group {
  const KernelKind* kind;
  std::vector<const KernelConfig*> members;
};

struct Proposals {
  std::vector<KernelConfig> list;  // in order of preference
  std::vector<Group> groups;       // the same
};

// Whether two configs take a problem apart in the same way and differ in sizes of tiles and buffers, warps and stores.
bool alike(const KernelConfig& a, const KernelConfig& b) {
  const GemmConfig &x = a.gemm, &y = b.gemm;
  return a.kind == b.kind && a.family() == Family::kGemm && a.finite_only == b.finite_only &&
         x.pipeline == y.pipeline && x.loader_a == y.loader_a && x.loader_b == y.loader_b &&
         x.swizzle_a == y.swizzle_a && x.swizzle_b == y.swizzle_b && x.specialization == y.specialization &&
         x.vector_a == y.vector_a && x.vector_b == y.vector_b && x.groups_per_tile == y.groups_per_tile &&
         x.swap_ab == y.swap_ab && x.aligned_copy == y.aligned_copy && x.explicit_gemm == y.explicit_gemm;
}

// What proposals for one signature differ in most.
uint64_t rough_hash(const KernelConfig& config) {
  const GemmConfig& g = config.gemm;
  uint64_t hash = 0;
  for (const int value : {int{g.tile.m}, int{g.tile.n}, int{g.tile.k}, int{g.warps.m}, int{g.warps.n}, int{g.mma.n},
                          int{g.stages}, int{g.ping_pong}, int{g.swizzle_a}, int{g.vector_a}, int{g.vector_b},
                          int(g.staging), int(g.loader_a), int(g.split_k), int{g.load_warps}, int{config.min_blocks},
                          int(config.kind), int{config.direct.sub_w}, int{config.direct.vector_in}})
    hash = mix64(hash ^ static_cast<uint64_t>(value));
  return hash;
}

// Valid on their target, in order of preference, each once.
Proposals propose(const KernelConfig& signature, Breadth which) {
  std::vector<KernelConfig> all;
  wt::propose(signature, which, all);
  Proposals valid;
  std::vector<KernelConfig>& list = valid.list;
  std::unordered_multimap<uint64_t, size_t> seen;  // WHY not a set by ConfigLess: that compares field by field by name
  for (const KernelConfig& config : all) {
    const uint64_t hash = rough_hash(config);
    const auto [first, last] = seen.equal_range(hash);
    if (std::any_of(first, last, [&](const auto& item) { return list[item.second] == config; })) continue;
    if (!is_valid(config)) continue;
    seen.emplace(hash, list.size());
    list.push_back(config);
  }
  for (const KernelConfig& proposal : list) {
    const auto group =
        std::ranges::find_if(valid.groups, [&](const Group& known) { return alike(*known.members.front(), proposal); });
    if (group == valid.groups.end()) {
      valid.groups.push_back({&kind_of(proposal.kind), {&proposal}});
    } else {
      group->members.push_back(&proposal);
    }
  }
  return valid;
}

// A network has few signatures and many sizes, so the proposals of a signature are made once per process.
const Proposals& proposals_of(const KernelConfig& signature, Breadth which) {
  struct Memory {  // never freed, and its vectors never change: what is picked points into them
    std::shared_mutex mutex;
    std::map<KernelConfig, Proposals, ConfigLess> known[2];
  };
  static Memory& memory = *new Memory;
  auto& known = memory.known[which == Breadth::kAll];
  {
    const std::shared_lock lock(memory.mutex);
    if (const auto found = known.find(signature); found != known.end()) return found->second;
  }
  Proposals proposals = propose(signature, which);
  const std::unique_lock lock(memory.mutex);
  return known.try_emplace(signature, std::move(proposals)).first->second;
}

bool is_quarantined(const KernelConfig& config) {
  return !quarantine_list().empty() && find_quarantined(name_of(config), quarantine_list());
}

Requests requests_of(const PlanOptions& options) {
  return {.deterministic = options.deterministic, .strict_nonfinite = options.strict_nonfinite};
}

}  // namespace

std::vector<RankedConfig> rank(const ConvProblem& problem, const Rates& rates, const PlanOptions& options,
                               Breadth which) {
  const View view(problem, rates);
  std::vector<RankedConfig> accepting;
  for (const KernelConfig& config : proposals_of(config_for(problem, rates.target), which).list) {
    if (first_problem_decline(case_of(config, view, requests_of(options))) || is_quarantined(config) ||
        unproven_form(config))
      continue;
    accepting.push_back({&config, predicted_us(config, view, options.splits)});
  }
  // Equal predictions stay in the order of preference, which is that of their addresses.
  std::ranges::sort(accepting, [](const RankedConfig& a, const RankedConfig& b) {
    return a.predicted_us != b.predicted_us ? a.predicted_us < b.predicted_us : a.config < b.config;
  });
  return accepting;
}

std::optional<RankedConfig> pick(const View& view, const PlanOptions& options,
                                 const std::function<bool(const KernelConfig&)>& allowed) {
  const ConvProblem& problem = view.problem();
  const Requests requests = requests_of(options);
  std::optional<RankedConfig> best;
  // WHY: to ask all constraints costs more than a prediction, and that more than one constraint. In a group whose first
  // config is accepted, the others are predicted first and asked only where they would be the best: they differ from an
  // accepted one in sizes alone, which a prediction stands. Elsewhere, what declined the last is asked first.
  for (const Group& group : proposals_of(config_for(problem, view.rates().target), Breadth::kAll).groups) {
    if (group.kind && group.kind->may_serve && !group.kind->may_serve(problem)) continue;
    const Constraint* declined = nullptr;  // rows are those of a kind
    bool first_accepted = false;
    for (const KernelConfig* proposal : group.members) {
      const KernelConfig& config = *proposal;
      const Case at = case_of(config, view, requests);
      if (declined && declined->trips(at)) continue;
      const bool ask_now = !first_accepted;
      if (ask_now) {
        if (const Constraint* row = first_problem_decline(at)) {
          declined = row;
          continue;
        }
        first_accepted = proposal == group.members.front();
      }
      const double us = predicted_us(config, view, options.splits);
      // Equal predictions stay in the order of preference.
      if (best && !(us < best->predicted_us || (us == best->predicted_us && &config < best->config))) continue;
      if (!ask_now && first_problem_decline(at)) continue;
      if (!is_quarantined(config) && allowed(config)) best = {&config, us};
    }
  }
  return best;
}

size_t proposal_count(const ConvProblem& problem, Target target, Breadth which) {
  return proposals_of(config_for(problem, target), which).list.size();
}

}  // namespace wt
