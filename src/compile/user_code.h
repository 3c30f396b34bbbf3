// SPDX-License-Identifier: Apache-2.0
// compile/user_code.h - the user's epilogue text for this process, by the host's C++ compiler.
//
//   EpilogueConfig --user_section (config/user_text.h)--> source --host_compiler.h, cache--> UserCode
//
// The reference, and so verification, and plans on the CPU need it; kernels on other devices have the text compiled in.
#pragma once

#include <memory>

#include "base/status.h"
#include "config/kernel_config.h"
#include "problem/user_code.h"

namespace wt::compile {

// Null where the steps have no text. A text that does not compile comes back as Code::kCompile with the compiler's log.
Result<std::shared_ptr<const UserCode>> user_code_for(const EpilogueConfig& steps, DataType out);

}  // namespace wt::compile
