// SPDX-License-Identifier: Apache-2.0
#include "dispatch/trial/roof.h"

#include <algorithm>

#include "problem/traffic.h"

namespace wt {
namespace {

ConvProblem pointwise(DataType type, int64_t channels, int64_t groups, int64_t side) {
  ConvProblem problem;
  problem.x = problem.w = problem.y = type;
  if (size_of(type) == 1) problem.y = DataType::kBf16;
  problem.c = problem.k = channels;
  problem.g = groups;
  problem.in = {1, side, side};
  return problem;
}

}  // namespace

void Roof::measure(const std::shared_ptr<Device>& device, DataType type) {
  const DeviceKind kind = device->info().kind;
  if (kind == DeviceKind::kSim) return;
  const bool gpu = is_gpu(kind);
  const ConvProblem work[] = {pointwise(type, gpu ? 2048 : 256, 1, gpu ? 64 : 28),
                              pointwise(type, gpu ? 4096 : 512, 1, gpu ? 96 : 28),
                              pointwise(type, gpu ? 1024 : 64, gpu ? 1024 : 64, gpu ? 512 : 64),
                              pointwise(type, gpu ? 1024 : 64, gpu ? 1024 : 64, gpu ? 128 : 256)};
  for (const ConvProblem& problem : work) {
    for (const double seconds : {0.02, gpu ? 0.2 : 0.05}) {
      TrialOptions options;
      options.plan.tuning = Tuning::kCached;
      TimerOptions timer = timer_options(kind, seconds, 0);
      timer.budget_seconds = seconds;
      timer.max_runs = 100;
      options.timer = timer;
      options.verify_work_limit = 1 << 16;
      saw(run_trial(device, problem, options));
    }
  }
}

void Roof::saw(const TrialResult& result) {
  if (result.verified && result.timing && result.bytes == 0) saw(result.problem, result.timing->minimum_us);
}

void Roof::saw(const ConvProblem& problem, double us) {
  if (us <= 0) return;
  double& rate = gigaflops_[problem.x];
  rate = std::max(rate, work_without_padding(problem) / us * 1e-3);
  gigabytes_ = std::max(gigabytes_, tensor_bytes(problem) / us * 1e-3);
}

double Roof::gigaflops(DataType type) const {
  const auto found = gigaflops_.find(type);
  return found == gigaflops_.end() ? 0 : found->second;
}

double Roof::limit_us(const ConvProblem& problem) const {
  const double rate = gigaflops(problem.x);
  if (rate <= 0 || gigabytes_ <= 0) return 0;
  return std::max(work_without_padding(problem) / rate, tensor_bytes(problem) / gigabytes_) * 1e-3;
}

}  // namespace wt
