// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/guided/readers.cc - libFuzzer's entry to one reader of strangers' input, which WT_READER names: inputs
// that reach new code are kept and changed further. What must hold of them is what tests/fuzz/subjects.cc asks for.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/files.h"
#include "compile/module_file.h"
#include "compile/pack.h"
#include "compile/sha256.h"
#include "config/fields.h"
#include "config/signature.h"
#include "problem/suite.h"

namespace wt::fuzz {
namespace {

// A broken promise ends the process, as libFuzzer expects.
void require(bool holds, const char* what) {
  if (holds) return;
  fmt::print(stderr, "broken: {}\n", what);
  std::abort();
}

[[maybe_unused]] void read_text(const std::string& input) {
  (void)parse_suite(input, "fuzz");
  const Result<ConvProblem> problem = parse_problem(input);
  if (!problem.ok()) return require(!problem.status().message().empty(), "a refusal without words");
  require(validate(*problem).ok(), "parsed, but not valid");
  for (const std::string& text : {to_text(*problem), canonical_text(*problem)}) {
    const Result<ConvProblem> again = parse_problem(text);
    require(again.ok() && *again == *problem, "a text of the problem is refused, or another problem");
  }
}

[[maybe_unused]] void read_config(const std::string& input) {
  const Result<KernelConfig> config = config_from_json(input);
  if (!config.ok()) return require(!config.status().message().empty(), "a refusal without words");
  const Result<KernelConfig> again = config_from_json(to_json(*config));
  require(again.ok() && *again == *config, "a configuration does not come back from its JSON");
}

[[maybe_unused]] void read_module(const std::string& input) {
  const Result<compile::Module> module = compile::decode_module(input);
  if (!module.ok()) return require(!module.status().message().empty(), "a refusal without words");
  (void)compile::architecture_of(module->target);
  (void)compile::encode_module(*module);
}

// The input as the manifest of a pack whose checksums are right.
[[maybe_unused]] void read_manifest(const std::string& input) {
  static const std::string path = fmt::format("/tmp/wavetile_guided.{}", ::getpid());
  static const std::string good = [] {
    const KernelConfig config = config_for(*parse_problem("fwd bf16 n2 c16 k24 i9x9 f3x3"), Target::kSm90a);
    compile::Module module{.target = Target::kSm90a, .name = name_of(config), .image = std::string(300, 'i')};
    module.key = "0123456789abcdef0123456789abcdef";
    const compile::PackInput one[] = {{config, module}};
    require(compile::write_pack(path, compile::Backend::kNvrtc, Target::kSm90a, "tests", one).ok(), "no pack");
    return *read_file(path);
  }();
  uint64_t offset = 0;
  std::memcpy(&offset, good.data() + 16, sizeof offset);
  const uint64_t size = input.size();
  std::string bytes = good.substr(0, offset) + input;
  std::memcpy(bytes.data() + 24, &size, sizeof size);
  bytes.replace(32, 64, compile::sha256_hex(input));
  if (std::FILE* file = std::fopen(path.c_str(), "wb")) {
    require(std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size(), "no room");
    std::fclose(file);
  }
  const auto pack = compile::Pack::read(path);
  if (!pack.ok()) return require(!pack.status().message().empty(), "a refusal without words");
  (void)(*pack)->verify();
  for (const compile::PackEntry& entry : (*pack)->entries()) (void)(*pack)->load(entry);
}

}  // namespace
}  // namespace wt::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  wt::fuzz::WT_READER(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
