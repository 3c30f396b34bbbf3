// SPDX-License-Identifier: Apache-2.0
#include "dispatch/choice/advice.h"

#include <algorithm>
#include <functional>

#include "base/integers.h"
#include "dispatch/plan/first_rows.h"
#include "dispatch/plan/transposed.h"
#include "kernels/kind.h"
#include "problem/traffic.h"

namespace wt {
namespace {

struct Variant {
  std::string change;
  ConvProblem problem;
};

bool is_depthwise(const ConvProblem& p) { return p.c == p.g && p.k == p.g; }

std::string channels_text(const ConvProblem& from, const ConvProblem& to) {
  std::string text;
  const auto add = [&](const char* name, int64_t before, int64_t after) {
    if (before != after) text += fmt::format("{}{} {} to {}", text.empty() ? "" : ", ", name, before, after);
  };
  add("g", from.g, to.g);
  add("c", from.c, to.c);
  add("k", from.k, to.k);
  return text + " (zeros in the added channels)";
}

// Channels of each group as multiples of what copies and instructions take; of depthwise layers the groups.
std::vector<Variant> with_more_channels(const ConvProblem& problem) {
  std::vector<Variant> variants;
  const auto add = [&](const ConvProblem& wider) {
    const auto same = [&](const Variant& known) { return known.problem == wider; };
    if (!(wider == problem) && std::ranges::none_of(variants, same))
      variants.push_back({channels_text(problem, wider), wider});
  };
  for (const int64_t step : {4, 8, 16, 32, 64}) {
    ConvProblem wider = problem;
    if (is_depthwise(problem)) {
      wider.g = wider.c = wider.k = ceil_div(problem.g, step) * step;
      add(wider);
      continue;
    }
    wider.c = ceil_div(problem.c_per_group(), step) * step * problem.g;
    add(wider);
    wider.k = ceil_div(problem.k_per_group(), step) * step * problem.g;
    add(wider);
    wider.c = problem.c;
    add(wider);
  }
  return variants;
}

std::vector<Variant> with_other_layout(const ConvProblem& problem) {
  if (problem.layout == Layout::kChannelsLast) return {};
  return {{fmt::format("{} instead of {}", layout_name(Layout::kChannelsLast, problem.dims),
                       layout_name(problem.layout, problem.dims)),
           channels_last(problem)}};
}

// fp32 in fewer bits: the inputs alone, or everything.
std::vector<Variant> with_other_types(const ConvProblem& problem) {
  std::vector<Variant> variants;
  const auto narrower = [&](DataType from, DataType to, bool output_too, const char* what) {
    if (problem.first_type() != from || problem.second_type() != from) return;
    ConvProblem other = problem;
    const Direction direction = problem.direction;
    for (const auto& [type, written] :
         {std::pair{&other.x, Direction::kBackwardData}, std::pair{&other.w, Direction::kBackwardWeight},
          std::pair{&other.y, Direction::kForward}}) {
      if ((direction != written || output_too) && *type == from) *type = to;
    }
    variants.push_back({fmt::format("{} instead of {} ({})", name_of(to), name_of(from), what), other});
  };
  narrower(DataType::kF32, DataType::kTf32, false, "10 bits of fraction in products");
  narrower(DataType::kF32, DataType::kBf16, true, "7 bits of fraction in tensors");
  narrower(DataType::kTf32, DataType::kBf16, false, "7 bits of fraction in tensors");
  return variants;
}

}  // namespace

std::vector<Advice> advice_for(const DeviceInfo& device, const ConvProblem& problem, PlanOptions options) {
  options.tuning = Tuning::kOff;
  const auto predicted = [&](const ConvProblem& of) -> double {
    if (!validate(of).ok()) return 0;
    const Result<Decision> decision = decide(device, of, options);
    return decision.ok() ? decision->expected_us() : 0;
  };
  std::vector<Advice> list;
  const double now = predicted(problem);
  if (now <= 0) return list;
  // The best of variants that are alternatives to each other, where it pays.
  const auto best_of = [&](const std::vector<Variant>& variants, double before) {
    Advice best{"", {}, before * kWorthIt, 0};
    for (const Variant& variant : variants) {
      const double us = predicted(variant.problem);
      if (us > 0 && us < best.us) best = {variant.change, variant.problem, us, us / now};
    }
    return best;
  };
  for (const auto& variants : {with_more_channels(problem), with_other_layout(problem)}) {
    if (Advice advice = best_of(variants, now); !advice.change.empty()) list.push_back(std::move(advice));
  }
  for (Variant& variant : with_other_types(problem)) {
    if (Advice advice = best_of({std::move(variant)}, now); !advice.change.empty()) list.push_back(std::move(advice));
  }
  std::ranges::stable_sort(list, {}, &Advice::us);
  // What goes together: the best so far with the other changes on top of it.
  if (!list.empty()) {
    Advice all = list.front();
    for (const auto& variants : {with_other_layout(all.problem), with_more_channels(all.problem)}) {
      const Advice next = best_of(variants, all.us);
      if (!next.change.empty()) all = {all.change + "; " + next.change, next.problem, next.us, next.share};
    }
    if (all.us < list.front().us) list.insert(list.begin(), std::move(all));
  }
  return list;
}

int64_t workspace_bytes(const Decision& decision, const DeviceInfo& device) {
  switch (decision.kind) {
    case Decision::Kind::kKernel:
      return decision.view ? bind(*decision.config, *decision.view, device, decision.options.splits).workspace_bytes
                           : bind(*decision.config, decision.problem, device, decision.options.splits).workspace_bytes;
    case Decision::Kind::kTransposed:
      return transposition_bytes(decision.problem) + workspace_bytes(*decision.inner, device);
    case Decision::Kind::kJoined:
      return join_bytes(decision.problem) + workspace_bytes(*decision.inner, device);
    case Decision::Kind::kFirstRows:
      return first_rows_bytes(decision.problem, decision.inner->problem.pad_lower != decision.problem.pad_lower) +
             std::max(workspace_bytes(*decision.inner, device), workspace_bytes(*decision.rest, device));
    case Decision::Kind::kRanges:
      return std::max(workspace_bytes(*decision.inner, device),
                      decision.rest ? workspace_bytes(*decision.rest, device) : 0);
    case Decision::Kind::kCpu:
      return 0;
    case Decision::Kind::kNextHistory:
    case Decision::Kind::kBiasGradient:
      break;
  }
  return workspace_bytes(*decision.inner, device);
}

double limit_us(const ConvProblem& problem, const Rates& rates) {
  const double macs = rates.macs(problem.first_type());
  const double products = macs > 0 ? work_without_padding(problem) / 2 / (macs * rates.units * rates.clock) : 0;
  return std::max(products, tensor_bytes(problem) / rates.memory);
}

}  // namespace wt
