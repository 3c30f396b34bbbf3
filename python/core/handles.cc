// SPDX-License-Identifier: Apache-2.0
#include "python/core/handles.h"

namespace wt::python {
namespace {

constexpr const char* kDevice = "wavetile.device";
constexpr const char* kProblem = "wavetile.problem";
constexpr const char* kPlan = "wavetile.plan";

PyObject* error_classes = nullptr;  // kept for the life of the process

template <class Handle>
Handle* handle_of(PyObject* capsule, const char* name) {
  return static_cast<Handle*>(PyCapsule_GetPointer(capsule, name));
}

}  // namespace

bool set_error_classes(PyObject* classes) {
  if (!PyTuple_Check(classes) || PyTuple_Size(classes) != WAVETILE_INTERNAL_ERROR + 1) {
    PyErr_SetString(PyExc_TypeError, "one class a status is needed");
    return false;
  }
  Py_XDECREF(error_classes);
  error_classes = Py_NewRef(classes);
  return true;
}

PyObject* raise_text(wavetile_status status, const char* text) {
  PyObject* kind = error_classes ? PyTuple_GetItem(error_classes, status) : PyExc_RuntimeError;
  PyErr_SetString(kind, text);
  return nullptr;
}

PyObject* raise(wavetile_status status) { return raise_text(status, wavetile_last_error()); }

PyObject* wrap(wavetile_device* device) {
  return PyCapsule_New(device, kDevice, [](PyObject* it) { wavetile_device_close(device_of(it)); });
}

PyObject* wrap(wavetile_problem* problem) {
  return PyCapsule_New(problem, kProblem, [](PyObject* it) { wavetile_problem_destroy(problem_of(it)); });
}

PyObject* wrap(PlanHandle* plan) {
  return PyCapsule_New(plan, kPlan, [](PyObject* it) {
    PlanHandle* handle = plan_of(it);
    wavetile_plan_destroy(handle->plan);
    delete handle;
  });
}

wavetile_device* device_of(PyObject* capsule) { return handle_of<wavetile_device>(capsule, kDevice); }
wavetile_problem* problem_of(PyObject* capsule) { return handle_of<wavetile_problem>(capsule, kProblem); }
PlanHandle* plan_of(PyObject* capsule) { return handle_of<PlanHandle>(capsule, kPlan); }

wavetile_tensors tensors_at(const std::array<void*, kRoles>& at) {
  wavetile_tensors tensors;
  wavetile_tensors_init(&tensors);
  tensors.x = at[WAVETILE_ROLE_X];
  tensors.w = at[WAVETILE_ROLE_W];
  tensors.y = at[WAVETILE_ROLE_Y];
  tensors.scale = at[WAVETILE_ROLE_SCALE];
  tensors.bias = at[WAVETILE_ROLE_BIAS];
  tensors.residual = at[WAVETILE_ROLE_RESIDUAL];
  tensors.amax = at[WAVETILE_ROLE_AMAX];
  tensors.bias_gradient = at[WAVETILE_ROLE_BIAS_GRADIENT];
  tensors.history = at[WAVETILE_ROLE_HISTORY];
  tensors.new_history = at[WAVETILE_ROLE_NEW_HISTORY];
  for (size_t i = 0; i < std::size(tensors.aux); ++i) tensors.aux[i] = at[WAVETILE_ROLE_AUX0 + i];
  tensors.x_scales = at[WAVETILE_ROLE_X_SCALES];
  tensors.w_scales = at[WAVETILE_ROLE_W_SCALES];
  return tensors;
}

}  // namespace wt::python
