// SPDX-License-Identifier: Apache-2.0
// compile/disassembly.h - the machine code of a compiled module as text, and how often an instruction stands in it.
//
// AMD: llvm-objdump, beside clang or on PATH; WAVETILE_OBJDUMP names another. NVIDIA: cuobjdump or nvdisasm, on PATH or
// in /usr/local/cuda/bin; WAVETILE_CUOBJDUMP names another.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "config/kernel_config.h"

namespace wt::compile {

// The failure says which program is missing.
Result<std::string> disassemble(Target target, std::string_view image);

// Lines whose mnemonic begins with `start`, as HMMA or v_mfma_f32_32x32x8; addresses and predicates before it are
// skipped.
size_t count_mnemonics(std::string_view text, std::string_view start);

}  // namespace wt::compile
