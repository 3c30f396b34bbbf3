// SPDX-License-Identifier: Apache-2.0
#include "dispatch/trial/trial.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/log.h"
#include "compile/user_code.h"
#include "config/signature.h"
#include "launch/binding.h"
#include "problem/traffic.h"

namespace wt {

namespace {

constexpr uint8_t kPoison = 0xff;  // as problem/tensor_data.h has it

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Status execute_and_verify(TrialTensors& tensors, const Plan& plan, const TrialOptions& options, TrialResult& result) {
  Device& device = *tensors.device();
  WT_TRY(tensors.poison_outputs(nullptr));
  WT_TRY(device.synchronize(nullptr));
  const auto start = std::chrono::steady_clock::now();
  WT_TRY(plan.execute(tensors.pointers(), nullptr));
  WT_TRY(device.synchronize(nullptr));
  result.first_seconds = seconds_since(start);
  WT_TRY_ASSIGN(result.verification, verify_outputs(tensors, options));
  result.verified = result.verification.passed();
  return result.verification.status();
}

// Executes again, on poisoned outputs and workspace, and compares with the bits of the first time.
Status execute_again(TrialTensors& tensors, const Plan& plan, const TrialOptions& options, TrialResult& result) {
  if (options.same <= 1) return {};
  Device& device = *tensors.device();
  const ConvProblem& problem = tensors.problem();
  WT_TRY(tensors.fetch_outputs());
  const HostTensors& host = tensors.host();
  // Of the histories one may be read; it stays as it is.
  std::vector<const Buffer*> written = {&output_of(problem, host), &host.amax, &host.bias_gradient, &host.history,
                                        &host.new_history};
  for (int i = problem.epilogue.auxiliaries_read(); i < problem.epilogue.auxiliaries(); ++i)
    written.push_back(&host.aux[static_cast<size_t>(i)]);
  std::vector<Buffer> first;
  for (const Buffer* buffer : written) first.push_back(buffer->copy());
  const auto same = [](const Buffer& a, const Buffer& b) {
    return std::ranges::equal(a.as<std::byte>(), b.as<std::byte>());
  };
  for (int i = 2; i <= options.same; ++i) {
    WT_TRY(tensors.poison_outputs(nullptr));
    WT_TRY(plan.execute(tensors.pointers(), nullptr));
    WT_TRY(device.synchronize(nullptr));
    WT_TRY(tensors.fetch_outputs());
    if (!std::ranges::equal(written, first, [&](const Buffer* now, const Buffer& then) { return same(*now, then); })) {
      result.verified = false;
      return failure(Code::kVerificationFailed, "execution {} of {} gave other bits than the first", i, options.same);
    }
    ++result.same;
  }
  return {};
}

Status judge(TrialTensors& tensors, const Plan& plan, const TrialOptions& options, TrialResult& result) {
  result.plan = plan.description();
  result.workspace_bytes = plan.workspace_bytes();
  WT_TRY(tensors.reserve_workspace(result.workspace_bytes));
  log::info("{}  # {}", result.replay, result.plan.kernel);
  WT_TRY(execute_and_verify(tensors, plan, options, result));
  WT_TRY(execute_again(tensors, plan, options, result));
  if (!options.time || result.device.kind == DeviceKind::kSim) return {};
  WT_TRY_ASSIGN(const std::unique_ptr<Timer> timer, Timer::make(tensors.device()));
  const auto work = [&](int, Stream stream) { return plan.execute(tensors.pointers(), stream); };
  WT_TRY_ASSIGN(result.timing, timer->time(work, options.timer.value_or(timer_options(
                                                     result.device.kind, result.first_seconds, options.repeat))));
  return {};
}

TrialResult describe(const Device& device, const ConvProblem& problem, const TrialOptions& options) {
  TrialResult result;
  result.problem = problem;
  result.device = device.info();
  result.replay = replay_command(problem, result.device.id, options);
  return result;
}

// The host holds the inputs and the output that is verified; on the CPU and in the simulator, the device's copies too.
Status check_memory(const Device& device, const ConvProblem& problem) {
  double bytes = tensor_bytes(problem);
  if (!is_gpu(device.info().kind)) bytes *= 2;
  const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes < 0.9 * memory) return {};
  constexpr double kGiB = 1 << 30;
  return failure(Code::kDevice,
                 "verifying '{}' takes {:.1f} GiB of host memory and this machine has {:.1f} GiB; use a "
                 "smaller batch or image",
                 to_text(problem), bytes / kGiB, memory / kGiB);
}

Status named(const Status& status, const TrialResult& result) {
  return status.with_context(fmt::format("{} on {}", result.plan.kernel, result.device.id));
}

// The plan comes first: a problem that is declined costs no filling of tensors.
Status plan_and_judge(const std::shared_ptr<Device>& device, const TrialOptions& options, TrialResult& result) {
  WT_TRY_ASSIGN(const std::shared_ptr<const Plan> plan, make_plan(device, result.problem, options.plan));
  result.plan = plan->description();
  WT_TRY_ASSIGN(const std::unique_ptr<TrialTensors> tensors,
                TrialTensors::make(device, result.problem, options.exact, options.seed));
  return named(judge(*tensors, *plan, options, result), result);
}

}  // namespace

// On the host where its reference is quick; a GPU does more in less time.
Result<VerifyReport> verify_outputs(TrialTensors& tensors, const TrialOptions& options) {
  const ConvProblem& problem = tensors.problem();
  const ErrorModel model{.exact = options.exact};
  const bool large = problem.flops() / 2 > static_cast<double>(options.verify_work_limit);
  // The device's reference knows no history and no scales, where the host's compares a sample, and no store.
  if (large && !problem.history && !problem.has_scales() && problem.epilogue.store.empty() &&
      is_gpu(tensors.device()->info().kind)) {
    WT_TRY_ASSIGN(
        DeviceReference * right,
        tensors.device_reference({.model = model, .whole_limit = options.verify_whole_limit, .seed = options.seed}));
    WT_TRY_ASSIGN(VerifyReport report, right->compare(tensors.pointers(), model));
    WT_TRY(tensors.fetch_small_outputs());
    report.bias_gradient_fault = bias_gradient_fault(problem, tensors.host(), model);
    return report;
  }
  WT_TRY(tensors.fetch_outputs());
  return verify(problem, tensors.host(),
                {.model = model, .work_limit = options.verify_work_limit, .seed = options.seed});
}

double TrialResult::gigaflops() const {
  return timing && timing->median_us > 0 && bytes == 0 ? problem.flops() / timing->median_us * 1e-3 : 0;
}

double TrialResult::gigabytes() const {
  const double each = static_cast<double>(x_bytes(problem)) + static_cast<double>(w_bytes(problem)) +
                      static_cast<double>(y_bytes(problem));
  return timing && timing->median_us > 0 ? (bytes > 0 ? bytes : each) / timing->median_us * 1e-3 : 0;
}

TrialTensors::TrialTensors(std::shared_ptr<Device> device, const ConvProblem& problem)
    : device_(std::move(device)), problem_(problem) {}

TrialTensors::~TrialTensors() {
  for (void* memory : pointers_.at) {
    if (!memory) continue;
    if (const Status status = device_->free(memory); !status.ok()) log::warn("{}", status.message());
  }
}

Result<std::unique_ptr<TrialTensors>> TrialTensors::make(std::shared_ptr<Device> device, const ConvProblem& problem,
                                                         bool exact, uint64_t seed) {
  WT_TRY(check_memory(*device, problem));
  std::unique_ptr<TrialTensors> tensors(new TrialTensors(std::move(device), problem));
  tensors->host_ = make_tensors(problem, exact ? Fill::kExact : Fill::kRandom, seed);
  const Tensor output = output_tensor(problem.direction);
  const HostTensors& host = tensors->host_;
  WT_TRY(tensors->upload(Tensor::kX, host.x, output == Tensor::kX));
  WT_TRY(tensors->upload(Tensor::kW, host.w, output == Tensor::kW));
  WT_TRY(tensors->upload(Tensor::kY, host.y, output == Tensor::kY));
  WT_TRY(tensors->upload(Tensor::kScale, host.scale, false));
  WT_TRY(tensors->upload(Tensor::kBias, host.bias, false));
  WT_TRY(tensors->upload(Tensor::kResidual, host.residual, false));
  WT_TRY(tensors->upload(Tensor::kAmax, host.amax, true));
  WT_TRY(tensors->upload(Tensor::kBiasGradient, host.bias_gradient, true));
  WT_TRY(tensors->upload(Tensor::kHistory, host.history, problem.writes_history()));
  WT_TRY(tensors->upload(Tensor::kNewHistory, host.new_history, problem.writes_new_history()));
  WT_TRY(tensors->upload(Tensor::kXScales, host.x_scales, false));
  WT_TRY(tensors->upload(Tensor::kWScales, host.w_scales, false));
  for (int i = 0; i < problem.epilogue.auxiliaries(); ++i) {
    WT_TRY(tensors->upload(auxiliary_tensor(i), host.aux[static_cast<size_t>(i)],
                           i >= problem.epilogue.auxiliaries_read()));
  }
  WT_TRY_ASSIGN(tensors->host_.user, compile::user_code_for(epilogue_config_of(problem), problem.output_type()));
  return tensors;
}

Status TrialTensors::upload(Tensor role, const Buffer& content, bool is_output) {
  if (content.empty()) return {};
  WT_TRY_ASSIGN(pointers_[role], device_->allocate(content.size()));
  return is_output ? Status{} : device_->copy_in(pointers_[role], content.data(), content.size());
}

Result<DeviceReference*> TrialTensors::device_reference(const DeviceVerifyOptions& options) {
  if (!reference_) {
    WT_TRY_ASSIGN(reference_, DeviceReference::make(device_, problem_, pointers_, options));
  }
  return reference_.get();
}

Status TrialTensors::reserve_workspace(int64_t bytes) {
  if (bytes <= workspace_bytes_) return {};
  void*& workspace = pointers_[Tensor::kWorkspace];
  if (workspace) WT_TRY(device_->free(workspace));
  workspace = nullptr;
  workspace_bytes_ = 0;
  WT_TRY_ASSIGN(workspace, device_->allocate(static_cast<size_t>(bytes)));
  workspace_bytes_ = bytes;
  return {};
}

std::vector<std::pair<Tensor, Buffer*>> TrialTensors::outputs() {
  std::vector<std::pair<Tensor, Buffer*>> list = {{output_tensor(problem_.direction), &output_of(problem_, host_)},
                                                  {Tensor::kAmax, &host_.amax},
                                                  {Tensor::kBiasGradient, &host_.bias_gradient}};
  if (problem_.writes_new_history()) list.emplace_back(Tensor::kNewHistory, &host_.new_history);
  if (problem_.writes_history()) list.emplace_back(Tensor::kHistory, &host_.history);
  for (int i = problem_.epilogue.auxiliaries_read(); i < problem_.epilogue.auxiliaries(); ++i)
    list.emplace_back(auxiliary_tensor(i), &host_.aux[static_cast<size_t>(i)]);
  return list;
}

Status TrialTensors::poison_outputs(Stream stream) {
  for (const auto& [role, buffer] : outputs()) {
    if (!buffer->empty()) WT_TRY(device_->fill(pointers_[role], kPoison, buffer->size(), stream));
  }
  if (workspace_bytes_ > 0)
    WT_TRY(device_->fill(pointers_[Tensor::kWorkspace], kPoison, static_cast<size_t>(workspace_bytes_), stream));
  return {};
}

Status TrialTensors::fetch_outputs() {
  WT_TRY(fetch(output_tensor(problem_.direction), output_of(problem_, host_)));
  return fetch_small_outputs();
}

Status TrialTensors::fetch_small_outputs() {
  for (const auto& [role, buffer] : outputs()) {
    if (role != output_tensor(problem_.direction)) WT_TRY(fetch(role, *buffer));
  }
  return {};
}

Status TrialTensors::fetch(Tensor role, Buffer& to) {
  return to.empty() ? Status{} : device_->copy_out(to.data(), pointers_[role], to.size());
}

std::string replay_command(const ConvProblem& problem, const std::string& device, const TrialOptions& options) {
  std::string command = fmt::format("wavetile run '{}' --device {}", to_text(problem), device);
  if (options.exact) command += " --exact";
  if (options.seed != TrialOptions{}.seed) command += fmt::format(" --seed {}", options.seed);
  if (options.same > 1) command += fmt::format(" --same {}", options.same);
  const bool is_name = options.plan.kernel.find('{') == std::string::npos;
  if (!options.plan.kernel.empty())
    command += is_name ? " --kernel " + options.plan.kernel : fmt::format(" --kernel '{}'", options.plan.kernel);
  return command + plan_words(options.plan);
}

std::string plan_words(const PlanOptions& options) {
  std::string words;
  if (options.workspace_limit) words += fmt::format(" --workspace-limit {}", *options.workspace_limit);
  if (options.strict_nonfinite) words += " --strict-nonfinite";
  if (options.batch_invariant) words += " --batch-invariant";
  if (!options.deterministic) words += " --nondeterministic";
  if (options.splits > 0) words += fmt::format(" --splits {}", options.splits);
  if (options.tuning == Tuning::kOff) words += " --tuning off";
  if (options.tuning == Tuning::kFirstUse) words += " --tuning first-use";
  return words;
}

TimerOptions timer_options(DeviceKind kind, double seconds_a_run, int repeat) {
  TimerOptions timer;
  if (kind == DeviceKind::kCpu) {
    // The verified run was the warm-up.
    timer.warmup_runs = 0;
    timer.warmup_seconds = 0;
    timer.cold_l2 = false;
    timer.max_runs = static_cast<int>(std::clamp(timer.budget_seconds / std::max(seconds_a_run, 1e-9), 3.0, 200.0));
    timer.min_runs = 3;
  }
  if (repeat > 0) timer.min_runs = timer.max_runs = repeat;
  return timer;
}

TrialResult run_trial(TrialTensors& tensors, const Plan& plan, const TrialOptions& options) {
  TrialResult result = describe(*tensors.device(), tensors.problem(), options);
  result.status = named(judge(tensors, plan, options, result), result);
  return result;
}

TrialResult run_trial(const std::shared_ptr<Device>& device, const ConvProblem& problem, const TrialOptions& options) {
  TrialResult result = describe(*device, problem, options);
  result.status = plan_and_judge(device, options, result);
  return result;
}

}  // namespace wt
