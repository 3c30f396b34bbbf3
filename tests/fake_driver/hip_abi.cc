// SPDX-License-Identifier: Apache-2.0
// tests/fake_driver/hip_abi.cc - runtime/hip/driver.h against HIP's own header, at compile time. Makes no code.
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>

#include "runtime/hip/driver.h"
#include "tests/fake_driver/abi_shape.h"

namespace wt::hip {
namespace {

using fake::same_shape;

// WHY a cast picks the C function: the header overloads some names with templates.
#define SAME_SHAPE(member, function, ...)                                                                            \
  static_assert(                                                                                                     \
      same_shape(decltype(Driver::member)::Pointer{}, static_cast<hipError_t (*)(__VA_ARGS__)>(nullptr))&& noexcept( \
          static_cast<hipError_t (*)(__VA_ARGS__)>(&::function)),                                                    \
      #function)
SAME_SHAPE(init, hipInit, unsigned);
SAME_SHAPE(driver_get_version, hipDriverGetVersion, int*);
SAME_SHAPE(device_get_count, hipGetDeviceCount, int*);
SAME_SHAPE(device_get, hipDeviceGet, hipDevice_t*, int);
SAME_SHAPE(device_get_name, hipDeviceGetName, char*, int, hipDevice_t);
SAME_SHAPE(device_get_attribute, hipDeviceGetAttribute, int*, hipDeviceAttribute_t, int);
SAME_SHAPE(device_total_mem, hipDeviceTotalMem, size_t*, hipDevice_t);
SAME_SHAPE(properties_r0000, hipGetDeviceProperties, hipDeviceProp_t*, int);
SAME_SHAPE(get_device, hipGetDevice, int*);
SAME_SHAPE(set_device, hipSetDevice, int);
SAME_SHAPE(mem_get_info, hipMemGetInfo, size_t*, size_t*);
SAME_SHAPE(mem_alloc, hipMalloc, void**, size_t);
SAME_SHAPE(mem_free, hipFree, void*);
SAME_SHAPE(memcpy_dtoh, hipMemcpyDtoH, void*, hipDeviceptr_t, size_t);
SAME_SHAPE(memcpy_dtoh_async, hipMemcpyDtoHAsync, void*, hipDeviceptr_t, size_t, hipStream_t);
SAME_SHAPE(stream_wait_event, hipStreamWaitEvent, hipStream_t, hipEvent_t, unsigned);
SAME_SHAPE(memset_d8_async, hipMemsetD8Async, hipDeviceptr_t, unsigned char, size_t, hipStream_t);
SAME_SHAPE(stream_create, hipStreamCreateWithFlags, hipStream_t*, unsigned);
SAME_SHAPE(stream_destroy, hipStreamDestroy, hipStream_t);
SAME_SHAPE(stream_synchronize, hipStreamSynchronize, hipStream_t);
SAME_SHAPE(event_create, hipEventCreateWithFlags, hipEvent_t*, unsigned);
SAME_SHAPE(event_destroy, hipEventDestroy, hipEvent_t);
SAME_SHAPE(event_record, hipEventRecord, hipEvent_t, hipStream_t);
SAME_SHAPE(event_synchronize, hipEventSynchronize, hipEvent_t);
SAME_SHAPE(event_elapsed_time, hipEventElapsedTime, float*, hipEvent_t, hipEvent_t);
SAME_SHAPE(module_load_data, hipModuleLoadData, hipModule_t*, const void*);
SAME_SHAPE(module_unload, hipModuleUnload, hipModule_t);
SAME_SHAPE(module_get_function, hipModuleGetFunction, hipFunction_t*, hipModule_t, const char*);
SAME_SHAPE(func_get_attribute, hipFuncGetAttribute, int*, hipFunction_attribute, hipFunction_t);
SAME_SHAPE(launch_kernel, hipModuleLaunchKernel, hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned,
           unsigned, unsigned, hipStream_t, void**, void**);
SAME_SHAPE(occupancy_max_active_blocks, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, int*, hipFunction_t, int,
           size_t);
SAME_SHAPE(stream_begin_capture, hipStreamBeginCapture, hipStream_t, hipStreamCaptureMode);
SAME_SHAPE(stream_end_capture, hipStreamEndCapture, hipStream_t, hipGraph_t*);
SAME_SHAPE(stream_is_capturing, hipStreamIsCapturing, hipStream_t, hipStreamCaptureStatus*);
SAME_SHAPE(thread_exchange_capture_mode, hipThreadExchangeStreamCaptureMode, hipStreamCaptureMode*);
SAME_SHAPE(graph_instantiate, hipGraphInstantiateWithFlags, hipGraphExec_t*, hipGraph_t, unsigned long long);
SAME_SHAPE(graph_launch, hipGraphLaunch, hipGraphExec_t, hipStream_t);
SAME_SHAPE(graph_exec_destroy, hipGraphExecDestroy, hipGraphExec_t);
SAME_SHAPE(graph_destroy, hipGraphDestroy, hipGraph_t);
// The source of a copy became const in HIP 6.
static_assert(same_shape(decltype(Driver::memcpy_htod)::Pointer{}, decltype(&::hipMemcpyHtoD){}));
static_assert(same_shape(decltype(Driver::memcpy_htod_async)::Pointer{}, decltype(&::hipMemcpyHtoDAsync){}));
static_assert(same_shape(decltype(Driver::get_error_name)::Pointer{}, decltype(&::hipGetErrorName){}));
static_assert(same_shape(decltype(Driver::get_error_string)::Pointer{}, decltype(&::hipGetErrorString){}));

#define SAME_VALUE(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs))
SAME_VALUE(kSuccess, hipSuccess);
SAME_VALUE(kInvalidValue, hipErrorInvalidValue);
SAME_VALUE(kOutOfMemory, hipErrorOutOfMemory);
SAME_VALUE(kNoDevice, hipErrorNoDevice);
SAME_VALUE(kInvalidDevice, hipErrorInvalidDevice);
SAME_VALUE(kInvalidImage, hipErrorInvalidImage);
SAME_VALUE(kInvalidContext, hipErrorInvalidContext);
SAME_VALUE(kNoBinaryForGpu, hipErrorNoBinaryForGpu);
SAME_VALUE(kEccUncorrectable, hipErrorECCNotCorrectable);
SAME_VALUE(kInvalidHandle, hipErrorInvalidHandle);
SAME_VALUE(kNotFound, hipErrorNotFound);
SAME_VALUE(kNotReady, hipErrorNotReady);
SAME_VALUE(kIllegalAddress, hipErrorIllegalAddress);
SAME_VALUE(kLaunchOutOfResources, hipErrorLaunchOutOfResources);
SAME_VALUE(kLaunchTimeout, hipErrorLaunchTimeOut);
SAME_VALUE(kContextIsDestroyed, hipErrorContextIsDestroyed);
SAME_VALUE(kAssert, hipErrorAssert);
SAME_VALUE(kLaunchFailed, hipErrorLaunchFailure);
SAME_VALUE(kNotSupported, hipErrorNotSupported);
SAME_VALUE(kStreamCaptureUnsupported, hipErrorStreamCaptureUnsupported);
SAME_VALUE(kStreamCaptureInvalidated, hipErrorStreamCaptureInvalidated);
SAME_VALUE(kStreamCaptureImplicit, hipErrorStreamCaptureImplicit);
SAME_VALUE(kUnknown, hipErrorUnknown);
SAME_VALUE(kStreamDefault, hipStreamDefault);
SAME_VALUE(kEventDefault, hipEventDefault);
SAME_VALUE(kCaptureThreadLocal, hipStreamCaptureModeThreadLocal);
SAME_VALUE(kCaptureRelaxed, hipStreamCaptureModeRelaxed);
SAME_VALUE(kCaptureNone, hipStreamCaptureStatusNone);
SAME_VALUE(kSharedSizeBytes, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME_VALUE(kL2CacheSize, hipDeviceAttributeL2CacheSize);
SAME_VALUE(kMultiprocessorCount, hipDeviceAttributeMultiprocessorCount);
SAME_VALUE(kMaxSharedMemoryPerBlock, hipDeviceAttributeMaxSharedMemoryPerBlock);

// HIP 6's header gives hipDeviceProp_t its new layout.
constexpr PropertiesLayout kProperties = HIP_VERSION_MAJOR >= 6 ? kPropertiesR0600 : kPropertiesR0000;
static_assert(offsetof(hipDeviceProp_t, gcnArchName) == kProperties.architecture);
static_assert(sizeof(hipDeviceProp_t) <= kPropertiesRoom);
static_assert(sizeof(hipDeviceProp_t::gcnArchName) == kArchitectureRoom);

}  // namespace
}  // namespace wt::hip
