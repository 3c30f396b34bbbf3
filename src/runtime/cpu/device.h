// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/device.h - the CPU as a device: host memory, calls that are done when they return, no kernels to launch.
#pragma once

#include <memory>

#include "runtime/device.h"

namespace wt {

std::shared_ptr<Device> open_cpu_device();
DeviceInfo cpu_device_info();

}  // namespace wt
