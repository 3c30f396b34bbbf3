// SPDX-License-Identifier: Apache-2.0
#include "python/core/execute.h"

#include <cstdlib>
#include <cstring>
#include <memory>

#include "python/core/handles.h"
#include "python/core/tensor_view.h"

namespace wt::python {
namespace {

constexpr size_t kWorkspaceAlignment = 256;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

bool stream_of(PyObject* object, void*& stream) {
  if (Py_IsNone(object)) return true;
  stream = PyLong_AsVoidPtr(object);
  return !PyErr_Occurred();
}

bool on_gpu(const PlanHandle& plan) {
  return plan.device_kind == WAVETILE_DEVICE_GPU || plan.device_kind == WAVETILE_DEVICE_HIP;
}

// Where an array lies must be where the plan runs; "" when it is.
std::string misplaced(const TensorView& view, const PlanHandle& plan, const char* name) {
  const bool gpu = on_gpu(plan);
  if (!gpu && view.on_host()) return {};
  const bool unnamed =
      view.device.id < 0 && !view.on_host();  // a __cuda_array_interface__, which AMD's arrays have too
  const bool reachable = plan.device_kind == WAVETILE_DEVICE_HIP
                             ? view.device.type == dlpack::kRocm || unnamed
                             : view.device.type == dlpack::kCuda || view.device.type == dlpack::kCudaManaged;
  if (gpu && reachable && (view.device.id < 0 || view.device.id == plan.device_index)) return {};
  const std::string place = view.on_host() ? "in the host's memory" : "on GPU " + std::to_string(view.device.id);
  const std::string wanted = gpu ? "GPU " + std::to_string(plan.device_index) : "the host";
  return std::string(name) + " is " + place + "; this plan runs on " + wanted + "; copy it there first";
}

bool fill(const PlanHandle& plan, int role, PyObject* array, void* stream, TensorView& view, void*& pointer) {
  const wavetile_tensor_info& info = plan.tensors[static_cast<size_t>(role)];
  const char* name = kRoleNames[role];
  if (Py_IsNone(array)) return true;  // the library says which one is missing
  if (info.use == WAVETILE_UNUSED) {
    raise_text(WAVETILE_BAD_INPUT, (std::string(name) + " is given, and this problem has none: " + plan.text).c_str());
    return false;
  }
  if (!view.take(array, name, stream)) return false;
  std::string fault = misplaced(view, plan, name);
  if (fault.empty()) fault = fault_of(view, info, name, plan.channels_last);
  if (fault.empty() && info.use == WAVETILE_WRITTEN && !view.writable) {
    fault = std::string(name) + " is written, and this array is read-only";
  }
  if (!fault.empty()) {
    raise_text(WAVETILE_BAD_INPUT, fault.c_str());
    return false;
  }
  pointer = view.data;
  return true;
}

struct Workspace {
  void* memory = nullptr;
  size_t bytes = 0;
  TensorView view;
  std::unique_ptr<void, Free> own;
};

bool take_workspace(const PlanHandle& plan, PyObject* object, void* stream, Workspace& workspace) {
  if (plan.workspace_bytes == 0) return true;
  const auto needed = static_cast<size_t>(plan.workspace_bytes);
  if (Py_IsNone(object)) {
    if (on_gpu(plan)) return true;  // the library says how many bytes are missing
    workspace.bytes = (needed + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
    workspace.own.reset(std::aligned_alloc(kWorkspaceAlignment, workspace.bytes));
    workspace.memory = workspace.own.get();
    if (!workspace.memory) PyErr_NoMemory();
    return workspace.memory != nullptr;
  }
  if (PyTuple_Check(object)) {
    unsigned long long address = 0, bytes = 0;
    if (!PyArg_ParseTuple(object, "KK", &address, &bytes)) return false;
    workspace.memory = reinterpret_cast<void*>(static_cast<uintptr_t>(address));
    workspace.bytes = bytes;
    return true;
  }
  if (!workspace.view.take(object, "workspace", stream)) return false;
  const std::string fault = misplaced(workspace.view, plan, "workspace");
  if (!fault.empty()) {
    raise_text(WAVETILE_BAD_INPUT, fault.c_str());
    return false;
  }
  size_t elements = 1;
  for (int i = 0; i < workspace.view.rank; ++i) elements *= static_cast<size_t>(workspace.view.shape[i]);
  workspace.memory = workspace.view.data;
  workspace.bytes = elements * workspace.view.type.bits / 8;
  return true;
}

}  // namespace

PyObject* execute(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 4 || !PyTuple_Check(arguments[1]) || PyTuple_Size(arguments[1]) != kRoles) {
    PyErr_SetString(PyExc_TypeError, "execute takes a plan, a tuple of arrays by role, a stream and a workspace");
    return nullptr;
  }
  const PlanHandle* plan = plan_of(arguments[0]);
  void* stream = nullptr;
  if (!plan || !stream_of(arguments[2], stream)) return nullptr;
  std::array<TensorView, kRoles> views;
  std::array<void*, kRoles> at{};
  for (int role = 0; role < kRoles; ++role) {
    const auto i = static_cast<size_t>(role);
    if (!fill(*plan, role, PyTuple_GetItem(arguments[1], role), stream, views[i], at[i])) return nullptr;
    const dlpack::ExchangeApi* exchange = views[i].exchange;
    if (!stream && exchange && exchange->current_stream && Py_IsNone(arguments[2]) && on_gpu(*plan) &&
        exchange->current_stream(views[i].device.type, views[i].device.id, &stream) != 0) {
      return nullptr;
    }
  }
  Workspace workspace;
  if (!take_workspace(*plan, arguments[3], stream, workspace)) return nullptr;
  const wavetile_tensors tensors = tensors_at(at);
  wavetile_status status = WAVETILE_OK;
  {
    const WithoutGil others_run;
    status = wavetile_plan_execute(plan->plan, stream, &tensors, workspace.memory, workspace.bytes);
  }
  if (status != WAVETILE_OK) return raise(status);
  Py_RETURN_NONE;
}

PyObject* copy_array(PyObject*, PyObject* arguments) {
  PyObject *capsule = nullptr, *array = nullptr;
  const char* name = nullptr;
  unsigned long long address = 0;
  int in = 0;
  if (!PyArg_ParseTuple(arguments, "OsOKp", &capsule, &name, &array, &address, &in)) return nullptr;
  const PlanHandle* plan = plan_of(capsule);
  if (!plan) return nullptr;
  for (int role = 0; role < kRoles; ++role) {
    if (std::strcmp(kRoleNames[role], name) != 0) continue;
    TensorView view;
    void* host = nullptr;
    if (!fill(*plan, role, array, nullptr, view, host)) return nullptr;
    void* memory = reinterpret_cast<void*>(static_cast<uintptr_t>(address));
    const auto bytes = static_cast<size_t>(plan->tensors[static_cast<size_t>(role)].bytes);
    if (bytes > 0) std::memcpy(in ? memory : host, in ? host : memory, bytes);
    Py_RETURN_NONE;
  }
  PyErr_Format(PyExc_ValueError, "there is no role %s", name);
  return nullptr;
}

}  // namespace wt::python
