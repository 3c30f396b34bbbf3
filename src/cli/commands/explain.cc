// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/explain.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "base/json_value.h"
#include "cli/exit_code.h"
#include "cli/input/own_kernels.h"
#include "cli/show/numbers.h"
#include "cli/show/problem_facts.h"
#include "cli/show/table.h"
#include "cli/show/terminal.h"
#include "cli/show/trial_json.h"
#include "config/fields.h"
#include "config/targets.h"
#include "dispatch/choice/batch_invariant.h"
#include "dispatch/choice/candidates.h"
#include "dispatch/choice/decision_json.h"
#include "dispatch/choice/filter.h"
#include "dispatch/choice/split_facts.h"
#include "kernels/kind.h"
#include "launch/rates.h"

namespace wt::cli {

namespace {

constexpr Target kShownWithoutGpu = Target::kSm90a;

struct Explanation {
  ConvProblem problem;
  std::shared_ptr<Device> device;        // null where only a target was named
  std::optional<Target> target;          // whose kernels are listed
  PlanOptions plan;                      // what is asked of a plan
  std::shared_ptr<const Plan> cpu_plan;  // of the CPU, whose plans cost no compilation
  DeviceInfo listed;                     // the device whose kernels are listed, or one as a target usually is
  std::optional<Decision> chosen;        // there
  Status nothing;                        // why nothing is
  std::vector<RankedCandidate> candidates;
  std::optional<RankedCandidate> asked;  // the one kernel that the user asks about, and nothing else then
  std::optional<Decision> strict;        // where the choice is finite_only: with strict_nonfinite

  size_t accepting() const {
    return static_cast<size_t>(
        std::count_if(candidates.begin(), candidates.end(), [](const RankedCandidate& c) { return c.accepts(); }));
  }
};

// How the chosen kernel's sums are divided, where they are or could be.
std::optional<SplitFacts> chosen_split(const Explanation& explanation) {
  if (!explanation.chosen) return std::nullopt;
  const Decision& kernel = explanation.chosen->leaf();
  return split_facts(*kernel.config, kernel.problem, explanation.listed, kernel.options.splits);
}

// What a plan would run on the listed device; a problem that it cannot run is no failure of explain.
Status find_choice(Explanation& explanation) {
  Result<Decision> chosen = decide(explanation.listed, explanation.problem, explanation.plan);
  if (!chosen.ok()) {
    explanation.nothing = chosen.status();
    return chosen.status().code() == Code::kUnsupported ? Status() : chosen.status();
  }
  explanation.chosen = std::move(*chosen);
  if (!explanation.chosen->leaf().config->finite_only) return {};
  PlanOptions strict = explanation.plan;
  strict.strict_nonfinite = true;
  if (Result<Decision> other = decide(explanation.listed, explanation.problem, strict); other.ok())
    explanation.strict = std::move(*other);
  return {};
}

Result<Explanation> find_out(const ExplainOptions& options) {
  Explanation explanation;
  WT_TRY_ASSIGN(explanation.problem, parse_problem(options.problem));
  explanation.plan.strict_nonfinite = options.strict_nonfinite;
  explanation.plan.deterministic = options.deterministic;
  explanation.plan.batch_invariant = options.batch_invariant;
  if (!options.gpu.empty()) {
    WT_TRY_ASSIGN(const GpuRow* gpu, find_gpu(options.gpu));
    explanation.target = gpu->target;
    explanation.listed = device_of(*gpu);
  } else if (options.target.empty()) {
    WT_TRY_ASSIGN(explanation.device, open_device(options.device.empty() ? "auto" : options.device));
    explanation.listed = explanation.device->info();
    if (explanation.listed.kind == DeviceKind::kCpu) {
      WT_TRY_ASSIGN(explanation.cpu_plan, make_plan(explanation.device, explanation.problem, explanation.plan));
      if (options.device.empty()) explanation.target = kShownWithoutGpu;
    } else {
      explanation.target = explanation.listed.target;
    }
  } else {
    WT_TRY_ASSIGN(const TargetName name, parse_target(options.target));
    explanation.target = name.target;
  }
  if (!explanation.target) return explanation;
  if (options.gpu.empty() && (!explanation.device || explanation.cpu_plan))
    explanation.listed = usual_device(*explanation.target);
  WT_TRY_ASSIGN(explanation.plan.kernels, read_registry(explanation.listed, options.registered));
  if (!options.kernel.empty()) {
    WT_TRY_ASSIGN(explanation.plan.kernel, kernel_text(options.kernel));
    WT_TRY_ASSIGN(explanation.asked, asked_candidate(explanation.listed, explanation.problem, explanation.plan));
    return explanation;
  }
  WT_TRY(find_choice(explanation));
  explanation.candidates =
      options.all ? rank_candidates(explanation.problem, explanation.listed, explanation.plan, Breadth::kAll)
                  : listed_candidates(explanation.problem, explanation.listed, explanation.plan);
  return explanation;
}

void print_line(const std::string& label, const std::string& text) {
  constexpr int kLabel = 11;
  const int columns = output_columns();
  if (columns == 0 || static_cast<int>(text.size()) + kLabel <= columns) {
    fmt::print("{:<{}}{}\n", label, kLabel, text);
  } else {
    fmt::print("{:<{}}{}", label, kLabel, wrap(text, columns, std::string(kLabel, ' ')).substr(kLabel));
  }
}

// The choice has a second one beside it that keeps strict non-finite behaviour.
std::string finite_text(const Explanation& explanation) {
  if (!explanation.strict) return "for finite inputs only; no kernel accepts --strict-nonfinite";
  return fmt::format("for finite inputs only; {} with --strict-nonfinite, by {}",
                     time_text(explanation.strict->expected_us()), explanation.strict->leaf().kernel);
}

// What a plan takes, why, and which other ways it passes over.
void print_choice(const Explanation& explanation) {
  if (!explanation.chosen) {
    print_line("chosen", "none");
    print_line("because", explanation.nothing.message());
    return;
  }
  const Decision& chosen = *explanation.chosen;
  print_line("chosen", chosen.leaf().kernel);
  print_line("because", chosen.why());
  if (chosen.invariance) print_line("batch", to_text(*chosen.invariance));
  if (chosen.inner) print_line("expected", time_text(chosen.expected_us()));
  for (const Decision* part = &chosen; part; part = part->inner.get())
    for (const std::string& other : part->passed_over) print_line("instead of", other);
  if (const auto split = chosen_split(explanation)) print_line("split", to_text(*split));
  if (chosen.leaf().config->finite_only) print_line("finite", finite_text(explanation));
}

// Lines of kernels. On a terminal names lose what all of them start with, and long ones are cut; in a file or a pipe
// they are whole.
struct NameList {
  int columns;
  size_t shared = 0;  // letters that all names start with
  mutable Shortener shortener;

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
    if (columns == 0) {
      fmt::print("{}{}{}\n", start, name, end);
    } else {
      const int room = columns - static_cast<int>(start.size() + end.size());
      // What follows a name gives way to it; --json and a pipe have the whole.
      const int rest = columns - static_cast<int>(start.size()) - kLeast;
      fmt::print("{}{}{}\n", start, shortener.cut(name.substr(shared), std::max(kLeast, room)),
                 elide(end, std::max(rest, 1)));
    }
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
  const Rates rates = rates_of(explanation.listed);
  print_line("rates", fmt::format("of {}: {} multiprocessors at {:.0f} MHz, {:.2f} TB/s", rates.gpu, rates.units,
                                  rates.clock, rates.memory / 1e6));
  print_choice(explanation);
  print_line("accepting", fmt::format("{} of {} kernels, in order of preference", accepting, candidates.size()));
  if (accepting > 0) {
    fmt::print("       {:>9}  {:>9}  kernel{}\n", "predicted", "measured",
               names.shared > 0 ? fmt::format(", after {}", candidates.front().name.substr(0, names.shared)) : "");
  }
  for (size_t i = 0; i < accepting; ++i) {
    const RankedCandidate& candidate = candidates[i];
    const std::string start = fmt::format("  {:>3}  {:>9}  {:>9}  ", i + 1, time_text(candidate.predicted_us),
                                          candidate.measured_us > 0 ? time_text(candidate.measured_us) : "-");
    names.print(start, candidate.name,
                fmt::format("{}{}", candidate.config.finite_only ? "  (finite only)" : "",
                            candidate.tuned        ? "  (tuned)"
                            : candidate.registered ? "  (registered)"
                                                   : ""));
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
  if (explanation.asked) {
    fmt::print("\n");
    print_line("kernel", explanation.asked->name);
    print_line("supported", explanation.asked->accepts() ? "yes" : "no");
    print_line(explanation.asked->accepts() ? "expected" : "because", explanation.asked->accepts()
                                                                          ? time_text(explanation.asked->predicted_us)
                                                                          : to_text(explanation.asked->declines));
  } else if (explanation.target) {
    print_candidates(explanation);
  }
}

Status print_json(const std::string& where, const Explanation& explanation, const std::string& command) {
  OrderedJson json = document(command);
  json["problem"] = to_text(explanation.problem);
  json["canonical"] = canonical_text(explanation.problem);
  json["flops"] = explanation.problem.flops();
  if (explanation.device) json["device"] = device_json(explanation.device->info());
  if (explanation.cpu_plan) {
    json["plan"] = {{"kernel", explanation.cpu_plan->description().kernel},
                    {"reason", explanation.cpu_plan->description().reason},
                    {"workspace_bytes", explanation.cpu_plan->workspace_bytes()}};
  }
  if (explanation.asked) {
    json["target"] = info_of(*explanation.target).name;
    json["kernel"] = explanation.asked->name;
    json["supported"] = explanation.asked->accepts();
    json["reason"] = answer_text(*explanation.asked);
  } else if (explanation.target) {
    json["target"] = info_of(*explanation.target).name;
    json["rates_of"] = rates_of(explanation.listed).gpu;
    json["chosen"] = explanation.chosen ? explanation.chosen->leaf().kernel : "";
    if (explanation.chosen) {
      json["decision"] = to_json(*explanation.chosen);
    } else {
      json["nothing"] = explanation.nothing.message();
    }
    json["accepting"] = explanation.accepting();
    if (const auto split = chosen_split(explanation)) {
      if (const StreamKCut& cut = split->stream; cut.blocks > 0)
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
    if (explanation.strict)
      json["strict_nonfinite"] = {{"name", explanation.strict->leaf().kernel},
                                  {"predicted_us", explanation.strict->expected_us()}};
    OrderedJson list = OrderedJson::array();
    for (const RankedCandidate& candidate : explanation.candidates) {
      OrderedJson declines = OrderedJson::array();
      for (const Decline& decline : candidate.declines)
        declines.push_back({{"id", decline.id}, {"message", decline.message}});
      OrderedJson item = {{"name", candidate.name}, {"accepts", candidate.accepts()}};
      if (candidate.accepts()) {
        item["predicted_us"] = candidate.predicted_us;
      }
      item["kind"] = text_of(candidate.config.kind);
      item["config"] = OrderedJson::parse(to_json(candidate.config));
      if (candidate.measured_us > 0) item["measured_us"] = candidate.measured_us;
      if (candidate.tuned) item["tuned"] = true;
      if (candidate.registered) item["priority"] = name_of(*candidate.registered);
      if (!candidate.mark.empty()) item["mark"] = candidate.mark;
      if (candidate.config.finite_only) item["finite_only"] = true;
      item["declines"] = std::move(declines);
      list.push_back(std::move(item));
    }
    json["candidates"] = std::move(list);
  }
  return write_json(where, json);
}

}  // namespace

int run_explain(const ExplainOptions& options) {
  const Result<Explanation> explanation = find_out(options);
  if (!explanation.ok()) return report_failure(explanation.status());
  if (!options.json.empty()) {
    const Status written =
        print_json(options.json, *explanation, fmt::format("wavetile explain '{}'", to_text(explanation->problem)));
    if (!written.ok()) return report_failure(written);
  }
  if (options.json != "-") print_text(*explanation);
  if (explanation->asked) return explanation->asked->accepts() ? kExitGood : kExitUnsupported;
  return !explanation->target || explanation->chosen ? kExitGood : kExitUnsupported;
}

}  // namespace wt::cli
