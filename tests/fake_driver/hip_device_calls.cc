// SPDX-License-Identifier: Apache-2.0
// tests/fake_driver/hip_device_calls.cc - HIP's devices, memory, streams, events, captures and graphs.
#include <cstdio>
#include <cstring>

#include "tests/fake_driver/hip_calls.h"

using namespace wt::fake;

namespace {

bool exists(int device) { return device >= 0 && device < state.hip_count; }

// Fills a struct of `size` bytes with the architecture at `offset`, and everything else with what no reader expects.
int write_properties(void* properties, int device, size_t size, size_t offset) {
  if (!exists(device)) return kInvalidDevice;
  std::memset(properties, 0xee, size);
  std::snprintf(static_cast<char*>(properties) + offset, 256, "%s", state.architecture.c_str());
  return kSuccess;
}

}  // namespace

EXPORT int hipInit(unsigned) {
  ENTER("hipInit");
#ifdef WT_FAKE_HIP_5
  return state.hip_count ? kSuccess : kInvalidDevice;
#else
  return state.hip_count ? kSuccess : kNoDevice;
#endif
}
EXPORT int hipDriverGetVersion(int* version) {
  ENTER("hipDriverGetVersion");
#ifdef WT_FAKE_HIP_5
  *version = 50221153;
#else
  *version = state.hip_version;
#endif
  return kSuccess;
}
EXPORT int hipGetDeviceCount(int* count) {
  ENTER("hipGetDeviceCount");
  *count = state.hip_count;
  return state.hip_count ? kSuccess : kNoDevice;
}
EXPORT int hipDeviceGet(DeviceOrdinal* device, int index) {
  ENTER("hipDeviceGet");
  *device = index;
  return exists(index) ? kSuccess : kInvalidDevice;
}
EXPORT int hipDeviceGetName(char* name, int length, DeviceOrdinal) {
  ENTER("hipDeviceGetName");
  std::snprintf(name, static_cast<size_t>(length), "%s", state.hip_name.c_str());
  return kSuccess;
}
EXPORT int hipDeviceGetAttribute(int* value, int attribute, int device) {
  ENTER("hipDeviceGetAttribute");
  if (!exists(device)) return kInvalidDevice;
  switch (attribute) {
    case kMultiprocessorCount:
      *value = 304;
      return kSuccess;
    case kL2CacheSize:
      *value = 4 << 20;
      return kSuccess;
    case kMaxSharedMemoryPerBlock:
      *value = kLdsLimit;
      return kSuccess;
  }
  return kInvalidValue;
}
EXPORT int hipDeviceTotalMem(size_t* bytes, DeviceOrdinal) {
  ENTER("hipDeviceTotalMem");
  *bytes = state.memory;
  return kSuccess;
}
#ifndef WT_FAKE_HIP_5
EXPORT int hipGetDevicePropertiesR0600(void* properties, int device) {
  ENTER("hipGetDevicePropertiesR0600");
  return write_properties(properties, device, 1472, 1160);
}
SAME_TYPE(hipGetDevicePropertiesR0600, properties_r0600);
#endif
EXPORT int hipGetDeviceProperties(void* properties, int device) {
  ENTER("hipGetDeviceProperties");
  return write_properties(properties, device, 792, 396);
}
EXPORT int hipGetDevice(int* device) {
  ENTER("hipGetDevice");
  *device = current_device();
  return kSuccess;
}
EXPORT int hipSetDevice(int device) {
  ENTER("hipSetDevice");
  if (!exists(device)) return kInvalidDevice;
  current_device() = device;
  return kSuccess;
}

EXPORT int hipMemGetInfo(size_t* free, size_t* total) {
  ENTER_DEVICE("hipMemGetInfo");
  return memory_info(free, total);
}
EXPORT int hipMalloc(DevicePointer* memory, size_t bytes) {
  ENTER_DEVICE("hipMalloc");
  *memory = nullptr;
  return bytes == 0 ? int{kSuccess} : allocate(memory, bytes);
}
EXPORT int hipFree(DevicePointer memory) {
  ENTER_DEVICE("hipFree");
  return release(memory);
}
EXPORT int hipMemcpyHtoD(DevicePointer to, const void* from, size_t bytes) {
  ENTER_DEVICE("hipMemcpyHtoD");
  return copy_in(to, from, bytes);
}
EXPORT int hipMemcpyDtoH(void* to, DevicePointer from, size_t bytes) {
  ENTER_DEVICE("hipMemcpyDtoH");
  return copy_out(to, from, bytes);
}
EXPORT int hipMemcpyHtoDAsync(DevicePointer to, const void* from, size_t bytes, StreamHandle stream) {
  ENTER_DEVICE("hipMemcpyHtoDAsync");
  return copy_in_async(to, from, bytes, stream);
}
EXPORT int hipMemcpyDtoHAsync(void* to, DevicePointer from, size_t bytes, StreamHandle stream) {
  ENTER_DEVICE("hipMemcpyDtoHAsync");
  return copy_out_async(to, from, bytes, stream);
}
EXPORT int hipMemsetD8Async(DevicePointer memory, unsigned char value, size_t count, StreamHandle stream) {
  ENTER_DEVICE("hipMemsetD8Async");
  return fill(memory, value, count, stream);
}

EXPORT int hipStreamCreateWithFlags(StreamHandle* stream, unsigned) {
  ENTER_DEVICE("hipStreamCreateWithFlags");
  *stream = handle_as<StreamHandle>(make_stream());
  return kSuccess;
}
EXPORT int hipStreamDestroy(StreamHandle stream) {
  ENTER_DEVICE("hipStreamDestroy");
  return destroy_stream(stream);
}
EXPORT int hipStreamSynchronize(StreamHandle stream) {
  ENTER_DEVICE("hipStreamSynchronize");
  // HIP says that its context is destroyed of a stream that does not exist.
  return stream_of(stream) ? synchronize_stream(stream) : int{kContextIsDestroyed};
}
EXPORT int hipStreamWaitEvent(StreamHandle stream, EventHandle event, unsigned) {
  ENTER_DEVICE("hipStreamWaitEvent");
  return wait_event(stream, event);
}
EXPORT int hipEventCreateWithFlags(EventHandle* event, unsigned) {
  ENTER_DEVICE("hipEventCreateWithFlags");
  *event = handle_as<EventHandle>(make_event());
  return kSuccess;
}
EXPORT int hipEventDestroy(EventHandle event) {
  ENTER_DEVICE("hipEventDestroy");
  return destroy_event(event);
}
EXPORT int hipEventRecord(EventHandle event, StreamHandle stream) {
  ENTER_DEVICE("hipEventRecord");
  return record_event(event, stream);
}
EXPORT int hipEventSynchronize(EventHandle event) {
  ENTER_DEVICE("hipEventSynchronize");
  return synchronize_event(event);
}
EXPORT int hipEventElapsedTime(float* milliseconds, EventHandle start, EventHandle stop) {
  ENTER_DEVICE("hipEventElapsedTime");
  return elapsed(milliseconds, start, stop);
}

EXPORT int hipStreamBeginCapture(StreamHandle stream, int) {
  ENTER_DEVICE("hipStreamBeginCapture");
  return begin_capture(stream);
}
EXPORT int hipStreamEndCapture(StreamHandle stream, GraphHandle* graph) {
  ENTER_DEVICE("hipStreamEndCapture");
  return end_capture(stream, handle_slot(graph));
}
EXPORT int hipStreamIsCapturing(StreamHandle stream, int* status) {
  ENTER_DEVICE("hipStreamIsCapturing");
  return capture_status(stream, status);
}
EXPORT int hipThreadExchangeStreamCaptureMode(int* mode) {
  ENTER("hipThreadExchangeStreamCaptureMode");
  return exchange_capture_mode(mode);
}
EXPORT int hipGraphInstantiateWithFlags(GraphExecHandle* exec, GraphHandle graph, unsigned long long) {
  ENTER_DEVICE("hipGraphInstantiateWithFlags");
  return instantiate(handle_slot(exec), graph);
}
EXPORT int hipGraphLaunch(GraphExecHandle exec, StreamHandle) {
  ENTER_DEVICE("hipGraphLaunch");
  return launch_graph(exec);
}
EXPORT int hipGraphExecDestroy(GraphExecHandle exec) {
  ENTER_DEVICE("hipGraphExecDestroy");
  return destroy_exec(exec);
}
EXPORT int hipGraphDestroy(GraphHandle graph) {
  ENTER_DEVICE("hipGraphDestroy");
  return destroy_graph(graph);
}

SAME_TYPE(hipInit, init);
SAME_TYPE(hipDriverGetVersion, driver_get_version);
SAME_TYPE(hipGetDeviceCount, device_get_count);
SAME_TYPE(hipDeviceGet, device_get);
SAME_TYPE(hipDeviceGetName, device_get_name);
SAME_TYPE(hipDeviceGetAttribute, device_get_attribute);
SAME_TYPE(hipDeviceTotalMem, device_total_mem);
SAME_TYPE(hipGetDeviceProperties, properties_r0000);
SAME_TYPE(hipGetDevice, get_device);
SAME_TYPE(hipSetDevice, set_device);
SAME_TYPE(hipMemGetInfo, mem_get_info);
SAME_TYPE(hipMalloc, mem_alloc);
SAME_TYPE(hipFree, mem_free);
SAME_TYPE(hipMemcpyHtoD, memcpy_htod);
SAME_TYPE(hipMemcpyDtoH, memcpy_dtoh);
SAME_TYPE(hipMemcpyHtoDAsync, memcpy_htod_async);
SAME_TYPE(hipMemcpyDtoHAsync, memcpy_dtoh_async);
SAME_TYPE(hipStreamWaitEvent, stream_wait_event);
SAME_TYPE(hipMemsetD8Async, memset_d8_async);
SAME_TYPE(hipStreamCreateWithFlags, stream_create);
SAME_TYPE(hipStreamDestroy, stream_destroy);
SAME_TYPE(hipStreamSynchronize, stream_synchronize);
SAME_TYPE(hipEventCreateWithFlags, event_create);
SAME_TYPE(hipEventDestroy, event_destroy);
SAME_TYPE(hipEventRecord, event_record);
SAME_TYPE(hipEventSynchronize, event_synchronize);
SAME_TYPE(hipEventElapsedTime, event_elapsed_time);
SAME_TYPE(hipStreamBeginCapture, stream_begin_capture);
SAME_TYPE(hipStreamEndCapture, stream_end_capture);
SAME_TYPE(hipStreamIsCapturing, stream_is_capturing);
SAME_TYPE(hipThreadExchangeStreamCaptureMode, thread_exchange_capture_mode);
SAME_TYPE(hipGraphInstantiateWithFlags, graph_instantiate);
SAME_TYPE(hipGraphLaunch, graph_launch);
SAME_TYPE(hipGraphExecDestroy, graph_exec_destroy);
SAME_TYPE(hipGraphDestroy, graph_destroy);
