// SPDX-License-Identifier: Apache-2.0
// python/core/xla_ffi.h - a plan as a custom call of XLA, for JAX. The part of XLA's C interface that is used is
// declared here; tests/python/test_jax.py compares it with the header that jaxlib installs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wt::python::xla {

struct Extension {
  size_t struct_size;
  int32_t type;  // 1: metadata
  Extension* next;
};

struct ApiVersion {
  size_t struct_size;
  Extension* extensions;
  int32_t major;
  int32_t minor;
};

struct Metadata {
  size_t struct_size;
  ApiVersion version;
  uint32_t traits;
};

struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

struct ErrorCreate {
  size_t struct_size;
  Extension* extensions;
  const char* message;
  int32_t code;
};

struct StreamGet {
  size_t struct_size;
  Extension* extensions;
  void* context;
  void* stream;  // out
};

struct Api {
  size_t struct_size;
  Extension* extensions;
  ApiVersion version;
  const void* internal;
  void* (*error_create)(ErrorCreate*);
  void* others[3];
  void* (*stream_get)(StreamGet*);
};

struct Buffer {
  size_t struct_size;
  Extension* extensions;
  int32_t type;
  void* data;
  int64_t rank;
  int64_t* dims;
};

struct Values {  // arguments and results
  size_t struct_size;
  Extension* extensions;
  int64_t size;
  int32_t* types;  // 1: a buffer
  void** values;
};

struct ByteSpan {
  const char* data;
  size_t size;
};

struct Scalar {
  int32_t type;
  void* value;
};

struct Attributes {
  size_t struct_size;
  Extension* extensions;
  int64_t size;
  int32_t* types;  // 3: a scalar
  ByteSpan** names;
  void** values;
};

struct CallFrame {
  size_t struct_size;
  Extension* extensions;
  const Api* api;
  void* context;
  int32_t stage;  // 3: execute
  Values arguments;
  Values results;
  Attributes attributes;
};

constexpr int32_t kMajor = 0, kMinor = 1;

// The custom call. Attributes: `plan`, the address of a PlanHandle; `roles`, four bits for each argument and then each
// result but the last, which is scratch memory where the plan needs some.
void* execute(CallFrame* frame);

}  // namespace wt::python::xla
