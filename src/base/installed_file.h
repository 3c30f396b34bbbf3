// SPDX-License-Identifier: Apache-2.0
// base/installed_file.h - where a file lies that is installed beside the library: the CPU provider, the compile helper.
#pragma once

#include <string>
#include <vector>

namespace wt {

// The paths at which `name` exists: in lib/wavetile beside or above the folder of this library and of the program, and
// where the build was configured to install it. Likeliest first.
std::vector<std::string> installed_file(const std::string& name);

}  // namespace wt
