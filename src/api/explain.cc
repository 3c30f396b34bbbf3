// SPDX-License-Identifier: Apache-2.0
// api/explain.cc - wavetile_explain: the kernels that could run a problem and why the others cannot, as text or JSON.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/guard.h"
#include "api/handles.h"
#include "dispatch/candidates.h"

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

std::vector<Entry> kernel_entries(const Device& device, const ConvProblem& problem, const PlanOptions& options) {
  std::vector<Entry> entries;
  for (const RankedCandidate& candidate : rank_candidates(problem, device.info(), options)) {
    Entry entry{candidate.name, candidate.accepts(), candidate.predicted_us, candidate.measured_us, {}};
    if (candidate.tuned) entry.reasons.push_back("the tuning database's choice");
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

std::string as_text(const ConvProblem& problem, const DeviceInfo& device, const std::vector<Entry>& entries) {
  size_t accepting = 0;
  for (const Entry& entry : entries) accepting += entry.accepts;
  std::string text = fmt::format("problem {}\ndevice  {} ({})\n", to_text(problem), device.id, device.name);
  const auto list = [&](bool accepts) {
    int rank = 0;
    for (const Entry& entry : entries) {
      if (entry.accepts != accepts) continue;
      text += accepts ? fmt::format("  {}. {}{}\n", ++rank, entry.kernel, times(entry))
                      : fmt::format("  {}\n", entry.kernel);
      for (const std::string& reason : entry.reasons) text += fmt::format("       {}\n", reason);
    }
  };
  text += fmt::format("{} of {} accept, in order of preference\n", accepting, entries.size());
  list(true);
  if (accepting < entries.size()) text += "those that decline, and why\n";
  list(false);
  return text;
}

std::string as_json(const ConvProblem& problem, const DeviceInfo& device, const std::vector<Entry>& entries) {
  auto kernels = nlohmann::ordered_json::array();
  for (const Entry& entry : entries) {
    nlohmann::ordered_json kernel = {{"kernel", entry.kernel}, {"accepts", entry.accepts}};
    if (entry.predicted_us > 0) kernel["predicted_us"] = entry.predicted_us;
    if (entry.measured_us > 0) kernel["measured_us"] = entry.measured_us;
    kernel["reasons"] = entry.reasons;
    kernels.push_back(std::move(kernel));
  }
  return nlohmann::ordered_json{{"problem", to_text(problem)}, {"device", device.id}, {"kernels", std::move(kernels)}}
      .dump(2);
}

}  // namespace

extern "C" wavetile_status wavetile_explain(wavetile_device* device, const wavetile_problem* problem,
                                            const wavetile_plan_options* options, wavetile_format format,
                                            char** report) {
  WT_API_REQUIRE(device);
  WT_API_REQUIRE(problem);
  WT_API_REQUIRE(report);
  return guard([&]() -> Status {
    if (format != WAVETILE_FORMAT_TEXT && format != WAVETILE_FORMAT_JSON) {
      return bad_input("format={} is no choice; use 0 (text) or 1 (JSON)", static_cast<int>(format));
    }
    PlanOptions plan_options;
    WT_TRY(read_options(options, plan_options));
    const DeviceInfo& info = device->device->info();
    const std::vector<Entry> entries = info.kind == DeviceKind::kCpu
                                           ? cpu_entries(device->device, problem->value, plan_options)
                                           : kernel_entries(*device->device, problem->value, plan_options);
    return new_string(format == WAVETILE_FORMAT_JSON ? as_json(problem->value, info, entries)
                                                     : as_text(problem->value, info, entries),
                      report);
  });
}
