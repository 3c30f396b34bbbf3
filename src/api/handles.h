// SPDX-License-Identifier: Apache-2.0
// api/handles.h - what is behind the C API's opaque handles.
#pragma once

#include <wavetile/wavetile.h>

#include <array>
#include <memory>
#include <string>

#include "dispatch/bias_gradient.h"
#include "dispatch/plan.h"
#include "dispatch/plan_cache.h"
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
  std::shared_ptr<const wt::ChannelSummer> summer;
};

namespace wt::api {

inline constexpr int kRoleCount = WAVETILE_ROLE_AUX3 + 1;

inline Tensor tensor_of(int role) {
  return role < WAVETILE_ROLE_AUX0 ? static_cast<Tensor>(role) : auxiliary_tensor(role - WAVETILE_ROLE_AUX0);
}

// One tensor of a problem: shape in memory order, and whether execute reads or writes it.
struct TensorShape {
  wavetile_use use = WAVETILE_UNUSED;
  DataType type = DataType::kF32;
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
void* pointer_of(const wavetile_tensors& tensors, wavetile_role role);
Status read_tensors(const wavetile_tensors* tensors, wavetile_tensors& out);
Status read_options(const wavetile_plan_options* options, PlanOptions& out);

}  // namespace wt::api

namespace wt::api {

// A plan with what the C API asks of it; the same for every handle of it.
struct PlanRecord {
  std::shared_ptr<Device> device;
  std::shared_ptr<const Plan> plan;
  std::array<TensorShape, kRoleCount> tensors;  // by role, so that execute need not ask
  std::string json;
};

inline constexpr size_t kKeptPlans = 1024;  // of a device handle

}  // namespace wt::api

struct wavetile_device {
  std::shared_ptr<wt::Device> device;
  wt::PlanCache<wt::api::PlanRecord> plans{wt::api::kKeptPlans};  // that were made through this handle
};

struct wavetile_plan {
  std::shared_ptr<const wt::api::PlanRecord> record;
};
