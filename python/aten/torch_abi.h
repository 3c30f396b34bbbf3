// SPDX-License-Identifier: Apache-2.0
// python/aten/torch_abi.h - torch's stable C interface, declared here: no header of torch is needed to build, and one
// binary serves torch 2.10 and every later version. tests/python/test_torch_abi.py compares these declarations with
// torch's own headers.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef WAVETILE_TORCH_HEADERS  // that test: torch's own types
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/c/shim.h>
#else
struct AtenTensorOpaque;
struct StableListOpaque;
struct TorchLibraryOpaque;
using AtenTensorHandle = AtenTensorOpaque*;
using StableListHandle = StableListOpaque*;
using TorchLibraryHandle = TorchLibraryOpaque*;
using AOTITorchError = int32_t;
using StableIValue = uint64_t;
#endif

namespace wt::aten {

// A kernel as torch calls it: arguments in the stack's front, owned by the kernel, replaced by its results.
using Kernel = void (*)(StableIValue* stack, uint64_t arguments, uint64_t results);

// What we were "built with": the oldest version, whose conventions later ones keep for us.
constexpr uint64_t kTorchVersion = (uint64_t{2} << 56) | (uint64_t{10} << 48);

// X(result, name, parameters): functions of libtorch_cpu.so.
#define WT_TORCH_FUNCTIONS(X)                                                                                    \
  X(int32_t, aoti_torch_device_type_cpu, ())                                                                     \
  X(int32_t, aoti_torch_device_type_cuda, ())                                                                    \
  X(int32_t, aoti_torch_dtype_float32, ())                                                                       \
  X(int32_t, aoti_torch_dtype_float16, ())                                                                       \
  X(int32_t, aoti_torch_dtype_bfloat16, ())                                                                      \
  X(int32_t, aoti_torch_dtype_float8_e4m3fn, ())                                                                 \
  X(int32_t, aoti_torch_dtype_float8_e5m2, ())                                                                   \
  X(int32_t, aoti_torch_dtype_uint8, ())                                                                         \
  X(AOTITorchError, aoti_torch_delete_tensor_object, (AtenTensorHandle))                                         \
  X(AOTITorchError, aoti_torch_is_defined, (AtenTensorHandle, bool*))                                            \
  X(AOTITorchError, aoti_torch_get_dim, (AtenTensorHandle, int64_t*))                                            \
  X(AOTITorchError, aoti_torch_get_sizes, (AtenTensorHandle, int64_t**))                                         \
  X(AOTITorchError, aoti_torch_get_strides, (AtenTensorHandle, int64_t**))                                       \
  X(AOTITorchError, aoti_torch_get_dtype, (AtenTensorHandle, int32_t*))                                          \
  X(AOTITorchError, aoti_torch_get_device_type, (AtenTensorHandle, int32_t*))                                    \
  X(AOTITorchError, aoti_torch_get_device_index, (AtenTensorHandle, int32_t*))                                   \
  X(AOTITorchError, aoti_torch_new_uninitialized_tensor, (AtenTensorHandle*))                                    \
  X(AOTITorchError, aoti_torch_empty_strided,                                                                    \
    (int64_t, const int64_t*, const int64_t*, int32_t, int32_t, int32_t, AtenTensorHandle*))                     \
  X(AOTITorchError, aoti_torch_copy_, (AtenTensorHandle, AtenTensorHandle, int32_t))                             \
  X(AOTITorchError, torch_get_mutable_data_ptr, (AtenTensorHandle, void**))                                      \
  X(AOTITorchError, torch_get_const_data_ptr, (AtenTensorHandle, const void**))                                  \
  X(AOTITorchError, torch_list_size, (StableListHandle, size_t*))                                                \
  X(AOTITorchError, torch_list_get_item, (StableListHandle, size_t, StableIValue*))                              \
  X(AOTITorchError, torch_delete_list, (StableListHandle))                                                       \
  X(AOTITorchError, aoti_torch_library_init_impl,                                                                \
    (const char*, const char*, const char*, uint32_t, TorchLibraryHandle*))                                      \
  X(AOTITorchError, aoti_torch_library_init_fragment, (const char*, const char*, uint32_t, TorchLibraryHandle*)) \
  X(AOTITorchError, aoti_torch_library_def, (TorchLibraryHandle, const char*))                                   \
  X(AOTITorchError, torch_library_impl, (TorchLibraryHandle, const char*, wt::aten::Kernel, uint64_t))           \
  X(AOTITorchError, aoti_torch_delete_library_object, (TorchLibraryHandle))                                      \
  X(AOTITorchError, torch_call_dispatcher, (const char*, const char*, StableIValue*, uint64_t))

// From libtorch_cuda.so, which torch's builds without CUDA lack.
#define WT_TORCH_CUDA_FUNCTIONS(X) X(AOTITorchError, aoti_torch_get_current_cuda_stream, (int32_t, void**))

struct Torch {
#define WT_DECLARE(result, name, parameters) result(*name) parameters = nullptr;
  WT_TORCH_FUNCTIONS(WT_DECLARE)
  WT_TORCH_CUDA_FUNCTIONS(WT_DECLARE)
#undef WT_DECLARE
};

// The functions of the torch that this process has loaded; load_torch first.
const Torch& torch();

// "" or what is missing.
const char* load_torch();

// Throws what torch shows as a RuntimeError.
[[noreturn]] void fail(const char* text);
void check(AOTITorchError error, const char* what);

}  // namespace wt::aten
