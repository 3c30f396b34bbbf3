// SPDX-License-Identifier: Apache-2.0
// config/user_text.h - the user's epilogue texts of this process by their hash, which is all that a config holds.
//
//   Epilogue --remember_user_text--> EpilogueConfig::user_hash --user_section--> part of a generated source
#pragma once

#include <string>

#include "base/status.h"
#include "config/kernel_config.h"
#include "problem/problem.h"

namespace wt {

// Keeps the texts and gives their hash; 0 where there are none. Any thread may call.
unsigned long long remember_user_text(const Epilogue& epilogue);

// The texts as a source needs them, with UserFunctions over them (kernels/device/user.h); empty where the steps have
// none. Compilers count their lines as the user wrote them, in files named "epilogue f" and "epilogue store". Fails for
// a hash that no problem of this process brought along.
Result<std::string> user_section(const EpilogueConfig& steps, DataType out);

}  // namespace wt
