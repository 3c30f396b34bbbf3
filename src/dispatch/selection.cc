// SPDX-License-Identifier: Apache-2.0
#include "dispatch/selection.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <unordered_map>

#include "config/constraints.h"
#include "config/fields.h"
#include "config/kernels.h"
#include "config/quarantine.h"
#include "config/signature.h"
#include "dispatch/cost_correction.h"
#include "dispatch/cost_model.h"
#include "kernel/gemm/tma/layout.h"
#include "problem/choice.h"
#include "problem/patch_view.h"
#include "problem/random.h"

namespace wt {
namespace {

struct Proposal {
  KernelConfig config;
  double correction;  // of the model's predictions for it
};

// Proposals of one kind that are alike().
struct Group {
  const KernelKind* kind;
  std::vector<const Proposal*> members;
};

struct Proposals {
  std::vector<Proposal> list;  // in order of preference
  std::vector<Group> groups;   // the same
};

// Whether two configs take a problem apart in the same way and differ in sizes of tiles and buffers, warps and stores.
bool alike(const KernelConfig& a, const KernelConfig& b) {
  const GemmConfig &x = a.gemm, &y = b.gemm;
  return a.family == Family::kGemm && b.family == Family::kGemm && a.finite_only == b.finite_only &&
         x.pipeline == y.pipeline && x.loader_a == y.loader_a && x.loader_b == y.loader_b &&
         x.swizzle_a == y.swizzle_a && x.swizzle_b == y.swizzle_b && x.specialization == y.specialization &&
         x.vector_a == y.vector_a && x.vector_b == y.vector_b && x.groups_per_tile == y.groups_per_tile &&
         x.k_group == y.k_group && x.split_image == y.split_image && x.explicit_gemm == y.explicit_gemm;
}

// Of what proposals for one signature differ in most.
uint64_t rough_hash(const KernelConfig& config) {
  const GemmConfig& g = config.gemm;
  uint64_t hash = 0;
  for (const int value : {int{g.tile.m}, int{g.tile.n}, int{g.tile.k}, int{g.warps.m}, int{g.warps.n}, int{g.mma.n},
                          int{g.stages}, int{g.ping_pong}, int{g.swizzle_a}, int{g.vector_a}, int{g.vector_b},
                          int(g.staging), int(g.loader_a), int(g.split_k), int{g.load_warps}, int{config.min_blocks},
                          int{config.direct.tile_h}, int{config.direct.sub_w}, int{config.direct.vector_in}})
    hash = mix64(hash ^ static_cast<uint64_t>(value));
  return hash;
}

// Valid on their target, in order of preference, each once.
Proposals propose(const KernelConfig& signature, Candidates which) {
  std::vector<KernelConfig> all;
  for (const KernelKind* kind : kernel_kinds()) {
    if (!kind->targets.empty() && std::ranges::find(kind->targets, signature.target) == kind->targets.end()) continue;
    wt::propose(*kind, signature, which == Candidates::kFew ? Breadth::kFew : Breadth::kAll, all);
  }
  Proposals valid;
  std::vector<Proposal>& list = valid.list;
  std::unordered_multimap<uint64_t, size_t> seen;  // WHY not a set by ConfigLess: that compares field by field by name
  for (const KernelConfig& config : all) {
    const uint64_t hash = rough_hash(config);
    const auto [first, last] = seen.equal_range(hash);
    if (std::any_of(first, last, [&](const auto& item) { return list[item.second].config == config; })) continue;
    if (!is_valid(config)) continue;
    seen.emplace(hash, list.size());
    list.push_back({config, cost_correction(config)});
  }
  for (const Proposal& proposal : list) {
    const auto group = std::ranges::find_if(
        valid.groups, [&](const Group& known) { return alike(known.members.front()->config, proposal.config); });
    if (group == valid.groups.end()) {
      valid.groups.push_back({kind_of(proposal.config), {&proposal}});
    } else {
      group->members.push_back(&proposal);
    }
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

// What a kernel sees of a problem: kernels for patches its other view, where it has one (problem/patch_view.h).
class Views {
 public:
  explicit Views(const ConvProblem& asked) : asked_(asked) {
    if (!is_patch(asked)) return;
    patches_ = patch_view(asked);
    if (asked.direction == Direction::kBackwardWeight) packed_ = patch_view(asked, true);
  }
  Case of(const KernelConfig& config, const TargetInfo& info, const Requests& requests) const {
    const bool other = patches_ && tma_layout::sees_patches(config);
    const auto& view = packed_ && tma_layout::packs_patches(config) ? packed_ : patches_;
    return {config, info, other ? &*view : &asked_, requests, &asked_};
  }

 private:
  const ConvProblem& asked_;
  std::optional<ConvProblem> patches_, packed_;
};

// Copies of narrow rows of channels where wide ones are full, and gathers by short vectors where the long ones of the
// same kernels fit: of 272 and 327 such layers that were timed, none was fastest so.
bool outdone(const KernelConfig& config, const ConvProblem& problem) {
  if (config.family != Family::kGemm) return false;
  const GemmConfig& gemm = config.gemm;
  if (gemm.pipeline == Pipeline::kWavelet) {
    constexpr int kLongVector = 8;
    return problem.c_per_group() % 64 == 0 && problem.k_per_group() % 64 == 0 && size_of(operand_a(config)) == 2 &&
           gemm.vector_a < kLongVector && gemm.vector_b < kLongVector;
  }
  if (gemm.pipeline != Pipeline::kTma || config.direction == Direction::kBackwardWeight || gemm.swizzle_a == 128)
    return false;
  const int64_t depth = problem.direction == Direction::kForward ? problem.c_per_group() : problem.k_per_group();
  return depth > 0 && depth * size_of(operand_a(config)) % 128 == 0;
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
  const ChoiceScope scope(problem);
  const Views views(problem);
  std::vector<RankedConfig> accepting;
  for (const auto& [config, correction] : proposals_of(config_for(problem, target), which).list) {
    if (first_decline(views.of(config, info_of(target), requests_of(options))) || is_quarantined(config)) continue;
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
  const ChoiceScope scope(problem);
  const TargetInfo& info = info_of(target);
  const Requests requests = requests_of(options);
  const Views views(problem);
  std::optional<RankedConfig> best;
  // WHY: to ask all constraints costs more than a prediction, and that more than one constraint. Of a group whose first
  // config is accepted, the others are predicted first and asked only where they would be the best: they differ from an
  // accepted one in sizes alone, which a prediction stands. Elsewhere, what declined the last is asked first.
  const Constraint* declined = nullptr;
  for (const Group& group : proposals_of(config_for(problem, target), Candidates::kAll).groups) {
    if (group.kind && group.kind->may_serve && !group.kind->may_serve(problem)) continue;
    if (outdone(group.members.front()->config, problem)) continue;
    bool first_accepted = false;
    for (const Proposal* proposal : group.members) {
      const KernelConfig& config = proposal->config;
      const Case at = views.of(config, info, requests);
      if (declined && trips(*declined, at)) continue;
      const bool ask_now = !first_accepted;
      if (ask_now) {
        if (const Constraint* row = first_decline(at)) {
          declined = row;
          continue;
        }
        first_accepted = proposal == group.members.front();
      }
      const double us = predicted_us(config, problem, multiprocessors) * proposal->correction;
      // Equal predictions stay in the order of preference.
      if (best && !(us < best->predicted_us || (us == best->predicted_us && &config < best->config))) continue;
      if (!ask_now && first_decline(at)) continue;
      if (!is_quarantined(config) && allowed(config)) best = {&config, us};
    }
  }
  return best;
}

size_t proposal_count(const ConvProblem& problem, Target target, Candidates which) {
  return proposals_of(config_for(problem, target), which).list.size();
}

}  // namespace wt
