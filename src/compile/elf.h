// SPDX-License-Identifier: Apache-2.0
// compile/elf.h - just enough of 64-bit ELF to read what compilers note in cubins and AMD code objects.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace wt::compile {

struct ElfSection {
  std::string_view name;
  uint32_t type = 0;
  uint32_t info = 0;
  uint64_t size = 0;          // in memory; a section without file content (shared memory) has one too
  std::string_view contents;  // empty for those
};

inline constexpr uint32_t kElfNote = 7;    // SHT_NOTE
inline constexpr uint32_t kElfNoBits = 8;  // SHT_NOBITS

// Views into `image`, which must live as long. Every offset is checked: an image may come from a damaged file.
Result<std::vector<ElfSection>> elf_sections(std::string_view image);

// Whether all that the file says of itself lies within it. WHY before it is loaded: the loader maps it, and touching
// what is not there kills the process.
Status check_elf(std::string_view image);

const ElfSection* find_section(const std::vector<ElfSection>& sections, std::string_view name);

}  // namespace wt::compile
