// SPDX-License-Identifier: Apache-2.0
#include "compile/pack.h"

#include <algorithm>
#include <cstring>

#include "base/environment.h"
#include "base/files.h"
#include "base/json.h"
#include "base/version.h"
#include "compile/module_file.h"
#include "compile/process.h"
#include "compile/sha256.h"
#include "compile/source_headers.h"
#include "config/fields.h"
#include "config/targets.h"

namespace wt::compile {
namespace fs = std::filesystem;
namespace {

using Json = JsonValue;

constexpr uint32_t kFormat = 1;
constexpr size_t kAlignment = 64;
constexpr char kMagic[8] = {'W', 'T', 'P', 'A', 'C', 'K', '\r', '\n'};  // a text-mode copy shows

struct FileHeader {
  char magic[8];
  uint32_t format;
  uint32_t reserved;
  uint64_t manifest_offset;
  uint64_t manifest_size;
  char manifest_checksum[64];
};
static_assert(sizeof(FileHeader) == 96);

// What a manifest calls the target of its modules: sm_90a, or sim:sm_90a.
std::string target_text(Backend backend, Target target) {
  return to_text(TargetName{target, backend == Backend::kHost});
}

Status damaged(const fs::path& path, std::string_view what) {
  return failure(Code::kIo, "{} is not a usable pack: {}; build it again with wavetile pack build", path.string(),
                 what);
}

Status check_inputs(Backend backend, Target target, std::span<const PackInput> sorted) {
  if (sorted.empty()) return bad_input("a pack needs at least one kernel, and none was given");
  if (const std::string tree = environment("WAVETILE_SOURCE_DIR"); !tree.empty()) {
    return bad_input("WAVETILE_SOURCE_DIR={} replaces the library's kernels; unset it to build a pack", tree);
  }
  for (size_t i = 0; i < sorted.size(); ++i) {
    const Module& module = sorted[i].module;
    if (module.backend != backend || module.target != target) {
      return bad_input("kernel {} is for {}, and the pack for {}; a pack holds one target", module.name,
                       target_text(module.backend, module.target), target_text(backend, target));
    }
    if (const std::string name = name_of(sorted[i].config); name != module.name) {
      return bad_input("kernel {} was given with the config of {}", module.name, name);
    }
    if (i > 0 && module.name == sorted[i - 1].module.name) return bad_input("kernel {} was given twice", module.name);
  }
  return {};
}

}  // namespace

Result<PackInfo> write_pack(const fs::path& path, Backend backend, Target target, const std::string& rule_set,
                            std::span<const PackInput> modules) {
  std::vector<PackInput> sorted(modules.begin(), modules.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const PackInput& a, const PackInput& b) { return a.module.name < b.module.name; });
  WT_TRY(check_inputs(backend, target, sorted));

  std::string bytes(sizeof(FileHeader), '\0');
  Json kernels = Json::array();
  for (const auto& [config, module] : sorted) {
    bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment);
    // WHY no compile time: the same kernels must make the same bytes.
    Resources resources = module.resources;
    resources.compile_seconds = 0;
    kernels.push_back({{"name", module.name},
                       {"config", Json::parse(to_json(config))},
                       {"key", module.key},
                       {"resources", Json::parse(resources_json(resources))},
                       {"offset", bytes.size()},
                       {"bytes", module.image.size()},
                       {"sha256", sha256_hex(module.image)}});
    bytes += module.image;
  }
  const Json manifest = {{"wavetile", kVersion},           {"headers", embedded_headers_hash()},
                         {"target", info_of(target).name}, {"backend", name_of(backend)},
                         {"rule_set", rule_set},           {"compiler", sorted.front().module.compiler},
                         {"kernels", std::move(kernels)}};
  const std::string text = manifest.dump();
  FileHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.format = kFormat;
  header.manifest_offset = bytes.size();
  header.manifest_size = text.size();
  std::memcpy(header.manifest_checksum, sha256_hex(text).data(), sizeof header.manifest_checksum);
  bytes += text;
  std::memcpy(bytes.data(), &header, sizeof header);
  WT_TRY(write_file(path, bytes, FileKind::kDurable));
  return PackInfo{path,
                  std::string(kVersion),
                  embedded_headers_hash(),
                  backend,
                  target,
                  rule_set,
                  sorted.front().module.compiler,
                  bytes.size()};
}

Status Pack::parse_manifest(std::string_view text) {
  const auto target_named = [](const std::string& name) -> Result<Target> {
    for (const TargetInfo& info : targets()) {
      if (name == info.name) return info.target;
    }
    return failure(Code::kIo, "it is for {}, which this library does not know", name);
  };
  const auto backend_named = [](const std::string& name) -> Result<Backend> {
    for (const Backend backend : {Backend::kNvrtc, Backend::kHost, Backend::kClang}) {
      if (name == name_of(backend)) return backend;
    }
    return failure(Code::kIo, "it was made by {}, which this library does not know", name);
  };
  try {
    WT_TRY_ASSIGN(const Json manifest, parse_json<Json>(text));
    manifest.at("wavetile").get_to(info_.library_version);
    manifest.at("headers").get_to(info_.headers_hash);
    manifest.at("rule_set").get_to(info_.rule_set);
    manifest.at("compiler").get_to(info_.compiler);
    WT_TRY_ASSIGN(info_.target, target_named(manifest.at("target")));
    WT_TRY_ASSIGN(info_.backend, backend_named(manifest.at("backend")));
    for (const Json& kernel : manifest.at("kernels")) {
      PackEntry entry;
      kernel.at("name").get_to(entry.name);
      kernel.at("key").get_to(entry.key);
      WT_TRY_ASSIGN(const int64_t offset, json_integer(kernel, "offset", 0, INT64_MAX));
      WT_TRY_ASSIGN(const int64_t size, json_integer(kernel, "bytes", 0, INT64_MAX));
      entry.offset = static_cast<uint64_t>(offset);
      entry.bytes = static_cast<uint64_t>(size);
      kernel.at("sha256").get_to(entry.checksum);
      WT_TRY_ASSIGN(entry.resources, parse_resources(kernel.at("resources").dump()));
      // A config of another version may have fields that this one does not know; such a pack can still be listed.
      if (info_.library_version == kVersion) {
        WT_TRY_ASSIGN(entry.config, config_from_json(kernel.at("config").dump()));
        if (name_of(entry.config) != entry.name) {
          return failure(Code::kIo, "kernel {} has the config of {}", entry.name, name_of(entry.config));
        }
      }
      if (entry.offset > info_.bytes || entry.bytes > info_.bytes - entry.offset) {
        return failure(Code::kIo, "kernel {} lies outside the file", entry.name);
      }
      if (!entries_.empty() && entry.name <= entries_.back().name) {
        return failure(Code::kIo, "kernel {} is out of order", entry.name);
      }
      entries_.push_back(std::move(entry));
    }
  } catch (const Json::exception& problem) {
    return failure(Code::kIo, "its manifest is not readable: {}", problem.what());
  }
  return {};
}

Result<std::shared_ptr<const Pack>> Pack::read(const fs::path& path) {
  const std::shared_ptr<Pack> pack(new Pack);
  // WHY not a mapping: where somebody shortens the file, reading past its new end from a mapping kills the process.
  Result<InputFile> file = InputFile::open(path);
  if (!file.ok()) return file.status().with_context("pack");
  pack->file_ = std::move(*file);
  pack->info_.path = path;
  pack->info_.bytes = pack->file_.bytes();
  FileHeader header;
  if (pack->info_.bytes < sizeof header) return damaged(path, fmt::format("it has only {} bytes", pack->info_.bytes));
  WT_TRY_ASSIGN(const std::string start, pack->file_.read(0, sizeof header));
  std::memcpy(&header, start.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) return damaged(path, "it does not begin as a pack does");
  if (header.format != kFormat) {
    return damaged(path, fmt::format("its format is {} and this library reads {}", header.format, kFormat));
  }
  const uint64_t size = pack->info_.bytes;
  if (header.manifest_offset > size || header.manifest_size > size - header.manifest_offset) {
    return damaged(path, fmt::format("it ends at {} bytes, before its manifest does", size));
  }
  WT_TRY_ASSIGN(const std::string manifest, pack->file_.read(header.manifest_offset, header.manifest_size));
  if (sha256_hex(manifest) != std::string_view(header.manifest_checksum, sizeof header.manifest_checksum)) {
    return damaged(path, "the checksum of its manifest is wrong");
  }
  if (const Status status = pack->parse_manifest(manifest); !status.ok()) return damaged(path, status.message());
  return std::shared_ptr<const Pack>(pack);
}

Result<std::shared_ptr<const Pack>> Pack::open(const fs::path& path, Backend backend, Target target) {
  WT_TRY_ASSIGN(std::shared_ptr<const Pack> pack, read(path));
  WT_TRY(pack->check_trusted());
  WT_TRY(pack->check_version());
  WT_TRY(pack->check_target(backend, target));
  return pack;
}

Status Pack::check_version() const {
  if (info_.library_version != kVersion) {
    return unsupported("pack {} was built by wavetile {} and this is {}; build it again with this version",
                       info_.path.string(), info_.library_version, kVersion);
  }
  if (info_.headers_hash != embedded_headers_hash()) {
    return unsupported(
        "pack {} was built by a wavetile {} with other kernels (headers {}) than this one (headers {}); build it again",
        info_.path.string(), info_.library_version, info_.headers_hash.substr(0, 12),
        embedded_headers_hash().substr(0, 12));
  }
  return {};
}

Status Pack::check_target(Backend backend, Target target) const {
  if (info_.backend == backend && info_.target == target) return {};
  return unsupported("pack {} holds kernels for {} and the device needs {}; build one with --target {}",
                     info_.path.string(), target_text(info_.backend, info_.target), target_text(backend, target),
                     target_text(backend, target));
}

const PackEntry* Pack::find(std::string_view name) const {
  const auto found =
      std::lower_bound(entries_.begin(), entries_.end(), name,
                       [](const PackEntry& entry, std::string_view wanted) { return entry.name < wanted; });
  return found != entries_.end() && found->name == name ? &*found : nullptr;
}

Result<std::string> Pack::image(const PackEntry& entry) const {
  WT_TRY_ASSIGN(std::string bytes, file_.read(entry.offset, entry.bytes));
  if (sha256_hex(bytes) != entry.checksum) {
    return damaged(info_.path, fmt::format("the checksum of kernel {} is wrong", entry.name));
  }
  return bytes;
}

Result<Module> Pack::load(const PackEntry& entry) const {
  Module module;
  WT_TRY_ASSIGN(module.image, image(entry));
  module.backend = info_.backend;
  module.target = info_.target;
  module.name = entry.name;
  module.key = entry.key;
  module.compiler = info_.compiler;
  module.resources = entry.resources;
  return module;
}

std::vector<std::pair<std::string, std::string>> Pack::verify() const {
  std::vector<std::pair<std::string, std::string>> faults;
  for (const PackEntry& entry : entries_) {
    if (const Status status = image(entry).status(); !status.ok()) faults.emplace_back(entry.name, status.message());
  }
  return faults;
}

}  // namespace wt::compile
