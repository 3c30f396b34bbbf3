// SPDX-License-Identifier: Apache-2.0
// bench/tools/simulator_speed.cc - multiply-adds a second and core of the simulator, checks on, for whole kernels.
//
//   problem --candidates.h--> the best kernel of a pipeline --one host thread--> processor seconds of a launch, as JSON
//
// Usage: simulator_speed [RUNS [UNIT]]; the best of RUNS (5) launches counts; UNIT: only wgmma or mma.sync. Every
// result is verified first.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cli/trial_json.h"
#include "compile/compiler.h"
#include "config/targets.h"
#include "dispatch/candidates.h"
#include "dispatch/trial.h"
#include "runtime/sim/device.h"

namespace {

using namespace wt;

struct Row {
  const char* unit;  // what multiplies
  Target target;
  const char* pipeline;  // part of the kernel's name; the first of the ranking that has it
  const char* problem;
};

// Tiles as large problems choose them, and the small ones that small problems choose: there the cost of a thread's own
// instructions weighs more than that of the products.
constexpr Row kRows[] = {
    {"wgmma", Target::kSm90a, "_tma_t128x128x64_", "fwd bf16 n2 c256 k256 i28x28 f3x3 p1"},
    {"wgmma", Target::kSm90a, "_tma_t128x256x64_", "fwd bf16 n2 c256 k256 i28x28 f3x3 p1"},
    {"wgmma", Target::kSm90a, "_tma_t128x128x64_", "bwd_data fp16 n2 c256 k256 i28x28 f3x3 p1"},
    {"wgmma", Target::kSm90a, "_tma_t128x128x64_", "bwd_weight bf16 n2 c256 k256 i28x28 f3x3 p1"},
    {"wgmma", Target::kSm90a, "_tma_", "fwd bf16 n4 c128 k128 i28x28 f3x3 p1"},
    {"wgmma", Target::kSm90a, "_tma_", "fwd bf16 n1 c64 k64 i28x28 f3x3 p1"},
    {"mma.sync", Target::kSm80, "_basic_", "fwd bf16 n1 c64 k64 i28x28 f3x3 p1"},
    {"mma.sync", Target::kSm80, "_basic_", "bwd_weight bf16 n1 c64 k64 i28x28 f3x3 p1"},
};

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * t.tv_usec; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Result<nlohmann::ordered_json> measure(const Row& row, int runs) {
  WT_TRY_ASSIGN(sim::Options options, sim::Options::from_environment());
  options.threads = 1;
  WT_TRY_ASSIGN(const auto device, open_sim_device(row.target, options));
  WT_TRY_ASSIGN(const ConvProblem problem, parse_problem(row.problem));
  TrialOptions trial;
  trial.exact = true;
  for (const RankedCandidate& candidate : rank_candidates(problem, row.target, {}, Candidates::kAll)) {
    if (!candidate.accepts() || candidate.name.find(row.pipeline) == std::string::npos) continue;
    trial.plan.kernel = candidate.name;
    break;
  }
  if (trial.plan.kernel.empty()) return unsupported("no kernel with {} takes '{}'", row.pipeline, row.problem);
  WT_TRY_ASSIGN(const auto tensors, TrialTensors::make(device, problem, trial.exact, trial.seed));
  WT_TRY_ASSIGN(const auto plan, make_plan(device, problem, trial.plan));
  const TrialResult result = run_trial(*tensors, *plan, trial);
  WT_TRY(result.status);
  double best = 1e30;
  for (int run = 0; run < runs; ++run) {
    const double start = cpu_seconds();
    WT_TRY(plan->execute(tensors->pointers(), nullptr));
    best = std::min(best, cpu_seconds() - start);
  }
  const double macs = static_cast<double>(problem.flops()) / 2;
  const double speed = macs / best * 1e-9;
  fmt::print(stderr, "{:<9} {:<45} {:<18} {:7.1f} ms {:6.2f} GMAC/s\n", row.unit, row.problem, row.pipeline, best * 1e3,
             speed);
  return nlohmann::ordered_json{{"unit", row.unit},       {"target", std::string(info_of(row.target).name)},
                                {"problem", row.problem}, {"kernel", result.plan.kernel},
                                {"cpu_seconds", best},    {"gmac_per_second", speed}};
}

Status run(int runs, const std::string& unit) {
  nlohmann::ordered_json json = cli::document(fmt::format("simulator_speed {} {}", runs, unit));
  json["checks"] = true;
  json["host_threads"] = 1;
  if (const auto version = compile::compiler_version(compile::Backend::kHost); version.ok())
    json["compiler"] = *version;
  json["rows"] = nlohmann::ordered_json::array();
  for (const Row& row : kRows) {
    if (!unit.empty() && unit != row.unit) continue;
    WT_TRY_ASSIGN(auto measured, measure(row, runs));
    json["rows"].push_back(std::move(measured));
  }
  fmt::print("{}", cli::json_text(json));
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const Status status = run(argc > 1 ? std::max(1, std::atoi(argv[1])) : 5, argc > 2 ? argv[2] : "");
  if (status.ok()) return 0;
  fmt::print(stderr, "simulator_speed: {}\n", status.message());
  return 1;
}
