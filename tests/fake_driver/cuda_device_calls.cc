// SPDX-License-Identifier: Apache-2.0
// tests/fake_driver/cuda_device_calls.cc - CUDA's devices, contexts, memory, streams and events.
#include <cstdio>

#include "tests/fake_driver/cuda_calls.h"

using namespace wt::fake;

namespace wt::fake {

namespace {

constexpr int kMostDevices = 8;
int contexts[kMostDevices];

std::vector<int>& device_stack() {  // of this thread's current contexts
  thread_local std::vector<int> devices;
  return devices;
}

// The device of a context's handle; -1: it is none.
int device_of(const void* context) {
  for (int device = 0; device < kMostDevices; ++device) {
    if (context == &contexts[device]) return device;
  }
  return -1;
}

}  // namespace

void* context_address(int device) { return &contexts[device]; }
int context_device() { return device_stack().empty() ? 0 : device_stack().back(); }

int enter_context(const char* call) {
  if (int code = enter(call)) return code;
  if (context_stack().empty() || context_stack().back() != state.epoch) return kInvalidContext;
  return state.sticky;
}

}  // namespace wt::fake

EXPORT int cuInit(unsigned) {
  ENTER("cuInit");
  return state.device_count ? kSuccess : kNoDevice;
}
EXPORT int cuDriverGetVersion(int* version) {
  ENTER("cuDriverGetVersion");
  *version = state.version;
  return kSuccess;
}
EXPORT int cuDeviceGetCount(int* count) {
  ENTER("cuDeviceGetCount");
  *count = state.device_count;
  return kSuccess;
}
EXPORT int cuDeviceGet(DeviceOrdinal* device, int index) {
  ENTER("cuDeviceGet");
  *device = index;
  return index >= 0 && index < state.device_count ? kSuccess : kInvalidDevice;
}
EXPORT int cuDeviceGetName(char* name, int length, DeviceOrdinal) {
  ENTER("cuDeviceGetName");
  std::snprintf(name, static_cast<size_t>(length), "Fake H200");
  return kSuccess;
}
EXPORT int cuDeviceGetAttribute(int* value, int attribute, DeviceOrdinal) {
  ENTER("cuDeviceGetAttribute");
  switch (attribute) {
    case kMultiprocessorCount:
      *value = 132;
      return kSuccess;
    case kL2CacheSize:
      *value = 60 << 20;
      return kSuccess;
    case kClockRate:
      *value = 1980000;
      return kSuccess;
    case kMemoryClockRate:
      *value = 3201000;
      return kSuccess;
    case kMemoryBusWidth:
      *value = 6144;
      return kSuccess;
    case kComputeCapabilityMajor:
      *value = state.major;
      return kSuccess;
    case kComputeCapabilityMinor:
      *value = state.minor;
      return kSuccess;
    case kMaxSharedMemoryPerBlockOptin:
      *value = kSharedLimit;
      return kSuccess;
  }
  return kInvalidValue;
}
EXPORT int cuDeviceTotalMem_v2(size_t* bytes, DeviceOrdinal) {
  ENTER("cuDeviceTotalMem_v2");
  *bytes = state.memory;
  return kSuccess;
}

EXPORT int cuDevicePrimaryCtxRetain(ContextHandle* context, DeviceOrdinal device) {
  ENTER("cuDevicePrimaryCtxRetain");
  ++state.references;
  *context = reinterpret_cast<ContextHandle>(context_address(device));
  return kSuccess;
}
EXPORT int cuDevicePrimaryCtxRelease_v2(DeviceOrdinal) {
  ENTER("cuDevicePrimaryCtxRelease_v2");
  if (state.references == 0) return kInvalidContext;
  if (--state.references == 0) {  // a fresh context next time
    ++state.epoch;
    state.sticky = state.pending_fault = 0;
  }
  return kSuccess;
}
EXPORT int cuCtxGetCurrent(ContextHandle* context) {
  ENTER("cuCtxGetCurrent");
  const bool current = !context_stack().empty() && context_stack().back() == state.epoch;
  *context = current ? reinterpret_cast<ContextHandle>(context_address(context_device())) : nullptr;
  return kSuccess;
}
EXPORT int cuCtxPushCurrent_v2(ContextHandle context) {
  ENTER("cuCtxPushCurrent_v2");
  const int device = device_of(reinterpret_cast<const void*>(context));
  if (device < 0 || state.references == 0) return kInvalidContext;
  context_stack().push_back(state.epoch);
  device_stack().push_back(device);
  return kSuccess;
}
EXPORT int cuCtxPopCurrent_v2(ContextHandle* context) {
  ENTER("cuCtxPopCurrent_v2");
  if (context_stack().empty()) return kInvalidContext;
  *context = reinterpret_cast<ContextHandle>(context_address(context_device()));
  context_stack().pop_back();
  if (!device_stack().empty()) device_stack().pop_back();
  return kSuccess;
}
EXPORT int cuCtxSynchronize() {
  ENTER_CONTEXT("cuCtxSynchronize");
  if (int code = forbid_in_capture()) return code;
  return synchronize();
}

EXPORT int cuMemGetInfo_v2(size_t* free, size_t* total) {
  ENTER_CONTEXT("cuMemGetInfo_v2");
  return memory_info(free, total);
}
EXPORT int cuMemAlloc_v2(DevicePointer* memory, size_t bytes) {
  ENTER_CONTEXT("cuMemAlloc_v2");
  if (bytes == 0) return kInvalidValue;
  void* block = nullptr;
  const int code = allocate(&block, bytes);
  *memory = reinterpret_cast<uintptr_t>(block);
  return code;
}
EXPORT int cuMemFree_v2(DevicePointer memory) {
  ENTER_CONTEXT("cuMemFree_v2");
  return release(Driver::memory_at(memory));
}
EXPORT int cuMemcpyHtoD_v2(DevicePointer to, const void* from, size_t bytes) {
  ENTER_CONTEXT("cuMemcpyHtoD_v2");
  return copy_in(Driver::memory_at(to), from, bytes);
}
EXPORT int cuMemcpyDtoH_v2(void* to, DevicePointer from, size_t bytes) {
  ENTER_CONTEXT("cuMemcpyDtoH_v2");
  return copy_out(to, Driver::memory_at(from), bytes);
}
EXPORT int cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, size_t bytes, StreamHandle stream) {
  ENTER_CONTEXT("cuMemcpyHtoDAsync_v2");
  return copy_in_async(Driver::memory_at(to), from, bytes, stream);
}
EXPORT int cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, size_t bytes, StreamHandle stream) {
  ENTER_CONTEXT("cuMemcpyDtoHAsync_v2");
  return copy_out_async(to, Driver::memory_at(from), bytes, stream);
}
EXPORT int cuMemsetD8Async(DevicePointer memory, unsigned char value, size_t count, StreamHandle stream) {
  ENTER_CONTEXT("cuMemsetD8Async");
  return fill(Driver::memory_at(memory), value, count, stream);
}

EXPORT int cuStreamCreate(StreamHandle* stream, unsigned) {
  ENTER_CONTEXT("cuStreamCreate");
  *stream = handle_as<StreamHandle>(make_stream());
  return kSuccess;
}
EXPORT int cuStreamDestroy_v2(StreamHandle stream) {
  ENTER_CONTEXT("cuStreamDestroy_v2");
  return destroy_stream(stream);
}
EXPORT int cuStreamSynchronize(StreamHandle handle) {
  ENTER_CONTEXT("cuStreamSynchronize");
  return synchronize_stream(handle);
}
EXPORT int cuStreamWaitEvent(StreamHandle stream, EventHandle event, unsigned) {
  ENTER_CONTEXT("cuStreamWaitEvent");
  return wait_event(stream, event);
}
EXPORT int cuEventCreate(EventHandle* event, unsigned) {
  ENTER_CONTEXT("cuEventCreate");
  *event = handle_as<EventHandle>(make_event());
  return kSuccess;
}
EXPORT int cuEventDestroy_v2(EventHandle event) {
  ENTER_CONTEXT("cuEventDestroy_v2");
  return destroy_event(event);
}
EXPORT int cuEventRecord(EventHandle event, StreamHandle stream) {
  ENTER_CONTEXT("cuEventRecord");
  return record_event(event, stream);
}
EXPORT int cuEventSynchronize(EventHandle event) {
  ENTER_CONTEXT("cuEventSynchronize");
  return synchronize_event(event);
}
EXPORT int cuEventElapsedTime(float* milliseconds, EventHandle start, EventHandle stop) {
  ENTER_CONTEXT("cuEventElapsedTime");
  return elapsed(milliseconds, start, stop);
}

// A function whose type differs from the table's does not compile here.
SAME_TYPE(cuInit, init);
SAME_TYPE(cuDriverGetVersion, driver_get_version);
SAME_TYPE(cuDeviceGetCount, device_get_count);
SAME_TYPE(cuDeviceGet, device_get);
SAME_TYPE(cuDeviceGetName, device_get_name);
SAME_TYPE(cuDeviceGetAttribute, device_get_attribute);
SAME_TYPE(cuDeviceTotalMem_v2, device_total_mem);
SAME_TYPE(cuDevicePrimaryCtxRetain, primary_ctx_retain);
SAME_TYPE(cuDevicePrimaryCtxRelease_v2, primary_ctx_release);
SAME_TYPE(cuCtxGetCurrent, ctx_get_current);
SAME_TYPE(cuCtxPushCurrent_v2, ctx_push_current);
SAME_TYPE(cuCtxPopCurrent_v2, ctx_pop_current);
SAME_TYPE(cuCtxSynchronize, ctx_synchronize);
SAME_TYPE(cuMemGetInfo_v2, mem_get_info);
SAME_TYPE(cuMemAlloc_v2, mem_alloc);
SAME_TYPE(cuMemFree_v2, mem_free);
SAME_TYPE(cuMemcpyHtoD_v2, memcpy_htod);
SAME_TYPE(cuMemcpyDtoH_v2, memcpy_dtoh);
SAME_TYPE(cuMemcpyHtoDAsync_v2, memcpy_htod_async);
SAME_TYPE(cuMemcpyDtoHAsync_v2, memcpy_dtoh_async);
SAME_TYPE(cuStreamWaitEvent, stream_wait_event);
SAME_TYPE(cuMemsetD8Async, memset_d8_async);
SAME_TYPE(cuStreamCreate, stream_create);
SAME_TYPE(cuStreamDestroy_v2, stream_destroy);
SAME_TYPE(cuStreamSynchronize, stream_synchronize);
SAME_TYPE(cuEventCreate, event_create);
SAME_TYPE(cuEventDestroy_v2, event_destroy);
SAME_TYPE(cuEventRecord, event_record);
SAME_TYPE(cuEventSynchronize, event_synchronize);
SAME_TYPE(cuEventElapsedTime, event_elapsed_time);
