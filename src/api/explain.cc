// SPDX-License-Identifier: Apache-2.0
// api/explain.cc - wavetile_explain: what a plan would run, the kernels that could, and why the others cannot, as text
// or JSON.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "api/guard.h"
#include "api/handles.h"
#include "dispatch/choice/batch_invariant.h"
#include "dispatch/choice/candidates.h"
#include "dispatch/choice/decision_json.h"

using namespace wt;
using namespace wt::api;

namespace {

struct Entry {
  std::string kernel;
  bool accepts = false;
  double predicted_us = 0, measured_us = 0;  // 0: not known
  std::vector<std::string> reasons;          // why this one, or one for each rule that it breaks
};

// The CPU has two paths and no kernels; making a plan of either is cheap and gives its reason.
std::vector<Entry> cpu_entries(const std::shared_ptr<Device>& device, const ConvProblem& problem, PlanOptions options) {
  std::vector<Entry> entries;
  const auto add = [&](const std::string& name) {
    options.kernel = name;
    const auto plan = make_plan(device, problem, options);
    Entry entry{plan.ok() ? (*plan)->description().kernel : name,
                plan.ok(),
                0,
                0,
                {plan.ok() ? (*plan)->description().reason : plan.status().message()}};
    const bool known =
        std::any_of(entries.begin(), entries.end(), [&](const Entry& other) { return other.kernel == entry.kernel; });
    if (!known) entries.push_back(std::move(entry));
  };
  add("");  // what would be chosen stands first
  add("onednn");
  add("builtin");
  std::stable_partition(entries.begin(), entries.end(), [](const Entry& entry) { return entry.accepts; });
  return entries;
}

// Those that a choice picks from, as the command lists them.
std::vector<Entry> kernel_entries(const Device& device, const ConvProblem& problem, const PlanOptions& options) {
  std::vector<Entry> entries;
  for (const RankedCandidate& candidate : listed_candidates(problem, device.info(), options)) {
    Entry entry{candidate.name, candidate.accepts(), candidate.predicted_us, candidate.measured_us, {}};
    if (candidate.tuned) entry.reasons.push_back("the tuning database's choice");
    if (!candidate.mark.empty()) entry.reasons.push_back(candidate.mark);
    for (const Decline& decline : candidate.declines) {
      entry.reasons.push_back(fmt::format("{}: {}", decline.id, decline.message));
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::string times(const Entry& entry) {
  std::string text;
  if (entry.predicted_us > 0) text += fmt::format("  predicted {:.2f} us", entry.predicted_us);
  if (entry.measured_us > 0) text += fmt::format("  measured {:.2f} us", entry.measured_us);
  return text;
}

// Each first reason once, with how many kernels it keeps out.
std::string declining_by_reason(const std::vector<Entry>& entries) {
  std::vector<std::pair<std::string, int>> reasons;
  for (const Entry& entry : entries) {
    if (entry.accepts) continue;
    const std::string reason = entry.reasons.empty() ? "" : entry.reasons.front();
    const auto found = std::ranges::find(reasons, reason, &std::pair<std::string, int>::first);
    if (found == reasons.end()) {
      reasons.emplace_back(reason, 1);
    } else {
      ++found->second;
    }
  }
  std::string text;
  for (const auto& [reason, count] : reasons) text += fmt::format("  {:>4}  {}\n", count, reason);
  return text;
}

// The decision, or why there is none.
using Choice = Result<Decision>;

std::string as_text(const ConvProblem& problem, const DeviceInfo& device, const Choice& choice,
                    const std::vector<Entry>& entries, int limit, bool by_reason) {
  size_t accepting = 0;
  for (const Entry& entry : entries) accepting += entry.accepts;
  std::string text = fmt::format("problem {}\ndevice  {} ({})\n", to_text(problem), device.id, device.name);
  if (choice.ok()) {
    text += fmt::format("chosen  {}\n        {}\n", choice->leaf().kernel, choice->why());
    if (choice->invariance) text += fmt::format("        batch-invariant, {}\n", to_text(*choice->invariance));
    for (const Decision* part = &*choice; part; part = part->inner.get())
      for (const std::string& other : part->passed_over) text += fmt::format("        instead of {}\n", other);
  } else {
    text += fmt::format("chosen  none\n        {}\n", choice.status().message());
  }
  const auto few = [&](size_t count) { return limit < 0 ? count : std::min(count, static_cast<size_t>(limit)); };
  const auto list = [&](bool accepts, size_t count) {
    size_t rank = 0;
    for (const Entry& entry : entries) {
      if (entry.accepts != accepts || rank == few(count)) continue;
      ++rank;
      text +=
          accepts ? fmt::format("  {}. {}{}\n", rank, entry.kernel, times(entry)) : fmt::format("  {}\n", entry.kernel);
      for (const std::string& reason : entry.reasons) text += fmt::format("       {}\n", reason);
    }
    if (rank < count) text += fmt::format("  and {} more\n", count - rank);
  };
  const size_t declining = entries.size() - accepting;
  text += fmt::format("{} of {} accept, in order of preference\n", accepting, entries.size());
  list(true, accepting);
  if (declining > 0) text += "those that decline, and why\n";
  if (by_reason) {
    text += declining_by_reason(entries);
  } else {
    list(false, declining);
  }
  return text;
}

std::string as_json(const ConvProblem& problem, const DeviceInfo& device, const Choice& choice,
                    const std::vector<Entry>& entries, int limit) {
  auto kernels = OrderedJson::array();
  int listed[2] = {0, 0};
  for (const Entry& entry : entries) {
    if (limit >= 0 && listed[entry.accepts]++ >= limit) continue;
    OrderedJson kernel = {{"kernel", entry.kernel}, {"accepts", entry.accepts}};
    if (entry.predicted_us > 0) kernel["predicted_us"] = entry.predicted_us;
    if (entry.measured_us > 0) kernel["measured_us"] = entry.measured_us;
    kernel["reasons"] = entry.reasons;
    kernels.push_back(std::move(kernel));
  }
  OrderedJson json = {{"problem", to_text(problem)}, {"device", device.id}};
  json["chosen"] = choice.ok() ? choice->leaf().kernel : "";
  if (choice.ok()) {
    json["decision"] = to_json(*choice);
  } else {
    json["nothing"] = choice.status().message();
  }
  json["kernels"] = std::move(kernels);
  return json.dump(2);
}

constexpr int kAcceptingShown = 20;  // of the text, unless a number was given

Status explain(wavetile_device* device, const wavetile_problem* problem, const wavetile_plan_options* options,
               wavetile_format format, std::optional<int> limit, char** report) {
  if (format != WAVETILE_FORMAT_TEXT && format != WAVETILE_FORMAT_JSON) {
    return bad_input("format={} is no choice; use 0 (text) or 1 (JSON)", static_cast<int>(format));
  }
  if (limit && *limit < -1) return bad_input("kernels={} is no count; use 0 or more, or -1 for all", *limit);
  PlanOptions plan_options;
  WT_TRY(read_options(options, plan_options));
  const DeviceInfo& info = device->device->info();
  const Choice choice = decide(info, problem->value, plan_options);
  // A problem that nothing runs is what a caller asks about; anything else that fails is not.
  if (!choice.ok() && choice.status().code() != Code::kUnsupported) return choice.status();
  const std::vector<Entry> entries = info.kind == DeviceKind::kCpu
                                         ? cpu_entries(device->device, problem->value, plan_options)
                                         : kernel_entries(*device->device, problem->value, plan_options);
  const bool by_reason = !limit && info.kind != DeviceKind::kCpu;
  return new_string(format == WAVETILE_FORMAT_JSON
                        ? as_json(problem->value, info, choice, entries, limit.value_or(-1))
                        : as_text(problem->value, info, choice, entries, limit.value_or(kAcceptingShown), by_reason),
                    report);
}

}  // namespace

extern "C" {

wavetile_status wavetile_explain(wavetile_device* device, const wavetile_problem* problem,
                                 const wavetile_plan_options* options, wavetile_format format, char** report) {
  WT_API_REQUIRE(device);
  WT_API_REQUIRE(problem);
  WT_API_REQUIRE(report);
  return guard_making([&] { return explain(device, problem, options, format, std::nullopt, report); });
}

wavetile_status wavetile_explain_kernels(wavetile_device* device, const wavetile_problem* problem,
                                         const wavetile_plan_options* options, wavetile_format format, int32_t kernels,
                                         char** report) {
  WT_API_REQUIRE(device);
  WT_API_REQUIRE(problem);
  WT_API_REQUIRE(report);
  return guard_making([&] { return explain(device, problem, options, format, kernels, report); });
}

}  // extern "C"
