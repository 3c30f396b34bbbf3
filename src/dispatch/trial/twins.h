// SPDX-License-Identifier: Apache-2.0
// dispatch/trial/twins.h - two names for one kernel: equal machine code that is launched alike.
//
//   checks (code_check.h) of one signature and machine code --bind--> launches --> the same for every problem: twins
#pragma once

#include <vector>

#include "dispatch/trial/code_check.h"

namespace wt {

// Whether no problem that is tried tells the kernels apart by a launch: its grid, its parameters, its workspace. Their
// machine code is the same, and so is what decides which problems they are for: direction, types, layout, dimensions,
// epilogue.
bool are_launched_alike(const KernelConfig& a, const KernelConfig& b);

// Adds to a check the fault that its kernel is another's twin, of which the first in the list is the one to keep.
void find_twins(std::vector<CodeCheck>& checks);

}  // namespace wt
