// SPDX-License-Identifier: Apache-2.0
// generate/export_launchers.h - the texts with which a program uses an exported tree: launchers over Wavetile's C API,
// an example in C and one in C++.
#pragma once

#include <span>
#include <string>

#include "generate/export_text.h"

namespace wt::exported {

// wavetile_kernels.h: the launch, support and workspace of a kernel by its name, in C.
std::string launch_header(std::span<const Entry> entries);
// launchers/NAME.h: the same of one kernel.
std::string launcher_header(const Entry& entry);
std::string example_c();
std::string example_cpp();

}  // namespace wt::exported
