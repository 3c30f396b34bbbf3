// SPDX-License-Identifier: Apache-2.0
// dispatch/trial/code_check.h - what a kernel's machine code must be like, checked on machines without its GPU.
//
//   KernelConfig --source, compiler, disassembler--> matrix instructions, spills, registers, shared memory --> faults
//   all of them --twins.h--> two names for one kernel --> faults
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compile/amd_loops.h"
#include "compile/compiler.h"
#include "config/kernel_config.h"

namespace wt {

struct CodeCheck {
  KernelConfig config;
  std::string instruction;   // the matrix instruction as its lines begin; empty: the kernel has none
  size_t instructions = 0;   // of them
  std::string read_from;     // machine code, or where there is no disassembler PTX or assembly
  std::string machine_code;  // as compile/machine_code.h has it; empty: nothing was compiled
  compile::Resources resources;
  int64_t shared_bytes = 0;                  // of a block, dynamic and static
  std::optional<compile::LoopReport> loops;  // AMD, where there is a disassembler
  compile::Utilisation utilisation;          // of its hot loop, with the blocks that fit a compute unit
  std::vector<std::string> faults;           // each with its values; empty: none
  std::string missing;                       // a program that is not here, without which nothing was checked
  bool good() const { return faults.empty() && missing.empty(); }
};

// The matrix instruction that a kernel is to be made of, as lines of machine code begin, or of PTX; empty: none, as in
// kernels of the direct family.
std::string expected_instruction(const KernelConfig& config, bool ptx = false);

// From rule set default, the first of each kernel, pipeline, direction, type and loader, in two dimensions; and of rule
// set tests the first of each pipeline and direction that default lacks.
std::vector<KernelConfig> representative_kernels(Target target);

// In the order of the kernels, on all cores. `progress` is called after each, from one thread at a time; false: no
// further kernel is begun, and the checks are those that were made.
std::vector<CodeCheck> check_code(std::span<const KernelConfig> kernels,
                                  const std::function<bool(size_t done, const CodeCheck& check)>& progress = {});

}  // namespace wt
