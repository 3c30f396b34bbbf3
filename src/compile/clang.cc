// SPDX-License-Identifier: Apache-2.0
#include "compile/clang.h"

#include <cstring>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/environment.h"
#include "base/files.h"
#include "base/json_value.h"
#include "base/log.h"
#include "compile/elf.h"
#include "compile/process.h"
#include "config/targets.h"

namespace wt::compile {
namespace {

std::vector<std::string> candidate_programs() {
  if (const std::string asked = environment("WAVETILE_CLANG"); !asked.empty()) return {asked};
  return {"clang++-22", "clang++-21", "clang++-20", "clang++-19", "clang++", "/opt/rocm/llvm/bin/clang++"};
}

bool knows_target(const std::string& program, Target target) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, Target>, bool> known;
  const std::lock_guard lock(mutex);
  const auto [entry, fresh] = known.try_emplace({program, target}, false);
  if (fresh) {
    const std::vector<std::string> question = {program,
                                               "--target=amdgcn-amd-amdhsa",
                                               "-nogpulib",
                                               "-x",
                                               "c",
                                               std::string("-mcpu=") + architecture_of(target),
                                               "-fsyntax-only",
                                               "/dev/null"};
    const auto answer = run_process(question, 30);
    entry->second = answer.ok() && answer->exit_code == 0;
  }
  return entry->second;
}

// Seen with clang 22 for gfx1100: "error in backend" for a source that the same command compiles the next time.
bool is_compilers_own_fault(const Status& status) {
  return status.message().find("clang frontend command failed") != std::string::npos;
}

Result<std::string> run_clang(const Toolchain& toolchain, const Source& source, const HeaderSet& headers,
                              const std::vector<std::string>& extra, std::string& log) {
  WT_TRY_ASSIGN(const TemporaryFolder folder, TemporaryFolder::make());
  WT_TRY_ASSIGN(const std::string include, unpack_headers(headers, folder.path()));
  const std::string input = folder.path() + "/" + source.name + ".hip", output = folder.path() + "/output";
  WT_TRY(write_file(input, source.text));
  std::vector<std::string> arguments = {toolchain.program};
  arguments.insert(arguments.end(), toolchain.flags.begin(), toolchain.flags.end());
  arguments.insert(arguments.end(), extra.begin(), extra.end());
  arguments.insert(arguments.end(), {"-fno-crash-diagnostics", "-I", include, input, "-o", output});
  Result<Product> product = run_compiler(arguments, output, headers, include);
  for (int again = 0; again < 2 && !product.ok() && is_compilers_own_fault(product.status()); ++again) {
    log::warn("{} crashed; it is started again for {}", toolchain.program, source.name);
    product = run_compiler(arguments, output, headers, include);
  }
  WT_TRY(product.status());
  log = std::move(product->log);
  return std::move(product->image);
}

// The MessagePack text of note NT_AMDGPU_METADATA; empty when there is none.
std::string_view metadata_note(std::string_view notes) {
  constexpr uint32_t kMetadata = 32;
  while (notes.size() >= 12) {
    uint32_t name_size, size, type;
    std::memcpy(&name_size, notes.data(), 4);
    std::memcpy(&size, notes.data() + 4, 4);
    std::memcpy(&type, notes.data() + 8, 4);
    const uint64_t start = 12 + (uint64_t{name_size} + 3) / 4 * 4, next = start + (uint64_t{size} + 3) / 4 * 4;
    if (start + size > notes.size()) return {};
    if (type == kMetadata && notes.substr(12).starts_with("AMDGPU")) return notes.substr(start, size);
    if (next > notes.size()) return {};
    notes.remove_prefix(next);
  }
  return {};
}

Result<std::string_view> metadata_of(std::string_view image, const std::string& name) {
  WT_TRY_ASSIGN(const std::vector<ElfSection> sections, elf_sections(image));
  for (const ElfSection& section : sections) {
    if (section.type != kElfNote) continue;
    if (const std::string_view metadata = metadata_note(section.contents); !metadata.empty()) return metadata;
  }
  return failure(Code::kCompile, "the code object of {} has no AMDGPU metadata note", name);
}

}  // namespace

Result<Toolchain> clang_toolchain(Target target) {
  std::string found;
  for (const std::string& name : candidate_programs()) {
    const std::string program = find_program({name});
    if (program.empty()) continue;
    if (!knows_target(program, target)) {
      found += (found.empty() ? "" : ", ") + program;
      continue;
    }
    Toolchain toolchain;
    toolchain.program = program;
    WT_TRY_ASSIGN(toolchain.version, version_line(program));
    // WHY --no-gpu-bundle-output: the plain code object, which also spares the separate clang-offload-bundler.
    // WHY -fuse-cuid=none: the identifier would be the only thing that differs between two builds of one source.
    toolchain.flags = {"-x",
                       "hip",
                       "--cuda-device-only",
                       "-nogpuinc",
                       "-nogpulib",
                       "--no-gpu-bundle-output",
                       "-fuse-cuid=none",
                       std::string("--offload-arch=") + architecture_of(target),
                       "-std=c++20",
                       "-O3"};
    if (is_generic(info_of(target))) toolchain.flags.push_back("-mcode-object-version=6");  // clang 19's default is 5
    append_flags(toolchain.flags, "WAVETILE_CLANG_FLAGS");
    return toolchain;
  }
  if (found.empty()) {
    const std::string asked = environment("WAVETILE_CLANG");
    return failure(Code::kCompile, "{}; kernels for {} need {} and its lld",
                   asked.empty() ? "no clang++ was found" : "WAVETILE_CLANG=" + asked + " is not an executable file",
                   architecture_of(target), compiler_needed(info_of(target)));
  }
  return failure(Code::kCompile, "{} does not know {}, which needs {}; set WAVETILE_CLANG to one", found,
                 architecture_of(target), compiler_needed(info_of(target)));
}

Result<Product> clang_build(const Toolchain& toolchain, const Source& source, const HeaderSet& headers) {
  Product product;
  WT_TRY_ASSIGN(product.image, run_clang(toolchain, source, headers, {}, product.log));
  WT_TRY_ASSIGN(product.resources, code_object_resources(product.image, source.name));
  return product;
}

Result<std::string> clang_assembly(const Source& source) {
  WT_TRY_ASSIGN(const Toolchain toolchain, clang_toolchain(source.target));
  WT_TRY_ASSIGN(const HeaderSet headers, headers_for(source.text));
  std::string log;
  return run_clang(toolchain, source, headers, {"-S"}, log);
}

size_t count_instruction(std::string_view assembly, std::string_view mnemonic) {
  size_t count = 0;
  for (size_t begin = 0; begin < assembly.size();) {
    const size_t end = std::min(assembly.find('\n', begin), assembly.size());
    std::string_view line = assembly.substr(begin, end - begin);
    begin = end + 1;
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.substr(0, line.find_first_of(" \t")) == mnemonic) ++count;
  }
  return count;
}

Result<Resources> code_object_resources(std::string_view image, const std::string& name) {
  WT_TRY_ASSIGN(const std::string_view metadata, metadata_of(image, name));
  try {
    const JsonValue document = JsonValue::from_msgpack(metadata);
    for (const JsonValue& kernel : document.at("amdhsa.kernels")) {
      if (kernel.at(".name") != name) continue;
      Resources resources;
      resources.registers = kernel.at(".vgpr_count");
      resources.scalar_registers = kernel.at(".sgpr_count");
      resources.accumulator_registers = kernel.value(".agpr_count", 0);
      resources.spill_bytes = 4 * kernel.at(".vgpr_spill_count").get<int>();
      resources.stack_bytes = kernel.at(".private_segment_fixed_size");
      resources.static_shared_bytes = kernel.at(".group_segment_fixed_size");
      return resources;
    }
  } catch (const JsonValue::exception& problem) {
    return failure(Code::kCompile, "the metadata of {} is not readable: {}", name, problem.what());
  }
  return failure(Code::kCompile, "the code object has no kernel {}; is its entry extern \"C\"?", name);
}

std::map<std::string, int64_t> code_object_arguments(std::string_view image) {
  std::map<std::string, int64_t> bytes;
  const Result<std::string_view> metadata = metadata_of(image, "");
  if (!metadata.ok()) return bytes;
  const JsonValue document = JsonValue::from_msgpack(*metadata, true, false);
  if (!document.is_object()) return bytes;
  for (const JsonValue& kernel : document.value("amdhsa.kernels", JsonValue::array())) {
    const JsonValue arguments = kernel.value(".args", JsonValue::array());
    if (arguments.size() == 1 && kernel.contains(".name"))
      bytes[kernel[".name"].get<std::string>()] = arguments[0].value(".size", int64_t{-1});
  }
  return bytes;
}

}  // namespace wt::compile
