// SPDX-License-Identifier: Apache-2.0
// cli/commands/devices.h - wavetile devices: what can run and compile here, and how to get what is missing.
#pragma once

#include <string>

namespace wt::cli {

struct DevicesOptions {
  std::string json;  // a file, "-" for standard output, or empty: not asked for
};

int run_devices(const DevicesOptions& options);

}  // namespace wt::cli
