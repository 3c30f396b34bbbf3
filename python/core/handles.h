// SPDX-License-Identifier: Apache-2.0
// python/core/handles.h - handles of the C API as capsules, and its failures as exceptions.
#pragma once

#include <array>
#include <string>

#include "python/core/python.h"
#include "wavetile/wavetile.h"

namespace wt::python {

constexpr int kRoles = WAVETILE_ROLE_W_SCALES + 1;

// A plan with what a call checks its arrays against.
struct PlanHandle {
  wavetile_plan* plan = nullptr;
  std::string text;  // of the problem
  int32_t device_kind = 0;
  int32_t device_index = 0;
  bool channels_last = true;
  int64_t workspace_bytes = 0;
  std::array<wavetile_tensor_info, kRoles> tensors{};
};

// Raises the exception of a status with the library's text; null, so that callers return it.
PyObject* raise(wavetile_status status);
PyObject* raise_text(wavetile_status status, const char* text);
// The classes to raise, one a status from 1 on; a tuple that Python gives once.
bool set_error_classes(PyObject* classes);

PyObject* wrap(wavetile_device* device);
PyObject* wrap(wavetile_problem* problem);
PyObject* wrap(PlanHandle* plan);
// The handle in a capsule; null with Python's error set where it is another kind.
wavetile_device* device_of(PyObject* capsule);
wavetile_problem* problem_of(PyObject* capsule);
PlanHandle* plan_of(PyObject* capsule);

// The arrays of a call, by role.
wavetile_tensors tensors_at(const std::array<void*, kRoles>& at);

constexpr const char* kRoleNames[kRoles] = {
    "x",       "w",           "y",    "scale", "bias", "residual", "amax",     "bias_gradient",
    "history", "new_history", "aux0", "aux1",  "aux2", "aux3",     "x_scales", "w_scales"};

}  // namespace wt::python
