// SPDX-License-Identifier: Apache-2.0
// bench/tools/selection_time.cc - how long choosing a kernel takes, without a GPU: a new problem, a tuned one, a cached
// plan.
//
//   suite in three directions --selection.h, tuning/lookup.h, plan_cache.h--> microseconds a choice, as JSON
//
// Usage: selection_time [SUITE [TARGET]]; resnet50 and sm_90a where left out. The first choice of each signature, which
// also makes its proposals, is counted apart.
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/selection.h"
#include "cli/trial_json.h"
#include "config/fields.h"
#include "config/signature.h"
#include "config/targets.h"
#include "dispatch/selection.h"

namespace {

using namespace wt;

double microseconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

nlohmann::ordered_json summary(std::vector<double> samples) {
  if (samples.empty()) return nullptr;
  std::ranges::sort(samples);
  return {{"count", samples.size()},
          {"median_us", samples[samples.size() / 2]},
          {"p99_us", samples[samples.size() * 99 / 100]},
          {"highest_us", samples.back()}};
}

Status run(const std::string& suite, const std::string& target_text) {
  WT_TRY_ASSIGN(const TargetName target, parse_target(target_text));
  WT_TRY_ASSIGN(const std::vector<cli::Row> rows, cli::select_rows({suite}, "", ""));
  std::vector<double> first, cold;
  std::set<std::string> signatures;
  size_t proposals = 0;
  for (const cli::Row& row : rows) {
    const bool is_new = signatures.insert(key_of(config_for(row.problem, target.target))).second;
    const auto choose = [&] {
      WT_CHECK(pick(row.problem, target.target, info_of(target.target).units, {}, [](auto&) { return true; }));
    };
    (is_new ? first : cold).push_back(microseconds_of(choose));
    proposals = std::max(proposals, proposal_count(row.problem, target.target));
  }
  nlohmann::ordered_json json = cli::document(fmt::format("selection_time {} {}", suite, target_text));
  json["suite"] = suite;
  json["target"] = target_text;
  json["most_proposals"] = proposals;
  json["first_of_a_signature"] = summary(first);
  json["new_problem"] = summary(cold);
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
