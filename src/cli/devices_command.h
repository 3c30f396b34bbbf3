// SPDX-License-Identifier: Apache-2.0
// cli/devices_command.h - wavetile devices: what can run and compile here, and how to get what is missing.
#pragma once

namespace wt::cli {

struct DevicesOptions {
  bool json = false;
};

int run_devices(const DevicesOptions& options);

}  // namespace wt::cli
