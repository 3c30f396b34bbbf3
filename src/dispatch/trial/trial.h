// SPDX-License-Identifier: Apache-2.0
// dispatch/trial/trial.h - one trial of a problem on a device: computed, verified, then timed.
//
//   TrialTensors (inputs filled, output poisoned) --plan.h--> execute --verify.h--> verdict --timer.h--> time
//
// The command line, tuning and search all judge kernels through this file, so nothing unverified is ever timed.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dispatch/plan/plan.h"
#include "dispatch/trial/gpu_verify.h"
#include "problem/tensor_data.h"
#include "problem/verify.h"
#include "runtime/device.h"
#include "runtime/timer.h"

namespace wt {

struct TrialOptions {
  PlanOptions plan;
  bool exact = false;  // small integers, compared exactly
  uint64_t seed = 1;   // of the data and of the verified sample
  // On the host; a GPU verifies larger problems itself (gpu_verify.h), with its own limit.
  int64_t verify_work_limit = VerifyOptions{}.work_limit;          // multiply-adds; beyond it a sample is compared
  int64_t verify_whole_limit = DeviceVerifyOptions{}.whole_limit;  // elements that a GPU compares one by one
  int same = 1;                                                    // executions that must give the same bits
  bool time = true;                                                // a simulator is never timed
  int repeat = 0;                     // timed executions; 0: as many as make the median steady
  std::optional<TimerOptions> timer;  // absent: timer_options(device, ...)
};

struct TrialResult {
  ConvProblem problem;
  DeviceInfo device;
  PlanDescription plan;
  int64_t workspace_bytes = 0;
  VerifyReport verification;
  bool verified = false;     // executed, compared and found right
  int same = 0;              // further executions that gave the same bits
  double first_seconds = 0;  // wall time of the verified execution
  double bytes = 0;          // that an execution must move, where that is not each tensor once
  std::optional<Timing> timing;
  std::string replay;  // the command that repeats this trial
  Status status;       // the first failure, the verification's included

  double gigaflops() const;  // of the median time; 0 where untimed, or where the flops are not the problem's
  double gigabytes() const;  // a second: each tensor counted once
};

// A problem's tensors on the host and on a device; several plans of the problem may run on them in turn.
class TrialTensors {
 public:
  static Result<std::unique_ptr<TrialTensors>> make(std::shared_ptr<Device> device, const ConvProblem& problem,
                                                    bool exact, uint64_t seed);
  ~TrialTensors();
  TrialTensors(const TrialTensors&) = delete;
  TrialTensors& operator=(const TrialTensors&) = delete;

  const std::shared_ptr<Device>& device() const { return device_; }
  const ConvProblem& problem() const { return problem_; }
  const HostTensors& host() const { return host_; }
  const TensorPointers& pointers() const { return pointers_; }

  // The right output, computed on the device when first asked for.
  Result<DeviceReference*> device_reference(const DeviceVerifyOptions& options);

  Status reserve_workspace(int64_t bytes);  // grows only
  Status poison_outputs(Stream stream);     // on the device
  Status fetch_outputs();                   // into host()
  Status fetch_small_outputs();             // of them, all but the direction's output

 private:
  TrialTensors(std::shared_ptr<Device> device, const ConvProblem& problem);
  Status upload(Tensor role, const Buffer& content, bool is_output);
  Status fetch(Tensor role, Buffer& to);
  std::vector<std::pair<Tensor, Buffer*>> outputs();

  std::shared_ptr<Device> device_;
  ConvProblem problem_;
  HostTensors host_;
  TensorPointers pointers_;
  int64_t workspace_bytes_ = 0;
  std::unique_ptr<DeviceReference> reference_;
};

// Everything, from tensors to time. The failure of any step is in the result's status.
TrialResult run_trial(const std::shared_ptr<Device>& device, const ConvProblem& problem, const TrialOptions& options);

// The same for a plan and tensors that are already there (options.exact and options.seed must be the tensors' own).
TrialResult run_trial(TrialTensors& tensors, const Plan& plan, const TrialOptions& options);

// Compares what lies in the tensors' output with the reference; the model of errors follows from the options.
Result<VerifyReport> verify_outputs(TrialTensors& tensors, const TrialOptions& options);

// How a device is timed: a GPU with a cold cache, as the timer has it; the CPU warm, and seldom where a run is slow.
TimerOptions timer_options(DeviceKind kind, double seconds_a_run, int repeat);

// "wavetile run 'fwd bf16 ...' --device gpu:0 --seed 7"
std::string replay_command(const ConvProblem& problem, const std::string& device, const TrialOptions& options);

// The options of a plan that are not the default, as the command line spells them, each after a space.
std::string plan_words(const PlanOptions& options);

}  // namespace wt
