// SPDX-License-Identifier: Apache-2.0
// api/verification.cc - filling tensors and comparing results with the reference, for callers of the C API.
#include "api/guard.h"
#include "api/handles.h"
#include "compile/user_code.h"
#include "config/signature.h"
#include "dispatch/trial/gpu_verify.h"
#include "dispatch/trial/trial.h"
#include "problem/tensor_data.h"
#include "problem/verify.h"

using namespace wt;
using namespace wt::api;

namespace {

constexpr size_t kOptionsFirstSize = offsetof(wavetile_verify_options, seed) + sizeof(uint64_t);
constexpr size_t kReportFirstSize = offsetof(wavetile_verify_report, bound) + sizeof(double);

wavetile_verify_options default_options() {
  wavetile_verify_options options{};
  options.struct_size = sizeof options;
  options.splits = 1;
  options.seed = 1;
  return options;
}

Status read_verify_options(const wavetile_verify_options* caller, VerifyOptions& out) {
  wavetile_verify_options options = default_options();
  if (caller) WT_TRY(read_struct(*caller, "wavetile_verify_options", kOptionsFirstSize, options));
  if (options.splits < 1) return bad_input("splits={} is no count; use 1 or more", options.splits);
  out.model.exact = options.exact != 0;
  out.model.splits = options.splits;
  out.seed = options.seed;
  if (options.exhaustive != 0) out.work_limit = INT64_MAX;
  return {};
}

Buffer& buffer_of(HostTensors& tensors, int role) {
  switch (role) {
    case WAVETILE_ROLE_X:
      return tensors.x;
    case WAVETILE_ROLE_W:
      return tensors.w;
    case WAVETILE_ROLE_Y:
      return tensors.y;
    case WAVETILE_ROLE_SCALE:
      return tensors.scale;
    case WAVETILE_ROLE_BIAS:
      return tensors.bias;
    case WAVETILE_ROLE_RESIDUAL:
      return tensors.residual;
    case WAVETILE_ROLE_BIAS_GRADIENT:
      return tensors.bias_gradient;
    case WAVETILE_ROLE_HISTORY:
      return tensors.history;
    case WAVETILE_ROLE_NEW_HISTORY:
      return tensors.new_history;
    case WAVETILE_ROLE_AUX0:
    case WAVETILE_ROLE_AUX1:
    case WAVETILE_ROLE_AUX2:
    case WAVETILE_ROLE_AUX3:
      return tensors.aux[static_cast<size_t>(role - WAVETILE_ROLE_AUX0)];
    case WAVETILE_ROLE_X_SCALES:
      return tensors.x_scales;
    case WAVETILE_ROLE_W_SCALES:
      return tensors.w_scales;
    default:
      return tensors.amax;
  }
}

Status write_report(const VerifyReport& report, wavetile_verify_report* out) {
  if (!out) return {};
  wavetile_verify_report value{};
  value.elements = report.elements;
  value.compared = report.compared;
  value.wrong = report.wrong;
  value.unwritten = report.unwritten;
  value.nan = report.nan;
  value.amax_wrong = report.amax_fault.empty() ? 0 : 1;
  value.worst = report.worst;
  value.rounded_otherwise = report.rounded_otherwise;
  value.index = -1;
  if (!report.first.empty()) {
    value.index = report.first.front().index;
    value.expected = report.first.front().expected;
    value.got = report.first.front().got;
    value.bound = report.first.front().bound;
  }
  value.bias_gradient_wrong = report.bias_gradient_fault.empty() ? 0 : 1;
  value.new_history_wrong = report.new_history_fault.empty() ? 0 : 1;
  value.store_wrong = report.store_fault.empty() ? 0 : 1;
  value.history_gradient_wrong = report.history_gradient_fault.empty() ? 0 : 1;
  return write_struct(value, "wavetile_verify_report", kReportFirstSize, out);
}

// A report of wrong size is refused before the work, not after it.
Status check_report(const wavetile_verify_report* report) {
  if (!report) return {};
  wavetile_verify_report probe = *report;
  return write_struct(wavetile_verify_report{}, "wavetile_verify_report", kReportFirstSize, &probe);
}

Status verify_and_report(const ConvProblem& problem, const HostTensors& tensors, const VerifyOptions& options,
                         wavetile_verify_report* out) {
  const VerifyReport report = verify(problem, tensors, options);
  WT_TRY(write_report(report, out));
  return report.status();
}

// The tensors of a problem as copies on the host; copy(to, from, bytes) brings each.
template <class Copy>
Result<HostTensors> copies_of(const ConvProblem& problem, const wavetile_tensors& given, const Copy& copy) {
  HostTensors tensors;
  for (int i = 0; i < kRoleCount; ++i) {
    const auto role = static_cast<wavetile_role>(i);
    const TensorShape tensor = tensor_shape(problem, role);
    if (tensor.use == WAVETILE_UNUSED || tensor.elements == 0) continue;
    const void* source = pointer_of(given, role);
    if (!source)
      return bad_input("tensor {} is NULL; the check needs its {} bytes", role_name(problem, role), tensor.bytes());
    Buffer& buffer = buffer_of(tensors, i);
    buffer = Buffer(static_cast<size_t>(tensor.bytes()));
    WT_TRY(copy(buffer.data(), source, buffer.size()));
  }
  WT_TRY_ASSIGN(tensors.user, compile::user_code_for(epilogue_config_of(problem), problem.output_type()));
  return tensors;
}

// What the device's reference has no code for; the host's has.
bool needs_host(const Device& device, const ConvProblem& problem) {
  return device.info().kind == DeviceKind::kCpu || problem.history || problem.new_history || problem.has_scales() ||
         problem.bias_gradient != BiasGradient::kNone || !problem.epilogue.store.empty();
}

Result<VerifyReport> verify_where_it_lies(const std::shared_ptr<Device>& device, const ConvProblem& problem,
                                          const wavetile_tensors& given, const VerifyOptions& options) {
  TensorPointers pointers;
  for (int i = 0; i < kRoleCount; ++i) {
    const auto role = static_cast<wavetile_role>(i);
    const TensorShape tensor = tensor_shape(problem, role);
    if (tensor.use == WAVETILE_UNUSED) continue;
    pointers[tensor_of(i)] = const_cast<void*>(pointer_of(given, role));
    if (!pointers[tensor_of(i)] && tensor.elements > 0)
      return bad_input("tensor {} is NULL; the check needs its {} bytes", role_name(problem, role), tensor.bytes());
  }
  DeviceVerifyOptions device_options{.model = options.model, .seed = options.seed};
  if (options.work_limit == INT64_MAX) device_options.work_limit = device_options.whole_limit = INT64_MAX;
  WT_TRY_ASSIGN(const std::unique_ptr<DeviceReference> reference,
                DeviceReference::make(device, problem, pointers, device_options));
  return reference->compare(pointers, options.model);
}

}  // namespace

extern "C" {

void wavetile_verify_options_init(wavetile_verify_options* options) {
  if (options) *options = default_options();
}

wavetile_status wavetile_fill_tensors(const wavetile_problem* problem, wavetile_fill fill, uint64_t seed,
                                      const wavetile_tensors* host) {
  WT_API_REQUIRE(problem);
  WT_API_REQUIRE(host);
  return guard([&]() -> Status {
    wavetile_tensors given;
    WT_TRY(read_tensors(host, given));
    Fill kind = Fill::kRandom;
    switch (fill) {
      case WAVETILE_FILL_RANDOM:
        break;
      case WAVETILE_FILL_EXACT:
        kind = Fill::kExact;
        break;
      case WAVETILE_FILL_ZERO:
        kind = Fill::kZero;
        break;
      default:
        return bad_input("fill={} is no choice; use 0 (random), 1 (exact) or 2 (zero)", static_cast<int>(fill));
    }
    HostTensors made = make_tensors(problem->value, kind, seed);
    for (int role = 0; role < kRoleCount; ++role) {
      const Buffer& buffer = buffer_of(made, role);
      void* target = const_cast<void*>(pointer_of(given, static_cast<wavetile_role>(role)));
      if (target && !buffer.empty() && (given.read_only >> role & 1))
        return bad_input("tensor {} is read-only memory and is to be filled",
                         role_name(problem->value, static_cast<wavetile_role>(role)));
      if (target && !buffer.empty()) std::memcpy(target, buffer.data(), buffer.size());
    }
    return {};
  });
}

wavetile_status wavetile_verify(const wavetile_problem* problem, const wavetile_tensors* host,
                                const wavetile_verify_options* options, wavetile_verify_report* report) {
  WT_API_REQUIRE(problem);
  WT_API_REQUIRE(host);
  return guard([&]() -> Status {
    wavetile_tensors given;
    WT_TRY(read_tensors(host, given));
    VerifyOptions verify_options;
    WT_TRY(read_verify_options(options, verify_options));
    WT_TRY(check_report(report));
    WT_TRY_ASSIGN(const HostTensors tensors,
                  copies_of(problem->value, given, [](void* to, const void* from, size_t bytes) -> Status {
                    std::memcpy(to, from, bytes);
                    return {};
                  }));
    return verify_and_report(problem->value, tensors, verify_options, report);
  });
}

wavetile_status wavetile_verify_on_device(wavetile_device* device, const wavetile_problem* problem,
                                          const wavetile_tensors* tensors, const wavetile_verify_options* options,
                                          wavetile_verify_report* report) {
  WT_API_REQUIRE(device);
  WT_API_REQUIRE(problem);
  WT_API_REQUIRE(tensors);
  return guard([&]() -> Status {
    wavetile_tensors given;
    WT_TRY(read_tensors(tensors, given));
    VerifyOptions verify_options;
    WT_TRY(read_verify_options(options, verify_options));
    WT_TRY(check_report(report));
    Device& on = *device->device;
    if (needs_host(on, problem->value)) {
      WT_TRY_ASSIGN(const HostTensors host,
                    copies_of(problem->value, given,
                              [&](void* to, const void* from, size_t bytes) { return on.copy_out(to, from, bytes); }));
      return verify_and_report(problem->value, host, verify_options, report);
    }
    WT_TRY_ASSIGN(const VerifyReport found,
                  verify_where_it_lies(device->device, problem->value, given, verify_options));
    WT_TRY(write_report(found, report));
    return found.status();
  });
}

wavetile_status wavetile_plan_verify(const wavetile_plan* plan, uint64_t data_seed,
                                     const wavetile_verify_options* options, wavetile_verify_report* report) {
  WT_API_REQUIRE(plan);
  return guard_making([&]() -> Status {
    VerifyOptions verify_options;
    WT_TRY(read_verify_options(options, verify_options));
    WT_TRY(check_report(report));
    const Plan& run = *plan->record->plan;
    WT_TRY_ASSIGN(const std::unique_ptr<TrialTensors> tensors,
                  TrialTensors::make(plan->record->device, run.problem(), verify_options.model.exact, data_seed));
    WT_TRY(tensors->reserve_workspace(run.workspace_bytes()));
    WT_TRY(tensors->poison_outputs(nullptr));
    WT_TRY(run.execute(tensors->pointers(), nullptr));
    WT_TRY(plan->record->device->synchronize(nullptr));
    WT_TRY(tensors->fetch_outputs());
    return verify_and_report(run.problem(), tensors->host(), verify_options, report);
  });
}

}  // extern "C"
