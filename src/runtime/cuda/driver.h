// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/driver.h - the CUDA driver API, loaded at run time: own declarations of what is used, no SDK header.
//
//   libcuda.so.1 --load_driver--> Driver (a table of functions) --> context.h, device.h
//
// WHY: symbols are looked up under their versioned names (cuMemAlloc_v2), which fix the signature for good, so a newer
// driver cannot hand out another version. tests/fake_driver/abi.cc compares every declaration with cuda.h where
// the toolkit is installed. WAVETILE_CUDA_DRIVER names another library, such as the tests' fake driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/dynamic_library.h"
#include "base/status.h"

namespace wt::cuda {

// CUresult values that are told apart; every other one is only named and passed on.
enum ErrorCode : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kStubLibrary = 34,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kEccUncorrectable = 214,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeout = 702,
  kContextIsDestroyed = 709,
  kAssert = 710,
  kHardwareStackError = 714,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kInvalidAddressSpace = 717,
  kInvalidPc = 718,
  kLaunchFailed = 719,
  kSystemDriverMismatch = 803,
  kCompatNotSupported = 804,
  kStreamCaptureUnsupported = 900,
  kStreamCaptureInvalidated = 901,
  kStreamCaptureImplicit = 906,
  kInvalidClusterSize = 912,
  kUnknown = 999,
};

// After one of these, every later call on the context fails with the same code.
bool is_sticky(int code);

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
  kMultiprocessorCount = 16,
  kL2CacheSize = 38,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kMaxSharedMemoryPerBlockOptin = 97,
};

enum FunctionAttribute : int {
  kSharedSizeBytes = 1,
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

inline constexpr unsigned kStreamDefault = 0;  // orders itself with the legacy stream
inline constexpr unsigned kEventDefault = 0;   // with timing
inline constexpr int kCaptureThreadLocal = 1;
inline constexpr int kCaptureRelaxed = 2;
inline constexpr int kCaptureNone = 0;  // status of a stream

struct Driver {
  std::string path;  // of the library
  int version = 0;   // 13000 for 13.0; known after initialize()

  int (*init)(unsigned flags);
  int (*driver_get_version)(int* version);
  int (*get_error_name)(int error, const char** name);
  int (*get_error_string)(int error, const char** text);

  int (*device_get_count)(int* count);
  int (*device_get)(DeviceOrdinal* device, int index);
  int (*device_get_name)(char* name, int length, DeviceOrdinal device);
  int (*device_get_attribute)(int* value, int attribute, DeviceOrdinal device);
  int (*device_total_mem)(size_t* bytes, DeviceOrdinal device);
  int (*primary_ctx_retain)(ContextHandle* context, DeviceOrdinal device);
  int (*primary_ctx_release)(DeviceOrdinal device);
  int (*ctx_get_current)(ContextHandle* context);
  int (*ctx_push_current)(ContextHandle context);
  int (*ctx_pop_current)(ContextHandle* context);
  int (*ctx_synchronize)();

  int (*mem_get_info)(size_t* free, size_t* total);
  int (*mem_alloc)(DevicePointer* memory, size_t bytes);
  int (*mem_free)(DevicePointer memory);
  int (*memcpy_htod)(DevicePointer to, const void* from, size_t bytes);
  int (*memcpy_dtoh)(void* to, DevicePointer from, size_t bytes);
  int (*memset_d8_async)(DevicePointer memory, unsigned char value, size_t count, StreamHandle stream);

  int (*stream_create)(StreamHandle* stream, unsigned flags);
  int (*stream_destroy)(StreamHandle stream);
  int (*stream_synchronize)(StreamHandle stream);
  int (*event_create)(EventHandle* event, unsigned flags);
  int (*event_destroy)(EventHandle event);
  int (*event_record)(EventHandle event, StreamHandle stream);
  int (*event_synchronize)(EventHandle event);
  int (*event_elapsed_time)(float* milliseconds, EventHandle start, EventHandle stop);

  int (*module_load_data)(ModuleHandle* module, const void* image);
  int (*module_unload)(ModuleHandle module);
  int (*module_get_function)(FunctionHandle* function, ModuleHandle module, const char* name);
  int (*func_get_attribute)(int* value, int attribute, FunctionHandle function);
  int (*func_set_attribute)(FunctionHandle function, int attribute, int value);
  int (*func_get_param_info)(FunctionHandle function, size_t index, size_t* offset, size_t* size);  // null before 12.4
  int (*launch_kernel_ex)(const LaunchConfig* config, FunctionHandle function, void** parameters, void** extra);
  int (*occupancy_max_active_blocks)(int* blocks, FunctionHandle function, int threads, size_t shared_bytes);
  int (*occupancy_max_active_clusters)(int* clusters, FunctionHandle function, const LaunchConfig* config);

  int (*tensor_map_encode_tiled)(TensorMapBytes* map, int type, unsigned rank, void* base, const uint64_t* sizes,
                                 const uint64_t* strides, const uint32_t* box, const uint32_t* element_strides,
                                 int interleave, int swizzle, int promotion, int fill);
  int (*tensor_map_encode_im2col)(TensorMapBytes* map, int type, unsigned rank, void* base, const uint64_t* sizes,
                                  const uint64_t* strides, const int* lower, const int* upper, uint32_t channels,
                                  uint32_t pixels, const uint32_t* element_strides, int interleave, int swizzle,
                                  int promotion, int fill);

  int (*stream_begin_capture)(StreamHandle stream, int mode);
  int (*stream_end_capture)(StreamHandle stream, GraphHandle* graph);
  int (*stream_is_capturing)(StreamHandle stream, int* status);
  int (*thread_exchange_capture_mode)(int* mode);
  int (*graph_instantiate)(GraphExecHandle* exec, GraphHandle graph, unsigned long long flags);
  int (*graph_launch)(GraphExecHandle exec, StreamHandle stream);
  int (*graph_exec_destroy)(GraphExecHandle exec);
  int (*graph_destroy)(GraphHandle graph);

  // "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory", in the driver's own words.
  std::string describe(int code) const;

  // cuInit and the version check. Cheap when done before; says what to do where it fails.
  Status initialize();

  explicit Driver(DynamicLibrary library) : path(library.path()), library_(std::move(library)) {}
  void* find(const char* symbol) const { return library_.find(symbol); }  // null when absent

 private:
  DynamicLibrary library_;
};

// The driver of this process: WAVETILE_CUDA_DRIVER, or the system's. Loaded once a path and never unloaded.
Result<Driver*> load_driver();

}  // namespace wt::cuda
