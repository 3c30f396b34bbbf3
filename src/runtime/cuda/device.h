// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/device.h - NVIDIA GPUs through the CUDA driver.
//
//   open_cuda_device --> context.h (primary context) + module.h, tensor_map.h behind gpu/device.h
//
// The primary context is the one that PyTorch and the CUDA runtime use, so pointers and streams of theirs are valid
// here. Streams made here order themselves with the legacy default stream.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/device.h"

namespace wt {

Result<std::shared_ptr<Device>> open_cuda_device(int index);

// The GPUs that open_cuda_device accepts. `refused` gets a line for each that it does not, or the one reason why
// there is none.
std::vector<DeviceInfo> list_cuda_devices(std::vector<std::string>* refused = nullptr);

// Makes the GPU's context current on this thread while it lives, for libraries that use the current one (cuDNN).
class CurrentContext {
 public:
  explicit CurrentContext(const Device& device);
  ~CurrentContext();
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
  const Status& status() const { return status_; }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  Status status_;
};

}  // namespace wt
