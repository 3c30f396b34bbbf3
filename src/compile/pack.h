// SPDX-License-Identifier: Apache-2.0
// compile/pack.h - a file of compiled modules for one target, made ahead of time for machines without a compiler.
//
//   [header: magic, format, where the manifest is and its SHA-256][image][image]...[manifest, JSON]
//
// Images start at multiples of 64 bytes and are read when they are asked for: what is not used is not loaded.
// A pack is code: to run its kernels is to trust whoever can write the file. docs/packs.md describes the format and the
// command, docs/security.md what is checked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "compile/compiler.h"

namespace wt::compile {

struct PackEntry {
  KernelConfig config;
  std::string name;
  std::string key;  // of the compilation, as in the cache
  Resources resources;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  std::string checksum;  // SHA-256 of the image
};

struct PackInfo {
  std::filesystem::path path;
  std::string library_version;
  std::string headers_hash;  // of the device headers that lay out parameter blocks
  Backend backend = Backend::kNvrtc;
  Target target = Target::kSm80;
  std::string rule_set;
  std::string compiler;
  uint64_t bytes = 0;
};

struct PackInput {
  KernelConfig config;
  Module module;
};

// Writes a pack of this library's version. Every module must be of `backend` and `target`, and no two of one name.
// Entries are sorted by name, so that the same modules make the same file.
Result<PackInfo> write_pack(const std::filesystem::path& path, Backend backend, Target target,
                            const std::string& rule_set, std::span<const PackInput> modules);

class Pack {
 public:
  // Any readable pack, also one of another version: to list it.
  static Result<std::shared_ptr<const Pack>> read(const std::filesystem::path& path);
  // A pack whose kernels this library can launch on `target`; a refusal names what the pack has and what is needed, or
  // who else could write the file.
  static Result<std::shared_ptr<const Pack>> open(const std::filesystem::path& path, Backend backend, Target target);

  Pack(const Pack&) = delete;
  Pack& operator=(const Pack&) = delete;

  const PackInfo& info() const { return info_; }
  std::span<const PackEntry> entries() const { return entries_; }  // sorted by name
  const PackEntry* find(std::string_view name) const;              // null when absent

  Status check_trusted() const { return file_.check_trusted(); }  // before its kernels are run
  Status check_version() const;                                   // of library and headers
  Status check_target(Backend backend, Target target) const;

  Result<std::string> image(const PackEntry& entry) const;  // what was read is what was checked
  Result<Module> load(const PackEntry& entry) const;
  // Name and fault of every damaged entry; empty: all are sound.
  std::vector<std::pair<std::string, std::string>> verify() const;

 private:
  Pack() = default;
  Status parse_manifest(std::string_view text);

  PackInfo info_;
  std::vector<PackEntry> entries_;
  InputFile file_;
};

}  // namespace wt::compile
