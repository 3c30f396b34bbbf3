// SPDX-License-Identifier: Apache-2.0
// wavetile/plan.hpp - what a device will run for a problem, and why.
#pragma once

#include <wavetile/device.hpp>
#include <wavetile/problem.hpp>
#include <wavetile/tensors.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace wavetile {

struct PlanOptions {
  bool deterministic = true;
  bool strict_nonfinite = false;
  Tuning tuning = Tuning::kCached;
  std::optional<int64_t> workspace_limit = std::nullopt;  // bytes
  std::string kernel = {};                                // by name; empty: choose
  double tuning_seconds = 10;                             // limit of tuning on first use
  wavetile_stream stream = nullptr;                       // where the plan will run; see wavetile_plan_options
  bool fallback = false;                                  // take the next kernel where one cannot be had
};

namespace detail {

// The kernel's name stays with `options`, which must outlive the result.
inline wavetile_plan_options to_c(const PlanOptions& options) {
  wavetile_plan_options result;
  wavetile_plan_options_init(&result);
  result.deterministic = options.deterministic;
  result.strict_nonfinite = options.strict_nonfinite;
  result.tuning = static_cast<int32_t>(options.tuning);
  result.workspace_limit = options.workspace_limit.value_or(-1);
  result.kernel = options.kernel.empty() ? nullptr : options.kernel.c_str();
  result.tuning_seconds = options.tuning_seconds;
  result.stream = options.stream;
  result.fallback = options.fallback;
  return result;
}

}  // namespace detail

// A chosen, compiled and bound kernel. Never changes; copies share it, and many threads may execute it at once.
class Plan {
 public:
  static Result<Plan> create(const Device& device, const Problem& problem, const PlanOptions& options = {}) {
    const wavetile_plan_options c_options = detail::to_c(options);
    wavetile_plan* handle = nullptr;
    if (Status status = Status::of(wavetile_plan_create(device.get(), problem.get(), &c_options, &handle)); !status) {
      return status;
    }
    return Plan(handle);
  }

  size_t workspace_bytes() const { return static_cast<size_t>(wavetile_plan_workspace_bytes(get())); }

  Status execute(const Tensors& tensors, void* workspace = nullptr, size_t workspace_bytes = 0,
                 Stream stream = nullptr) const {
    const wavetile_tensors c_tensors = detail::to_c(tensors);
    return Status::of(wavetile_plan_execute(get(), stream, &c_tensors, workspace, workspace_bytes));
  }
  Status execute(const Tensors& tensors, const Buffer& workspace, Stream stream = nullptr) const {
    return execute(tensors, workspace.data(), workspace.size(), stream);
  }

  PlanInfo info() const {
    auto info = detail::sized<PlanInfo>();
    wavetile_plan_get_info(get(), &info);
    return info;
  }
  std::string json() const { return wavetile_plan_json(get()); }

  // Fills tensors, executes once and compares with the reference.
  Result<VerifyReport> verify(uint64_t data_seed = 1, const VerifyOptions& options = {}) const {
    const wavetile_verify_options c_options = detail::to_c(options);
    auto report = detail::sized<VerifyReport>();
    if (Status status = Status::of(wavetile_plan_verify(get(), data_seed, &c_options, &report)); !status) return status;
    return report;
  }

  const wavetile_plan* get() const { return handle_.get(); }

 private:
  explicit Plan(wavetile_plan* handle) : handle_(handle, wavetile_plan_destroy) {}
  std::shared_ptr<wavetile_plan> handle_;
};

// The gradient of a bias alone: sums over images and pixels of one tensor of a problem, fp32, one a channel.
class BiasGradient {
 public:
  // Of dy (Role::kY), or of x (Role::kTransposedOutput).
  static Result<BiasGradient> create(const Device& device, const Problem& problem, Role role = Role::kY) {
    wavetile_bias_gradient* handle = nullptr;
    if (Status status = Status::of(
            wavetile_bias_gradient_create(device.get(), problem.get(), static_cast<wavetile_role>(role), &handle));
        !status) {
      return status;
    }
    return BiasGradient(handle);
  }

  size_t workspace_bytes() const { return static_cast<size_t>(wavetile_bias_gradient_workspace_bytes(handle_.get())); }
  Status execute(const void* tensor, float* out, void* workspace = nullptr, size_t workspace_bytes = 0,
                 Stream stream = nullptr) const {
    return Status::of(wavetile_bias_gradient_execute(handle_.get(), stream, tensor, out, workspace, workspace_bytes));
  }

 private:
  explicit BiasGradient(wavetile_bias_gradient* handle) : handle_(handle, wavetile_bias_gradient_destroy) {}
  std::shared_ptr<wavetile_bias_gradient> handle_;
};

// Which kernels could run the problem, and why the others cannot.
inline Result<std::string> explain(const Device& device, const Problem& problem, const PlanOptions& options = {},
                                   wavetile_format format = WAVETILE_FORMAT_TEXT) {
  const wavetile_plan_options c_options = detail::to_c(options);
  char* report = nullptr;
  if (Status status = Status::of(wavetile_explain(device.get(), problem.get(), &c_options, format, &report)); !status) {
    return status;
  }
  return detail::take(report);
}

}  // namespace wavetile
