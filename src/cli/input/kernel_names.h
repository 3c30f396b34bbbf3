// SPDX-License-Identifier: Apache-2.0
// cli/input/kernel_names.h - a file that lists kernels by name, one per line; what follows # is a comment.
#pragma once

#include <set>
#include <string>

#include "base/status.h"

namespace wt::cli {

// A file without a name is an error: every kernel would be meant, or none.
Result<std::set<std::string>> read_kernel_names(const std::string& file);

}  // namespace wt::cli
