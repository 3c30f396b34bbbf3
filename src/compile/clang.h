// SPDX-License-Identifier: Apache-2.0
// compile/clang.h - clang with its AMD GPU backend: source to a code object, in HIP mode without HIP's headers.
//
// Found as clang++-19 and newer, clang++ or ROCm's; the first that knows the target is taken. WAVETILE_CLANG names
// another. WAVETILE_CLANG_FLAGS holds extra flags. Linking needs LLVM's ld.lld beside clang.
#pragma once

#include <map>

#include "compile/toolchain.h"

namespace wt::compile {

Result<Toolchain> clang_toolchain(Target target);  // fails when no clang found here knows the target
Result<Product> clang_build(const Toolchain& toolchain, const Source& source, const HeaderSet& headers);

// The same compilation as assembly text, to see which instructions a kernel is made of.
Result<std::string> clang_assembly(const Source& source);

// How often the instruction `mnemonic` (the whole word, such as v_mfma_f32_32x32x8_bf16) stands in assembly text.
size_t count_instruction(std::string_view assembly, std::string_view mnemonic);

// Registers, spills and LDS of kernel `name` as the code object's metadata note tells them.
Result<Resources> code_object_resources(std::string_view image, const std::string& name);

// Bytes of the one by-value argument of each kernel of a code object, as its metadata note tells them; empty where the
// image has no such note.
std::map<std::string, int64_t> code_object_arguments(std::string_view image);

}  // namespace wt::compile
