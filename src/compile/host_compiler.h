// SPDX-License-Identifier: Apache-2.0
// compile/host_compiler.h - the machine's own C++ compiler: device source to a shared object for the simulator.
//
// Found as c++, g++ or clang++; WAVETILE_CXX names another. WAVETILE_CXX_FLAGS holds extra flags (such as -g -O0).
// The source sees WT_SIM=1 and WT_SIM_TARGET=<value of enum Target>. Symbols are hidden unless marked otherwise.
#pragma once

#include "base/dynamic_library.h"
#include "compile/toolchain.h"

namespace wt::compile {

Result<Toolchain> host_toolchain(Target target);
Result<Product> host_build(const Toolchain& toolchain, const Source& source, const HeaderSet& headers);

// Loads a module of Backend::kHost into this process, from its image.
Result<DynamicLibrary> open_host_module(const Module& module);

}  // namespace wt::compile
