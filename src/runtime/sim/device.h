// SPDX-License-Identifier: Apache-2.0
// runtime/sim/device.h - a simulated GPU as a device like any other: sim:sm_90a.
//
//   Device::load --dlopen--> kernel.so, bound to library_table()     Device::launch --> run_launch (engine.h)
#pragma once

#include <memory>
#include <vector>

#include "runtime/device.h"
#include "runtime/sim/options.h"

namespace wt {

// The simulated target whose device code and facts are those of `target`: its own where it has one.
Target simulated_as(Target target);

// With the options of the environment (WAVETILE_SIM_*), read now.
Result<std::shared_ptr<Device>> open_sim_device(Target target);
Result<std::shared_ptr<Device>> open_sim_device(Target target, const sim::Options& options);

std::vector<DeviceInfo> list_sim_devices();

}  // namespace wt
