// SPDX-License-Identifier: Apache-2.0
#include "cli/explain_command.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "base/integers.h"
#include "cli/exit_code.h"
#include "cli/numbers.h"
#include "cli/problem_facts.h"
#include "cli/terminal.h"
#include "cli/trial_json.h"
#include "config/fields.h"
#include "config/kernels.h"
#include "config/targets.h"
#include "dispatch/candidates.h"
#include "dispatch/cost_correction.h"
#include "dispatch/history_plan.h"
#include "dispatch/images_plan.h"
#include "dispatch/split_facts.h"
#include "dispatch/transposed_plan.h"
#include "problem/history.h"

namespace wt::cli {

namespace {

constexpr Target kShownWithoutGpu = Target::kSm90a;

struct Explanation {
  ConvProblem problem;
  std::shared_ptr<Device> device;        // null where only a target was named
  std::shared_ptr<const Plan> cpu_plan;  // of the CPU, whose plans cost no compilation
  std::optional<Target> target;          // whose kernels are listed
  PlanOptions plan;                      // what is asked of a plan
  std::vector<RankedCandidate> candidates;
  std::vector<RankedCandidate> strict;  // where the first is finite_only: those that are not

  size_t accepting() const {
    return static_cast<size_t>(
        std::count_if(candidates.begin(), candidates.end(), [](const RankedCandidate& c) { return c.accepts(); }));
  }
};

// The device whose kernels are listed, or one as a target usually is.
DeviceInfo device_of(const Explanation& explanation) {
  if (explanation.device && explanation.device->info().kind != DeviceKind::kCpu) return explanation.device->info();
  DeviceInfo info;
  info.target = *explanation.target;
  info.multiprocessors = info_of(*explanation.target).units;
  return info;
}

// How the first kernel's sums are divided, where they are or could be.
std::optional<SplitFacts> chosen_split(const Explanation& explanation) {
  if (explanation.accepting() == 0) return std::nullopt;
  return split_facts(explanation.candidates.front().config, kernel_problem(explanation.problem),
                     device_of(explanation));
}

// Of all candidates the best guesses, and first the one that a plan takes, whether it is among them or not.
void keep_few(std::vector<RankedCandidate>& all, std::vector<RankedCandidate> few) {
  if (!all.empty() && all.front().accepts() && (few.empty() || few.front().name != all.front().name)) {
    few.insert(few.begin(), std::move(all.front()));
  }
  all = std::move(few);
}

Result<Explanation> find_out(const ExplainOptions& options) {
  Explanation explanation;
  WT_TRY_ASSIGN(explanation.problem, parse_problem(options.problem));
  explanation.plan.strict_nonfinite = options.strict_nonfinite;
  explanation.plan.deterministic = options.deterministic;
  if (options.target.empty()) {
    WT_TRY_ASSIGN(explanation.device, open_device(options.device.empty() ? "auto" : options.device));
    const DeviceInfo& info = explanation.device->info();
    if (info.kind == DeviceKind::kCpu) {
      WT_TRY_ASSIGN(explanation.cpu_plan, make_plan(explanation.device, explanation.problem, explanation.plan));
      if (options.device.empty()) explanation.target = kShownWithoutGpu;
    } else {
      explanation.target = info.target;
    }
  } else {
    WT_TRY_ASSIGN(const TargetName name, parse_target(options.target));
    explanation.target = name.target;
  }
  if (explanation.target) {
    const auto rank = [&](Candidates which) {
      const bool of_device = explanation.device && explanation.device->info().kind != DeviceKind::kCpu;
      return of_device ? rank_candidates(explanation.problem, explanation.device->info(), explanation.plan, which)
                       : rank_candidates(explanation.problem, *explanation.target, explanation.plan, which);
    };
    explanation.candidates = rank(Candidates::kAll);
    if (explanation.accepting() > 0 && explanation.candidates.front().config.finite_only) {
      const bool asked = std::exchange(explanation.plan.strict_nonfinite, true);
      explanation.strict = rank(Candidates::kAll);
      explanation.plan.strict_nonfinite = asked;
    }
    if (!options.all) keep_few(explanation.candidates, rank(Candidates::kFew));
  }
  return explanation;
}

void print_line(const std::string& label, const std::string& text) { fmt::print("{:<11}{}\n", label, text); }

std::string chosen_because(const RankedCandidate& candidate) {
  if (candidate.tuned) return fmt::format("tuned: {} measured on this kind of GPU", time_text(candidate.measured_us));
  return fmt::format("least predicted time, {}; nothing is tuned for this problem", time_text(candidate.predicted_us));
}

// The choice has a second one beside it that keeps strict non-finite behaviour.
std::string finite_text(const Explanation& explanation) {
  for (const RankedCandidate& candidate : explanation.strict) {
    if (!candidate.accepts()) break;
    return fmt::format("for finite inputs only; {} with --strict-nonfinite, by {}", time_text(candidate.predicted_us),
                       candidate.name);
  }
  return "for finite inputs only; no kernel accepts --strict-nonfinite";
}

// What a plan may do instead of taking one of the problem's own kernels (dispatch/plan.cc decides): the best kernel of
// another problem, with something around it.
void print_instead(const Explanation& explanation, const ConvProblem& other, const std::string& how, double around_us,
                   double times = 1) {
  const auto inner = rank_candidates(other, *explanation.target, explanation.plan, Candidates::kAll);
  if (inner.empty() || !inner.front().accepts()) return;
  const double inner_us = times * inner.front().predicted_us;
  print_line("or", fmt::format("{} {}, {}{}", inner.front().name, how, time_text(inner_us),
                               around_us > 0 ? fmt::format(" + {}", time_text(around_us)) : ""));
  const bool faster =
      explanation.accepting() == 0 || inner_us + around_us < explanation.candidates.front().predicted_us;
  print_line("", faster ? "a plan takes that where its workspace limit allows" : "a plan takes the kernel above");
}

// Lines of kernels. On a terminal names lose what all of them start with, and long ones are cut; in a file or a pipe
// they are whole.
struct NameList {
  int columns;
  size_t shared = 0;  // letters that all names start with

  NameList(std::span<const RankedCandidate> candidates, int width) : columns(width) {
    if (columns == 0 || candidates.size() < 2) return;
    const std::string& first = candidates.front().name;
    shared = first.size();
    for (const RankedCandidate& c : candidates)
      shared = std::min<size_t>(shared, std::ranges::mismatch(first, c.name).in1 - first.begin());
    while (shared > 0 && first[shared - 1] != '_') --shared;
  }

  void print(const std::string& start, const std::string& name, const std::string& end) const {
    constexpr int kLeast = 24;
    const int room = columns > 0 ? std::max(kLeast, columns - static_cast<int>(start.size() + end.size())) : 0;
    fmt::print("{}{}{}\n", start, elide_middle(name.substr(shared), room), end);
  }
};

// Each first reason once, with the kernels that it keeps out and what else keeps them out.
void print_declining(std::span<const RankedCandidate> candidates, const NameList& names) {
  std::map<std::string, std::vector<const RankedCandidate*>> by_reason;
  std::vector<std::string> order;  // as they first came
  for (const RankedCandidate& candidate : candidates) {
    const Decline& first = candidate.declines.front();
    const std::string reason = wrap(fmt::format("{}: {}", first.id, first.message), names.columns, "  ");
    if (by_reason[reason].empty()) order.push_back(reason);
    by_reason[reason].push_back(&candidate);
  }
  for (const std::string& reason : order) {
    fmt::print("{}", reason);
    for (const RankedCandidate* candidate : by_reason[reason]) {
      std::string also;
      for (size_t i = 1; i < candidate->declines.size(); ++i)
        also += fmt::format("{} {}", i == 1 ? "  also:" : ",", candidate->declines[i].id);
      names.print("       ", candidate->name, also);
    }
  }
}

void print_candidates(const Explanation& explanation) {
  const std::vector<RankedCandidate>& candidates = explanation.candidates;
  const NameList names(candidates, output_columns());
  const size_t accepting = explanation.accepting();
  fmt::print("\n");
  const TargetInfo& target = info_of(*explanation.target);
  print_line("target", fmt::format("{} ({})", target.name, target.hardware));
  print_line("chosen", accepting > 0 ? candidates.front().name : "none");
  if (accepting > 0) print_line("because", chosen_because(candidates.front()));
  if (const auto split = chosen_split(explanation)) print_line("split", to_text(*split));
  if (accepting > 0 && candidates.front().config.finite_only) print_line("finite", finite_text(explanation));
  const ConvProblem& problem = explanation.problem;
  if (const int64_t images = images_a_range(problem); images < problem.n) {
    const int64_t ranges = ceil_div(problem.n, images);
    print_instead(explanation, of_images(problem, images),
                  fmt::format("in {} ranges of up to {} images", ranges, images), 0, static_cast<double>(ranges));
  } else if (problem.history) {
    print_instead(explanation, joined_problem(problem), "over history and x joined", join_us(problem));
  } else if (problem.layout == Layout::kChannelsFirst) {
    print_instead(explanation, channels_last(problem), "between transpositions", transposition_us(problem));
  }
  print_line("accepting", fmt::format("{} of {} kernels, in order of preference", accepting, candidates.size()));
  if (accepting > 0) {
    fmt::print("       {:>9}  {:>9}  kernel{}\n", "predicted", "measured",
               names.shared > 0 ? fmt::format(", after {}", candidates.front().name.substr(0, names.shared)) : "");
  }
  for (size_t i = 0; i < accepting; ++i) {
    const RankedCandidate& candidate = candidates[i];
    const std::string start = fmt::format("  {:>3}  {:>9}  {:>9}  ", i + 1, time_text(candidate.predicted_us),
                                          candidate.measured_us > 0 ? time_text(candidate.measured_us) : "-");
    names.print(
        start, candidate.name,
        fmt::format("{}{}", candidate.config.finite_only ? "  (finite only)" : "", candidate.tuned ? "  (tuned)" : ""));
  }
  if (accepting == candidates.size()) return;
  print_line("declining", fmt::format("{}, by their first reason", candidates.size() - accepting));
  print_declining(std::span(candidates).subspan(accepting), names);
}

void print_text(const Explanation& explanation) {
  for (const Fact& fact : problem_facts(explanation.problem)) print_line(fact.label, fact.text);
  if (explanation.device) {
    fmt::print("\n");
    print_line("device", fmt::format("{}: {}", explanation.device->info().id, explanation.device->info().name));
  }
  if (explanation.cpu_plan) {
    const PlanDescription& description = explanation.cpu_plan->description();
    print_line("plan", description.kernel);
    print_line("reason", description.reason);
    print_line("workspace", bytes_text(static_cast<double>(explanation.cpu_plan->workspace_bytes())));
  }
  if (explanation.target) print_candidates(explanation);
}

void print_json(const Explanation& explanation, const std::string& command) {
  nlohmann::ordered_json json = document(command);
  json["problem"] = to_text(explanation.problem);
  json["canonical"] = canonical_text(explanation.problem);
  json["flops"] = explanation.problem.flops();
  if (explanation.device) json["device"] = device_json(explanation.device->info());
  if (explanation.cpu_plan) {
    json["plan"] = {{"kernel", explanation.cpu_plan->description().kernel},
                    {"reason", explanation.cpu_plan->description().reason},
                    {"workspace_bytes", explanation.cpu_plan->workspace_bytes()}};
  }
  if (explanation.target) {
    json["target"] = info_of(*explanation.target).name;
    json["accepting"] = explanation.accepting();
    if (const auto split = chosen_split(explanation)) {
      if (const StreamShares& cut = split->stream; cut.blocks > 0)
        json["stream"] = {{"rounds", cut.rounds},
                          {"blocks", cut.blocks},
                          {"tiles_cut", cut.tiles},
                          {"k_blocks", cut.depth},
                          {"share", cut.share}};
      else
        json["split"] = {{"parts", split->parts},
                         {"parts_by_occupancy", split->by_occupancy},
                         {"k_blocks", split->blocks},
                         {"tiles", split->tiles}};
    }
    if (!explanation.strict.empty() && explanation.strict.front().accepts())
      json["strict_nonfinite"] = {{"name", explanation.strict.front().name},
                                  {"predicted_us", explanation.strict.front().predicted_us}};
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const RankedCandidate& candidate : explanation.candidates) {
      nlohmann::ordered_json declines = nlohmann::ordered_json::array();
      for (const Decline& decline : candidate.declines)
        declines.push_back({{"id", decline.id}, {"message", decline.message}});
      nlohmann::ordered_json item = {{"name", candidate.name}, {"accepts", candidate.accepts()}};
      if (candidate.accepts()) {
        item["predicted_us"] = candidate.predicted_us;
        item["model_us"] = candidate.predicted_us / cost_correction(candidate.config);
      }
      item["kind"] = kind_of(candidate.config) ? kind_of(candidate.config)->id : "";
      item["config"] = nlohmann::ordered_json::parse(to_json(candidate.config));
      if (candidate.measured_us > 0) item["measured_us"] = candidate.measured_us;
      if (candidate.tuned) item["tuned"] = true;
      if (candidate.config.finite_only) item["finite_only"] = true;
      item["declines"] = std::move(declines);
      list.push_back(std::move(item));
    }
    json["candidates"] = std::move(list);
  }
  fmt::print("{}", json_text(json));
}

}  // namespace

int run_explain(const ExplainOptions& options) {
  const Result<Explanation> explanation = find_out(options);
  if (!explanation.ok()) return report_failure(explanation.status());
  if (options.json) {
    print_json(*explanation, fmt::format("wavetile explain '{}'", to_text(explanation->problem)));
  } else {
    print_text(*explanation);
  }
  if (!explanation->target || explanation->accepting() > 0) return kExitGood;
  const auto joined = explanation->problem.history ? rank_candidates(joined_problem(explanation->problem),
                                                                     *explanation->target, explanation->plan)
                                                   : std::vector<RankedCandidate>();
  return !joined.empty() && joined.front().accepts() ? kExitGood : kExitUnsupported;
}

}  // namespace wt::cli
