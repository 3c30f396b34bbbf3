// SPDX-License-Identifier: Apache-2.0
// api/plan.cc - plans of the C API: options in, description out, and the checks before an execute.
#include "dispatch/plan/plan.h"
#include "base/json_value.h"

#include <nlohmann/json.hpp>

#include "api/guard.h"
#include "api/handles.h"
#include "base/log.h"
#include "dispatch/choice/kernel_files.h"
#include "dispatch/trial/trial.h"
#include "runtime/timer.h"

using namespace wt;
using namespace wt::api;

namespace {

constexpr size_t kOptionsFirstSize = offsetof(wavetile_plan_options, kernel) + sizeof(const char*);
constexpr size_t kTensorsFirstSize = offsetof(wavetile_tensors, amax) + sizeof(void*);
constexpr size_t kInfoFirstSize = offsetof(wavetile_plan_info, workspace_bytes) + sizeof(int64_t);
constexpr uintptr_t kWorkspaceAlignment = 256;

static_assert(static_cast<int>(Tuning::kFirstUse) == WAVETILE_TUNING_FIRST_USE);

wavetile_plan_options default_options() {
  wavetile_plan_options options{};
  options.struct_size = sizeof options;
  options.deterministic = 1;
  options.tuning = WAVETILE_TUNING_CACHED;
  options.workspace_limit = -1;
  options.tuning_seconds = PlanOptions{}.tuning_seconds;
  return options;
}

bool aligned(const void* pointer, uintptr_t alignment) { return reinterpret_cast<uintptr_t>(pointer) % alignment == 0; }

std::string to_json(const PlanRecord& record) {
  const PlanDescription& description = record.plan->description();
  return OrderedJson{{"problem", to_text(record.plan->problem())},
                     {"device", record.device->info().id},
                     {"kernel", description.kernel},
                     {"reason", description.reason},
                     {"registers", description.registers},
                     {"spill_bytes", description.spill_bytes},
                     {"launches", description.launches},
                     {"finite_only", description.finite_only},
                     {"compile_seconds", description.compile_seconds},
                     {"from_cache", description.from_cache},
                     {"predicted_us", description.predicted_us},
                     {"measured_us", description.measured_us},
                     {"workspace_bytes", record.plan->workspace_bytes()}}
      .dump();
}

Result<std::shared_ptr<const PlanRecord>> make_record(const std::shared_ptr<Device>& device, const PlanKey& key) {
  auto record = std::make_shared<PlanRecord>();
  record->device = device;
  WT_TRY_ASSIGN(record->plan, make_plan(device, key.problem, key.options));
  for (int i = 0; i < kRoleCount; ++i) {
    record->tensors[static_cast<size_t>(i)] = tensor_shape(key.problem, static_cast<wavetile_role>(i));
  }
  record->json = to_json(*record);
  record->options = key.options;
  record->replay = replay_command(key.problem, device->info().id, {.plan = key.options});
  return std::shared_ptr<const PlanRecord>(std::move(record));
}

// Everything about the caller's pointers that would be a wild access later.
Status check_tensors(const PlanRecord& record, const wavetile_tensors& tensors) {
  const ConvProblem& problem = record.plan->problem();
  const wavetile_role output = output_role(problem);
  const void* new_history = problem.writes_new_history() ? tensors.new_history : nullptr;
  for (int i = 0; i < kRoleCount; ++i) {
    const TensorShape& tensor = record.tensors[static_cast<size_t>(i)];
    if (tensor.use == WAVETILE_UNUSED || tensor.elements == 0) continue;
    const auto role = static_cast<wavetile_role>(i);
    const void* pointer = pointer_of(tensors, role);
    if (!pointer) {
      return bad_input("tensor {} is NULL; {} needs {} bytes there", role_name(problem, role), to_text(problem),
                       tensor.bytes());
    }
    if (tensor.use == WAVETILE_WRITTEN && (tensors.read_only >> i & 1)) {
      return bad_input("tensor {} is read-only memory and {} writes it", role_name(problem, role), to_text(problem));
    }
    const uintptr_t alignment = role == WAVETILE_ROLE_AMAX ? sizeof(float) : kTensorAlignment;
    WT_TRY(check_aligned(role_name(problem, role), pointer, alignment));
    if (tensor.use == WAVETILE_READ && role != WAVETILE_ROLE_RESIDUAL && pointer == pointer_of(tensors, output)) {
      return bad_input("tensor {} is also the output; only a residual may be", role_name(problem, role));
    }
    for (int j = 0; tensor.use == WAVETILE_WRITTEN && role != output && j < i; ++j) {
      if (record.tensors[static_cast<size_t>(j)].use != WAVETILE_UNUSED && role >= WAVETILE_ROLE_AUX0 &&
          pointer == pointer_of(tensors, static_cast<wavetile_role>(j))) {
        return bad_input("tensor {} is written and is also {}; it needs memory of its own", role_name(problem, role),
                         role_name(problem, static_cast<wavetile_role>(j)));
      }
    }
    if (tensor.use == WAVETILE_READ && role != WAVETILE_ROLE_HISTORY && pointer == new_history) {
      return bad_input("tensor {} is also the new history; only the history may be", role_name(problem, role));
    }
  }
  return {};
}

struct Range {
  uintptr_t first = 0, end = 0;
  bool overlaps(const Range& other) const { return first < other.end && other.first < end; }
  bool operator==(const Range&) const = default;
};

Range range_of(const void* pointer, int64_t bytes) {
  const auto first = reinterpret_cast<uintptr_t>(pointer);
  return {first, first + static_cast<uintptr_t>(bytes)};
}

// What is written must not lie in what is read or in the workspace: the result would depend on which block comes first.
// Two tensors may be the very same one: a residual and the output, and the history and the new one.
Status check_overlaps(const PlanRecord& record, const wavetile_tensors& tensors, const Range& workspace) {
  const ConvProblem& problem = record.plan->problem();
  const wavetile_role output = output_role(problem);
  const auto range = [&](int role) {
    const TensorShape& tensor = record.tensors[static_cast<size_t>(role)];
    if (tensor.use == WAVETILE_UNUSED || tensor.elements == 0) return Range{};
    return range_of(pointer_of(tensors, static_cast<wavetile_role>(role)), tensor.bytes());
  };
  const auto may_be_same = [&](int a, int b) {
    return (a == output && b == WAVETILE_ROLE_RESIDUAL) ||
           (a == WAVETILE_ROLE_NEW_HISTORY && b == WAVETILE_ROLE_HISTORY);
  };
  const auto refuse = [&](int role, const char* other) {
    return bad_input("tensor {} overlaps {} in memory; each needs memory of its own",
                     role_name(problem, static_cast<wavetile_role>(role)), other);
  };
  for (int a = 0; a < kRoleCount; ++a) {
    const Range one = range(a);
    if (one.overlaps(workspace)) return refuse(a, "the workspace");
    if (record.tensors[static_cast<size_t>(a)].use != WAVETILE_WRITTEN) continue;
    for (int b = 0; b < kRoleCount; ++b) {
      const Range other = b == a ? Range{} : range(b);
      if (!one.overlaps(other) || (may_be_same(a, b) && one == other)) continue;
      return refuse(a, role_name(problem, static_cast<wavetile_role>(b)));
    }
  }
  return {};
}

// The caller's pointers as a plan takes them, checked.
Status read_pointers(const PlanRecord& record, const wavetile_tensors* tensors, void* workspace, size_t workspace_bytes,
                     TensorPointers& pointers) {
  wavetile_tensors given;
  WT_TRY(read_tensors(tensors, given));
  WT_TRY(check_tensors(record, given));
  const int64_t needed = record.plan->workspace_bytes();
  WT_TRY(check_workspace("plan", workspace, workspace_bytes, needed));
  WT_TRY(check_overlaps(record, given, range_of(workspace, needed)));
  for (int i = 0; i < kRoleCount; ++i) {
    if (record.tensors[static_cast<size_t>(i)].use == WAVETILE_UNUSED) continue;
    pointers[tensor_of(i)] = const_cast<void*>(pointer_of(given, static_cast<wavetile_role>(i)));
  }
  pointers[Tensor::kWorkspace] = needed > 0 ? workspace : nullptr;
  return {};
}

}  // namespace

namespace wt::api {

const void* pointer_of(const wavetile_tensors& tensors, wavetile_role role) {
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
    case WAVETILE_ROLE_AMAX:
      return tensors.amax;
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
      return tensors.aux[role - WAVETILE_ROLE_AUX0];
    case WAVETILE_ROLE_X_SCALES:
      return tensors.x_scales;
    case WAVETILE_ROLE_W_SCALES:
      return tensors.w_scales;
  }
  return nullptr;
}

Status check_aligned(const char* name, const void* pointer, uintptr_t alignment) {
  if (aligned(pointer, alignment)) return {};
  return bad_input("tensor {} at {} is not {}-byte aligned", name, pointer, alignment);
}

Status check_workspace(const char* who, const void* workspace, size_t bytes, int64_t needed) {
  if (needed > 0 && (!workspace || bytes < static_cast<size_t>(needed))) {
    return bad_input("the workspace has {} bytes; the {} needs {} (wavetile_{}_workspace_bytes)", workspace ? bytes : 0,
                     who, needed, who);
  }
  if (workspace && bytes == 0) {
    return bad_input(
        "the workspace is {} with 0 bytes; give its size, or NULL where the {} needs none (a stream is an "
        "argument of its own)",
        workspace, who);
  }
  if (needed > 0 && !aligned(workspace, kWorkspaceAlignment)) {
    return bad_input("the workspace at {} is not {}-byte aligned", workspace, kWorkspaceAlignment);
  }
  return {};
}

Status read_tensors(const wavetile_tensors* tensors, wavetile_tensors& out) {
  wavetile_tensors_init(&out);
  return read_struct(*tensors, "wavetile_tensors", kTensorsFirstSize, out);
}

Status read_options(const wavetile_plan_options* caller, PlanOptions& out) {
  wavetile_plan_options options = default_options();
  if (caller) WT_TRY(read_struct(*caller, "wavetile_plan_options", kOptionsFirstSize, options));
  const auto is_flag = [](int32_t value) { return value == 0 || value == 1; };
  if (!is_flag(options.deterministic)) {
    return bad_input("deterministic={} is no choice; use 0 or 1", options.deterministic);
  }
  if (!is_flag(options.strict_nonfinite)) {
    return bad_input("strict_nonfinite={} is no choice; use 0 or 1", options.strict_nonfinite);
  }
  if (options.tuning < WAVETILE_TUNING_OFF || options.tuning > WAVETILE_TUNING_FIRST_USE) {
    return bad_input("tuning={} is no choice; use 0 (off), 1 (cached) or 2 (first use)", options.tuning);
  }
  if (options.reserved != 0) {
    return bad_input("wavetile_plan_options.reserved is {}; call wavetile_plan_options_init first", options.reserved);
  }
  if (options.workspace_limit < -1) {
    return bad_input("workspace_limit={} is no size; use bytes, or -1 for no limit", options.workspace_limit);
  }
  if (!is_flag(options.fallback)) return bad_input("fallback={} is no choice; use 0 or 1", options.fallback);
  if (options.reserved2 != 0) {
    return bad_input("wavetile_plan_options.reserved2 is {}; call wavetile_plan_options_init first", options.reserved2);
  }
  if (options.reserved3 != 0) {
    return bad_input("wavetile_plan_options.reserved3 is {}; call wavetile_plan_options_init first", options.reserved3);
  }
  if (!is_flag(options.batch_invariant))
    return bad_input("batch_invariant={} is no choice; use 0 or 1", options.batch_invariant);
  if (options.reserved4 != 0) {
    return bad_input("wavetile_plan_options.reserved4 is {}; call wavetile_plan_options_init first", options.reserved4);
  }
  if (!(options.tuning_seconds > 0 && options.tuning_seconds <= 1e6)) {
    return bad_input("tuning_seconds={} is no time limit; use a number of seconds above 0", options.tuning_seconds);
  }
  out.deterministic = options.deterministic == 1;
  out.strict_nonfinite = options.strict_nonfinite == 1;
  out.batch_invariant = options.batch_invariant == 1;
  out.tuning = static_cast<Tuning>(options.tuning);
  if (options.workspace_limit >= 0) out.workspace_limit = options.workspace_limit;
  if (options.kernel && options.config) return bad_input("kernel and config are both given; a plan runs one of them");
  if (options.kernel) out.kernel = options.kernel;
  if (options.config) {
    if (!is_json(options.config)) return bad_input("config is no JSON object; a kernel's name goes into kernel");
    out.kernel = options.config;
  }
  if (options.registry) out.kernels = kernels_of(*options.registry);
  if (options.select) out.select = selector_of(options.select, options.select_user);
  out.tuning_seconds = options.tuning_seconds;
  out.stream = options.stream;
  out.fallback = options.fallback == 1;
  out.splits = options.splits;
  return {};
}

Result<std::shared_ptr<const PlanRecord>> find_or_make_plan(const std::shared_ptr<Device>& device, KeptPlans& plans,
                                                            const ConvProblem& problem, PlanOptions options) {
  PlanKey key{problem, std::move(options)};
  // Only tuning on first use reads these; without it they must not tell two plans apart.
  if (key.options.tuning != Tuning::kFirstUse) {
    key.options.stream = nullptr;
    key.options.tuning_seconds = PlanOptions{}.tuning_seconds;
  }
  // A caller's function may choose otherwise the next time.
  if (key.options.select.choose) return make_record(device, key);
  if (std::shared_ptr<const PlanRecord> kept = plans.find(key)) return kept;
  WT_TRY_ASSIGN(std::shared_ptr<const PlanRecord> record, make_record(device, key));
  return plans.insert(key, std::move(record));
}

}  // namespace wt::api

extern "C" {

void wavetile_plan_options_init(wavetile_plan_options* options) {
  if (options) *options = default_options();
}

void wavetile_tensors_init(wavetile_tensors* tensors) {
  if (!tensors) return;
  *tensors = {};
  tensors->struct_size = sizeof *tensors;
}

wavetile_status wavetile_plan_create(wavetile_device* device, const wavetile_problem* problem,
                                     const wavetile_plan_options* options, wavetile_plan** plan) {
  WT_API_REQUIRE(device);
  WT_API_REQUIRE(problem);
  WT_API_REQUIRE(plan);
  return guard_making([&]() -> Status {
    PlanOptions plan_options;
    WT_TRY(read_options(options, plan_options));
    WT_TRY_ASSIGN(std::shared_ptr<const PlanRecord> record,
                  find_or_make_plan(device->device, *device->plans, problem->value, std::move(plan_options)));
    *plan = new wavetile_plan{std::move(record)};
    return {};
  });
}

void wavetile_plan_destroy(wavetile_plan* plan) { delete plan; }

int64_t wavetile_plan_workspace_bytes(const wavetile_plan* plan) {
  return plan ? plan->record->plan->workspace_bytes() : 0;
}

wavetile_status wavetile_plan_execute(const wavetile_plan* plan, wavetile_stream stream,
                                      const wavetile_tensors* tensors, void* workspace, size_t workspace_bytes) {
  WT_API_REQUIRE(plan);
  WT_API_REQUIRE(tensors);
  return guard([&]() -> Status {
    TensorPointers pointers;
    WT_TRY(read_pointers(*plan->record, tensors, workspace, workspace_bytes, pointers));
    const Plan& run = *plan->record->plan;
    const auto execute = [&] { return run.execute(pointers, stream); };
    if (!log::enabled(log::Level::kInfo)) [[likely]]
      return execute();
    return execute_logged(*plan->record->device, plan->record->replay, run.description().kernel, stream, execute);
  });
}

wavetile_status wavetile_plan_time(const wavetile_plan* plan, const wavetile_tensors* tensors, void* workspace,
                                   size_t workspace_bytes, int32_t runs, wavetile_timing* timing) {
  WT_API_REQUIRE(plan);
  WT_API_REQUIRE(tensors);
  WT_API_REQUIRE(timing);
  return guard_making([&]() -> Status {
    constexpr int kMostRuns = 1000000;
    if (runs < 0 || runs > kMostRuns) return bad_input("runs={} is no count; use 0 to {}", runs, kMostRuns);
    const DeviceKind kind = plan->record->device->info().kind;
    if (kind == DeviceKind::kSim) {
      return unsupported("the time of {} says nothing of a GPU's; time on a GPU or the CPU",
                         plan->record->device->info().id);
    }
    TensorPointers pointers;
    WT_TRY(read_pointers(*plan->record, tensors, workspace, workspace_bytes, pointers));
    WT_TRY_ASSIGN(const std::unique_ptr<Timer> timer, Timer::make(plan->record->device));
    const auto work = [&](int, Stream stream) { return plan->record->plan->execute(pointers, stream); };
    WT_TRY_ASSIGN(const Timing measured, timer->time(work, timer_options(kind, 0, runs)));
    wavetile_timing value{};
    value.median_us = measured.median_us;
    value.low_us = measured.low_us;
    value.high_us = measured.high_us;
    value.minimum_us = measured.minimum_us;
    value.runs = measured.runs;
    return write_struct(value, "wavetile_timing", sizeof(wavetile_timing), timing);
  });
}

wavetile_status wavetile_plan_get_info(const wavetile_plan* plan, wavetile_plan_info* info) {
  WT_API_REQUIRE(plan);
  WT_API_REQUIRE(info);
  return guard([&]() -> Status {
    const PlanDescription& description = plan->record->plan->description();
    wavetile_plan_info value{};
    value.kernel = description.kernel.c_str();
    value.reason = description.reason.c_str();
    value.registers = description.registers;
    value.spill_bytes = description.spill_bytes;
    value.launches = description.launches;
    value.from_cache = description.from_cache;
    value.compile_seconds = description.compile_seconds;
    value.workspace_bytes = plan->record->plan->workspace_bytes();
    value.predicted_us = description.predicted_us;
    value.measured_us = description.measured_us;
    return write_struct(value, "wavetile_plan_info", kInfoFirstSize, info);
  });
}

const char* wavetile_plan_json(const wavetile_plan* plan) { return plan ? plan->record->json.c_str() : nullptr; }

}  // extern "C"
