// SPDX-License-Identifier: Apache-2.0
#include "python/core/tensor_view.h"

#include <cstring>

namespace wt::python {
namespace {

// An attribute, or null without an error where there is none.
Ref attribute(PyObject* object, const char* name) {
  Ref found(PyObject_GetAttrString(object, name));
  if (!found && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
  return found;
}

std::string tuple_text(const int64_t* values, int count) {
  std::string text = "(";
  for (int i = 0; i < count; ++i) text += (i ? ", " : "") + std::to_string(values[i]);
  return text + (count == 1 ? ",)" : ")");
}

std::string dtype_text(const dlpack::DataType& type) {
  switch (type.code) {
    case dlpack::kInt:
      return "int" + std::to_string(type.bits);
    case dlpack::kUint:
      return "uint" + std::to_string(type.bits);
    case dlpack::kFloat:
      return "float" + std::to_string(type.bits);
    case dlpack::kBfloat:
      return "bfloat" + std::to_string(type.bits);
    case dlpack::kFloat8E4m3fn:
      return "float8_e4m3fn";
    case dlpack::kFloat8E5m2:
      return "float8_e5m2";
  }
  return "a type of code " + std::to_string(type.code) + " and " + std::to_string(type.bits) + " bits";
}

// numpy's letters: kind f, i, u, V (bits without a meaning) and bytes.
dlpack::DataType numpy_type(char kind, int bytes) {
  const auto bits = static_cast<uint8_t>(8 * bytes);
  switch (kind) {
    case 'f':
    case 'e':
      return {dlpack::kFloat, bits, 1};
    case 'i':
      return {dlpack::kInt, bits, 1};
    case 'u':
    case 'V':
      return {dlpack::kUint, bits, 1};
    default:
      return {255, bits, 1};
  }
}

// The struct module's letters, as a buffer's format has them.
dlpack::DataType buffer_type(const char* format, Py_ssize_t bytes) {
  const char* letter = format ? format : "B";
  while (*letter == '@' || *letter == '=' || *letter == '<') ++letter;
  if (std::strchr("efd", *letter)) return numpy_type('f', static_cast<int>(bytes));
  if (std::strchr("bhilqn", *letter)) return numpy_type('i', static_cast<int>(bytes));
  if (std::strchr("BHILQNc", *letter)) return numpy_type('u', static_cast<int>(bytes));
  return numpy_type('?', static_cast<int>(bytes));
}

// ml_dtypes' bfloat16 and float8, of which numpy knows only the name.
void refine_by_name(PyObject* object, dlpack::DataType& type) {
  const Ref dtype = attribute(object, "dtype");
  const Ref name = dtype ? attribute(dtype.get(), "name") : Ref();
  const char* text = name && PyUnicode_Check(name.get()) ? PyUnicode_AsUTF8AndSize(name.get(), nullptr) : nullptr;
  PyErr_Clear();
  if (!text) return;
  if (std::strcmp(text, "bfloat16") == 0) type.code = dlpack::kBfloat;
  if (std::strcmp(text, "float8_e4m3fn") == 0) type.code = dlpack::kFloat8E4m3fn;
  if (std::strcmp(text, "float8_e5m2") == 0) type.code = dlpack::kFloat8E5m2;
}

// Unsigned integers of the same size carry the bits of types that numpy lacks.
bool holds(const dlpack::DataType& type, int32_t wanted) {
  if (type.lanes != 1) return false;
  const bool carrier = type.code == dlpack::kUint;
  switch (wanted) {
    case WAVETILE_F32:
    case WAVETILE_TF32:
      return type.code == dlpack::kFloat && type.bits == 32;
    case WAVETILE_F16:
      return (type.code == dlpack::kFloat || carrier) && type.bits == 16;
    case WAVETILE_BF16:
      return (type.code == dlpack::kBfloat || carrier) && type.bits == 16;
    case WAVETILE_E4M3:
      return (type.code == dlpack::kFloat8E4m3fn || carrier) && type.bits == 8;
    case WAVETILE_E5M2:
      return (type.code == dlpack::kFloat8E5m2 || carrier) && type.bits == 8;
    case WAVETILE_E2M1:
    case WAVETILE_UE8M0:
    case WAVETILE_UE4M3:
      return carrier && type.bits == 8;
    case WAVETILE_INT8:
      return type.code == dlpack::kInt && type.bits == 8;
  }
  return false;
}

const char* wanted_dtype(int32_t type) {
  switch (type) {
    case WAVETILE_F32:
    case WAVETILE_TF32:
      return "float32";
    case WAVETILE_F16:
      return "float16";
    case WAVETILE_BF16:
      return "bfloat16 (or its bits as uint16)";
    case WAVETILE_E4M3:
      return "float8_e4m3fn (or its bits as uint8)";
    case WAVETILE_E5M2:
      return "float8_e5m2 (or its bits as uint8)";
    case WAVETILE_E2M1:
      return "uint8, two e2m1 numbers each";
    case WAVETILE_UE8M0:
    case WAVETILE_UE4M3:
      return "uint8, a scale each";
    case WAVETILE_INT8:
      return "int8";
  }
  return "?";
}

// Whether the sizes are those of `order` applied to `shape`, one after the other in memory without gaps.
bool dense_in_order(const TensorView& view, const int64_t* shape, const int* order) {
  int64_t expected = 1;
  for (int i = view.rank - 1; i >= 0; --i) {
    const auto at = static_cast<size_t>(order[i]);
    if (view.shape[at] != shape[i]) return false;
    if (view.shape[at] != 1 && view.strides[at] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

}  // namespace

const char* type_name(int32_t type) {
  constexpr const char* kNames[] = {"fp32", "tf32", "fp16", "bf16", "e4m3", "e5m2", "e2m1", "int8", "ue8m0", "ue4m3"};
  return type >= 0 && type < 10 ? kNames[type] : "?";
}

TensorView::~TensorView() {
  if (buffer_.obj) PyBuffer_Release(&buffer_);
  if (managed_ && managed_->deleter) managed_->deleter(managed_);
}

std::string TensorView::describe() const {
  return dtype_text(type) + " " + tuple_text(shape.data(), rank) + ", strides " + tuple_text(strides.data(), rank);
}

bool TensorView::copy(const dlpack::Tensor& tensor, const char* name) {
  if (tensor.ndim > kMaxRank) {
    PyErr_Format(PyExc_ValueError, "%s has %d dimensions; a convolution has at most 5", name, tensor.ndim);
    return false;
  }
  data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  device = tensor.device;
  type = tensor.dtype;
  rank = tensor.ndim;
  int64_t dense = 1;
  for (int i = rank - 1; i >= 0; --i) {
    const auto at = static_cast<size_t>(i);
    shape[at] = tensor.shape[i];
    strides[at] = tensor.strides ? tensor.strides[i] : dense;
    dense *= tensor.shape[i];
  }
  return true;
}

bool TensorView::take_exchange(PyObject* object, PyObject* capsule) {
  const auto* api = static_cast<const dlpack::ExchangeApi*>(PyCapsule_GetPointer(capsule, "dlpack_exchange_api"));
  if (!api || api->version.major != 1 || !api->view) {
    PyErr_Clear();
    return false;
  }
  dlpack::Tensor tensor{};
  if (api->view(object, &tensor) != 0) {
    PyErr_Clear();  // the general way says what is wrong
    return false;
  }
  exchange = api;
  return copy(tensor, "a tensor");
}

bool TensorView::take_buffer(PyObject* object, const char* name) {
  if (PyObject_GetBuffer(object, &buffer_, PyBUF_FULL) != 0) {
    PyErr_Clear();
    if (PyObject_GetBuffer(object, &buffer_, PyBUF_FULL_RO) != 0) {
      PyErr_Clear();
      buffer_ = {};
      return false;
    }
    writable = false;
  }
  if (buffer_.ndim > kMaxRank || (buffer_.itemsize == 0)) {
    PyErr_Format(PyExc_ValueError, "%s has %d dimensions; a convolution has at most 5", name, buffer_.ndim);
    return false;
  }
  data = buffer_.buf;
  writable = !buffer_.readonly;
  type = buffer_type(buffer_.format, buffer_.itemsize);
  rank = buffer_.ndim;
  for (int i = 0; i < rank; ++i) {
    const auto at = static_cast<size_t>(i);
    shape[at] = buffer_.shape[i];
    strides[at] = buffer_.strides[i] / buffer_.itemsize;
    // A stride between two elements would round to the stride of a dense array.
    if (buffer_.strides[i] % buffer_.itemsize != 0) strides[at] = -1;
  }
  return true;
}

bool TensorView::take_dlpack(PyObject* object, const char* name, void* stream) {
  const Ref place(PyObject_CallMethod(object, "__dlpack_device__", nullptr));
  int device_type = 0, device_id = 0;
  if (!place || !PyArg_ParseTuple(place.get(), "ii", &device_type, &device_id)) return false;
  const Ref method(PyObject_GetAttrString(object, "__dlpack__"));
  const Ref none(PyTuple_New(0));
  const Ref words(PyDict_New());
  if (!method || !none || !words) return false;
  if (device_type == dlpack::kCuda || device_type == dlpack::kRocm) {
    // The default stream has a number for want of an address: 1 with CUDA, 0 with HIP.
    const Ref number(stream ? PyLong_FromVoidPtr(stream) : PyLong_FromLong(device_type == dlpack::kCuda ? 1 : 0));
    if (!number || PyDict_SetItemString(words.get(), "stream", number.get()) != 0) return false;
  }
  const Ref capsule(PyObject_Call(method.get(), none.get(), words.get()));
  if (!capsule) return false;
  managed_ = static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule.get(), "dltensor"));
  if (!managed_ || PyCapsule_SetName(capsule.get(), "used_dltensor") != 0) return false;
  return copy(managed_->tensor, name);
}

bool TensorView::take_interface(PyObject* object, PyObject* interface, const char* name, bool cuda) {
  PyObject* pointer = PyDict_GetItemString(interface, "data");
  PyObject* sizes = PyDict_GetItemString(interface, "shape");
  PyObject* letters = PyDict_GetItemString(interface, "typestr");
  PyObject* steps = PyDict_GetItemString(interface, "strides");
  const char* text = letters ? PyUnicode_AsUTF8AndSize(letters, nullptr) : nullptr;
  if (!pointer || !sizes || !text || std::strlen(text) < 3 || !PyTuple_Check(pointer)) {
    PyErr_Format(PyExc_TypeError, "the array interface of %s has no data, shape and typestr", name);
    return false;
  }
  data = PyLong_AsVoidPtr(PyTuple_GetItem(pointer, 0));
  writable = !PyObject_IsTrue(PyTuple_GetItem(pointer, 1));
  const int bytes = std::atoi(text + 2);
  type = numpy_type(text[1], bytes);
  refine_by_name(object, type);
  rank = static_cast<int>(PyTuple_Size(sizes));
  if (rank > kMaxRank || bytes == 0) {
    PyErr_Format(PyExc_ValueError, "%s has %d dimensions; a convolution has at most 5", name, rank);
    return false;
  }
  int64_t dense = 1;
  for (int i = rank - 1; i >= 0; --i) {
    const auto at = static_cast<size_t>(i);
    shape[at] = PyLong_AsLongLong(PyTuple_GetItem(sizes, i));
    strides[at] = steps && PyTuple_Check(steps) ? PyLong_AsLongLong(PyTuple_GetItem(steps, i)) / bytes : dense;
    dense *= shape[at];
  }
  device = {cuda ? dlpack::kCuda : dlpack::kCpu, -1};
  return !PyErr_Occurred();
}

bool TensorView::take(PyObject* object, const char* name, void* stream) {
  const Ref kind = Ref::borrowed(reinterpret_cast<PyObject*>(Py_TYPE(object)));
  if (PyObject_CheckBuffer(object)) {
    if (take_buffer(object, name)) return true;
    if (PyErr_Occurred()) return false;
  }
  if (const Ref capsule = attribute(kind.get(), "__dlpack_c_exchange_api__")) {
    if (take_exchange(object, capsule.get())) return true;
  }
  // WHY before __dlpack__: numpy has both, and refuses DLPack for the types of ml_dtypes.
  if (const Ref interface = attribute(object, "__array_interface__")) {
    owner_ = Ref::borrowed(interface.get());
    return take_interface(object, interface.get(), name, false);
  }
  if (attribute(object, "__dlpack__")) return take_dlpack(object, name, stream);
  if (const Ref interface = attribute(object, "__cuda_array_interface__")) {
    return take_interface(object, interface.get(), name, true);
  }
  if (PyErr_Occurred()) return false;
  PyErr_Format(PyExc_TypeError, "%s is a %S, which speaks neither DLPack nor an array protocol", name, kind.get());
  return false;
}

std::string fault_of(const TensorView& view, const wavetile_tensor_info& info, const char* name, bool channels_last) {
  const std::string head = std::string(name) + " is " + view.describe();
  if (!holds(view.type, info.type)) return head + "; this problem needs " + wanted_dtype(info.type);
  int straight[kMaxRank], logical[kMaxRank];
  for (int i = 0; i < info.rank; ++i) straight[i] = i;
  logical[0] = 0;
  for (int i = 1; i + 1 < info.rank; ++i) logical[i] = i + 1;  // n, c, h, w from n, h, w, c
  if (info.rank > 1) logical[info.rank - 1] = 1;
  if (view.rank == info.rank) {
    if (dense_in_order(view, info.shape, straight)) return {};
    if (channels_last && info.rank > 2 && dense_in_order(view, info.shape, logical)) return {};
  }
  std::string need = "; this problem needs " + tuple_text(info.shape, info.rank) + ", dense";
  if (channels_last && info.rank > 2) {
    need += ", or the same memory with its channels named second, as torch's channels_last has it";
  }
  return head + need;
}

}  // namespace wt::python
