// SPDX-License-Identifier: Apache-2.0
// base/environment.h - variables of the environment, in one place so that a rule holds for all of them.
#pragma once

#include <string>

namespace wt {

// The variable's value; null when it is unset, and in a program that runs with more rights than its caller has
// (setuid, setgid, file capabilities): variables name libraries, compilers and packs, which would run with these
// rights.
const char* environment_or_null(const char* variable);

// The same, with an empty text where there is none.
std::string environment(const char* variable);

}  // namespace wt
