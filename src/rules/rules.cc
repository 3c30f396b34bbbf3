// SPDX-License-Identifier: Apache-2.0
#include "rules/rules.h"

#include <algorithm>
#include <set>
#include <span>
#include <tuple>

#include "config/fields.h"
#include "config/quarantine.h"
#include "config/signature.h"
#include "kernels/kind.h"
#include "rules/selection.h"

namespace wt {

namespace {

using enum DataType;

struct TypeRow {
  TypeCombination types;
  bool in_default;
};

// tf32 is stored as fp32, so its output is fp32.
constexpr TypeRow kTypes[] = {
    {{kBf16, kBf16, kBf16}, true},
    {{kF16, kF16, kF16}, true},
    {{kTf32, kTf32, kF32}, true},
    {{kF32, kF32, kF32}, true},
    {{kE4m3, kE4m3, kBf16}, true},
    {{kE5m2, kE5m2, kBf16}, false},
    {{kBf16, kBf16, kF32}, false},
    {{kF16, kF16, kF32}, false},
    {{kE4m3, kE4m3, kF16}, false},
    {{kE4m3, kE4m3, kF32}, false},
    {{kE4m3, kE4m3, kE4m3}, false},
    {{kE5m2, kE5m2, kF16}, false},
    {{kE5m2, kE5m2, kF32}, false},
    {{kE4m3, kE5m2, kBf16}, false},
    {{kE5m2, kE4m3, kBf16}, false},
    {{kE4m3, kE4m3, kBf16, BlockScales::kMx}, false},
    {{kE5m2, kE4m3, kF16, BlockScales::kMx}, false},
    {{kE2m1, kE2m1, kF32, BlockScales::kMx}, false},
    {{kE2m1, kE2m1, kBf16, BlockScales::kNv}, false},
    {{kI8, kI8, kI8}, false},
    {{kI8, kI8, kF32}, false},
    {{kI8, kI8, kF16}, false},
    {{kI8, kI8, kBf16}, false},
};

// Beside the plain one. Their values are run-time arguments, so one of each kind of step and the usual chains suffice.
constexpr EpilogueConfig kEpilogues[] = {
    {.bias = true},
    {.bias = true, .activation = Activation::kRelu},
    {.scale = true, .bias = true},
    {.residual = true},
    {.bias = true, .residual = true, .activation = Activation::kRelu},
    {.activation = Activation::kLeakyRelu},
    {.activation = Activation::kClamp},
    {.bias = true, .activation = Activation::kSilu},
    {.bias = true, .activation = Activation::kGelu},
    {.activation = Activation::kSigmoid},
    {.activation = Activation::kTanh},
    {.amax = true},
};

// Those of them that default has too: a bias is what most layers of trained networks add.
constexpr size_t kDefaultEpilogues = 2;

bool is_usual_for_inference(const KernelConfig& signature) {
  return signature.direction == Direction::kForward && signature.dims == 2 &&
         signature.layout == Layout::kChannelsLast && (signature.x == kBf16 || signature.x == kF16);
}

// The epilogues that a rule set has for a signature, beside the plain one.
std::span<const EpilogueConfig> epilogues_of(RuleSet rule_set, const KernelConfig& signature) {
  if (rule_set == RuleSet::kProfiler) return {};
  if (rule_set != RuleSet::kDefault) return kEpilogues;
  return std::span(kEpilogues).first(is_usual_for_inference(signature) ? kDefaultEpilogues : 0);
}

template <class T>
bool wants(const std::vector<T>& list, T value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}

void set_combination(KernelConfig& config, const TypeCombination& types) {
  switch (config.direction) {
    case Direction::kForward:
      std::tie(config.x, config.w, config.y) = std::tuple(types.a, types.b, types.out);
      break;
    case Direction::kBackwardData:
      std::tie(config.w, config.y, config.x) = std::tuple(types.a, types.b, types.out);
      break;
    case Direction::kBackwardWeight:
      std::tie(config.x, config.y, config.w) = std::tuple(types.a, types.b, types.out);
      break;
  }
}

// Everything the query asks for, before constraints: signatures in a fixed order.
std::vector<KernelConfig> signatures(const RuleQuery& query) {
  const bool all_types = query.rule_set != RuleSet::kDefault;
  std::vector<KernelConfig> list;
  for (const Direction direction : {Direction::kForward, Direction::kBackwardData, Direction::kBackwardWeight}) {
    if (!wants(query.directions, direction)) continue;
    for (const TypeCombination& types : type_combinations(all_types)) {
      if (!wants(query.types, types.a) && !wants(query.types, types.b)) continue;
      if (types.a == kI8 && direction != Direction::kForward) continue;  // has no backward passes
      for (const int dims : {1, 2, 3}) {
        if (!wants(query.dims, dims)) continue;
        for (const Layout layout : {Layout::kChannelsLast, Layout::kChannelsFirst}) {
          if (!wants(query.layouts, layout)) continue;
          KernelConfig config{.direction = direction,
                              .target = query.target,
                              .layout = layout,
                              .dims = static_cast<unsigned char>(dims)};
          set_combination(config, types);
          if (types.scales != BlockScales::kNone &&
              (direction != Direction::kForward || layout != Layout::kChannelsLast))
            continue;
          config.scales = types.scales;
          list.push_back(config);
        }
      }
    }
  }
  return list;
}

class Collector {
 public:
  void add(const KernelConfig& signature, Breadth breadth) {
    std::vector<KernelConfig> proposals;
    propose(signature, breadth, proposals);
    for (const KernelConfig& config : proposals) {
      if (const std::vector<Decline> reasons = declines(config); !reasons.empty()) {
        ++result_.rejected[std::string(reasons.front().id)];
        continue;
      }
      result_.kernels.push_back(config);
    }
  }

  RuleResult take() && {
    std::ranges::sort(result_.kernels, ConfigLess{});
    const auto [first, last] = std::ranges::unique(result_.kernels);
    result_.kernels.erase(first, last);
    remove_quarantined();
    return std::move(result_);
  }

 private:
  void remove_quarantined() {
    if (quarantine_list().empty()) return;
    std::erase_if(result_.kernels, [&](const KernelConfig& config) {
      const std::string name = name_of(config);
      const Quarantined* entry = find_quarantined(name, quarantine_list());
      if (entry) result_.quarantined.emplace_back(name, entry->reason);
      return entry != nullptr;
    });
  }

  RuleResult result_;
};

struct RuleSetRow {
  RuleSet rule_set;
  std::string_view name, meaning;
};
constexpr RuleSetRow kRuleSetRows[kRuleSets] = {
    {RuleSet::kDefault, "default",
     "the best guesses, few enough for a pack: what a machine without a compiler picks from"},
    {RuleSet::kFull, "full",
     "every valid proposal with every type combination, and the best guesses with every epilogue variant"},
    {RuleSet::kFullTests, "full-tests", "about a fifth of full, with some of each category"},
    {RuleSet::kProfiler, "profiler", "every valid proposal without epilogue variants: what an exhaustive search times"},
    {RuleSet::kTests, "tests", "a cover of full that is small enough for the simulator"},
    {RuleSet::kTiny, "tiny", "at least ten kernels of full-tests"},
};

}  // namespace

std::vector<TypeCombination> type_combinations(bool all) {
  std::vector<TypeCombination> list;
  for (const TypeRow& row : kTypes)
    if (all || row.in_default) list.push_back(row.types);
  return list;
}

RuleResult list_kernels(const RuleQuery& query) {
  Collector collector;
  const Breadth breadth = query.rule_set == RuleSet::kDefault ? Breadth::kFew : Breadth::kAll;
  for (const KernelConfig& signature : signatures(query)) {
    collector.add(signature, breadth);
    for (const EpilogueConfig& epilogue : epilogues_of(query.rule_set, signature)) {
      KernelConfig with_epilogue = signature;
      with_epilogue.epilogue = epilogue;
      collector.add(with_epilogue, Breadth::kFew);
    }
  }
  RuleResult result = std::move(collector).take();
  switch (query.rule_set) {
    case RuleSet::kDefault:
    case RuleSet::kFull:
    case RuleSet::kProfiler:
      break;
    case RuleSet::kFullTests:
      result.kernels = stratified_fifth(result.kernels);
      break;
    case RuleSet::kTests:
      result.kernels = cover(result.kernels, is_amd(query.target) ? result.kernels.size() : kMaxTestKernels);
      break;
    case RuleSet::kTiny:
      result.kernels = first_of_each(stratified_fifth(result.kernels), kMinTinyKernels);
      break;
  }
  return result;
}

std::vector<Candidate> candidates_for(const View& view, Breadth which, const Requests& requests) {
  const KernelConfig signature = config_for(view.problem(), view.rates().target);
  std::vector<KernelConfig> proposals;
  propose(signature, which, proposals);
  std::vector<Candidate> list;
  std::set<KernelConfig, ConfigLess> seen;
  for (const KernelConfig& config : proposals) {
    if (!seen.insert(config).second) continue;
    Candidate candidate{config, declines(config, view, requests)};
    if (const Quarantined* entry = find_quarantined(name_of(config), quarantine_list()))
      candidate.declines.push_back({"quarantined", std::string(entry->reason)});
    list.push_back(std::move(candidate));
  }
  return list;
}

std::string_view name_of(RuleSet rule_set) { return kRuleSetRows[static_cast<size_t>(rule_set)].name; }
std::string_view meaning_of(RuleSet rule_set) { return kRuleSetRows[static_cast<size_t>(rule_set)].meaning; }

Result<RuleSet> parse_rule_set(std::string_view text) {
  for (const RuleSetRow& row : kRuleSetRows)
    if (row.name == text) return row.rule_set;
  return bad_input("{} is not a rule set; choose one of default, full, full-tests, profiler, tests, tiny", text);
}

}  // namespace wt
