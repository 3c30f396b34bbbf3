// SPDX-License-Identifier: Apache-2.0
// runtime/hip/device.h - AMD GPUs through HIP.
//
//   open_hip_device --> context.h + module.h behind gpu/device.h
//
// Pointers and streams are those of HIP's runtime, so PyTorch's are valid here. Streams made here order themselves with
// the default stream.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/device.h"

namespace wt {

Result<std::shared_ptr<Device>> open_hip_device(int index);

// The GPUs that open_hip_device accepts. `refused` gets a line for each that it does not, or the one reason why there
// is none.
std::vector<DeviceInfo> list_hip_devices(std::vector<std::string>* refused = nullptr);

}  // namespace wt
