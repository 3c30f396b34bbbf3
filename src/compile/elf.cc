// SPDX-License-Identifier: Apache-2.0
#include "compile/elf.h"

#include <cstring>

namespace wt::compile {
namespace {

template <class T>
bool read_at(std::string_view image, uint64_t offset, T& value) {
  if (offset > image.size() || image.size() - offset < sizeof(T)) return false;
  std::memcpy(&value, image.data() + offset, sizeof(T));
  return true;
}

// Elf64_Shdr of the ELF specification.
struct SectionHeader {
  uint32_t name, type;
  uint64_t flags, address, offset, size;
  uint32_t link, info;
  uint64_t alignment, entry_size;
};
static_assert(sizeof(SectionHeader) == 64);

// Elf64_Phdr of the ELF specification.
struct ProgramHeader {
  uint32_t type, flags;
  uint64_t offset, address, physical, file_size, memory_size, alignment;
};
static_assert(sizeof(ProgramHeader) == 56);

}  // namespace

Result<std::vector<ElfSection>> elf_sections(std::string_view image) {
  constexpr std::string_view kMagic64 =
      "\x7f"
      "ELF\x02";
  if (!image.starts_with(kMagic64)) return failure(Code::kIo, "the image is not a 64-bit ELF file");
  uint64_t table = 0;
  uint16_t entry_size = 0, count = 0, names_index = 0;
  if (!read_at(image, 0x28, table) || !read_at(image, 0x3a, entry_size) || !read_at(image, 0x3c, count) ||
      !read_at(image, 0x3e, names_index) || entry_size != sizeof(SectionHeader)) {
    return failure(Code::kIo, "the ELF header is damaged");
  }
  std::vector<SectionHeader> headers(count);
  std::vector<ElfSection> sections(count);
  for (uint16_t i = 0; i < count; ++i) {
    if (!read_at(image, table + uint64_t{i} * sizeof(SectionHeader), headers[i])) {
      return failure(Code::kIo, "the ELF section table ends early at {} of {}", i, count);
    }
    const SectionHeader& header = headers[i];
    sections[i].type = header.type;
    sections[i].info = header.info;
    sections[i].size = header.size;
    if (header.type == kElfNoBits || header.type == 0) continue;
    if (header.offset > image.size() || image.size() - header.offset < header.size) {
      return failure(Code::kIo, "ELF section {} lies outside the image", i);
    }
    sections[i].contents = image.substr(header.offset, header.size);
  }
  if (names_index >= count) return failure(Code::kIo, "the ELF file has no section names");
  const std::string_view names = sections[names_index].contents;
  for (uint16_t i = 0; i < count; ++i) {
    if (headers[i].name >= names.size()) continue;
    const std::string_view rest = names.substr(headers[i].name);
    sections[i].name = rest.substr(0, rest.find('\0'));
  }
  return sections;
}

Status check_elf(std::string_view image) {
  WT_TRY(elf_sections(image).status());
  uint64_t table = 0;
  uint16_t entry_size = 0, count = 0;
  if (!read_at(image, 0x20, table) || !read_at(image, 0x36, entry_size) || !read_at(image, 0x38, count)) {
    return failure(Code::kIo, "the ELF header is damaged");
  }
  for (uint16_t i = 0; i < count; ++i) {
    ProgramHeader header{};
    if (!read_at(image, table + uint64_t{i} * entry_size, header) || header.offset > image.size() ||
        header.file_size > image.size() - header.offset) {
      return failure(Code::kIo, "ELF segment {} lies outside the image", i);
    }
  }
  return {};
}

const ElfSection* find_section(const std::vector<ElfSection>& sections, std::string_view name) {
  for (const ElfSection& section : sections) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

}  // namespace wt::compile
