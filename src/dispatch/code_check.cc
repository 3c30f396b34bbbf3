// SPDX-License-Identifier: Apache-2.0
#include "dispatch/code_check.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <tuple>

#include "base/format.h"
#include "base/parallel.h"
#include "compile/clang.h"
#include "compile/disassembly.h"
#include "compile/nvrtc.h"
#include "config/fields.h"
#include "config/kernels.h"
#include "config/rules.h"
#include "config/storage.h"
#include "generate/source.h"
#include "kernel/gemm/storage.h"

namespace wt {
namespace {

// Hopper's fp8 products have a name of their own.
std::string wgmma_name(DataType type) { return size_of(type) == 1 ? "QGMMA" : "HGMMA"; }

// How often the kernel's matrix instruction stands in what the compiler wrote; as text where nothing here takes machine
// code apart.
Status count_instructions(CodeCheck& check, const compile::Source& source, const std::string& image) {
  const Result<std::string> text = compile::disassemble(check.config.target, image);
  if (text.ok()) {
    check.read_from = "machine code";
    check.instructions = compile::count_mnemonics(*text, check.instruction);
    return {};
  }
  const bool nvidia = info_of(check.config.target).vendor == Vendor::kNvidia;
  WT_TRY_ASSIGN(const std::string assembly, nvidia ? compile::nvrtc_assembly(source) : compile::clang_assembly(source));
  if (nvidia) check.instruction = expected_instruction(check.config, true);
  check.read_from = nvidia ? "PTX" : "assembly";
  check.instructions = compile::count_mnemonics(assembly, check.instruction);
  return {};
}

void compare(CodeCheck& check) {
  const TargetInfo& target = info_of(check.config.target);
  const auto fault = [&](std::string text) { check.faults.push_back(std::move(text)); };
  const compile::Resources& resources = check.resources;
  if (!check.instruction.empty() && check.instructions == 0)
    fault(fmt::format("no {} in the {}", check.instruction, check.read_from));
  if (resources.spill_bytes != 0) fault(fmt::format("{} bytes of registers are spilled", resources.spill_bytes));
  if (resources.registers > target.registers_per_thread)
    fault(
        fmt::format("{} registers a thread, {} has {}", resources.registers, target.name, target.registers_per_thread));
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
  check.resources = module->resources;
  check.shared_bytes = shared_bytes_of(config) + std::max(0, module->resources.static_shared_bytes);
  if (!check.instruction.empty()) {
    if (const Status counted = count_instructions(check, source, module->image); !counted.ok())
      check.faults.push_back(counted.message());
  }
  compare(check);
  return check;
}

}  // namespace

std::string expected_instruction(const KernelConfig& config, bool ptx) {
  if (config.family == Family::kDirect) {
    if (config.direct.design == DirectDesign::kStacked) return ptx ? "wgmma.mma_async" : wgmma_name(config.x);
    const bool multiplies =
        config.direct.design == DirectDesign::kBanded || config.direct.design == DirectDesign::kGroups;
    return !multiplies ? std::string() : ptx ? "mma.sync" : "HMMA";
  }
  const DataType type = multiply_type(config);
  const MmaShape* mma = find_mma(info_of(config.target), type, config.gemm.mma);
  if (!mma) return {};
  switch (mma->path) {
    case MmaPath::kMmaSync:
      return ptx ? "mma.sync" : "HMMA";
    case MmaPath::kWgmma:
      return ptx ? "wgmma.mma_async" : wgmma_name(type);
    case MmaPath::kTcgen05:
      return ptx ? "tcgen05.mma" : "UTC";
    case MmaPath::kMfma:
      return fmt::format("v_mfma_f32_{}x{}x{}", mma->shape.m, mma->shape.n, mma->shape.k);
    case MmaPath::kWmma:
      return fmt::format("v_wmma_f32_{}x{}x{}", mma->shape.m, mma->shape.n, mma->shape.k);
    case MmaPath::kFma:
      return {};
  }
  return {};
}

std::vector<KernelConfig> representative_kernels(Target target) {
  std::vector<KernelConfig> kernels;
  std::set<std::tuple<const KernelKind*, Pipeline, DirectDesign, Direction, DataType, Loader>> seen;
  std::set<std::tuple<const KernelKind*, Pipeline, Direction>> shown;
  for (const RuleSet set : {RuleSet::kDefault, RuleSet::kTests}) {
    for (const KernelConfig& config : list_kernels({.target = target, .rule_set = set}).kernels) {
      if (config.epilogue != EpilogueConfig{} || config.layout != Layout::kChannelsLast) continue;
      const auto key = std::tuple{kind_of(config), config.gemm.pipeline, config.direction};
      // Of default all types and loaders; of the rest what default lacks.
      const bool wanted =
          set == RuleSet::kDefault
              ? config.dims == 2 && seen.emplace(kind_of(config), config.gemm.pipeline, config.direct.design,
                                                 config.direction, operand_a(config), config.gemm.loader_a)
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
                                  const std::function<void(size_t done, const CodeCheck& check)>& progress) {
  std::vector<CodeCheck> checks(kernels.size());
  std::mutex mutex;
  size_t done = 0;
  parallel_for(static_cast<int64_t>(kernels.size()), [&](int64_t i) {
    const auto index = static_cast<size_t>(i);
    checks[index] = check_one(kernels[index]);
    const std::lock_guard lock(mutex);
    if (progress) progress(++done, checks[index]);
  });
  return checks;
}

}  // namespace wt
