// SPDX-License-Identifier: Apache-2.0
// compile/nvrtc.h - NVIDIA's run-time compiler, loaded when first needed: source to cubin, without a GPU.
//
// Found as libnvrtc.so.13 or .12 in Python's wheels beside our own package, by the dynamic linker, or in
// /usr/local/cuda/lib64. WAVETILE_NVRTC names the library or its folder instead. WAVETILE_NVRTC_FLAGS holds extra
// flags.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compile/toolchain.h"

namespace wt::compile {

// The libraries of NVIDIA's wheels in a folder of Python packages, newest first: torch brings one, and so does
// wavetile[nvrtc]. WHY before the system's: it is the one that was chosen for this environment.
std::vector<std::string> nvrtc_of_wheels(const std::filesystem::path& site_packages);

Result<Toolchain> nvrtc_toolchain(Target target);  // fails when NVRTC is absent or does not know the target

// In this process, or beside it in a helper (nvrtc_helpers.h) where another thread compiles here.
Result<Product> nvrtc_build(const Toolchain& toolchain, const Source& source, const HeaderSet& headers);

// In this process; resources are not filled in.
Result<Product> nvrtc_build_here(const std::vector<std::string>& flags, const Source& source, const HeaderSet& headers);

// The same compilation as PTX text, to see which instructions a kernel is made of where there is no disassembler.
Result<std::string> nvrtc_assembly(const Source& source);

// The version as the driver counts its own: 13000 for 13.0.
Result<int> nvrtc_version();

// A driver loads cubins of its own major version and older ones. Both versions as 13000 for 13.0.
Status check_driver_understands(int nvrtc_version, int driver_version);

// What `-Xptxas -v` writes of kernel `name` into the log. WHY not from the cubin: spills stand nowhere in it, and its
// shared-memory section counts the 1 KiB that Hopper and later reserve.
Resources ptxas_resources(std::string_view log, const std::string& name);

}  // namespace wt::compile
