// SPDX-License-Identifier: Apache-2.0
// tests/fake_driver/hip_kernel_calls.cc - HIP's modules, functions, launches, occupancy and error texts.
#include <algorithm>

#include "tests/fake_driver/hip_calls.h"

using namespace wt::fake;

namespace {

struct ErrorText {
  int code;
  const char *name, *text;
};
const ErrorText kErrors[] = {
    {kSuccess, "hipSuccess", "no error"},
    {kInvalidValue, "hipErrorInvalidValue", "invalid argument"},
    {kOutOfMemory, "hipErrorOutOfMemory", "out of memory"},
    {kNoDevice, "hipErrorNoDevice", "no ROCm-capable device is detected"},
    {kInvalidDevice, "hipErrorInvalidDevice", "invalid device ordinal"},
    {kInvalidImage, "hipErrorInvalidImage", "device kernel image is invalid"},
    {kNoBinaryForGpu, "hipErrorNoBinaryForGpu", "no kernel image is available for execution on the device"},
    {kInvalidHandle, "hipErrorInvalidHandle", "invalid resource handle"},
    {kNotFound, "hipErrorNotFound", "named symbol not found"},
    {kNotReady, "hipErrorNotReady", "device not ready"},
    {kIllegalAddress, "hipErrorIllegalAddress", "an illegal memory access was encountered"},
    {kLaunchOutOfResources, "hipErrorLaunchOutOfResources", "too many resources requested for launch"},
    {kContextIsDestroyed, "hipErrorContextIsDestroyed", "context is destroyed"},
    {kLaunchFailed, "hipErrorLaunchFailure", "unspecified launch failure"},
    {kStreamCaptureUnsupported, "hipErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
    {kStreamCaptureInvalidated, "hipErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {kUnknown, "hipErrorUnknown", "unknown error"},
};

// HIP knows every number, if only as unknown.
const ErrorText& find_error(int code) {
  for (const ErrorText& error : kErrors)
    if (error.code == code) return error;
  return *(std::end(kErrors) - 1);
}

// What an extra list says: {1, parameters, 2, &size, 3}.
bool read_extra(void** extra, const unsigned char** params, size_t* bytes) {
  if (!extra || extra[0] != kParamBufferPointer || extra[2] != kParamBufferSize || extra[4] != kParamEnd) return false;
  *params = static_cast<const unsigned char*>(extra[1]);
  *bytes = *static_cast<const size_t*>(extra[3]);
  return true;
}

}  // namespace

EXPORT const char* hipGetErrorName(int code) { return find_error(code).name; }
EXPORT const char* hipGetErrorString(int code) {
#ifdef WT_FAKE_HIP_5
  return find_error(code).name;
#else
  return find_error(code).text;
#endif
}

EXPORT int hipModuleLoadData(ModuleHandle* module, const void* image) {
  ENTER_DEVICE("hipModuleLoadData");
  return load_module(handle_slot(module), image);
}
EXPORT int hipModuleUnload(ModuleHandle module) {
  ENTER_DEVICE("hipModuleUnload");
  return unload_module(module);
}
EXPORT int hipModuleGetFunction(FunctionHandle* function, ModuleHandle module, const char* name) {
  ENTER_DEVICE("hipModuleGetFunction");
  return find_kernel(handle_slot(function), module, name);
}
EXPORT int hipFuncGetAttribute(int* value, int attribute, FunctionHandle) {
  ENTER_DEVICE("hipFuncGetAttribute");
  *value = attribute == kSharedSizeBytes ? 512 : 0;
  return kSuccess;
}
EXPORT int hipModuleLaunchKernel(FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                 StreamHandle handle, void** parameters, void** extra) {
  ENTER_DEVICE("hipModuleLaunchKernel");
  FakeStream* stream = stream_of(handle);
  if (!stream) return kContextIsDestroyed;
  const unsigned char* params = nullptr;
  size_t bytes = 0;
  if (parameters || !read_extra(extra, &params, &bytes)) return kInvalidValue;
  const unsigned threads = block_x * block_y * block_z;
  // The hardware counts threads of a grid in 32 bits.
  if (threads == 0 || threads > 1024 || grid_x == 0 || grid_y == 0 || grid_z == 0 ||
      uint64_t{grid_x} * block_x > UINT32_MAX || shared_bytes + 512 > kLdsLimit)
    return kInvalidValue;
  return record_launch({.kernel = reinterpret_cast<Kernel*>(function)->name.c_str(),
                        .grid = {grid_x, grid_y, grid_z},
                        .block = {block_x, block_y, block_z},
                        .cluster = {0, 0, 0},
                        .shared_bytes = shared_bytes,
                        .programmatic = 0,
                        .stream = handle,
                        .params = params,
                        .param_bytes = bytes,
                        .captured = stream->capturing});
}
EXPORT int hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, FunctionHandle, int threads, size_t shared) {
  ENTER_DEVICE("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor");
  *blocks = std::min(2048 / threads, static_cast<int>(kLdsLimit / (shared + 512)));
  return kSuccess;
}

SAME_TYPE(hipGetErrorName, get_error_name);
SAME_TYPE(hipGetErrorString, get_error_string);
SAME_TYPE(hipModuleLoadData, module_load_data);
SAME_TYPE(hipModuleUnload, module_unload);
SAME_TYPE(hipModuleGetFunction, module_get_function);
SAME_TYPE(hipFuncGetAttribute, func_get_attribute);
SAME_TYPE(hipModuleLaunchKernel, launch_kernel);
SAME_TYPE(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, occupancy_max_active_blocks);
