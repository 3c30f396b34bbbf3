// SPDX-License-Identifier: Apache-2.0
#include "compile/host_compiler.h"

#include <cstdlib>
#include <filesystem>

#include "base/environment.h"
#include "base/files.h"
#include "compile/elf.h"
#include "compile/process.h"

namespace wt::compile {
namespace {

// Whether a compiler's first line, "c++ (Debian 12.2.0-14) 12.2.0", is that of GCC of this version or a later one.
bool is_gcc(const std::string& line, int version) {
  const size_t last = line.rfind(' ');
  if (line.find("clang") != std::string::npos || last == std::string::npos) return false;
  return std::atoi(line.c_str() + last + 1) >= version;
}

}  // namespace

Result<Toolchain> host_toolchain(Target target) {
  const std::string asked = environment("WAVETILE_CXX");
  Toolchain toolchain;
  toolchain.program = asked.empty() ? find_program({"c++", "g++", "clang++"}) : find_program({asked});
  if (toolchain.program.empty() && !asked.empty()) {
    return failure(Code::kCompile, "WAVETILE_CXX={} is not an executable file; set it to a C++20 compiler or unset it",
                   asked);
  }
  if (toolchain.program.empty()) {
    return failure(Code::kCompile,
                   "the simulator needs a C++20 compiler, and none of c++, g++ and clang++ is on PATH; install one or "
                   "set WAVETILE_CXX");
  }
  WT_TRY_ASSIGN(toolchain.version, version_line(toolchain.program));
  // WHY -ffp-contract=off: a result must not depend on whether the host has fused multiply-add.
  toolchain.flags = {"-std=c++20",
                     "-O2",
                     "-shared",
                     "-fPIC",
                     "-fvisibility=hidden",
                     "-fno-exceptions",
                     "-fno-rtti",
                     "-ffp-contract=off",
                     "-DWT_SIM=1",
                     fmt::format("-DWT_SIM_TARGET={}", static_cast<int>(target))};
  // WHY: by it the simulator knows accumulators that were never cleared. GCC before 12 has no such option, and clang
  // fills with another pattern.
  if (is_gcc(toolchain.version, 12)) toolchain.flags.push_back("-ftrivial-auto-var-init=pattern");
  // A sanitizer works only where the library and what it loads both have it.
  for (std::string& flag : split_words(WAVETILE_SANITIZE_FLAGS)) toolchain.flags.push_back(std::move(flag));
  append_flags(toolchain.flags, "WAVETILE_CXX_FLAGS");
  return toolchain;
}

Result<Product> host_build(const Toolchain& toolchain, const Source& source, const HeaderSet& headers) {
  WT_TRY_ASSIGN(const TemporaryFolder folder, TemporaryFolder::make());
  WT_TRY_ASSIGN(const std::string include, unpack_headers(headers, folder.path()));
  const std::string input = folder.path() + "/" + source.name + ".cc", output = folder.path() + "/module.so";
  WT_TRY(write_file(input, source.text));
  std::vector<std::string> arguments = {toolchain.program};
  arguments.insert(arguments.end(), toolchain.flags.begin(), toolchain.flags.end());
  arguments.insert(arguments.end(), {"-I", include, input, "-o", output});
  return run_compiler(arguments, output, headers, include);
}

Result<DynamicLibrary> open_host_module(const Module& module) {
  if (module.backend != Backend::kHost) {
    return failure(Code::kDevice,
                   "kernel {} was made by {} for {}; this process can load only modules of the host compiler",
                   module.name, name_of(module.backend), architecture_of(module.target));
  }
  if (const Status status = check_elf(module.image); !status.ok()) return status.with_context("kernel " + module.name);
  // WHY not module.path: the file there may be another one than the one whose bytes were checked.
  return DynamicLibrary::load(module.name, module.image);
}

}  // namespace wt::compile
