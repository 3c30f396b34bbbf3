// SPDX-License-Identifier: Apache-2.0
// tests/fake_driver/cuda_abi.cc - runtime/cuda/driver.h against the toolkit's cuda.h, at compile time. Makes no code.
#define __CUDA_API_VERSION_INTERNAL  // WHY: else cuda.h renames the plain names to their newest version
#include <cuda.h>

#include "runtime/cuda/driver.h"
#include "tests/fake_driver/abi_shape.h"

namespace wt::cuda {
namespace {

using fake::same_shape;

#define SAME_SHAPE(member, function) \
  static_assert(same_shape(decltype(Driver::member)::Pointer{}, decltype(&::function){}), #function)
SAME_SHAPE(init, cuInit);
SAME_SHAPE(driver_get_version, cuDriverGetVersion);
SAME_SHAPE(get_error_name, cuGetErrorName);
SAME_SHAPE(get_error_string, cuGetErrorString);
SAME_SHAPE(device_get_count, cuDeviceGetCount);
SAME_SHAPE(device_get, cuDeviceGet);
SAME_SHAPE(device_get_name, cuDeviceGetName);
SAME_SHAPE(device_get_attribute, cuDeviceGetAttribute);
SAME_SHAPE(device_total_mem, cuDeviceTotalMem_v2);
SAME_SHAPE(primary_ctx_retain, cuDevicePrimaryCtxRetain);
SAME_SHAPE(primary_ctx_release, cuDevicePrimaryCtxRelease_v2);
SAME_SHAPE(ctx_get_current, cuCtxGetCurrent);
SAME_SHAPE(ctx_push_current, cuCtxPushCurrent_v2);
SAME_SHAPE(ctx_pop_current, cuCtxPopCurrent_v2);
SAME_SHAPE(ctx_synchronize, cuCtxSynchronize);
SAME_SHAPE(mem_get_info, cuMemGetInfo_v2);
SAME_SHAPE(mem_alloc, cuMemAlloc_v2);
SAME_SHAPE(mem_free, cuMemFree_v2);
SAME_SHAPE(memcpy_htod, cuMemcpyHtoD_v2);
SAME_SHAPE(memcpy_dtoh, cuMemcpyDtoH_v2);
SAME_SHAPE(memcpy_htod_async, cuMemcpyHtoDAsync_v2);
SAME_SHAPE(memcpy_dtoh_async, cuMemcpyDtoHAsync_v2);
SAME_SHAPE(stream_wait_event, cuStreamWaitEvent);
SAME_SHAPE(memset_d8_async, cuMemsetD8Async);
SAME_SHAPE(stream_create, cuStreamCreate);
SAME_SHAPE(stream_destroy, cuStreamDestroy_v2);
SAME_SHAPE(stream_synchronize, cuStreamSynchronize);
SAME_SHAPE(event_create, cuEventCreate);
SAME_SHAPE(event_destroy, cuEventDestroy_v2);
SAME_SHAPE(event_record, cuEventRecord);
SAME_SHAPE(event_synchronize, cuEventSynchronize);
SAME_SHAPE(event_elapsed_time, cuEventElapsedTime);
SAME_SHAPE(module_load_data, cuModuleLoadData);
SAME_SHAPE(module_unload, cuModuleUnload);
SAME_SHAPE(module_get_function, cuModuleGetFunction);
SAME_SHAPE(func_get_attribute, cuFuncGetAttribute);
SAME_SHAPE(func_set_attribute, cuFuncSetAttribute);
SAME_SHAPE(func_get_param_info, cuFuncGetParamInfo);
SAME_SHAPE(launch_kernel_ex, cuLaunchKernelEx);
SAME_SHAPE(occupancy_max_active_blocks, cuOccupancyMaxActiveBlocksPerMultiprocessor);
SAME_SHAPE(occupancy_max_active_clusters, cuOccupancyMaxActiveClusters);
SAME_SHAPE(tensor_map_encode_tiled, cuTensorMapEncodeTiled);
SAME_SHAPE(tensor_map_encode_im2col, cuTensorMapEncodeIm2col);
SAME_SHAPE(stream_begin_capture, cuStreamBeginCapture_v2);
SAME_SHAPE(stream_end_capture, cuStreamEndCapture);
SAME_SHAPE(stream_is_capturing, cuStreamIsCapturing);
SAME_SHAPE(thread_exchange_capture_mode, cuThreadExchangeStreamCaptureMode);
SAME_SHAPE(graph_instantiate, cuGraphInstantiateWithFlags);
SAME_SHAPE(graph_launch, cuGraphLaunch);
SAME_SHAPE(graph_exec_destroy, cuGraphExecDestroy);
SAME_SHAPE(graph_destroy, cuGraphDestroy);

#define SAME_VALUE(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs))
SAME_VALUE(kInvalidValue, CUDA_ERROR_INVALID_VALUE);
SAME_VALUE(kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME_VALUE(kStubLibrary, CUDA_ERROR_STUB_LIBRARY);
SAME_VALUE(kNoDevice, CUDA_ERROR_NO_DEVICE);
SAME_VALUE(kInvalidDevice, CUDA_ERROR_INVALID_DEVICE);
SAME_VALUE(kInvalidImage, CUDA_ERROR_INVALID_IMAGE);
SAME_VALUE(kInvalidContext, CUDA_ERROR_INVALID_CONTEXT);
SAME_VALUE(kNoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME_VALUE(kEccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE);
SAME_VALUE(kInvalidHandle, CUDA_ERROR_INVALID_HANDLE);
SAME_VALUE(kNotSupported, CUDA_ERROR_NOT_SUPPORTED);
SAME_VALUE(kNotFound, CUDA_ERROR_NOT_FOUND);
SAME_VALUE(kNotReady, CUDA_ERROR_NOT_READY);
SAME_VALUE(kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME_VALUE(kLaunchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
SAME_VALUE(kLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT);
SAME_VALUE(kContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
SAME_VALUE(kAssert, CUDA_ERROR_ASSERT);
SAME_VALUE(kHardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR);
SAME_VALUE(kIllegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION);
SAME_VALUE(kMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS);
SAME_VALUE(kInvalidAddressSpace, CUDA_ERROR_INVALID_ADDRESS_SPACE);
SAME_VALUE(kInvalidPc, CUDA_ERROR_INVALID_PC);
SAME_VALUE(kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
SAME_VALUE(kSystemDriverMismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
SAME_VALUE(kCompatNotSupported, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE);
SAME_VALUE(kStreamCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
SAME_VALUE(kStreamCaptureInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
SAME_VALUE(kStreamCaptureImplicit, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
SAME_VALUE(kCaptureRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
SAME_VALUE(kCaptureNone, CU_STREAM_CAPTURE_STATUS_NONE);
SAME_VALUE(kInvalidClusterSize, CUDA_ERROR_INVALID_CLUSTER_SIZE);
SAME_VALUE(kUnknown, CUDA_ERROR_UNKNOWN);
SAME_VALUE(kMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME_VALUE(kClockRate, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
SAME_VALUE(kMemoryClockRate, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
SAME_VALUE(kMemoryBusWidth, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
SAME_VALUE(kL2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME_VALUE(kComputeCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME_VALUE(kComputeCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME_VALUE(kMaxSharedMemoryPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME_VALUE(kSharedSizeBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME_VALUE(kMaxDynamicSharedSizeBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME_VALUE(kNonPortableClusterSizeAllowed, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
SAME_VALUE(kClusterDimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
SAME_VALUE(kProgrammaticStreamSerialization, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
SAME_VALUE(kMapU8, CU_TENSOR_MAP_DATA_TYPE_UINT8);
SAME_VALUE(kMapF16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
SAME_VALUE(kMapF32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
SAME_VALUE(kMapBf16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
SAME_VALUE(kMapTf32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32);
SAME_VALUE(kSwizzleNone, CU_TENSOR_MAP_SWIZZLE_NONE);
SAME_VALUE(kSwizzle32, CU_TENSOR_MAP_SWIZZLE_32B);
SAME_VALUE(kSwizzle64, CU_TENSOR_MAP_SWIZZLE_64B);
SAME_VALUE(kSwizzle128, CU_TENSOR_MAP_SWIZZLE_128B);
SAME_VALUE(kPromoteNone, CU_TENSOR_MAP_L2_PROMOTION_NONE);
SAME_VALUE(kPromote64, CU_TENSOR_MAP_L2_PROMOTION_L2_64B);
SAME_VALUE(kPromote128, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
SAME_VALUE(kPromote256, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
SAME_VALUE(0, CU_TENSOR_MAP_INTERLEAVE_NONE);
SAME_VALUE(0, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
SAME_VALUE(kStreamDefault, CU_STREAM_DEFAULT);
SAME_VALUE(kEventDefault, CU_EVENT_DEFAULT);
SAME_VALUE(kCaptureThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);

static_assert(sizeof(TensorMapBytes) == sizeof(CUtensorMap) && alignof(TensorMapBytes) >= alignof(CUtensorMap));
static_assert(sizeof(LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(LaunchAttribute, value) == offsetof(CUlaunchAttribute, value));
static_assert(sizeof(LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(LaunchConfig, grid_z) == offsetof(CUlaunchConfig, gridDimZ));
static_assert(offsetof(LaunchConfig, block_x) == offsetof(CUlaunchConfig, blockDimX));
static_assert(offsetof(LaunchConfig, shared_bytes) == offsetof(CUlaunchConfig, sharedMemBytes));
static_assert(offsetof(LaunchConfig, stream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(LaunchConfig, attributes) == offsetof(CUlaunchConfig, attrs));
static_assert(offsetof(LaunchConfig, attribute_count) == offsetof(CUlaunchConfig, numAttrs));

}  // namespace
}  // namespace wt::cuda
