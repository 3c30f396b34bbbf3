// SPDX-License-Identifier: Apache-2.0
// bench/tools/selection_time.cc - how long choosing a kernel takes, without a GPU.
//
//   new problem   selection.h: the model's pick for a problem of a known signature
//   tuned         tuning/lookup.h: an entry of the tuning database, found and checked
//   cached plan   wavetile_plan_create for a problem and options that the device handle knows
//
// Usage: selection_time [SUITE [TARGET]]; resnet50 and sm_90a where left out. Each row is asked for with several batch
// sizes, so that each problem is new. The first problem of a signature, which also makes its proposals, is counted
// apart, and so is the first entry of a kernel, whose content key is then remembered.
#include <stdlib.h>
#include <wavetile/wavetile.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/input/selection.h"
#include "cli/show/trial_json.h"
#include "config/fields.h"
#include "config/signature.h"
#include "config/targets.h"
#include "dispatch/choice/selection.h"
#include "dispatch/tuning/key.h"
#include "dispatch/tuning/lookup.h"

namespace {

using namespace wt;

constexpr int kBatches = 8;

double microseconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

// The high end is the machine's: whatever interrupts the process is in it.
nlohmann::ordered_json summary(std::vector<double> samples) {
  if (samples.empty()) return nullptr;
  std::ranges::sort(samples);
  return {{"count", samples.size()},
          {"median_us", samples[samples.size() / 2]},
          {"p90_us", samples[samples.size() * 9 / 10]},
          {"highest_us", samples.back()}};
}

std::vector<ConvProblem> problems_of(const std::vector<cli::Row>& rows) {
  std::vector<ConvProblem> problems;
  for (int extra = 0; extra < kBatches; ++extra) {
    for (const cli::Row& row : rows) {
      problems.push_back(row.problem);
      problems.back().n += extra;
    }
  }
  return problems;
}

void time_model(const std::vector<ConvProblem>& problems, Target target, nlohmann::ordered_json& json) {
  std::vector<double> first, cold;
  std::set<std::string> signatures;
  size_t proposals = 0;
  for (const ConvProblem& problem : problems) {
    const bool is_new = signatures.insert(key_of(config_for(problem, target))).second;
    const auto choose = [&] { WT_CHECK(pick(View(problem, usual_rates(target)), {}, [](auto&) { return true; })); };
    (is_new ? first : cold).push_back(microseconds_of(choose));
    proposals = std::max(proposals, proposal_count(problem, target));
  }
  json["most_proposals"] = proposals;
  json["first_of_a_signature"] = summary(first);
  json["new_problem"] = summary(cold);
}

// In a database of its own, with the model's pick as the entry of each problem.
Status time_tuned(const std::vector<ConvProblem>& problems, Target target, nlohmann::ordered_json& json) {
  DeviceInfo device;
  device.kind = DeviceKind::kCuda;
  device.name = "selection_time";
  device.target = target;
  device.multiprocessors = info_of(target).units;
  std::string folder = (std::filesystem::temp_directory_path() / "wavetile_selection.XXXXXX").string();
  WT_CHECK(::mkdtemp(folder.data()));
  ::setenv("WAVETILE_TUNING_DB", (folder + "/tuning.db").c_str(), 1);
  std::vector<tuning::Entry> entries;
  for (const ConvProblem& problem : problems) {
    const auto best = pick(View(problem, rates_of(device)), {}, [](auto&) { return true; });
    tuning::Entry entry{tuning::key_of(device, problem, {}), {}, 1, 1, true, "0"};
    entry.best.kernel = name_of(*best->config);
    entry.best.config = to_json(*best->config);
    WT_TRY_ASSIGN(entry.best.code, tuning::code_to_load(device, *best->config));
    entry.best.median_us = entry.best.low_us = entry.best.high_us = 1;
    entries.push_back(std::move(entry));
  }
  {
    WT_TRY_ASSIGN(const auto database, tuning::Database::open(folder + "/tuning.db", tuning::Access::kCreate));
    WT_TRY(database->merge(entries, {}, {}).status());
  }
  std::vector<double> samples;
  for (const ConvProblem& problem : problems) {
    const auto find = [&] { WT_CHECK(tuning::find_tuned(device, problem, {}, tuning::CodeCheck::kKnown).config); };
    samples.push_back(microseconds_of(find));
  }
  json["tuned"] = summary(samples);
  std::filesystem::remove_all(folder);
  return {};
}

// On the CPU, where a plan costs no compilation: the cache before it is the same for every device.
void time_cached(const std::vector<ConvProblem>& problems, nlohmann::ordered_json& json) {
  wavetile_device* device = nullptr;
  WT_CHECK(wavetile_device_open("cpu", &device) == WAVETILE_OK);
  std::vector<double> samples;
  for (const ConvProblem& problem : problems) {
    wavetile_problem* handle = nullptr;
    WT_CHECK(wavetile_problem_parse(to_text(problem).c_str(), &handle) == WAVETILE_OK);
    wavetile_plan *first = nullptr, *again = nullptr;
    WT_CHECK(wavetile_plan_create(device, handle, nullptr, &first) == WAVETILE_OK);
    samples.push_back(microseconds_of([&] { wavetile_plan_create(device, handle, nullptr, &again); }));
    WT_CHECK(again && wavetile_plan_json(first) == wavetile_plan_json(again), "the plan was made twice");
    wavetile_plan_destroy(first);
    wavetile_plan_destroy(again);
    wavetile_problem_destroy(handle);
  }
  wavetile_device_close(device);
  json["cached_plan"] = summary(samples);
}

Status run(const std::string& suite, const std::string& target_text) {
  WT_TRY_ASSIGN(const TargetName target, parse_target(target_text));
  WT_TRY_ASSIGN(const std::vector<cli::Row> rows, cli::select_rows({suite}, "", ""));
  const std::vector<ConvProblem> problems = problems_of(rows);
  nlohmann::ordered_json json = cli::document(fmt::format("selection_time {} {}", suite, target_text));
  json["suite"] = suite;
  json["target"] = target_text;
  json["problems"] = problems.size();
  time_model(problems, target.target, json);
  WT_TRY(time_tuned(problems, target.target, json));
  time_cached(problems, json);
  fmt::print("{}", cli::json_text(json));
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const Status status = run(argc > 1 ? argv[1] : "resnet50", argc > 2 ? argv[2] : "sm_90a");
  if (status.ok()) return 0;
  fmt::print(stderr, "selection_time: {}\n", status.message());
  return 1;
}
