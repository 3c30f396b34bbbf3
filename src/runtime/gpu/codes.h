// SPDX-License-Identifier: Apache-2.0
// runtime/gpu/codes.h - error codes and constants that CUDA and HIP number alike. tests/fake_driver/cuda_abi.cc and
// hip_abi.cc compare them with both vendors' headers.
#pragma once

namespace wt::gpu {

// Codes of CUresult and of hipError_t. Codes that are not here are only named and passed on.
enum ErrorCode : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kEccUncorrectable = 214,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeout = 702,
  kContextIsDestroyed = 709,
  kAssert = 710,
  kLaunchFailed = 719,
  kNotSupported = 801,
  kStreamCaptureUnsupported = 900,
  kStreamCaptureInvalidated = 901,
  kStreamCaptureImplicit = 906,
  kUnknown = 999,
};

inline constexpr unsigned kStreamDefault = 0;  // orders itself with the default stream
inline constexpr unsigned kEventDefault = 0;   // with timing
inline constexpr int kCaptureThreadLocal = 1;
inline constexpr int kCaptureRelaxed = 2;
inline constexpr int kCaptureNone = 0;      // status of a stream
inline constexpr int kSharedSizeBytes = 1;  // attribute of a function: static shared memory

}  // namespace wt::gpu
