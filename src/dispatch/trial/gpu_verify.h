// SPDX-License-Identifier: Apache-2.0
// dispatch/trial/gpu_verify.h - is an output right? As problem/verify.h, with the reference computed on the device.
//
//   inputs on the device --naive kernel, double--> sums --> DeviceReference --compare(output)--> VerifyReport
//
// For problems whose reference takes the host too long. Tensors stay on the device: only the sums of the compared
// elements and the output's values there are copied. Every element is looked at for NaN and poison, and amax is
// checked, as on the host. Works on a GPU and on a simulated one.
#pragma once

#include <memory>
#include <vector>

#include "dispatch/plan/plan.h"
#include "problem/verify.h"
#include "runtime/device.h"

namespace wt {

struct DeviceVerifyOptions {
  ErrorModel model;
  int64_t work_limit = int64_t{1} << 36;   // multiply-adds of the reference, on the device
  int64_t whole_limit = int64_t{1} << 22;  // elements; a larger output is sampled as problem/verify.h does
  uint64_t seed = 1;                       // of the sample
  int max_reported = 5;
};

// The reference of one problem over one set of inputs; outputs of several kernels may be compared with it.
class DeviceReference {
 public:
  // Reads x, w, y as the direction needs them, scale, bias and residual. Residual may be the output itself, so make
  // this before the kernel runs. Waits for the device.
  static Result<std::unique_ptr<DeviceReference>> make(std::shared_ptr<Device> device, const ConvProblem& problem,
                                                       const TensorPointers& tensors,
                                                       const DeviceVerifyOptions& options = {});
  virtual ~DeviceReference() = default;

  // Bounds for the direction's output (and amax) in `tensors`, which must be complete. The model may differ by kernel
  // (splits).
  virtual Result<VerifyReport> compare(const TensorPointers& tensors, const ErrorModel& model) = 0;

  virtual int64_t compared_elements() const = 0;
};

}  // namespace wt
