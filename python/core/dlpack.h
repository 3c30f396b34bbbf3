// SPDX-License-Identifier: Apache-2.0
// python/core/dlpack.h - the part of DLPack's binary interface that is read here, declared after its specification.
// tests/python/test_dlpack_layout.py compares these with the header that torch installs.
#pragma once

#include <cstdint>

namespace wt::python::dlpack {

enum DeviceType : int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3, kRocm = 10, kCudaManaged = 13 };
enum TypeCode : uint8_t { kInt = 0, kUint = 1, kFloat = 2, kBfloat = 4, kFloat8E4m3fn = 10, kFloat8E5m2 = 12 };

struct Device {
  int32_t type;
  int32_t id;
};

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: dense
  uint64_t byte_offset;
};

struct ManagedTensor {  // in a capsule named "dltensor"
  Tensor tensor;
  void* context;
  void (*deleter)(ManagedTensor*);
};

struct Version {
  uint32_t major;
  uint32_t minor;
};

// What a tensor type offers as __dlpack_c_exchange_api__, in a capsule named "dlpack_exchange_api": views without
// Python in between.
struct ExchangeApi {
  Version version;
  ExchangeApi* previous;
  void* allocate;
  void* managed_from_object;
  void* managed_to_object;
  int (*view)(void* object, Tensor* out);  // borrows; null where the type cannot
  int (*current_stream)(int32_t device_type, int32_t device_id, void** stream);
};

}  // namespace wt::python::dlpack
