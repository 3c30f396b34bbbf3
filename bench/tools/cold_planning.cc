// SPDX-License-Identifier: Apache-2.0
// bench/tools/cold_planning.cc - how long it takes to choose and compile every kernel of a suite, without a GPU.
//
//   suite in three directions --decision.h--> the chosen kernels, each once --compile_all--> seconds, as JSON
//
// Usage: WAVETILE_CACHE_LIMIT_MB=0 cold_planning [SUITE [TARGET]]; resnet50 and sm_90a where left out. Exits with 1
// where a kernel does not compile or spills.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "base/parallel.h"
#include "cli/input/selection.h"
#include "cli/show/trial_json.h"
#include "compile/compiler.h"
#include "config/targets.h"
#include "dispatch/choice/decision.h"
#include "dispatch/choice/filter.h"
#include "generate/source.h"

namespace {

using namespace wt;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * t.tv_usec; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// The choice for each row; rows without a kernel are an error.
Result<std::map<std::string, KernelConfig>> choose(const std::vector<cli::Row>& rows, Target target) {
  std::map<std::string, KernelConfig> chosen;
  for (const cli::Row& row : rows) {
    WT_TRY_ASSIGN(const Decision decision, decide(usual_device(target), row.problem, {}));
    chosen.emplace(decision.leaf().kernel, *decision.leaf().config);
  }
  return chosen;
}

Status run(const std::string& suite, const std::string& target_text) {
  WT_TRY_ASSIGN(const TargetName target, parse_target(target_text));
  WT_TRY_ASSIGN(const std::vector<cli::Row> rows, cli::select_rows({suite}, "", ""));
  const auto start = std::chrono::steady_clock::now();
  WT_TRY_ASSIGN(const auto chosen, choose(rows, target.target));
  const double choosing = seconds_since(start);
  std::vector<compile::Source> sources;
  for (const auto& [name, config] : chosen) {
    WT_TRY_ASSIGN(std::string text, generate_source(config));
    sources.push_back({name, std::move(text), target.target});
  }
  int spilling = 0, cached = 0;
  for (const Result<compile::Module>& module : compile_all(compile::backend_of(target.target), sources)) {
    WT_TRY(module.status());
    spilling += module->resources.spill_bytes > 0;
    cached += module->from_cache;
  }
  nlohmann::ordered_json json = cli::document(fmt::format("cold_planning {} {}", suite, target_text));
  json["suite"] = suite;
  json["target"] = target_text;
  json["threads"] = hardware_threads();
  json["problems"] = rows.size();
  json["kernels"] = sources.size();
  json["from_cache"] = cached;
  json["choosing_seconds"] = choosing;
  json["seconds"] = seconds_since(start);
  json["cpu_seconds"] = cpu_seconds();
  json["kernels_that_spill"] = spilling;
  fmt::print("{}", cli::json_text(json));
  if (spilling > 0) return failure(Code::kCompile, "{} of {} kernels spill registers", spilling, sources.size());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const Status status = run(argc > 1 ? argv[1] : "resnet50", argc > 2 ? argv[2] : "sm_90a");
  if (status.ok()) return 0;
  fmt::print(stderr, "cold_planning: {}\n", status.message());
  return 1;
}
