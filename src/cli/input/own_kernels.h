// SPDX-License-Identifier: Apache-2.0
// cli/input/own_kernels.h - kernels that a user configured, on the command line: --kernel and --register.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dispatch/choice/registry.h"
#include "launch/device_info.h"

namespace wt::cli {

// What --register names, for the device; null where nothing was given.
Result<std::shared_ptr<const Registry>> read_registry(const DeviceInfo& device, const std::vector<std::string>& words);

// The same of --kernel FILE of commands that try several: files, with normal priority.
Result<std::shared_ptr<const Registry>> read_kernels(const DeviceInfo& device, const std::vector<std::string>& files);

// A kernel's name, or JSON of a config, as PlanOptions::kernel takes it. A word that ends in .json is a file of that.
Result<std::string> kernel_text(const std::string& word);

}  // namespace wt::cli
