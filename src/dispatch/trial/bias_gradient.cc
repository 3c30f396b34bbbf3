// SPDX-License-Identifier: Apache-2.0
#include "dispatch/trial/bias_gradient.h"

#include <algorithm>
#include <chrono>

#include "dispatch/plan/bias_gradient.h"

namespace wt {
namespace {

class BiasGradientTrial {
 public:
  BiasGradientTrial(const std::shared_ptr<Device>& device, const TrialOptions& options, TrialResult& result)
      : device_(device), options_(options), result_(result) {}

  Status run() {
    const ConvProblem& problem = result_.problem;
    const ChannelTensor tensor = bias_gradient_tensor(problem, problem.bias_gradient);
    WT_TRY_ASSIGN(summer_, make_channel_summer(device_, tensor));
    result_.plan = summer_->description();
    result_.workspace_bytes = summer_->workspace_bytes();
    result_.bytes = static_cast<double>(tensor.elements() * size_of(tensor.type));
    WT_TRY_ASSIGN(tensors_, TrialTensors::make(device_, problem, options_.exact, options_.seed));
    WT_TRY(tensors_->reserve_workspace(result_.workspace_bytes));
    const auto start = std::chrono::steady_clock::now();
    WT_TRY(execute_once());
    result_.first_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    WT_TRY(verify());
    WT_TRY(execute_again());
    if (!options_.time || result_.device.kind == DeviceKind::kSim) return {};
    WT_TRY_ASSIGN(const std::unique_ptr<Timer> timer, Timer::make(device_));
    WT_TRY_ASSIGN(result_.timing, timer->time([&](int, Stream stream) { return execute(stream); },
                                              options_.timer.value_or(timer_options(
                                                  result_.device.kind, result_.first_seconds, options_.repeat))));
    return {};
  }

 private:
  Status execute(Stream stream) {
    const TensorPointers& pointers = tensors_->pointers();
    const Tensor in = result_.problem.bias_gradient == BiasGradient::kOfX ? Tensor::kX : Tensor::kY;
    return summer_->execute(pointers[in], static_cast<float*>(pointers[Tensor::kBiasGradient]),
                            pointers[Tensor::kWorkspace], stream);
  }
  Status execute_once() {
    WT_TRY(tensors_->poison_outputs(nullptr));
    WT_TRY(execute(nullptr));
    WT_TRY(device_->synchronize(nullptr));
    return tensors_->fetch_small_outputs();
  }

  Status verify() {
    VerifyReport& report = result_.verification;
    report.elements = report.compared = result_.problem.bias_gradient_channels();
    report.bias_gradient_fault = bias_gradient_fault(result_.problem, tensors_->host(), {.exact = options_.exact});
    result_.verified = report.passed();
    return report.status();
  }

  Status execute_again() {
    const Buffer first = tensors_->host().bias_gradient.copy();
    for (int i = 2; i <= options_.same; ++i) {
      WT_TRY(execute_once());
      if (!std::ranges::equal(first.as<std::byte>(), tensors_->host().bias_gradient.as<std::byte>())) {
        result_.verified = false;
        return failure(Code::kVerificationFailed, "execution {} of {} gave other bits than the first", i,
                       options_.same);
      }
      ++result_.same;
    }
    return {};
  }

  const std::shared_ptr<Device>& device_;
  const TrialOptions& options_;
  TrialResult& result_;
  std::shared_ptr<const ChannelSummer> summer_;
  std::unique_ptr<TrialTensors> tensors_;
};

}  // namespace

TrialResult run_bias_gradient_trial(const std::shared_ptr<Device>& device, const ConvProblem& problem,
                                    const TrialOptions& options) {
  TrialResult result;
  result.problem = problem;
  result.device = device->info();
  result.replay = replay_command(problem, result.device.id, options) + " --bias-gradient";
  if (problem.direction != Direction::kBackwardWeight) {
    result.status = bad_input("a bias gradient alone sums the dy of bwd_weight; '{}' is {}", to_text(problem),
                              name_of(problem.direction));
    return result;
  }
  if (problem.bias_gradient == BiasGradient::kNone) result.problem.bias_gradient = BiasGradient::kOfY;
  result.status = BiasGradientTrial(device, options, result).run();
  return result;
}

}  // namespace wt
