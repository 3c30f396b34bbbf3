// SPDX-License-Identifier: Apache-2.0
// bench/tools/simulator_speed.cc - multiply-adds per second and core of the simulator, checks on, for whole kernels.
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

#include "cli/show/trial_json.h"
#include "compile/compiler.h"
#include "config/targets.h"
#include "dispatch/choice/candidates.h"
#include "dispatch/trial/trial.h"
#include "problem/number.h"
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

// A plain product by cp.async, ldmatrix and mma.sync, as kernels for sm_80 are built: 128x128 per block of four warps.
constexpr const char* kProduct = R"(#include "target/target.h"
namespace wt {
using namespace device;
struct Product {
  static constexpr int kThreads = 128, kMinBlocks = 1, kStage = 2 * 128 * 64;
  struct Params {
    const Bf16 *a, *b;  // (m, k) and (n, k)
    float* d;           // (m, n)
    i32 n, k;
  };
  WT_DEVICE static void fetch(const Params& p, SharedAddress to, int k0) {
    const int m0 = block_index().x * 128, n0 = block_index().y * 128;
    for (int i = thread_index(); i < 512; i += kThreads) {
      copy_async<16>(to + i * 16, p.a + (m0 + i / 4) * p.k + k0 + i % 4 * 8, 16);
      copy_async<16>(to + 8192 + i * 16, p.b + (n0 + i / 4) * p.k + k0 + i % 4 * 8, 16);
    }
    copy_async_commit();
  }
  WT_DEVICE static void run(const Params& p) {
    using Instruction = Mma<DataType::kBf16, 16, 8, 16>;
    const int lane = lane_index(), m = warp_index() % 2 * 64, n = warp_index() / 2 * 64;
    const SharedAddress base = shared_base();
    float c[4][8][4] = {};
    fetch(p, base, 0);
    for (int k0 = 0; k0 < p.k; k0 += 32) {
      const SharedAddress a = base + k0 / 32 % 2 * kStage, b = a + 8192;
      copy_async_wait<0>();
      sync_block();
      if (k0 + 32 < p.k) fetch(p, base + (k0 / 32 + 1) % 2 * kStage, k0 + 32);
      for (int k = 0; k < 32; k += 16) {
        Bf16 right[8][4];
        for (int j = 0; j < 8; j += 2) {
          u32 words[4];
          load_matrix<false>(words, b + (n + j * 8 + lane / 16 * 8 + lane % 8) * 64 + (k + lane / 8 % 2 * 8) * 2);
          __builtin_memcpy(right[j], words, 16);
        }
        for (int i = 0; i < 4; ++i) {
          u32 words[4];
          load_matrix<false>(words, a + (m + i * 16 + lane % 16) * 64 + (k + lane / 16 * 8) * 2);
          Bf16 left[8];
          __builtin_memcpy(left, words, 16);
          multiply_row<Instruction>(c[i], left, right);
        }
      }
    }
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 8; ++j)
        for (int e = 0; e < 4; ++e) {
          const int row = block_index().x * 128 + m + i * 16 + Instruction::c_row(lane, e);
          store_global(p.d + row * p.n + block_index().y * 128 + n + j * 8 + Instruction::c_col(lane, e), c[i][j][e]);
        }
  }
};
}  // namespace wt
WT_KERNEL(product, wt::Product)
)";

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * t.tv_usec; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void print_row(const char* unit, const char* problem, const char* pipeline, double seconds, double speed) {
  fmt::print(stderr, "{:<9} {:<45} {:<18} {:7.1f} ms {:6.2f} GMAC/s\n", unit, problem, pipeline, seconds * 1e3, speed);
}

Result<nlohmann::ordered_json> measure(const Row& row, int runs) {
  WT_TRY_ASSIGN(sim::Options options, sim::Options::from_environment());
  options.threads = 1;
  WT_TRY_ASSIGN(const auto device, open_sim_device(row.target, options));
  WT_TRY_ASSIGN(const ConvProblem problem, parse_problem(row.problem));
  TrialOptions trial;
  trial.exact = true;
  for (const RankedCandidate& candidate : rank_candidates(problem, row.target, {}, Breadth::kAll)) {
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
  print_row(row.unit, row.problem, row.pipeline, best, speed);
  return nlohmann::ordered_json{{"unit", row.unit},       {"target", std::string(info_of(row.target).name)},
                                {"problem", row.problem}, {"kernel", result.plan.kernel},
                                {"cpu_seconds", best},    {"gmac_per_second", speed}};
}

Result<nlohmann::ordered_json> measure_product(int runs) {
  constexpr int kM = 256, kN = 256, kK = 1024;
  WT_TRY_ASSIGN(sim::Options options, sim::Options::from_environment());
  options.threads = 1;
  WT_TRY_ASSIGN(const auto device, open_sim_device(Target::kSm80, options));
  WT_TRY_ASSIGN(const auto module, compile::compile(compile::Backend::kHost, {"product", kProduct, Target::kSm80}));
  WT_TRY_ASSIGN(const auto loaded, device->load(module));
  WT_TRY_ASSIGN(const Function* const function, loaded->find("product"));
  std::vector<float> a(kM * kK), b(kN * kK), d(kM * kN);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(static_cast<int>(i * 7 % 5) - 2);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(static_cast<int>(i * 11 % 7) - 3);
  std::vector<uint16_t> small(a.size());
  struct Params {
    void *a, *b, *d;
    int32_t n = kN, k = kK;
  } params;
  WT_TRY_ASSIGN(params.a, device->allocate(a.size() * 2));
  WT_TRY_ASSIGN(params.b, device->allocate(b.size() * 2));
  WT_TRY_ASSIGN(params.d, device->allocate(d.size() * 4));
  from_float(DataType::kBf16, a.data(), small.data(), static_cast<int64_t>(a.size()));
  WT_TRY(device->copy_in(params.a, small.data(), a.size() * 2));
  from_float(DataType::kBf16, b.data(), small.data(), static_cast<int64_t>(b.size()));
  WT_TRY(device->copy_in(params.b, small.data(), b.size() * 2));
  const LaunchShape shape{.grid = {kM / 128, kN / 128, 1}, .threads = 128, .shared_bytes = 32768};
  double best = 1e30;
  for (int run = 0; run < runs; ++run) {
    const double start = cpu_seconds();
    WT_TRY(device->launch(*function, shape, std::as_bytes(std::span(&params, 1)), nullptr));
    best = std::min(best, cpu_seconds() - start);
  }
  WT_TRY(device->copy_out(d.data(), params.d, d.size() * 4));
  for (int m = 0; m < kM; ++m) {
    for (int n = 0; n < kN; ++n) {
      float sum = 0;
      for (int k = 0; k < kK; ++k) sum += a[m * kK + k] * b[n * kK + k];
      if (d[m * kN + n] != sum) return failure(Code::kVerificationFailed, "the product is wrong at {}, {}", m, n);
    }
  }
  const double speed = static_cast<double>(kM) * kN * kK / best * 1e-9;
  const std::string what = fmt::format("product {}x{}x{}: cp.async, ldmatrix", kM, kN, kK);
  print_row("mma.sync", what.c_str(), "", best, speed);
  return nlohmann::ordered_json{{"unit", "mma.sync"},  {"target", "sm_80"},   {"problem", what},
                                {"kernel", "product"}, {"cpu_seconds", best}, {"gmac_per_second", speed}};
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
  if (unit.empty() || unit == "mma.sync") {
    WT_TRY_ASSIGN(auto measured, measure_product(runs));
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
