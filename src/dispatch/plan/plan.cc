// SPDX-License-Identifier: Apache-2.0
#include "dispatch/plan/plan.h"

#include "base/check.h"
#include "base/log.h"
#include "dispatch/choice/kernel_decision.h"
#include "dispatch/plan/bias_gradient.h"
#include "dispatch/plan/cpu.h"
#include "dispatch/plan/first_rows.h"
#include "dispatch/plan/history.h"
#include "dispatch/plan/images.h"
#include "dispatch/plan/kernel.h"
#include "dispatch/plan/transposed.h"
#include "dispatch/tuning/first_use.h"
#include "problem/tensor_data.h"

namespace wt {
namespace {

using PlanResult = Result<std::shared_ptr<const Plan>>;

// A plan compiles its kernel anyway.
constexpr tuning::CodeCheck kCheck = tuning::CodeCheck::kCompile;

// Where nothing is tuned for it, the kernels are measured now, and the best takes its place.
Status tune_on_first_use(const std::shared_ptr<Device>& device, Decision& kernel) {
  WT_TRY_ASSIGN(const tuning::Tuned tuned, tuning::tune_now(device, kernel.problem, kernel.options));
  if (tuned.config) {
    kernel = tuned_kernel(kernel.problem, kernel.options, tuned);
  } else if (!tuned.note.empty()) {
    kernel.reason += "; " + tuned.note;
  }
  return {};
}

PlanResult build_kernel(const std::shared_ptr<Device>& device, Decision kernel) {
  const bool named = !kernel.options.kernel.empty();
  if (!named && kernel.options.tuning == Tuning::kFirstUse && (kernel.measured_us == 0 || kernel.borrowed))
    WT_TRY(tune_on_first_use(device, kernel));
  std::vector<KernelConfig> failed;
  std::string note;
  for (;;) {
    PlanResult plan = make_kernel_plan(device, kernel.problem, *kernel.config, kernel.reason,
                                       {.predicted_us = kernel.predicted_us, .measured_us = kernel.measured_us},
                                       kernel.options.splits, kernel.view.get(), kernel.options.kernels.get());
    if (plan.ok() || named || !kernel.options.fallback) return plan;
    log::warn("{} cannot be used, the next candidate is taken as asked: {}", kernel.kernel, plan.status().message());
    note += fmt::format("; {} could not be used: {}", kernel.kernel, plan.status().message().substr(0, 200));
    failed.push_back(*kernel.config);
    WT_TRY_ASSIGN(KernelDecision next,
                  decide_kernel(device->info(), kernel.problem, kernel.options, kCheck, failed, note));
    if (!next.found) return next.nothing;
    kernel = std::move(*next.found);
  }
}

PlanResult build(const std::shared_ptr<Device>& device, const Decision& decision) {
  using Kind = Decision::Kind;
  if (decision.kind == Kind::kKernel) return build_kernel(device, decision);
  if (decision.kind == Kind::kCpu) return make_cpu_plan(device, decision.cpu);
  WT_TRY_ASSIGN(std::shared_ptr<const Plan> inner, build(device, *decision.inner));
  switch (decision.kind) {
    case Kind::kTransposed:
      return make_transposed_plan(device, decision.problem, std::move(inner), decision.reason);
    case Kind::kRanges: {
      std::shared_ptr<const Plan> rest;
      if (decision.rest) {
        WT_TRY_ASSIGN(rest, build(device, *decision.rest));
      }
      return make_images_plan(decision.problem, std::move(inner), std::move(rest), decision.reason);
    }
    case Kind::kFirstRows: {
      WT_TRY_ASSIGN(std::shared_ptr<const Plan> first, build(device, *decision.rest));
      return make_first_rows_plan(device, decision.problem, std::move(inner), std::move(first), decision.join_in,
                                  decision.reason);
    }
    case Kind::kJoined:
    case Kind::kNextHistory:
      return make_history_plan(device, decision.problem, std::move(inner), decision.join_in, decision.reason);
    default:
      break;
  }
  WT_CHECK(decision.kind == Kind::kBiasGradient, "a decision of kind {}", name_of(decision.kind));
  return make_bias_gradient_plan(device, decision.problem, decision.options, std::move(inner), decision.reason);
}

// Tensors that the device cannot hold at once: said now, with the sizes, and not by an allocation later.
Status check_device_memory(const DeviceInfo& device, const ConvProblem& problem) {
  if (!is_gpu(device.kind) || device.memory_bytes <= 0) return {};
  const double bytes = static_cast<double>(x_bytes(problem)) + static_cast<double>(w_bytes(problem)) +
                       static_cast<double>(y_bytes(problem));
  if (bytes <= static_cast<double>(device.memory_bytes)) return {};
  constexpr double kGiB = 1 << 30;
  return failure(
      Code::kDevice,
      "'{}' has x of {:.2f} GiB, w of {:.2f} GiB and y of {:.2f} GiB, and {} has {:.2f} GiB of memory; use a "
      "smaller batch or image, or a smaller type",
      to_text(problem), static_cast<double>(x_bytes(problem)) / kGiB, static_cast<double>(w_bytes(problem)) / kGiB,
      static_cast<double>(y_bytes(problem)) / kGiB, device.id, static_cast<double>(device.memory_bytes) / kGiB);
}

}  // namespace

PlanResult make_plan(const std::shared_ptr<Device>& device, const ConvProblem& problem, const PlanOptions& options) {
  WT_TRY(check_device_memory(device->info(), problem));
  WT_TRY_ASSIGN(const Decision decision, decide(device->info(), problem, options, kCheck));
  return build(device, decision);
}

}  // namespace wt
