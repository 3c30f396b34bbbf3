// SPDX-License-Identifier: Apache-2.0
// runtime/hip/driver.h - AMD's HIP runtime, loaded at run time: own declarations of what is used, no SDK header.
//
//   libamdhip64.so.7, .6 or .5 --load_driver--> Driver (a table of functions) --> context.h, device.h
//
// tests/fake_driver/hip_abi.cc compares every declaration with HIP's header where it is installed, and
// tests/runtime/hip_library_test.cc asks a real library for every name. WAVETILE_HIP_DRIVER names another library, such
// as the tests' fake one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/status.h"
#include "runtime/gpu/call.h"
#include "runtime/gpu/codes.h"

namespace wt::hip {

using namespace gpu;  // codes.h: the error codes that CUDA has too

using DeviceOrdinal = int;
using DevicePointer = void*;
using ModuleHandle = struct ihipModule_t*;
using FunctionHandle = struct ihipModuleSymbol_t*;
using StreamHandle = struct ihipStream_t*;
using EventHandle = struct ihipEvent_t*;
using GraphHandle = struct ihipGraph*;
using GraphExecHandle = struct hipGraphExec*;

// Their numbers are the same in HIP 5, 6 and 7.
enum DeviceAttribute : int {
  kL2CacheSize = 19,
  kMultiprocessorCount = 63,
  kMaxSharedMemoryPerBlock = 74,
};

// What hipDeviceProp_t is read for: only it tells the architecture ("gfx90a:sramecc+:xnack-"). The struct has changed
// once, with the name of the function that fills it. The room is more than either version takes (792 and 1472 bytes).
struct PropertiesLayout {
  size_t architecture;  // offset of gcnArchName, a text of at most 256 bytes
};
inline constexpr PropertiesLayout kPropertiesR0000{396};   // hipGetDeviceProperties
inline constexpr PropertiesLayout kPropertiesR0600{1160};  // hipGetDevicePropertiesR0600, HIP 6 and newer
inline constexpr size_t kPropertiesRoom = 8192;
inline constexpr size_t kArchitectureRoom = 256;

// The words of the list that hipModuleLaunchKernel takes as `extra`.
inline void* const kParamBufferPointer = reinterpret_cast<void*>(1);
inline void* const kParamBufferSize = reinterpret_cast<void*>(2);
inline void* const kParamEnd = reinterpret_cast<void*>(3);

struct Driver : CallTable {
  using DevicePointer = hip::DevicePointer;
  using ModuleHandle = hip::ModuleHandle;
  using FunctionHandle = hip::FunctionHandle;
  using StreamHandle = hip::StreamHandle;
  using EventHandle = hip::EventHandle;
  using GraphHandle = hip::GraphHandle;
  using GraphExecHandle = hip::GraphExecHandle;

  std::string path;  // of the library
  int version = 0;   // 6040 for HIP 6.4; known after initialize()

  Call<int(unsigned flags)> init{this, "hipInit"};
  Call<int(int* version)> driver_get_version{this, "hipDriverGetVersion"};
  Call<const char*(int error)> get_error_name{this, "hipGetErrorName"};
  Call<const char*(int error)> get_error_string{this, "hipGetErrorString"};

  Call<int(int* count)> device_get_count{this, "hipGetDeviceCount"};
  Call<int(DeviceOrdinal* device, int index)> device_get{this, "hipDeviceGet"};
  Call<int(char* name, int length, DeviceOrdinal device)> device_get_name{this, "hipDeviceGetName"};
  Call<int(int* value, int attribute, int device)> device_get_attribute{this, "hipDeviceGetAttribute"};
  Call<int(size_t* bytes, DeviceOrdinal device)> device_total_mem{this, "hipDeviceTotalMem"};
  Call<int(void* properties, int device)> properties_r0600{this, "hipGetDevicePropertiesR0600", Presence::kOptional};
  // WHY by this name too, though HIP 6 calls it deprecated: HIP 5 has no other.
  Call<int(void* properties, int device)> properties_r0000{this, "hipGetDeviceProperties", Presence::kOptional};
  // WHY not hipCtxPushCurrent: HIP calls its contexts deprecated; a device is current on a thread, as in its runtime.
  Call<int(int* device)> get_device{this, "hipGetDevice"};
  Call<int(int device)> set_device{this, "hipSetDevice"};

  Call<int(size_t* free, size_t* total)> mem_get_info{this, "hipMemGetInfo"};
  Call<int(DevicePointer* memory, size_t bytes)> mem_alloc{this, "hipMalloc"};
  Call<int(DevicePointer memory)> mem_free{this, "hipFree"};
  Call<int(DevicePointer to, const void* from, size_t bytes)> memcpy_htod{this, "hipMemcpyHtoD"};
  Call<int(void* to, DevicePointer from, size_t bytes)> memcpy_dtoh{this, "hipMemcpyDtoH"};
  Call<int(DevicePointer to, const void* from, size_t bytes, StreamHandle stream)> memcpy_htod_async{
      this, "hipMemcpyHtoDAsync"};
  Call<int(void* to, DevicePointer from, size_t bytes, StreamHandle stream)> memcpy_dtoh_async{this,
                                                                                               "hipMemcpyDtoHAsync"};
  Call<int(DevicePointer memory, unsigned char value, size_t count, StreamHandle stream)> memset_d8_async{
      this, "hipMemsetD8Async"};

  Call<int(StreamHandle* stream, unsigned flags)> stream_create{this, "hipStreamCreateWithFlags"};
  Call<int(StreamHandle stream)> stream_destroy{this, "hipStreamDestroy"};
  Call<int(StreamHandle stream)> stream_synchronize{this, "hipStreamSynchronize"};
  Call<int(StreamHandle stream, EventHandle event, unsigned flags)> stream_wait_event{this, "hipStreamWaitEvent"};
  Call<int(EventHandle* event, unsigned flags)> event_create{this, "hipEventCreateWithFlags"};
  Call<int(EventHandle event)> event_destroy{this, "hipEventDestroy"};
  Call<int(EventHandle event, StreamHandle stream)> event_record{this, "hipEventRecord"};
  Call<int(EventHandle event)> event_synchronize{this, "hipEventSynchronize"};
  Call<int(float* milliseconds, EventHandle start, EventHandle stop)> event_elapsed_time{this, "hipEventElapsedTime"};

  Call<int(ModuleHandle* module, const void* image)> module_load_data{this, "hipModuleLoadData"};
  Call<int(ModuleHandle module)> module_unload{this, "hipModuleUnload"};
  Call<int(FunctionHandle* function, ModuleHandle module, const char* name)> module_get_function{
      this, "hipModuleGetFunction"};
  Call<int(int* value, int attribute, FunctionHandle function)> func_get_attribute{this, "hipFuncGetAttribute"};
  Call<int(FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
           unsigned block_y, unsigned block_z, unsigned shared_bytes, StreamHandle stream, void** parameters,
           void** extra)>
      launch_kernel{this, "hipModuleLaunchKernel"};
  Call<int(int* blocks, FunctionHandle function, int threads, size_t shared_bytes)> occupancy_max_active_blocks{
      this, "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor"};

  Call<int(StreamHandle stream, int mode)> stream_begin_capture{this, "hipStreamBeginCapture"};
  Call<int(StreamHandle stream, GraphHandle* graph)> stream_end_capture{this, "hipStreamEndCapture"};
  Call<int(StreamHandle stream, int* status)> stream_is_capturing{this, "hipStreamIsCapturing"};
  Call<int(int* mode)> thread_exchange_capture_mode{this, "hipThreadExchangeStreamCaptureMode"};
  Call<int(GraphExecHandle* exec, GraphHandle graph, unsigned long long flags)> graph_instantiate{
      this, "hipGraphInstantiateWithFlags"};
  Call<int(GraphExecHandle exec, StreamHandle stream)> graph_launch{this, "hipGraphLaunch"};
  Call<int(GraphExecHandle exec)> graph_exec_destroy{this, "hipGraphExecDestroy"};
  Call<int(GraphHandle graph)> graph_destroy{this, "hipGraphDestroy"};

  // "hipErrorOutOfMemory (2): out of memory", in the library's own words.
  std::string describe(int code) const;

  // hipInit and the version check. Cheap when done before; says what to do where it fails.
  Status initialize();

  // "gfx942:sramecc+:xnack-"
  Result<std::string> architecture(int device) const;

  // After one of these, every later call on the GPU fails.
  static bool is_sticky(int code);
  static constexpr const char* kLostRemedy =
      "what this process had on the GPU is lost, and HIP does not give it a new start: restart the process";

  static DevicePointer address_of(const void* memory) { return const_cast<void*>(memory); }
  static void* memory_at(DevicePointer address) { return address; }

  explicit Driver(DynamicLibrary library) : path(library.path()), library_(std::move(library)) {}
  // The names of required functions that the library lacks.
  std::string find_calls() { return find_in(library_); }

 private:
  DynamicLibrary library_;
};

// The HIP of this process: WAVETILE_HIP_DRIVER, the one that is loaded already (PyTorch's), or the system's newest.
// Loaded once a path and never unloaded.
Result<Driver*> load_driver();

}  // namespace wt::hip
