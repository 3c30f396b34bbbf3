// SPDX-License-Identifier: Apache-2.0
// api/handles.h - what is behind the C API's opaque handles.
#pragma once

#include <wavetile/wavetile.h>

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "dispatch/choice/registry.h"
#include "dispatch/plan/bias_gradient.h"
#include "dispatch/plan/cache.h"
#include "dispatch/plan/plan.h"
#include "problem/problem.h"
#include "runtime/device.h"

struct wavetile_event {
  std::shared_ptr<wt::Device> device;  // outlives the event
  std::unique_ptr<wt::Event> event;
};

struct wavetile_problem {
  wt::ConvProblem value;
  std::string text;
  std::string canonical_text;
};

struct wavetile_bias_gradient {
  std::shared_ptr<wt::Device> device;
  std::shared_ptr<const wt::ChannelSummer> summer;
  std::string replay;  // a command that repeats an execution
};

namespace wt::api {

inline constexpr int kRoleCount = WAVETILE_ROLE_W_SCALES + 1;

inline Tensor tensor_of(int role) {
  if (role >= WAVETILE_ROLE_X_SCALES) return role == WAVETILE_ROLE_X_SCALES ? Tensor::kXScales : Tensor::kWScales;
  return role < WAVETILE_ROLE_AUX0 ? static_cast<Tensor>(role) : auxiliary_tensor(role - WAVETILE_ROLE_AUX0);
}

// One tensor of a problem: shape in memory order, and whether execute reads or writes it.
struct TensorShape {
  wavetile_use use = WAVETILE_UNUSED;
  DataType type = DataType::kF32;
  BlockScales scales = BlockScales::kNone;  // which it holds
  int rank = 0;
  std::array<int64_t, 5> shape{};
  int64_t elements = 0;
  int64_t bytes() const { return elements * size_of(type); }
};

TensorShape tensor_shape(const ConvProblem& problem, wavetile_role role);
wavetile_role output_role(const ConvProblem& problem);
const char* role_name(const ConvProblem& problem, wavetile_role role);  // dx where the direction makes x a gradient

// The desc's fields as they stand, not yet validated: of the convolution, padding worked out, or of a transposed
// convolution, whose padding must be given.
Status read_desc(const wavetile_problem_desc& caller, bool transposed, ConvProblem& problem);
wavetile_problem* new_problem(const ConvProblem& problem);

// What a caller's pointers must be.
Status check_workspace(const char* who, const void* workspace, size_t bytes, int64_t needed);
Status check_aligned(const char* name, const void* pointer, uintptr_t alignment);
inline constexpr uintptr_t kTensorAlignment = 16;  // what the widest vector and bulk copies need

// The caller's pointer of a role, from the struct's fields.
const void* pointer_of(const wavetile_tensors& tensors, wavetile_role role);
Status read_tensors(const wavetile_tensors* tensors, wavetile_tensors& out);
Status read_options(const wavetile_plan_options* options, PlanOptions& out);

// A registry as it is now, and a caller's selection function (registry.cc).
std::shared_ptr<const Registry> kernels_of(const wavetile_registry& registry);
Selector selector_of(wavetile_select select, void* user);

// Says an execution to the log, as a command that repeats it and, at debug, with its time, for which it waits; `body`
// enqueues the work.
Status execute_logged(Device& device, const std::string& replay, const std::string& kernel, Stream stream,
                      const std::function<Status()>& body);

}  // namespace wt::api

namespace wt::api {

// A plan with what the C API asks of it; the same for every handle of it.
struct PlanRecord {
  std::shared_ptr<Device> device;
  std::shared_ptr<const Plan> plan;
  std::array<TensorShape, kRoleCount> tensors;  // by role, so that execute need not ask
  std::string json;
  PlanOptions options;  // as asked for
  std::string replay;   // a command that repeats an execution
};

inline constexpr size_t kKeptPlans = 1024;  // of a device handle
using KeptPlans = PlanCache<PlanRecord>;

// The plan of a problem, kept or made now.
Result<std::shared_ptr<const PlanRecord>> find_or_make_plan(const std::shared_ptr<Device>& device, KeptPlans& plans,
                                                            const ConvProblem& problem, PlanOptions options);

}  // namespace wt::api

struct wavetile_device {
  std::shared_ptr<wt::Device> device;
  // That were made through this handle; a plan that is made in the background may outlive it.
  std::shared_ptr<wt::PlanCache<wt::api::PlanRecord>> plans =
      std::make_shared<wt::PlanCache<wt::api::PlanRecord>>(wt::api::kKeptPlans);
};

struct wavetile_plan {
  std::shared_ptr<const wt::api::PlanRecord> record;
};
