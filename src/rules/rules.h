// SPDX-License-Identifier: Apache-2.0
// rules/rules.h - rule sets: which kernels a target has, for a purpose.
//
//   query --signatures x kernels (kernels.h)--> proposals --constraints, quarantine--> a sorted list
//
// tiny is part of full-tests, which is part of full, for every query. The same query gives the same list everywhere.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "config/kernel_config.h"
#include "kernels/kind.h"
#include "problem/problem.h"

namespace wt {

enum class RuleSet : uint8_t {
  kDefault,    // the best guesses, few enough for a pack: what a machine without a compiler picks from
  kFull,       // every valid proposal, and the best guesses with every epilogue variant
  kFullTests,  // about a fifth of full: some of each category
  kProfiler,   // every valid proposal without epilogue variants: what an exhaustive search times
  kTests,      // one of each kind of thing, small enough to run in the simulator
  kTiny,       // ten or so
};
inline constexpr int kRuleSets = 6;

// The types of a kernel, from its direction's point of view.
struct TypeCombination {
  DataType a, b, out;  // inputs in the order of the problem's text (x before w before y), then the output
  BlockScales scales = BlockScales::kNone;  // forward and channels last
  bool operator==(const TypeCombination&) const = default;
};

// Empty lists mean all.
struct RuleQuery {
  Target target = Target::kSm80;
  RuleSet rule_set = RuleSet::kDefault;
  std::vector<Direction> directions;
  std::vector<DataType> types;  // of the inputs
  std::vector<int> dims;
  std::vector<Layout> layouts;
};

struct RuleResult {
  std::vector<KernelConfig> kernels;    // sorted by compare(), no two alike
  std::map<std::string, int> rejected;  // proposals by the id of the first row that declined them
  std::vector<std::pair<std::string, std::string>> quarantined;  // name, reason
};

RuleResult list_kernels(const RuleQuery& query);

// Every kernel proposed for exactly this problem's signature, in order of preference, with the ones that decline and
// why. What dispatch chooses from.
struct Candidate {
  KernelConfig config;
  std::vector<Decline> declines;  // empty: accepts
  bool accepts() const { return declines.empty(); }
};
std::vector<Candidate> candidates_for(const View& view, Breadth which, const Requests& requests = {});

std::string_view name_of(RuleSet rule_set);
Result<RuleSet> parse_rule_set(std::string_view text);
std::string_view meaning_of(RuleSet rule_set);

// The type combinations that rule sets enumerate for a direction; `all` adds those that default leaves out.
std::vector<TypeCombination> type_combinations(bool all);

}  // namespace wt
