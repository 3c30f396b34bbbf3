// SPDX-License-Identifier: Apache-2.0
// python/core/module.cc - wavetile._core: the C API for Python, one function each. The classes that people use are
// written in Python, in python/wavetile.
#include <cstring>
#include <memory>
#include <vector>

#include "python/core/execute.h"
#include "python/core/fields.h"
#include "python/core/handles.h"
#include "python/core/tensor_view.h"
#include "python/core/xla_ffi.h"

namespace wt::python {
namespace {

// Runs a call of the C API while other threads of Python run.
template <class Call>
wavetile_status run(Call call) {
  const WithoutGil others_run;
  return call();
}

PyObject* take_string(wavetile_status status, char* text) {
  if (status != WAVETILE_OK) return raise(status);
  PyObject* result = PyUnicode_FromString(text);
  wavetile_string_free(text);
  return result;
}

PyObject* set_errors(PyObject*, PyObject* classes) {
  if (!set_error_classes(classes)) return nullptr;
  Py_RETURN_NONE;
}

PyObject* version(PyObject*, PyObject*) { return PyUnicode_FromString(wavetile_version_string()); }

PyObject* capability(PyObject*, PyObject* number) {
  const long which = PyLong_AsLong(number);
  if (which == -1 && PyErr_Occurred()) return nullptr;
  int32_t available = 0;
  char* detail = nullptr;
  const wavetile_status status =
      run([&] { return wavetile_capability_query(static_cast<wavetile_capability>(which), &available, &detail); });
  const Ref text(take_string(status, detail));
  return text ? Py_BuildValue("(OO)", available ? Py_True : Py_False, text.get()) : nullptr;
}

PyObject* device_list(PyObject*, PyObject*) {
  size_t count = 0;
  wavetile_status status = run([&] { return wavetile_device_list(nullptr, 0, &count); });
  std::vector<wavetile_device_info> infos(count, wavetile_device_info{.struct_size = sizeof(wavetile_device_info)});
  if (status == WAVETILE_OK) status = run([&] { return wavetile_device_list(infos.data(), count, &count); });
  if (status != WAVETILE_OK) return raise(status);
  Ref list(PyList_New(0));
  for (const wavetile_device_info& info : infos) {
    const Ref row(to_dict(&info, fields_of<wavetile_device_info>()));
    if (!row || PyList_Append(list.get(), row.get()) != 0) return nullptr;
  }
  return list.release();
}

PyObject* device_open(PyObject*, PyObject* id) {
  const char* text = PyUnicode_AsUTF8AndSize(id, nullptr);
  if (!text) return nullptr;
  wavetile_device* device = nullptr;
  const wavetile_status status = run([&] { return wavetile_device_open(text, &device); });
  return status == WAVETILE_OK ? wrap(device) : raise(status);
}

PyObject* device_info(PyObject*, PyObject* capsule) {
  const wavetile_device* device = device_of(capsule);
  if (!device) return nullptr;
  wavetile_device_info info{.struct_size = sizeof info};
  const wavetile_status status = wavetile_device_get_info(device, &info);
  return status == WAVETILE_OK ? to_dict(&info, fields_of<wavetile_device_info>()) : raise(status);
}

PyObject* allocate(PyObject*, PyObject* arguments) {
  PyObject* capsule = nullptr;
  Py_ssize_t bytes = 0;
  if (!PyArg_ParseTuple(arguments, "On", &capsule, &bytes)) return nullptr;
  wavetile_device* device = device_of(capsule);
  if (!device) return nullptr;
  void* memory = nullptr;
  const wavetile_status status =
      run([&] { return wavetile_device_allocate(device, static_cast<size_t>(bytes), &memory); });
  return status == WAVETILE_OK ? PyLong_FromVoidPtr(memory) : raise(status);
}

PyObject* release(PyObject*, PyObject* arguments) {
  PyObject* capsule = nullptr;
  unsigned long long address = 0;
  if (!PyArg_ParseTuple(arguments, "OK", &capsule, &address)) return nullptr;
  wavetile_device* device = device_of(capsule);
  if (!device) return nullptr;
  void* memory = reinterpret_cast<void*>(static_cast<uintptr_t>(address));
  const wavetile_status status = run([&] { return wavetile_device_free(device, memory); });
  if (status != WAVETILE_OK) return raise(status);
  Py_RETURN_NONE;
}

// copy(device, address, buffer, into_device)
PyObject* copy(PyObject*, PyObject* arguments) {
  PyObject *capsule = nullptr, *array = nullptr;
  unsigned long long address = 0;
  int in = 0;
  if (!PyArg_ParseTuple(arguments, "OKOp", &capsule, &address, &array, &in)) return nullptr;
  wavetile_device* device = device_of(capsule);
  if (!device) return nullptr;
  void* memory = reinterpret_cast<void*>(static_cast<uintptr_t>(address));
  Py_buffer buffer;
  if (PyObject_GetBuffer(array, &buffer, in ? PyBUF_SIMPLE : PyBUF_WRITABLE) != 0) return nullptr;
  const auto bytes = static_cast<size_t>(buffer.len);
  const wavetile_status status = run([&] {
    return in ? wavetile_device_copy_in(device, memory, buffer.buf, bytes)
              : wavetile_device_copy_out(device, buffer.buf, memory, bytes);
  });
  PyBuffer_Release(&buffer);
  if (status != WAVETILE_OK) return raise(status);
  Py_RETURN_NONE;
}

PyObject* stream_create(PyObject*, PyObject* capsule) {
  wavetile_device* device = device_of(capsule);
  if (!device) return nullptr;
  wavetile_stream stream = nullptr;
  const wavetile_status status = run([&] { return wavetile_stream_create(device, &stream); });
  return status == WAVETILE_OK ? PyLong_FromVoidPtr(stream) : raise(status);
}

PyObject* stream_call(PyObject* arguments, wavetile_status (*call)(wavetile_device*, wavetile_stream)) {
  PyObject* capsule = nullptr;
  unsigned long long address = 0;
  if (!PyArg_ParseTuple(arguments, "OK", &capsule, &address)) return nullptr;
  wavetile_device* device = device_of(capsule);
  if (!device) return nullptr;
  const wavetile_status status = run([&] { return call(device, reinterpret_cast<void*>(uintptr_t(address))); });
  if (status != WAVETILE_OK) return raise(status);
  Py_RETURN_NONE;
}

PyObject* stream_destroy(PyObject*, PyObject* arguments) { return stream_call(arguments, wavetile_stream_destroy); }
PyObject* stream_synchronize(PyObject*, PyObject* arguments) {
  return stream_call(arguments, wavetile_stream_synchronize);
}

PyObject* problem_parse(PyObject*, PyObject* text) {
  const char* words = PyUnicode_AsUTF8AndSize(text, nullptr);
  if (!words) return nullptr;
  wavetile_problem* problem = nullptr;
  const wavetile_status status = wavetile_problem_parse(words, &problem);
  return status == WAVETILE_OK ? wrap(problem) : raise(status);
}

// problem_create(fields, output_padding): output_padding is None, or a list for a transposed convolution.
PyObject* problem_create(PyObject*, PyObject* arguments) {
  PyObject *fields = nullptr, *padding = nullptr;
  if (!PyArg_ParseTuple(arguments, "O!O", &PyDict_Type, &fields, &padding)) return nullptr;
  wavetile_problem_desc desc;
  wavetile_problem_desc_init(&desc);
  if (!from_dict(fields, &desc, fields_of<wavetile_problem_desc>(), "a problem")) return nullptr;
  wavetile_problem* problem = nullptr;
  wavetile_status status = WAVETILE_OK;
  if (Py_IsNone(padding)) {
    status = wavetile_problem_create(&desc, &problem);
  } else {
    int64_t sizes[3] = {};
    for (Py_ssize_t i = 0; i < 3 && i < PySequence_Size(padding); ++i) {
      const Ref item(PySequence_GetItem(padding, i));
      sizes[i] = item ? PyLong_AsLongLong(item.get()) : 0;
    }
    if (PyErr_Occurred()) return nullptr;
    status = wavetile_problem_create_transposed(&desc, sizes, &problem);
  }
  return status == WAVETILE_OK ? wrap(problem) : raise(status);
}

PyObject* problem_facts(PyObject*, PyObject* capsule) {
  const wavetile_problem* problem = problem_of(capsule);
  if (!problem) return nullptr;
  wavetile_problem_desc desc{.struct_size = sizeof desc};
  int64_t size[3] = {};
  wavetile_status status = wavetile_problem_get_desc(problem, &desc);
  if (status == WAVETILE_OK) status = wavetile_problem_output_size(problem, size);
  if (status != WAVETILE_OK) return raise(status);
  const Ref fields(to_dict(&desc, fields_of<wavetile_problem_desc>()));
  const Ref tensors(PyDict_New());
  for (int role = 0; tensors && role < kRoles; ++role) {
    wavetile_tensor_info info{.struct_size = sizeof info};
    status = wavetile_problem_tensor(problem, static_cast<wavetile_role>(role), &info);
    if (status != WAVETILE_OK) return raise(status);
    if (info.use == WAVETILE_UNUSED) continue;
    const Ref row(to_dict(&info, fields_of<wavetile_tensor_info>()));
    if (!row || PyDict_SetItemString(tensors.get(), kRoleNames[role], row.get()) != 0) return nullptr;
  }
  if (!fields || !tensors) return nullptr;
  return Py_BuildValue("{s:s,s:s,s:d,s:s,s:O,s:O,s:(LLL)}", "text", wavetile_problem_text(problem), "canonical_text",
                       wavetile_problem_canonical_text(problem), "flops", wavetile_problem_flops(problem), "output",
                       kRoleNames[wavetile_problem_output_role(problem)], "fields", fields.get(), "tensors",
                       tensors.get(), "output_size", static_cast<long long>(size[0]), static_cast<long long>(size[1]),
                       static_cast<long long>(size[2]));
}

bool read_options(PyObject* dict, wavetile_plan_options& options) {
  wavetile_plan_options_init(&options);
  return from_dict(dict, &options, fields_of<wavetile_plan_options>(), "the options of a plan");
}

// "gpu:1" -> 1
int32_t index_of(const char* id) {
  const char* colon = std::strchr(id, ':');
  return colon ? static_cast<int32_t>(std::atoi(colon + 1)) : 0;
}

PyObject* plan_create(PyObject*, PyObject* arguments) {
  PyObject *device_capsule = nullptr, *problem_capsule = nullptr, *words = nullptr;
  if (!PyArg_ParseTuple(arguments, "OOO!", &device_capsule, &problem_capsule, &PyDict_Type, &words)) return nullptr;
  wavetile_device* device = device_of(device_capsule);
  const wavetile_problem* problem = device ? problem_of(problem_capsule) : nullptr;
  wavetile_plan_options options;
  if (!problem || !read_options(words, options)) return nullptr;
  wavetile_device_info info{.struct_size = sizeof info};
  wavetile_problem_desc desc{.struct_size = sizeof desc};
  auto handle = std::make_unique<PlanHandle>();
  wavetile_status status = run([&] { return wavetile_plan_create(device, problem, &options, &handle->plan); });
  if (status == WAVETILE_OK) status = wavetile_device_get_info(device, &info);
  if (status == WAVETILE_OK) status = wavetile_problem_get_desc(problem, &desc);
  for (int role = 0; status == WAVETILE_OK && role < kRoles; ++role) {
    wavetile_tensor_info& tensor = handle->tensors[static_cast<size_t>(role)];
    tensor.struct_size = sizeof tensor;
    status = wavetile_problem_tensor(problem, static_cast<wavetile_role>(role), &tensor);
  }
  if (status != WAVETILE_OK) return raise(status);
  handle->text = wavetile_problem_text(problem);
  handle->device_kind = info.kind;
  handle->device_index = index_of(info.id);
  handle->channels_last = desc.layout == WAVETILE_CHANNELS_LAST;
  handle->workspace_bytes = wavetile_plan_workspace_bytes(handle->plan);
  return wrap(handle.release());
}

PyObject* plan_info(PyObject*, PyObject* capsule) {
  const PlanHandle* plan = plan_of(capsule);
  if (!plan) return nullptr;
  wavetile_plan_info info{.struct_size = sizeof info};
  const wavetile_status status = wavetile_plan_get_info(plan->plan, &info);
  return status == WAVETILE_OK ? to_dict(&info, fields_of<wavetile_plan_info>()) : raise(status);
}

PyObject* plan_json(PyObject*, PyObject* capsule) {
  const PlanHandle* plan = plan_of(capsule);
  return plan ? PyUnicode_FromString(wavetile_plan_json(plan->plan)) : nullptr;
}

// plan_verify(plan, seed, options) -> (right, report, text)
PyObject* plan_verify(PyObject*, PyObject* arguments) {
  PyObject *capsule = nullptr, *words = nullptr;
  unsigned long long seed = 0;
  if (!PyArg_ParseTuple(arguments, "OKO!", &capsule, &seed, &PyDict_Type, &words)) return nullptr;
  const PlanHandle* plan = plan_of(capsule);
  wavetile_verify_options options;
  wavetile_verify_options_init(&options);
  if (!plan || !from_dict(words, &options, fields_of<wavetile_verify_options>(), "a verification")) return nullptr;
  wavetile_verify_report report{.struct_size = sizeof report};
  const wavetile_status status = run([&] { return wavetile_plan_verify(plan->plan, seed, &options, &report); });
  if (status != WAVETILE_OK && status != WAVETILE_VERIFICATION_FAILED) return raise(status);
  const Ref facts(to_dict(&report, fields_of<wavetile_verify_report>()));
  const bool right = status == WAVETILE_OK;
  return facts ? Py_BuildValue("(OOs)", right ? Py_True : Py_False, facts.get(), right ? "" : wavetile_last_error())
               : nullptr;
}

// explain(device, problem, options, format)
PyObject* explain(PyObject*, PyObject* arguments) {
  PyObject *device_capsule = nullptr, *problem_capsule = nullptr, *words = nullptr;
  int format = 0;
  if (!PyArg_ParseTuple(arguments, "OOO!i", &device_capsule, &problem_capsule, &PyDict_Type, &words, &format)) {
    return nullptr;
  }
  wavetile_device* device = device_of(device_capsule);
  const wavetile_problem* problem = device ? problem_of(problem_capsule) : nullptr;
  wavetile_plan_options options;
  if (!problem || !read_options(words, options)) return nullptr;
  char* report = nullptr;
  const wavetile_status status =
      run([&] { return wavetile_explain(device, problem, &options, static_cast<wavetile_format>(format), &report); });
  return take_string(status, report);
}

// tuning_export(): the tuning database as JSON.
PyObject* tuning_export(PyObject*, PyObject*) {
  char* json = nullptr;
  const wavetile_status status = run([&] { return wavetile_tuning_export(&json); });
  return take_string(status, json);
}

// tuning_import(text): how many rows were new or newer.
PyObject* tuning_import(PyObject*, PyObject* text) {
  const char* json = PyUnicode_AsUTF8AndSize(text, nullptr);
  if (!json) return nullptr;
  int64_t taken = 0;
  const wavetile_status status = run([&] { return wavetile_tuning_import(json, &taken); });
  return status == WAVETILE_OK ? PyLong_FromLongLong(taken) : raise(status);
}

// convert(type, from, to, to_float): floats to the bits of a type, or back; both dense buffers.
PyObject* convert(PyObject*, PyObject* arguments) {
  PyObject *from = nullptr, *to = nullptr;
  int type = 0, back = 0;
  if (!PyArg_ParseTuple(arguments, "iOOp", &type, &from, &to, &back)) return nullptr;
  Py_buffer source, target;
  if (PyObject_GetBuffer(from, &source, PyBUF_C_CONTIGUOUS) != 0) return nullptr;
  if (PyObject_GetBuffer(to, &target, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) != 0) {
    PyBuffer_Release(&source);
    return nullptr;
  }
  const auto number = static_cast<wavetile_type>(type);
  const size_t count = static_cast<size_t>(back ? target.len : source.len) / sizeof(float);
  const size_t other = static_cast<size_t>(back ? source.len : target.len);
  wavetile_status status = WAVETILE_BAD_INPUT;
  const size_t together = number == WAVETILE_E2M1 ? 2 : 1;  // in a byte
  const bool fits = other * together == count * static_cast<size_t>(wavetile_type_size(number));
  if (fits) {
    status = run([&] {
      return back ? wavetile_to_float(number, source.buf, count, static_cast<float*>(target.buf))
                  : wavetile_from_float(number, static_cast<const float*>(source.buf), count, target.buf);
    });
  }
  PyBuffer_Release(&source);
  PyBuffer_Release(&target);
  if (!fits) return raise_text(WAVETILE_BAD_INPUT, "the two buffers do not hold as many numbers");
  if (status != WAVETILE_OK) return raise(status);
  Py_RETURN_NONE;
}

template <class Struct>
bool add_layout(PyObject* dict, const char* name) {
  const Ref rows(layout_of(fields_of<Struct>()));
  return rows && PyDict_SetItemString(dict, name, rows.get()) == 0;
}

PyObject* layouts(PyObject*, PyObject*) {
  Ref dict(PyDict_New());
  const bool all = dict && add_layout<wavetile_problem_desc>(dict.get(), "wavetile_problem_desc") &&
                   add_layout<wavetile_plan_options>(dict.get(), "wavetile_plan_options") &&
                   add_layout<wavetile_tensors>(dict.get(), "wavetile_tensors") &&
                   add_layout<wavetile_plan_info>(dict.get(), "wavetile_plan_info") &&
                   add_layout<wavetile_tensor_info>(dict.get(), "wavetile_tensor_info") &&
                   add_layout<wavetile_verify_report>(dict.get(), "wavetile_verify_report");
  return all ? dict.release() : nullptr;
}

PyObject* xla_handler(PyObject*, PyObject*) {
  return PyCapsule_New(reinterpret_cast<void*>(&xla::execute), "xla._CUSTOM_CALL_TARGET", nullptr);
}

PyObject* plan_address(PyObject*, PyObject* capsule) {
  PlanHandle* plan = plan_of(capsule);
  return plan ? PyLong_FromVoidPtr(plan) : nullptr;
}

PyMethodDef methods[] = {
    {"set_errors", set_errors, METH_O, nullptr},
    {"version", version, METH_NOARGS, nullptr},
    {"capability", capability, METH_O, nullptr},
    {"device_list", device_list, METH_NOARGS, nullptr},
    {"device_open", device_open, METH_O, nullptr},
    {"device_info", device_info, METH_O, nullptr},
    {"allocate", allocate, METH_VARARGS, nullptr},
    {"release", release, METH_VARARGS, nullptr},
    {"copy", copy, METH_VARARGS, nullptr},
    {"stream_create", stream_create, METH_O, nullptr},
    {"stream_destroy", stream_destroy, METH_VARARGS, nullptr},
    {"stream_synchronize", stream_synchronize, METH_VARARGS, nullptr},
    {"problem_parse", problem_parse, METH_O, nullptr},
    {"problem_create", problem_create, METH_VARARGS, nullptr},
    {"problem_facts", problem_facts, METH_O, nullptr},
    {"plan_create", plan_create, METH_VARARGS, nullptr},
    {"plan_info", plan_info, METH_O, nullptr},
    {"plan_json", plan_json, METH_O, nullptr},
    {"plan_verify", plan_verify, METH_VARARGS, nullptr},
    {"explain", explain, METH_VARARGS, nullptr},
    {"tuning_export", tuning_export, METH_NOARGS, nullptr},
    {"tuning_import", tuning_import, METH_O, nullptr},
    {"execute", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(execute)), METH_FASTCALL, nullptr},
    {"copy_array", copy_array, METH_VARARGS, nullptr},
    {"convert", convert, METH_VARARGS, nullptr},
    {"xla_handler", xla_handler, METH_NOARGS, nullptr},
    {"plan_address", plan_address, METH_O, nullptr},
    {"layouts", layouts, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "wavetile._core",
                          "Wavetile's C API; see the classes of the package wavetile.",
                          -1,
                          methods,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace
}  // namespace wt::python

PyMODINIT_FUNC PyInit__core() { return PyModule_Create(&wt::python::definition); }
