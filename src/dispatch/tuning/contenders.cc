// SPDX-License-Identifier: Apache-2.0
#include "dispatch/tuning/contenders.h"

#include <algorithm>
#include <map>
#include <set>

#include "config/fields.h"
#include "config/targets.h"
#include "dispatch/choice/candidates.h"
#include "dispatch/choice/selection.h"
#include "kernels/kind.h"

namespace wt::tuning {
namespace {

// WHY: of 330 measured layers, the best kernel was of another kind than the first by prediction in a few, and then
// predicted up to 5 times slower; within a kind it was seldom 1.2 times slower.
constexpr double kOtherKind = 4;

}  // namespace

std::vector<KernelConfig> contenders(std::span<const ConvProblem> problems, Target target,
                                     const ContenderOptions& options) {
  std::map<const KernelConfig*, double> nearest;  // how many times the first's time; selection.h keeps the configs
  for (const ConvProblem& problem : problems) {
    const std::vector<RankedConfig> ranked = rank(kernel_problem(problem), usual_rates(target), {});
    std::set<const KernelKind*> kinds;
    for (const RankedConfig& candidate : ranked) {
      double times = candidate.predicted_us / ranked.front().predicted_us;
      if (kinds.insert(kind_of(*candidate.config)).second) times = 1 + (times - 1) / kOtherKind;
      if (times > options.within) continue;
      const auto [item, is_new] = nearest.try_emplace(candidate.config, times);
      if (!is_new) item->second = std::min(item->second, times);
    }
  }
  std::vector<std::pair<double, const KernelConfig*>> order;
  for (const auto& [config, times] : nearest) order.emplace_back(times, config);
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : ConfigLess{}(*a.second, *b.second);
  });
  if (options.most > 0 && order.size() > options.most) order.resize(options.most);
  std::vector<KernelConfig> configs;
  for (const auto& [times, config] : order) configs.push_back(*config);
  return configs;
}

}  // namespace wt::tuning
