// SPDX-License-Identifier: Apache-2.0
#include "compile/machine_code.h"

#include <algorithm>

#include "compile/elf.h"
#include "compile/sha256.h"

namespace wt::compile {
namespace {

constexpr size_t kDigits = 32;

// Cubins: .text.<entry> and the constants it reads (bank 2 literals, bank 3 __constant__), not the parameters of a
// launch (bank 0) and not the addresses of all global variables that headers declare (bank 4). Code objects of AMD and
// shared objects: .text, .rodata.
bool is_executed(std::string_view section) {
  constexpr std::string_view kExecuted[] = {".text", ".rodata", ".nv.constant2", ".nv.constant3"};
  return std::ranges::any_of(kExecuted, [&](std::string_view start) { return section.starts_with(start); });
}

}  // namespace

std::string machine_code_of(std::string_view image) {
  Sha256 hash;
  const Result<std::vector<ElfSection>> sections = elf_sections(image);
  if (!sections.ok()) {
    hash.add(image);
    return hash.hex().substr(0, kDigits);
  }
  for (const ElfSection& section : *sections) {
    if (is_executed(section.name)) hash.add_field(section.contents);
  }
  return hash.hex().substr(0, kDigits);
}

}  // namespace wt::compile
