// SPDX-License-Identifier: Apache-2.0
#include "python/core/fields.h"

#include <cstring>
#include <vector>

namespace wt::python {
namespace {

PyObject* value_at(const Field& field, const char* at) {
  const auto read = [&](auto value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (field.kind) {
    case Kind::kInt32:
      return PyLong_FromLong(read(int32_t{}));
    case Kind::kInt64:
      return PyLong_FromLongLong(read(int64_t{}));
    case Kind::kUint64:
      return PyLong_FromUnsignedLongLong(read(uint64_t{}));
    case Kind::kFloat:
      return PyFloat_FromDouble(static_cast<double>(read(float{})));
    case Kind::kDouble:
      return PyFloat_FromDouble(read(double{}));
    case Kind::kString: {
      const char* text = read(static_cast<const char*>(nullptr));
      if (!text) Py_RETURN_NONE;
      return PyUnicode_FromString(text);
    }
    case Kind::kPointer:
      return PyLong_FromVoidPtr(read(static_cast<void*>(nullptr)));
    case Kind::kText:
      return PyUnicode_FromString(at);
  }
  return nullptr;
}

template <class T>
bool store(char* at, T value) {
  if (PyErr_Occurred()) return false;
  std::memcpy(at, &value, sizeof value);
  return true;
}

bool set_value(const Field& field, PyObject* value, char* at) {
  switch (field.kind) {
    case Kind::kInt32: {
      const long long number = PyLong_AsLongLong(value);
      if (number == -1 && PyErr_Occurred()) return false;
      if (number < INT32_MIN || number > INT32_MAX) {
        PyErr_Format(PyExc_OverflowError, "%s=%lld does not fit into 32 bits", field.name, number);
        return false;
      }
      return store(at, static_cast<int32_t>(number));
    }
    case Kind::kInt64:
      return store(at, static_cast<int64_t>(PyLong_AsLongLong(value)));
    case Kind::kUint64:
      return store(at, static_cast<uint64_t>(PyLong_AsUnsignedLongLong(value)));
    case Kind::kFloat:
      return store(at, static_cast<float>(PyFloat_AsDouble(value)));
    case Kind::kDouble:
      return store(at, PyFloat_AsDouble(value));
    case Kind::kString:
      return store(at, Py_IsNone(value) ? nullptr : PyUnicode_AsUTF8AndSize(value, nullptr));
    case Kind::kPointer:
      return store(at, Py_IsNone(value) ? nullptr : PyLong_AsVoidPtr(value));
    case Kind::kText:
      PyErr_Format(PyExc_TypeError, "%s is only read", field.name);
      return false;
  }
  return false;
}

bool set_list(const Field& field, PyObject* list, char* at) {
  const Py_ssize_t length = PySequence_Size(list);
  if (length < 0) return false;
  if (static_cast<size_t>(length) > field.count) {
    PyErr_Format(PyExc_ValueError, "%s has %zd values; at most %zu are possible", field.name, length, field.count);
    return false;
  }
  for (Py_ssize_t i = 0; i < length; ++i) {
    const Ref item(PySequence_GetItem(list, i));
    if (!item || !set_value(field, item.get(), at + static_cast<size_t>(i) * field.size)) return false;
  }
  return true;
}

}  // namespace

PyObject* to_dict(const void* from, std::span<const Field> fields) {
  Ref dict(PyDict_New());
  if (!dict) return nullptr;
  for (const Field& field : fields) {
    const char* at = static_cast<const char*>(from) + field.offset;
    Ref value;
    if (field.count == 1 || field.kind == Kind::kText) {
      value = Ref(value_at(field, at));
    } else {
      value = Ref(PyList_New(static_cast<Py_ssize_t>(field.count)));
      for (size_t i = 0; value && i < field.count; ++i) {
        PyObject* item = value_at(field, at + i * field.size);
        if (!item || PyList_SetItem(value.get(), static_cast<Py_ssize_t>(i), item) != 0) return nullptr;
      }
    }
    if (!value || PyDict_SetItemString(dict.get(), field.name, value.get()) != 0) return nullptr;
  }
  return dict.release();
}

bool from_dict(PyObject* dict, void* to, std::span<const Field> fields, const char* what) {
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t position = 0; PyDict_Next(dict, &position, &key, &value);) {
    const char* name = PyUnicode_AsUTF8AndSize(key, nullptr);
    if (!name) return false;
    const Field* found = nullptr;
    for (const Field& field : fields) {
      if (std::strcmp(field.name, name) == 0) found = &field;
    }
    if (!found) {
      PyErr_Format(PyExc_TypeError, "%s has no field '%s'", what, name);
      return false;
    }
    char* at = static_cast<char*>(to) + found->offset;
    if (!(found->count == 1 ? set_value(*found, value, at) : set_list(*found, value, at))) return false;
  }
  return true;
}

PyObject* layout_of(std::span<const Field> fields) {
  Ref list(PyList_New(0));
  for (const Field& field : fields) {
    const Ref row(Py_BuildValue("(snn)", field.name, static_cast<Py_ssize_t>(field.offset),
                                static_cast<Py_ssize_t>(field.size * field.count)));
    if (!row || PyList_Append(list.get(), row.get()) != 0) return nullptr;
  }
  return list.release();
}

// The list goes on to the struct's end: one that has grown is found when this is compiled.
template <size_t kCount>
constexpr bool ends_with(const Field (&fields)[kCount], size_t bytes) {
  const Field& last = fields[kCount - 1];
  return last.offset + last.size * last.count == bytes;
}

#define WT_FIELD(f) make_field<decltype(Struct::f)>(#f, offsetof(Struct, f))
#define WT_FIELDS(S, ...)                             \
  template <>                                         \
  std::span<const Field> fields_of<S>() {             \
    using Struct = S;                                 \
    static constexpr Field kFields[] = {__VA_ARGS__}; \
    static_assert(ends_with(kFields, sizeof(S)));     \
    return kFields;                                   \
  }

WT_FIELDS(wavetile_problem_desc, WT_FIELD(direction), WT_FIELD(dims), WT_FIELD(layout), WT_FIELD(x_type),
          WT_FIELD(w_type), WT_FIELD(y_type), WT_FIELD(acc_type), WT_FIELD(padding), WT_FIELD(n), WT_FIELD(g),
          WT_FIELD(c), WT_FIELD(k), WT_FIELD(in), WT_FIELD(filter), WT_FIELD(stride), WT_FIELD(dilation),
          WT_FIELD(pad_lower), WT_FIELD(pad_upper), WT_FIELD(alpha), WT_FIELD(beta), WT_FIELD(scale), WT_FIELD(bias),
          WT_FIELD(residual), WT_FIELD(amax), WT_FIELD(activation), WT_FIELD(slope), WT_FIELD(low), WT_FIELD(high),
          WT_FIELD(bias_gradient), WT_FIELD(history), WT_FIELD(new_history), WT_FIELD(reserved), WT_FIELD(added),
          WT_FIELD(gradient), WT_FIELD(inputs), WT_FIELD(outputs), WT_FIELD(scalar_count), WT_FIELD(reserved2),
          WT_FIELD(betas), WT_FIELD(scalars), WT_FIELD(expression), WT_FIELD(store), WT_FIELD(scale_type),
          WT_FIELD(bias_type))
WT_FIELDS(wavetile_plan_options, WT_FIELD(deterministic), WT_FIELD(strict_nonfinite), WT_FIELD(tuning),
          WT_FIELD(reserved), WT_FIELD(workspace_limit), WT_FIELD(kernel), WT_FIELD(tuning_seconds), WT_FIELD(stream),
          WT_FIELD(fallback), WT_FIELD(reserved2), WT_FIELD(splits), WT_FIELD(reserved3), WT_FIELD(config),
          WT_FIELD(registry), WT_FIELD(select), WT_FIELD(select_user), WT_FIELD(batch_invariant), WT_FIELD(reserved4))
WT_FIELDS(wavetile_plan_info, WT_FIELD(kernel), WT_FIELD(reason), WT_FIELD(registers), WT_FIELD(spill_bytes),
          WT_FIELD(launches), WT_FIELD(from_cache), WT_FIELD(compile_seconds), WT_FIELD(workspace_bytes),
          WT_FIELD(predicted_us), WT_FIELD(measured_us))
WT_FIELDS(wavetile_device_info, WT_FIELD(kind), WT_FIELD(id), WT_FIELD(name), WT_FIELD(target),
          WT_FIELD(multiprocessors), WT_FIELD(driver_version), WT_FIELD(shared_bytes_per_block), WT_FIELD(l2_bytes),
          WT_FIELD(memory_bytes))
WT_FIELDS(wavetile_tensor_info, WT_FIELD(use), WT_FIELD(type), WT_FIELD(rank), WT_FIELD(reserved), WT_FIELD(shape),
          WT_FIELD(elements), WT_FIELD(bytes))
WT_FIELDS(wavetile_tensors, WT_FIELD(x), WT_FIELD(w), WT_FIELD(y), WT_FIELD(scale), WT_FIELD(bias), WT_FIELD(residual),
          WT_FIELD(amax), WT_FIELD(bias_gradient), WT_FIELD(history), WT_FIELD(new_history), WT_FIELD(aux),
          WT_FIELD(read_only))
WT_FIELDS(wavetile_verify_options, WT_FIELD(exact), WT_FIELD(exhaustive), WT_FIELD(splits), WT_FIELD(reserved),
          WT_FIELD(seed))
WT_FIELDS(wavetile_verify_report, WT_FIELD(elements), WT_FIELD(compared), WT_FIELD(wrong), WT_FIELD(unwritten),
          WT_FIELD(nan), WT_FIELD(amax_wrong), WT_FIELD(reserved), WT_FIELD(worst), WT_FIELD(index), WT_FIELD(expected),
          WT_FIELD(got), WT_FIELD(bound), WT_FIELD(bias_gradient_wrong), WT_FIELD(new_history_wrong),
          WT_FIELD(store_wrong), WT_FIELD(reserved2), WT_FIELD(rounded_otherwise), WT_FIELD(history_gradient_wrong),
          WT_FIELD(reserved3))

}  // namespace wt::python
