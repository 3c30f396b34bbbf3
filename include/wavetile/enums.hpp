// SPDX-License-Identifier: Apache-2.0
// wavetile/enums.hpp - the C API's enumerations as scoped ones, and its structs by shorter names.
#pragma once

#include <wavetile/wavetile.h>

#include <cstdint>

namespace wavetile {

enum class Direction : int32_t {
  kForward = WAVETILE_FORWARD,
  kBackwardData = WAVETILE_BACKWARD_DATA,
  kBackwardWeight = WAVETILE_BACKWARD_WEIGHT,
};
enum class Type : int32_t {
  kF32 = WAVETILE_F32,
  kTf32 = WAVETILE_TF32,
  kF16 = WAVETILE_F16,
  kBf16 = WAVETILE_BF16,
  kE4m3 = WAVETILE_E4M3,
  kE5m2 = WAVETILE_E5M2,
  kE2m1 = WAVETILE_E2M1,
  kUe8m0 = WAVETILE_UE8M0,
  kUe4m3 = WAVETILE_UE4M3,
  kInt8 = WAVETILE_INT8,
};
enum class Scales : int32_t { kNone = WAVETILE_SCALES_NONE, kMx = WAVETILE_SCALES_MX, kNv = WAVETILE_SCALES_NV };
enum class Layout : int32_t { kChannelsLast = WAVETILE_CHANNELS_LAST, kChannelsFirst = WAVETILE_CHANNELS_FIRST };
enum class Activation : int32_t {
  kNone = WAVETILE_ACTIVATION_NONE,
  kRelu = WAVETILE_ACTIVATION_RELU,
  kLeakyRelu = WAVETILE_ACTIVATION_LEAKY_RELU,
  kClamp = WAVETILE_ACTIVATION_CLAMP,
  kSilu = WAVETILE_ACTIVATION_SILU,
  kGelu = WAVETILE_ACTIVATION_GELU,
  kSigmoid = WAVETILE_ACTIVATION_SIGMOID,
  kTanh = WAVETILE_ACTIVATION_TANH,
  kHardswish = WAVETILE_ACTIVATION_HARDSWISH,
  kHardsigmoid = WAVETILE_ACTIVATION_HARDSIGMOID,
  kElu = WAVETILE_ACTIVATION_ELU,
  kSoftplus = WAVETILE_ACTIVATION_SOFTPLUS,
  kMish = WAVETILE_ACTIVATION_MISH,
  kGeluTanh = WAVETILE_ACTIVATION_GELU_TANH,
};
enum class Padding : int32_t {
  kExplicit = WAVETILE_PADDING_EXPLICIT,
  kSame = WAVETILE_PADDING_SAME,
  kValid = WAVETILE_PADDING_VALID,
  kCausal = WAVETILE_PADDING_CAUSAL,
};
enum class BiasGradientOf : int32_t {
  kNone = WAVETILE_BIAS_GRADIENT_NONE,
  kY = WAVETILE_BIAS_GRADIENT_OF_Y,
  kX = WAVETILE_BIAS_GRADIENT_OF_X,
};
enum class Tuning : int32_t {
  kOff = WAVETILE_TUNING_OFF,
  kCached = WAVETILE_TUNING_CACHED,
  kFirstUse = WAVETILE_TUNING_FIRST_USE,
};
enum class GemmForm : int32_t { kNt = WAVETILE_GEMM_NT, kNn = WAVETILE_GEMM_NN, kTn = WAVETILE_GEMM_TN };
enum class Role : int32_t {
  kX = WAVETILE_ROLE_X,
  kW = WAVETILE_ROLE_W,
  kY = WAVETILE_ROLE_Y,
  kScale = WAVETILE_ROLE_SCALE,
  kBias = WAVETILE_ROLE_BIAS,
  kResidual = WAVETILE_ROLE_RESIDUAL,
  kAmax = WAVETILE_ROLE_AMAX,
  kBiasGradient = WAVETILE_ROLE_BIAS_GRADIENT,
  kHistory = WAVETILE_ROLE_HISTORY,
  kNewHistory = WAVETILE_ROLE_NEW_HISTORY,
  kAux0 = WAVETILE_ROLE_AUX0,
  kAux1 = WAVETILE_ROLE_AUX1,
  kAux2 = WAVETILE_ROLE_AUX2,
  kAux3 = WAVETILE_ROLE_AUX3,
  kXScales = WAVETILE_ROLE_X_SCALES,
  kWScales = WAVETILE_ROLE_W_SCALES,
  kTransposedInput = WAVETILE_ROLE_TRANSPOSED_INPUT,
  kTransposedOutput = WAVETILE_ROLE_TRANSPOSED_OUTPUT,
};

enum class Use : int32_t { kUnused = WAVETILE_UNUSED, kRead = WAVETILE_READ, kWritten = WAVETILE_WRITTEN };
enum class Format : int32_t { kText = WAVETILE_FORMAT_TEXT, kJson = WAVETILE_FORMAT_JSON };
enum class Fill : int32_t {
  kRandom = WAVETILE_FILL_RANDOM,
  kExact = WAVETILE_FILL_EXACT,
  kZero = WAVETILE_FILL_ZERO,
};
enum class DeviceKind : int32_t {
  kCpu = WAVETILE_DEVICE_CPU,
  kGpu = WAVETILE_DEVICE_GPU,
  kSimulator = WAVETILE_DEVICE_SIMULATOR,
  kHip = WAVETILE_DEVICE_HIP,
};
enum class Part : int32_t {  // of a machine, that may be there or not
  kCudaDriver = WAVETILE_CAPABILITY_CUDA_DRIVER,
  kNvrtc = WAVETILE_CAPABILITY_NVRTC,
  kHostCompiler = WAVETILE_CAPABILITY_HOST_COMPILER,
  kClangAmd = WAVETILE_CAPABILITY_CLANG_AMD,
  kOnednn = WAVETILE_CAPABILITY_ONEDNN,
  kHip = WAVETILE_CAPABILITY_HIP,
};
enum class LogLevel : int32_t {
  kTrace = WAVETILE_LOG_TRACE,
  kDebug = WAVETILE_LOG_DEBUG,
  kInfo = WAVETILE_LOG_INFO,
  kWarn = WAVETILE_LOG_WARN,
  kError = WAVETILE_LOG_ERROR,
  kOff = WAVETILE_LOG_OFF,
};

using DeviceInfo = wavetile_device_info;
using PlanInfo = wavetile_plan_info;
using Timing = wavetile_timing;
using TensorInfo = wavetile_tensor_info;
using VerifyReport = wavetile_verify_report;

}  // namespace wavetile
