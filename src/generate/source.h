// SPDX-License-Identifier: Apache-2.0
// generate/source.h - a config to the source text of its kernel: one extern "C" entry over a class template.
#pragma once

#include <string>

#include "base/status.h"
#include "config/kernel_config.h"

namespace wt {

// Fails where no kernel exists for the config, and says which ones do. Under 40 lines; the same text for the same
// config and library version.
Result<std::string> generate_source(const KernelConfig& config);

}  // namespace wt
