// SPDX-License-Identifier: Apache-2.0
// tests/fake_driver/device_calls.cc - devices, contexts, memory, streams and events.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/fake_driver/state.h"

using namespace wt::fake;

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

EXPORT int cuDevicePrimaryCtxRetain(ContextHandle* context, DeviceOrdinal) {
  ENTER("cuDevicePrimaryCtxRetain");
  ++state.references;
  *context = reinterpret_cast<ContextHandle>(&context_object);
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
  const bool current = !context_stack.empty() && context_stack.back() == state.epoch;
  *context = current ? reinterpret_cast<ContextHandle>(&context_object) : nullptr;
  return kSuccess;
}
EXPORT int cuCtxPushCurrent_v2(ContextHandle context) {
  ENTER("cuCtxPushCurrent_v2");
  if (context != reinterpret_cast<ContextHandle>(&context_object) || state.references == 0) return kInvalidContext;
  context_stack.push_back(state.epoch);
  return kSuccess;
}
EXPORT int cuCtxPopCurrent_v2(ContextHandle* context) {
  ENTER("cuCtxPopCurrent_v2");
  if (context_stack.empty()) return kInvalidContext;
  context_stack.pop_back();
  *context = reinterpret_cast<ContextHandle>(&context_object);
  return kSuccess;
}
EXPORT int cuCtxSynchronize() {
  ENTER_CONTEXT("cuCtxSynchronize");
  if (int code = forbid_in_capture()) return code;
  return synchronize();
}

EXPORT int cuMemGetInfo_v2(size_t* free, size_t* total) {
  ENTER_CONTEXT("cuMemGetInfo_v2");
  *total = state.memory;
  *free = state.memory - live_bytes();
  return kSuccess;
}
EXPORT int cuMemAlloc_v2(DevicePointer* memory, size_t bytes) {
  ENTER_CONTEXT("cuMemAlloc_v2");
  if (bytes == 0) return kInvalidValue;
  if (bytes > state.memory - live_bytes()) return kOutOfMemory;
  auto* block = static_cast<unsigned char*>(std::aligned_alloc(512, (bytes + 511) / 512 * 512));
  if (!block) return kOutOfMemory;
  state.allocations[block] = bytes;
  *memory = reinterpret_cast<uintptr_t>(block);
  return kSuccess;
}
EXPORT int cuMemFree_v2(DevicePointer memory) {
  ENTER_CONTEXT("cuMemFree_v2");
  auto* block = reinterpret_cast<unsigned char*>(static_cast<uintptr_t>(memory));
  if (!state.allocations.erase(block)) return kInvalidValue;
  std::free(block);
  return synchronize();
}
EXPORT int cuMemcpyHtoD_v2(DevicePointer to, const void* from, size_t bytes) {
  ENTER_CONTEXT("cuMemcpyHtoD_v2");
  if (int code = forbid_in_capture()) return code;
  if (!allocated(to, bytes)) return kInvalidValue;
  std::memcpy(reinterpret_cast<void*>(static_cast<uintptr_t>(to)), from, bytes);
  return synchronize();
}
EXPORT int cuMemcpyDtoH_v2(void* to, DevicePointer from, size_t bytes) {
  ENTER_CONTEXT("cuMemcpyDtoH_v2");
  if (int code = forbid_in_capture()) return code;
  if (!allocated(from, bytes)) return kInvalidValue;
  if (int code = synchronize()) return code;
  std::memcpy(to, reinterpret_cast<void*>(static_cast<uintptr_t>(from)), bytes);
  return kSuccess;
}
EXPORT int cuMemsetD8Async(DevicePointer memory, unsigned char value, size_t count, StreamHandle stream) {
  ENTER_CONTEXT("cuMemsetD8Async");
  if (!allocated(memory, count)) return kInvalidValue;
  state.fills.push_back({reinterpret_cast<void*>(static_cast<uintptr_t>(memory)), value, count});
  if (count <= kLargestRealFill) std::memset(reinterpret_cast<void*>(static_cast<uintptr_t>(memory)), value, count);
  return submit(stream, 2 + static_cast<double>(count) / kFillBytesPerMicrosecond);
}

EXPORT int cuStreamCreate(StreamHandle* stream, unsigned) {
  ENTER_CONTEXT("cuStreamCreate");
  auto* made = new FakeStream;
  state.streams.insert(made);
  *stream = reinterpret_cast<StreamHandle>(made);
  return kSuccess;
}
EXPORT int cuStreamDestroy_v2(StreamHandle stream) {
  ENTER_CONTEXT("cuStreamDestroy_v2");
  auto* made = reinterpret_cast<FakeStream*>(stream);
  if (!state.streams.erase(made)) return 400;
  delete made;
  return kSuccess;
}
EXPORT int cuStreamSynchronize(StreamHandle handle) {
  ENTER_CONTEXT("cuStreamSynchronize");
  FakeStream* stream = stream_of(handle);
  if (!stream) return 400;
  if (int code = forbid_in_capture()) return code;
  return synchronize();
}
EXPORT int cuEventCreate(EventHandle* event, unsigned) {
  ENTER_CONTEXT("cuEventCreate");
  auto* made = new FakeEvent;
  state.events.insert(made);
  *event = reinterpret_cast<EventHandle>(made);
  return kSuccess;
}
EXPORT int cuEventDestroy_v2(EventHandle event) {
  ENTER_CONTEXT("cuEventDestroy_v2");
  auto* made = reinterpret_cast<FakeEvent*>(event);
  if (!state.events.erase(made)) return 400;
  delete made;
  return kSuccess;
}
EXPORT int cuEventRecord(EventHandle event, StreamHandle stream) {
  ENTER_CONTEXT("cuEventRecord");
  auto* made = reinterpret_cast<FakeEvent*>(event);
  if (!state.events.count(made)) return 400;
  if (int code = submit(stream, 0)) return code;
  made->stamp_us = state.device_us;
  return kSuccess;
}
EXPORT int cuEventSynchronize(EventHandle event) {
  ENTER_CONTEXT("cuEventSynchronize");
  if (!state.events.count(reinterpret_cast<FakeEvent*>(event))) return 400;
  if (int code = forbid_in_capture()) return code;
  return synchronize();
}
EXPORT int cuEventElapsedTime(float* milliseconds, EventHandle start, EventHandle stop) {
  ENTER_CONTEXT("cuEventElapsedTime");
  auto* first = reinterpret_cast<FakeEvent*>(start);
  auto* last = reinterpret_cast<FakeEvent*>(stop);
  if (!state.events.count(first) || !state.events.count(last)) return 400;
  if (first->stamp_us < 0 || last->stamp_us < 0) return 400;
  if (last->stamp_us > state.host_us) return kNotReady;
  *milliseconds = static_cast<float>((last->stamp_us - first->stamp_us) / 1000);
  return kSuccess;
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
SAME_TYPE(cuMemsetD8Async, memset_d8_async);
SAME_TYPE(cuStreamCreate, stream_create);
SAME_TYPE(cuStreamDestroy_v2, stream_destroy);
SAME_TYPE(cuStreamSynchronize, stream_synchronize);
SAME_TYPE(cuEventCreate, event_create);
SAME_TYPE(cuEventDestroy_v2, event_destroy);
SAME_TYPE(cuEventRecord, event_record);
SAME_TYPE(cuEventSynchronize, event_synchronize);
SAME_TYPE(cuEventElapsedTime, event_elapsed_time);
