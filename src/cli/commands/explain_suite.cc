// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/explain_suite.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "base/json_value.h"
#include "base/printable.h"
#include "cli/exit_code.h"
#include "cli/input/selection.h"
#include "cli/show/numbers.h"
#include "cli/show/terminal.h"
#include "cli/show/trial_json.h"
#include "config/enum_names.h"
#include "config/targets.h"
#include "dispatch/choice/batch_invariant.h"
#include "dispatch/choice/candidates.h"
#include "dispatch/choice/decision.h"
#include "dispatch/choice/filter.h"

namespace wt::cli {
namespace {

// How a kernel of a list is called in short: its pipeline, or its design.
std::string kind_text(const KernelConfig& config) {
  if (config.family() == Family::kDirect) return fmt::format("direct {}", text_of(config.kind));
  return std::string(text_of(config.gemm.pipeline));
}

using Counts = std::vector<std::pair<std::string, int>>;  // in order of appearance

void count(Counts& counts, const std::string& what) {
  const auto found = std::ranges::find(counts, what, &Counts::value_type::first);
  if (found == counts.end()) {
    counts.emplace_back(what, 1);
  } else {
    ++found->second;
  }
}

std::string counts_text(const Counts& counts) {
  std::string text;
  for (const auto& [what, number] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number, what);
  return text.empty() ? "none" : text;
}

struct Answer {
  Row row;
  std::vector<RankedCandidate> candidates;
  size_t accepting = 0;
  Result<Decision> chosen;

  std::string name() const { return chosen.ok() ? chosen->leaf().kernel : ""; }
  // Why it is chosen: its time, what is around it, and the time of the best kernel of another kind.
  std::string because() const {
    if (!chosen.ok()) return chosen.status().message();
    const KernelConfig& first = *chosen->leaf().config;
    std::string text = fmt::format("predicted {}", time_text(chosen->expected_us()));
    if (chosen->invariance) text += ", " + to_text(*chosen->invariance);
    for (const Decision* part = &*chosen; part->inner; part = part->inner.get()) text += ", " + part->reason;
    for (size_t i = 0; i < accepting; ++i) {
      if (kind_text(candidates[i].config) == kind_text(first)) continue;
      return text +
             fmt::format("; the best {} {}", kind_text(candidates[i].config), time_text(candidates[i].predicted_us));
    }
    return text + "; no other kind of kernel accepts it";
  }
  // Of the free choice's speed that a batch-invariant one has; 0: not asked for, or not known.
  double share() const {
    if (!chosen.ok() || !chosen->invariance || chosen->invariance->us <= 0) return 0;
    return chosen->invariance->free_us / chosen->invariance->us;
  }
  Counts accepting_kinds() const {
    Counts counts;
    for (size_t i = 0; i < accepting; ++i) count(counts, kind_text(candidates[i].config));
    return counts;
  }
  // Reasons by which kernels decline, with a message each.
  Counts reasons(std::map<std::string, std::string>& messages) const {
    Counts counts;
    for (size_t i = accepting; i < candidates.size(); ++i) {
      const Decline& decline = candidates[i].declines.front();
      count(counts, std::string(decline.id));
      messages.try_emplace(std::string(decline.id), decline.message);
    }
    std::ranges::stable_sort(counts, std::ranges::greater{}, &Counts::value_type::second);
    return counts;
  }
};

void print_answer(const Answer& answer) {
  const int columns = output_columns();
  const auto line = [&](const char* label, const std::string& text) {
    std::string wrapped = wrap(text, std::max(40, columns > 0 ? columns : 160), "             ");
    if (wrapped.size() > 13) wrapped.replace(0, 13, fmt::format("  {:<11}", label));
    fmt::print("{}", wrapped);
  };
  fmt::print("{}: {}\n", printable(answer.row.name), printable(to_text(answer.row.problem)));
  line("chosen", answer.chosen.ok() ? answer.name() : "none");
  line("because", answer.because());
  line("accepting", counts_text(answer.accepting_kinds()));
  std::map<std::string, std::string> messages;
  const Counts reasons = answer.reasons(messages);
  for (size_t i = 0; i < reasons.size(); ++i) {
    line(i == 0 ? "declining" : "",
         fmt::format("{} {}, as: {}", reasons[i].second, reasons[i].first, messages[reasons[i].first]));
  }
}

OrderedJson answer_json(const Answer& answer) {
  OrderedJson accepting = OrderedJson::array(), declining = OrderedJson::array();
  for (size_t i = 0; i < answer.accepting; ++i)
    accepting.push_back({{"name", answer.candidates[i].name}, {"predicted_us", answer.candidates[i].predicted_us}});
  std::map<std::string, std::string> messages;
  for (const auto& [id, number] : answer.reasons(messages))
    declining.push_back({{"id", id}, {"kernels", number}, {"message", messages[id]}});
  OrderedJson json = {{"name", answer.row.name},           {"problem", to_text(answer.row.problem)},
                      {"chosen", answer.name()},           {"because", answer.because()},
                      {"accepting", std::move(accepting)}, {"declining", std::move(declining)}};
  if (const double share = answer.share(); share > 0) json["batch_invariant_share"] = share;
  return json;
}

Result<std::vector<Target>> wanted_targets(const std::vector<std::string>& names) {
  std::vector<Target> list;
  for (const std::string& name : names) {
    WT_TRY_ASSIGN(const TargetName target, parse_target(name));
    list.push_back(target.target);
  }
  if (names.empty())
    for (const TargetInfo& info : targets()) list.push_back(info.target);
  return list;
}

Answer answer_of(const Row& row, Target target, const ExplainSuiteOptions& options) {
  PlanOptions plan;
  plan.strict_nonfinite = options.strict_nonfinite;
  plan.deterministic = options.deterministic;
  plan.batch_invariant = options.batch_invariant;
  const DeviceInfo device = usual_device(target);
  Answer answer{row, rank_candidates(row.problem, device, plan, Breadth::kAll), 0, decide(device, row.problem, plan)};
  answer.accepting = static_cast<size_t>(
      std::ranges::count_if(answer.candidates, [](const RankedCandidate& c) { return c.accepts(); }));
  return answer;
}

}  // namespace

int run_explain_suite(const ExplainSuiteOptions& options) {
  const Result<std::vector<Target>> wanted = wanted_targets(options.targets);
  if (!wanted.ok()) return report_failure(wanted.status());
  const Result<std::vector<Row>> rows =
      select_rows(options.what, options.filter, options.direction, SuiteCode::kAllowed);
  if (!rows.ok()) return report_failure(rows.status());
  OrderedJson json = document("wavetile explain");
  bool all_taken = true;
  for (const Target target : *wanted) {
    OrderedJson list = OrderedJson::array();
    Counts chosen;
    double logarithms = 0;  // of the shares
    int shares = 0;
    const TargetInfo& info = info_of(target);
    if (options.json != "-") fmt::print("{} ({})\n\n", info.name, info.hardware);
    for (const Row& row : *rows) {
      const Answer answer = answer_of(row, target, options);
      all_taken = all_taken && answer.chosen.ok();
      count(chosen, answer.chosen.ok() ? kind_text(*answer.chosen->leaf().config) : "nothing");
      if (const double share = answer.share(); share > 0) logarithms += std::log(share), ++shares;
      list.push_back(answer_json(answer));
      if (options.json != "-") print_answer(answer);
    }
    json["targets"].push_back({{"target", info.name}, {"problems", std::move(list)}});
    if (options.json != "-")
      fmt::print("\n{}: chosen for {} problems: {}\n\n", info.name, rows->size(), counts_text(chosen));
    if (options.json != "-" && shares > 0) {
      fmt::print("{}: batch-invariant plans have {:.3f} of the free choice's speed, the geometric mean of {}\n\n",
                 info.name, std::exp(logarithms / shares), shares);
    }
  }
  if (!options.json.empty()) {
    if (const Status written = write_json(options.json, json); !written.ok()) return report_failure(written);
  }
  return all_taken ? kExitGood : kExitUnsupported;
}

}  // namespace wt::cli
