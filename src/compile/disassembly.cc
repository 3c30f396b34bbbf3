// SPDX-License-Identifier: Apache-2.0
#include "compile/disassembly.h"

#include <algorithm>

#include "base/environment.h"
#include "base/files.h"
#include "compile/process.h"
#include "compile/toolchain.h"
#include "config/targets.h"

namespace wt::compile {
namespace {

constexpr double kTimeoutSeconds = 60;

std::string objdump() {
  if (const std::string asked = environment("WAVETILE_OBJDUMP"); !asked.empty()) return find_program({asked});
  return find_program({"llvm-objdump-22", "llvm-objdump-21", "llvm-objdump-20", "llvm-objdump-19", "llvm-objdump",
                       "/opt/rocm/llvm/bin/llvm-objdump"});
}

std::string cuobjdump() {
  if (const std::string asked = environment("WAVETILE_CUOBJDUMP"); !asked.empty()) return find_program({asked});
  return find_program({"cuobjdump", "/usr/local/cuda/bin/cuobjdump", "nvdisasm", "/usr/local/cuda/bin/nvdisasm"});
}

// The first word of a line that is neither a comment such as /*0090*/, nor a predicate, nor a brace; PTX writes braces
// around inline assembly.
std::string_view mnemonic(std::string_view line) {
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(" \t"));
    if (word.empty()) return {};
    if (word.starts_with("{")) {
      line.remove_prefix(1);
      continue;
    }
    if (!word.starts_with("/*") && !word.starts_with("@")) return word;
    line.remove_prefix(word.size());
  }
}

}  // namespace

Result<std::string> disassemble(Target target, std::string_view image) {
  const TargetInfo& info = info_of(target);
  const bool amd = info.vendor == Vendor::kAmd;
  const std::string program = amd ? objdump() : cuobjdump();
  if (program.empty()) {
    return failure(Code::kCompile, "{} was not found, which reads the machine code of {}; set {}",
                   amd ? "llvm-objdump" : "cuobjdump or nvdisasm", info.name,
                   amd ? "WAVETILE_OBJDUMP" : "WAVETILE_CUOBJDUMP");
  }
  WT_TRY_ASSIGN(const TemporaryFolder folder, TemporaryFolder::make());
  const std::string file = folder.path() + "/module";
  WT_TRY(write_file(file, image));
  std::vector<std::string> arguments = {program};
  if (amd) {
    arguments.insert(arguments.end(), {"-d", "--no-show-raw-insn", fmt::format("--mcpu={}", info.compiler_arch), file});
  } else {
    arguments.insert(arguments.end(), {program.ends_with("nvdisasm") ? "-c" : "-sass", file});
  }
  WT_TRY_ASSIGN(ProcessResult result, run_process(arguments, kTimeoutSeconds));
  if (result.exit_code != 0)
    return failure(Code::kCompile, "{} cannot read a module of {}: {}", program, info.name, result.output);
  return std::move(result.output);
}

size_t count_mnemonics(std::string_view text, std::string_view start) {
  size_t count = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (mnemonic(text.substr(begin, end - begin)).starts_with(start)) ++count;
    begin = end + 1;
  }
  return count;
}

}  // namespace wt::compile
