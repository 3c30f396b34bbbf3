// SPDX-License-Identifier: Apache-2.0
// wavetile/plan.hpp - what a device will run for a problem, and why.
#pragma once

#include <wavetile/device.hpp>
#include <wavetile/problem.hpp>
#include <wavetile/registry.hpp>
#include <wavetile/tensors.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace wavetile {

// A kernel that accepts a problem, as a selection function sees it. The strings live as long as the call.
using Candidate = wavetile_candidate;

struct PlanOptions {
  bool deterministic = true;
  bool strict_nonfinite = false;
  Tuning tuning = Tuning::kCached;
  std::optional<int64_t> workspace_limit = std::nullopt;  // bytes
  std::string kernel = {};                                // by name; empty: choose
  double tuning_seconds = 10;                             // limit of tuning on first use
  StreamRef stream = {};                                  // where the plan will run; see wavetile_plan_options
  bool fallback = false;                                  // take the next kernel where one cannot be had
  int splits = 0;                                         // parts of divided sums; 0: as predicted; -1: by occupancy
  std::string config = {};                                // run the kernel of this JSON; empty: see kernel
  std::optional<Registry> registry = std::nullopt;        // kernels to choose from beside the library's
  // Chooses among candidates that come in the order of preference: an index, or -1 for the usual choice. Must not
  // throw.
  std::function<int64_t(const std::string& problem, const std::vector<const Candidate*>& candidates)> select = {};
  bool batch_invariant = false;  // an image's result has the same bits whatever else is in the batch
};

namespace detail {

inline int64_t select(void* user, const char* problem, const wavetile_candidate* const* candidates, size_t count) {
  return static_cast<const PlanOptions*>(user)->select(problem, {candidates, candidates + count});
}

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
  result.stream = options.stream.get();
  result.fallback = options.fallback;
  result.splits = options.splits;
  result.batch_invariant = options.batch_invariant;
  result.config = options.config.empty() ? nullptr : options.config.c_str();
  result.registry = options.registry ? options.registry->get() : nullptr;
  if (options.select) {
    result.select = select;
    result.select_user = const_cast<PlanOptions*>(&options);
  }
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

  // On a thread of the library; see wavetile_plan_create_async.
  static std::future<Result<Plan>> create_async(const Device& device, const Problem& problem,
                                                const PlanOptions& options = {}) {
    return std::async(std::launch::async, [device, problem, options] { return create(device, problem, options); });
  }
  // What a plan chose, from bytes of save().
  static Result<Plan> load(const Device& device, const std::string& bytes) {
    wavetile_plan* handle = nullptr;
    if (Status status = Status::of(wavetile_plan_load(device.get(), bytes.data(), bytes.size(), &handle)); !status) {
      return status;
    }
    return Plan(handle);
  }
  Result<std::string> save() const {
    char* bytes = nullptr;
    size_t size = 0;
    if (Status status = Status::of(wavetile_plan_save(get(), &bytes, &size)); !status) return status;
    return detail::take(bytes);
  }

  size_t workspace_bytes() const { return static_cast<size_t>(wavetile_plan_workspace_bytes(get())); }

  // Without a workspace: of a plan that needs none.
  Status execute(const Tensors& tensors, StreamRef stream = {}) const { return execute(tensors, nullptr, 0, stream); }
  Status execute(const Tensors& tensors, const Buffer& workspace, StreamRef stream = {}) const {
    return execute(tensors, workspace.data(), workspace.size(), stream);
  }
  Status execute(const Tensors& tensors, void* workspace, size_t workspace_bytes, StreamRef stream = {}) const {
    const wavetile_tensors c_tensors = detail::to_c(tensors);
    return Status::of(wavetile_plan_execute(get(), stream.get(), &c_tensors, workspace, workspace_bytes));
  }

  // How long one execute takes; runs of 0: as many as make it steady.
  Result<Timing> time(const Tensors& tensors, void* workspace = nullptr, size_t workspace_bytes = 0,
                      int runs = 0) const {
    const wavetile_tensors c_tensors = detail::to_c(tensors);
    auto timing = detail::sized<Timing>();
    if (Status status = Status::of(wavetile_plan_time(get(), &c_tensors, workspace, workspace_bytes, runs, &timing));
        !status) {
      return status;
    }
    return timing;
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

// The gradient of a bias alone: sums over images and pixels of one tensor of a problem, fp32, one per channel.
class BiasGradient {
 public:
  // Sums dy (Role::kY), or x (Role::kTransposedOutput).
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
                 StreamRef stream = {}) const {
    return Status::of(
        wavetile_bias_gradient_execute(handle_.get(), stream.get(), tensor, out, workspace, workspace_bytes));
  }

 private:
  explicit BiasGradient(wavetile_bias_gradient* handle) : handle_(handle, wavetile_bias_gradient_destroy) {}
  std::shared_ptr<wavetile_bias_gradient> handle_;
};

// Whether the one kernel that options.kernel or options.config names can run the problem, and why not.
struct Support {
  bool supported = false;
  std::string reason;
};
inline Result<Support> supported(const Device& device, const Problem& problem, const PlanOptions& options) {
  const wavetile_plan_options c_options = detail::to_c(options);
  int32_t answer = 0;
  char* reason = nullptr;
  if (Status status = Status::of(wavetile_kernel_supported(device.get(), problem.get(), &c_options, &answer, &reason));
      !status) {
    return status;
  }
  return Support{answer == 1, detail::take(reason)};
}

// Which kernels could run the problem, and why the others cannot; at most `kernels` of either, where it is given.
inline Result<std::string> explain(const Device& device, const Problem& problem, const PlanOptions& options = {},
                                   Format format = Format::kText, std::optional<int> kernels = std::nullopt) {
  const wavetile_plan_options c_options = detail::to_c(options);
  const auto c_format = static_cast<wavetile_format>(format);
  char* report = nullptr;
  const wavetile_status code =
      kernels ? wavetile_explain_kernels(device.get(), problem.get(), &c_options, c_format, *kernels, &report)
              : wavetile_explain(device.get(), problem.get(), &c_options, c_format, &report);
  if (Status status = Status::of(code); !status) return status;
  return detail::take(report);
}

// The tuning database as JSON, to carry it to another machine, and what came from one: how many rows were taken.
inline Result<std::string> export_tuning() {
  char* json = nullptr;
  if (Status status = Status::of(wavetile_tuning_export(&json)); !status) return status;
  return detail::take(json);
}
inline Result<int64_t> import_tuning(const std::string& json) {
  int64_t taken = 0;
  if (Status status = Status::of(wavetile_tuning_import(json.c_str(), &taken)); !status) return status;
  return taken;
}

}  // namespace wavetile
