// SPDX-License-Identifier: Apache-2.0
#include "dispatch/trial/code_check.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <tuple>

#include "base/format.h"
#include "base/integers.h"
#include "base/parallel.h"
#include "compile/clang.h"
#include "compile/disassembly.h"
#include "compile/machine_code.h"
#include "compile/nvrtc.h"
#include "config/fields.h"
#include "dispatch/trial/twins.h"
#include "generate/source.h"
#include "kernels/device/gemm/storage.h"
#include "kernels/kind.h"
#include "kernels/resources.h"
#include "rules/rules.h"

namespace wt {
namespace {

// Hopper's fp8 products have a name of their own.
std::string wgmma_name(DataType type) { return size_of(type) == 1 ? "QGMMA" : "HGMMA"; }

// How often the kernel's matrix instruction stands in what the compiler wrote; as text where nothing here takes machine
// code apart.
Status count_instructions(CodeCheck& check, const compile::Source& source, const std::string& image) {
  const Result<std::string> text = compile::disassemble(check.config.target, image);
  const bool nvidia = info_of(check.config.target).vendor == Vendor::kNvidia;
  if (text.ok()) {
    check.read_from = "machine code";
    if (!check.instruction.empty()) check.instructions = compile::count_mnemonics(*text, check.instruction);
    if (!nvidia) check.loops = compile::read_loops(check.config.target, *text);
    return {};
  }
  if (check.instruction.empty()) return {};
  WT_TRY_ASSIGN(const std::string assembly, nvidia ? compile::nvrtc_assembly(source) : compile::clang_assembly(source));
  if (nvidia) check.instruction = expected_instruction(check.config, true);
  check.read_from = nvidia ? "PTX" : "assembly";
  check.instructions = compile::count_mnemonics(assembly, check.instruction);
  return {};
}

// What must not be in AMD's machine code (docs/targets.md), and what its hot loop makes of the matrix unit.
void read_loops(CodeCheck& check) {
  const compile::LoopReport& loops = *check.loops;
  const auto fault = [&](size_t count, const char* what) {
    if (count > 0) check.faults.push_back(fmt::format("{} {}", count, what));
  };
  fault(loops.flat, "flat_ instructions: global memory must be addressed as such");
  fault(loops.accumulator, "v_accvgpr moves in loops: accumulators must stay where they are");
  fault(loops.invalidations, "invalidations of caches in loops: barriers must fence the LDS alone");
  if (loops.math.matrix == 0) return;
  const GemmConfig& gemm = check.config.gemm;
  const int waves = threads_of(check.config) / info_of(check.config.target).warp_size;
  check.utilisation = compile::utilisation(loops, {.math_waves = waves - gemm.load_warps,
                                                   .load_waves = gemm.load_warps,
                                                   .blocks = resident_blocks(check.config, check.resources.registers)});
}

void compare(CodeCheck& check) {
  const TargetInfo& target = info_of(check.config.target);
  const auto fault = [&](std::string text) { check.faults.push_back(std::move(text)); };
  const compile::Resources& resources = check.resources;
  if (!check.instruction.empty() && check.instructions == 0)
    fault(fmt::format("no {} in the {}", check.instruction, check.read_from));
  if (resources.spill_bytes != 0) fault(fmt::format("{} bytes of registers are spilled", resources.spill_bytes));
  if (resources.registers > target.registers_per_thread)
    fault(fmt::format("{} registers per thread, {} has {}", resources.registers, target.name,
                      target.registers_per_thread));
  const int64_t all = int64_t{resources.registers} * threads_of(check.config) * check.config.min_blocks;
  if (all > target.registers_per_unit)
    fault(fmt::format("{} blocks of {} threads with {} registers each are more than the {} of a multiprocessor",
                      check.config.min_blocks, threads_of(check.config), resources.registers,
                      target.registers_per_unit));
  if (check.shared_bytes > target.shared_per_block)
    fault(fmt::format("{} bytes of shared memory a block, {} has {}", check.shared_bytes, target.name,
                      target.shared_per_block));
}

CodeCheck check_one(const KernelConfig& config) {
  CodeCheck check{.config = config, .instruction = expected_instruction(config)};
  const compile::Backend backend = compile::backend_of(config.target);
  if (const Status here = compile::available(backend, config.target); !here.ok()) {
    check.missing = here.message();
    return check;
  }
  const Result<std::string> text = generate_source(config);
  if (!text.ok()) {
    check.faults.push_back(text.status().message());
    return check;
  }
  const compile::Source source{name_of(config), *text, config.target};
  const Result<compile::Module> module = compile::compile(backend, source);
  if (!module.ok()) {
    check.faults.push_back(module.status().message());
    return check;
  }
  check.machine_code = compile::machine_code_of(module->image);
  check.resources = module->resources;
  check.shared_bytes = shared_bytes_of(config) + std::max(0, module->resources.static_shared_bytes);
  if (!check.instruction.empty() || info_of(config.target).vendor == Vendor::kAmd) {
    if (const Status counted = count_instructions(check, source, module->image); !counted.ok())
      check.faults.push_back(counted.message());
  }
  compare(check);
  if (check.loops) read_loops(check);
  return check;
}

}  // namespace

std::string expected_instruction(const KernelConfig& config, bool ptx) {
  if (config.family() == Family::kDirect) {
    const MmaPath path = kind_of(config.kind).instruction;
    if (path == MmaPath::kFma) return {};
    if (path == MmaPath::kWgmma && has_wgmma(config.target)) return ptx ? "wgmma.mma_async" : wgmma_name(config.x);
    if (is_amd(config.target))
      return info_of(config.target).warp_size == 64 ? "v_mfma_f32_16x16x16" : "v_wmma_f32_16x16x16";
    return ptx ? "mma.sync" : "HMMA";
  }
  const DataType type = multiply_type(config);
  const MmaShape* mma = find_mma(info_of(config.target), type, config.gemm.mma);
  if (!mma) return {};
  const bool integer = type == DataType::kI8;
  const char* sum = integer ? "i32" : "f32";
  switch (mma->path) {
    case MmaPath::kMmaSync:
      return ptx ? "mma.sync" : integer ? "IMMA" : "HMMA";
    case MmaPath::kWgmma:
      return ptx ? "wgmma.mma_async" : wgmma_name(type);
    case MmaPath::kTcgen05:
      return ptx ? "tcgen05.mma" : "UTC";
    case MmaPath::kMfma:
      return fmt::format("v_mfma_{}_{}x{}x{}", sum, mma->shape.m, mma->shape.n, mma->shape.k);
    case MmaPath::kWmma:
      return fmt::format("v_wmma_{}_{}x{}x{}", sum, mma->shape.m, mma->shape.n, mma->shape.k);
    case MmaPath::kFma:
      return {};
  }
  return {};
}

std::vector<KernelConfig> representative_kernels(Target target) {
  std::vector<KernelConfig> kernels;
  std::set<std::tuple<Kind, Pipeline, Direction, DataType, Loader>> seen;
  std::set<std::tuple<Kind, Pipeline, Direction>> shown;
  for (const RuleSet set : {RuleSet::kDefault, RuleSet::kTests}) {
    for (const KernelConfig& config : list_kernels({.target = target, .rule_set = set}).kernels) {
      if (config.epilogue != EpilogueConfig{} || config.layout != Layout::kChannelsLast) continue;
      const auto key = std::tuple{config.kind, config.gemm.pipeline, config.direction};
      // All types and loaders of default; from the rest what default lacks.
      const bool wanted = set == RuleSet::kDefault
                              ? config.dims == 2 && seen.emplace(config.kind, config.gemm.pipeline, config.direction,
                                                                 operand_a(config), config.gemm.loader_a)
                                                        .second
                              : !shown.contains(key);
      if (!wanted) continue;
      shown.insert(key);
      kernels.push_back(config);
    }
  }
  return kernels;
}

std::vector<CodeCheck> check_code(std::span<const KernelConfig> kernels,
                                  const std::function<bool(size_t done, const CodeCheck& check)>& progress) {
  std::vector<CodeCheck> checks(kernels.size());
  std::vector<char> made(kernels.size(), 0);
  std::mutex mutex;
  std::atomic<bool> stopped{false};
  size_t done = 0;
  parallel_for(static_cast<int64_t>(kernels.size()), [&](int64_t i) {
    if (stopped) return;
    const auto index = static_cast<size_t>(i);
    checks[index] = check_one(kernels[index]);
    made[index] = 1;
    const std::lock_guard lock(mutex);
    if (progress && !progress(++done, checks[index])) stopped = true;
  });
  std::vector<CodeCheck> list;
  for (size_t i = 0; i < checks.size(); ++i)
    if (made[i]) list.push_back(std::move(checks[i]));
  find_twins(list);
  return list;
}

}  // namespace wt
