// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/driver.h - the CUDA driver API, loaded at run time: own declarations of what is used, no SDK header.
//
//   libcuda.so.1 --load_driver--> Driver (a table of functions) --> context.h, device.h
//
// WHY: symbols are looked up under their versioned names (cuMemAlloc_v2), which fix the signature for good, so a newer
// driver cannot hand out another version. tests/fake_driver/cuda_abi.cc compares every declaration with cuda.h where
// the toolkit is installed. WAVETILE_CUDA_DRIVER names another library, such as the tests' fake driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "runtime/gpu/call.h"
#include "runtime/gpu/codes.h"

namespace wt::cuda {

using namespace gpu;  // codes.h: the error codes that HIP has too

enum CudaErrorCode : int {
  kStubLibrary = 34,
  kHardwareStackError = 714,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kInvalidAddressSpace = 717,
  kInvalidPc = 718,
  kSystemDriverMismatch = 803,
  kCompatNotSupported = 804,
  kInvalidClusterSize = 912,
};

using DeviceOrdinal = int;
using DevicePointer = unsigned long long;
using ContextHandle = struct CUctx_st*;
using ModuleHandle = struct CUmod_st*;
using FunctionHandle = struct CUfunc_st*;
using StreamHandle = struct CUstream_st*;
using EventHandle = struct CUevent_st*;
using GraphHandle = struct CUgraph_st*;
using GraphExecHandle = struct CUgraphExec_st*;

enum DeviceAttribute : int {
  kClockRate = 13,  // kHz
  kMultiprocessorCount = 16,
  kMemoryClockRate = 36,  // kHz
  kMemoryBusWidth = 37,   // bits
  kL2CacheSize = 38,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kMaxSharedMemoryPerBlockOptin = 97,
};

enum FunctionAttribute : int {
  kMaxDynamicSharedSizeBytes = 8,
  kNonPortableClusterSizeAllowed = 14,
};

enum LaunchAttributeId : int { kClusterDimension = 4, kProgrammaticStreamSerialization = 6 };

struct LaunchAttribute {
  int id;
  char padding[4];
  union Value {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } cluster;
    int programmatic;
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72);

struct LaunchConfig {
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
  unsigned shared_bytes;
  StreamHandle stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};
static_assert(sizeof(LaunchConfig) == 56);

enum TensorMapDataType : int { kMapU8 = 0, kMapF16 = 6, kMapF32 = 7, kMapBf16 = 9, kMapTf32 = 11 };
enum TensorMapSwizzle : int { kSwizzleNone, kSwizzle32, kSwizzle64, kSwizzle128 };
enum TensorMapPromotion : int { kPromoteNone, kPromote64, kPromote128, kPromote256 };
struct alignas(128) TensorMapBytes {  // CUDA 12 asks for 64 bytes, CUDA 13 for 128
  uint64_t opaque[16];
};

struct Driver : CallTable {
  using DevicePointer = cuda::DevicePointer;
  using ModuleHandle = cuda::ModuleHandle;
  using FunctionHandle = cuda::FunctionHandle;
  using StreamHandle = cuda::StreamHandle;
  using EventHandle = cuda::EventHandle;
  using GraphHandle = cuda::GraphHandle;
  using GraphExecHandle = cuda::GraphExecHandle;

  std::string path;  // of the library
  int version = 0;   // 13000 for 13.0; known after initialize()

  Call<int(unsigned flags)> init{this, "cuInit"};
  Call<int(int* version)> driver_get_version{this, "cuDriverGetVersion"};
  Call<int(int error, const char** name)> get_error_name{this, "cuGetErrorName"};
  Call<int(int error, const char** text)> get_error_string{this, "cuGetErrorString"};

  Call<int(int* count)> device_get_count{this, "cuDeviceGetCount"};
  Call<int(DeviceOrdinal* device, int index)> device_get{this, "cuDeviceGet"};
  Call<int(char* name, int length, DeviceOrdinal device)> device_get_name{this, "cuDeviceGetName"};
  Call<int(int* value, int attribute, DeviceOrdinal device)> device_get_attribute{this, "cuDeviceGetAttribute"};
  Call<int(size_t* bytes, DeviceOrdinal device)> device_total_mem{this, "cuDeviceTotalMem_v2"};
  Call<int(ContextHandle* context, DeviceOrdinal device)> primary_ctx_retain{this, "cuDevicePrimaryCtxRetain"};
  Call<int(DeviceOrdinal device)> primary_ctx_release{this, "cuDevicePrimaryCtxRelease_v2"};
  Call<int(ContextHandle* context)> ctx_get_current{this, "cuCtxGetCurrent"};
  Call<int(ContextHandle context)> ctx_push_current{this, "cuCtxPushCurrent_v2"};
  Call<int(ContextHandle* context)> ctx_pop_current{this, "cuCtxPopCurrent_v2"};
  Call<int()> ctx_synchronize{this, "cuCtxSynchronize"};

  Call<int(size_t* free, size_t* total)> mem_get_info{this, "cuMemGetInfo_v2"};
  Call<int(DevicePointer* memory, size_t bytes)> mem_alloc{this, "cuMemAlloc_v2"};
  Call<int(DevicePointer memory)> mem_free{this, "cuMemFree_v2"};
  Call<int(DevicePointer to, const void* from, size_t bytes)> memcpy_htod{this, "cuMemcpyHtoD_v2"};
  Call<int(void* to, DevicePointer from, size_t bytes)> memcpy_dtoh{this, "cuMemcpyDtoH_v2"};
  Call<int(DevicePointer to, const void* from, size_t bytes, StreamHandle stream)> memcpy_htod_async{
      this, "cuMemcpyHtoDAsync_v2"};
  Call<int(void* to, DevicePointer from, size_t bytes, StreamHandle stream)> memcpy_dtoh_async{this,
                                                                                               "cuMemcpyDtoHAsync_v2"};
  Call<int(DevicePointer memory, unsigned char value, size_t count, StreamHandle stream)> memset_d8_async{
      this, "cuMemsetD8Async"};

  Call<int(StreamHandle* stream, unsigned flags)> stream_create{this, "cuStreamCreate"};
  Call<int(StreamHandle stream)> stream_destroy{this, "cuStreamDestroy_v2"};
  Call<int(StreamHandle stream)> stream_synchronize{this, "cuStreamSynchronize"};
  Call<int(StreamHandle stream, EventHandle event, unsigned flags)> stream_wait_event{this, "cuStreamWaitEvent"};
  Call<int(EventHandle* event, unsigned flags)> event_create{this, "cuEventCreate"};
  Call<int(EventHandle event)> event_destroy{this, "cuEventDestroy_v2"};
  Call<int(EventHandle event, StreamHandle stream)> event_record{this, "cuEventRecord"};
  Call<int(EventHandle event)> event_synchronize{this, "cuEventSynchronize"};
  Call<int(float* milliseconds, EventHandle start, EventHandle stop)> event_elapsed_time{this, "cuEventElapsedTime"};

  Call<int(ModuleHandle* module, const void* image)> module_load_data{this, "cuModuleLoadData"};
  Call<int(ModuleHandle module)> module_unload{this, "cuModuleUnload"};
  Call<int(FunctionHandle* function, ModuleHandle module, const char* name)> module_get_function{this,
                                                                                                 "cuModuleGetFunction"};
  Call<int(int* value, int attribute, FunctionHandle function)> func_get_attribute{this, "cuFuncGetAttribute"};
  Call<int(FunctionHandle function, int attribute, int value)> func_set_attribute{this, "cuFuncSetAttribute"};
  Call<int(FunctionHandle function, size_t index, size_t* offset, size_t* size)> func_get_param_info{
      this, "cuFuncGetParamInfo", Presence::kOptional};  // null before 12.4
  Call<int(const LaunchConfig* config, FunctionHandle function, void** parameters, void** extra)> launch_kernel_ex{
      this, "cuLaunchKernelEx"};
  Call<int(int* blocks, FunctionHandle function, int threads, size_t shared_bytes)> occupancy_max_active_blocks{
      this, "cuOccupancyMaxActiveBlocksPerMultiprocessor"};
  Call<int(int* clusters, FunctionHandle function, const LaunchConfig* config)> occupancy_max_active_clusters{
      this, "cuOccupancyMaxActiveClusters"};

  Call<int(TensorMapBytes* map, int type, unsigned rank, void* base, const uint64_t* sizes, const uint64_t* strides,
           const uint32_t* box, const uint32_t* element_strides, int interleave, int swizzle, int promotion, int fill)>
      tensor_map_encode_tiled{this, "cuTensorMapEncodeTiled"};
  Call<int(TensorMapBytes* map, int type, unsigned rank, void* base, const uint64_t* sizes, const uint64_t* strides,
           const int* lower, const int* upper, uint32_t channels, uint32_t pixels, const uint32_t* element_strides,
           int interleave, int swizzle, int promotion, int fill)>
      tensor_map_encode_im2col{this, "cuTensorMapEncodeIm2col"};

  Call<int(StreamHandle stream, int mode)> stream_begin_capture{this, "cuStreamBeginCapture_v2"};
  Call<int(StreamHandle stream, GraphHandle* graph)> stream_end_capture{this, "cuStreamEndCapture"};
  Call<int(StreamHandle stream, int* status)> stream_is_capturing{this, "cuStreamIsCapturing"};
  Call<int(int* mode)> thread_exchange_capture_mode{this, "cuThreadExchangeStreamCaptureMode"};
  Call<int(GraphExecHandle* exec, GraphHandle graph, unsigned long long flags)> graph_instantiate{
      this, "cuGraphInstantiateWithFlags"};
  Call<int(GraphExecHandle exec, StreamHandle stream)> graph_launch{this, "cuGraphLaunch"};
  Call<int(GraphExecHandle exec)> graph_exec_destroy{this, "cuGraphExecDestroy"};
  Call<int(GraphHandle graph)> graph_destroy{this, "cuGraphDestroy"};

  // "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory", in the driver's own words.
  std::string describe(int code) const;

  // cuInit and the version check. Cheap when done before; says what to do where it fails.
  Status initialize();

  // After one of these, every later call on the context fails with the same code.
  static bool is_sticky(int code);
  static constexpr const char* kLostRemedy =
      "the CUDA context of this process is lost: drop every plan, module and device on it and open the device again, "
      "or restart the process where another library holds the context too";

  static DevicePointer address_of(const void* memory) { return reinterpret_cast<uintptr_t>(memory); }
  static void* memory_at(DevicePointer address) { return reinterpret_cast<void*>(static_cast<uintptr_t>(address)); }

  explicit Driver(DynamicLibrary library) : path(library.path()), library_(std::move(library)) {}
  // The names of required functions that the library lacks.
  std::string find_calls() { return find_in(library_); }

 private:
  DynamicLibrary library_;
};

// The driver of this process: WAVETILE_CUDA_DRIVER, or the system's. Loaded once a path and never unloaded.
Result<Driver*> load_driver();

}  // namespace wt::cuda
