// SPDX-License-Identifier: Apache-2.0
#include "dispatch/trial/cudnn.h"

#include <algorithm>
#include <vector>

#include "runtime/cudnn/convolution.h"

namespace wt {
namespace {

constexpr size_t kMostPlans = 24;
constexpr size_t kFinalists = 3;
// As the tuner does: a few runs decide which plans are worth timing in full.
constexpr TimerOptions kQuick{.warmup_runs = 1, .warmup_seconds = 0, .min_runs = 3, .max_runs = 3};

struct Candidate {
  size_t plan;
  double quick_us;
};

class CudnnTrial {
 public:
  CudnnTrial(TrialTensors& tensors, const TrialOptions& options) : tensors_(tensors), options_(options) {}

  Status run(CudnnResult& result) {
    WT_TRY_ASSIGN(convolution_, cudnn::Convolution::make(tensors_.device(), tensors_.problem(), kMostPlans));
    WT_TRY_ASSIGN(const cudnn::Library* library, cudnn::load());
    result.library_version = library->version;
    result.plans = convolution_->plans();
    WT_TRY_ASSIGN(timer_, Timer::make(tensors_.device()));
    std::vector<Candidate> candidates;
    Status last;
    for (size_t plan = 0; plan < convolution_->plans(); ++plan) {
      const Status status = try_plan(plan, candidates, result);
      if (status.ok()) continue;
      last = status;
      // A plan that does not run is passed over, unless it took the device with it.
      WT_TRY(tensors_.device()->synchronize(nullptr));
    }
    if (candidates.empty()) {
      WT_TRY(last);
      return failure(Code::kVerificationFailed, "all {} plans of cuDNN gave results outside the bound", result.plans);
    }
    return time_finalists(candidates, result);
  }

 private:
  Status try_plan(size_t plan, std::vector<Candidate>& candidates, CudnnResult& result) {
    WT_TRY(tensors_.reserve_workspace(convolution_->workspace_bytes(plan)));
    WT_TRY(tensors_.poison_outputs(nullptr));
    WT_TRY(execute(plan, nullptr));
    WT_TRY(tensors_.device()->synchronize(nullptr));
    WT_TRY_ASSIGN(const VerifyReport report, verify_outputs(tensors_, options_));
    if (!report.passed()) {
      ++result.wrong;
      return {};
    }
    WT_TRY_ASSIGN(const Timing timing, time(plan, kQuick));
    candidates.push_back({plan, timing.minimum_us});
    return {};
  }

  Status time_finalists(std::vector<Candidate>& candidates, CudnnResult& result) {
    const TimerOptions full =
        options_.timer.value_or(timer_options(DeviceKind::kCuda, candidates.front().quick_us * 1e-6, options_.repeat));
    const size_t first = candidates.front().plan;
    WT_TRY_ASSIGN(result.heuristic, time(first, full));
    result.heuristic_engine = convolution_->name(first);
    std::ranges::sort(candidates, {}, &Candidate::quick_us);
    candidates.resize(std::min(candidates.size(), kFinalists));
    for (const Candidate& candidate : candidates) {
      Timing timing = *result.heuristic;
      if (candidate.plan != first) {
        WT_TRY_ASSIGN(timing, time(candidate.plan, full));
      }
      if (result.tuned && result.tuned->median_us <= timing.median_us) continue;
      result.tuned = timing;
      result.engine = convolution_->name(candidate.plan);
      result.workspace_bytes = convolution_->workspace_bytes(candidate.plan);
    }
    return {};
  }

  Status execute(size_t plan, Stream stream) {
    const TensorPointers& at = tensors_.pointers();
    return convolution_->execute(plan, at[Tensor::kX], at[Tensor::kW], at[Tensor::kY], at[Tensor::kWorkspace], stream);
  }

  Result<Timing> time(size_t plan, const TimerOptions& options) {
    return timer_->time([&](int, Stream stream) { return execute(plan, stream); }, options);
  }

  TrialTensors& tensors_;
  const TrialOptions& options_;
  std::unique_ptr<cudnn::Convolution> convolution_;
  std::unique_ptr<Timer> timer_;
};

}  // namespace

CudnnResult time_cudnn(TrialTensors& tensors, const TrialOptions& options) {
  CudnnResult result;
  result.status = CudnnTrial(tensors, options).run(result);
  return result;
}

}  // namespace wt
