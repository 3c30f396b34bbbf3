// SPDX-License-Identifier: Apache-2.0
#include "compile/cache.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <ctime>

#include "base/files.h"
#include "base/log.h"
#include "compile/module_file.h"
#include "compile/process.h"

namespace wt::compile {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kDefaultLimitMb = 1024;
constexpr size_t kKeyDigits = 32;
constexpr int64_t kLeftoverSeconds = 3600;           // a temporary file this old has no writer any more
constexpr int64_t kUnusedHeaderSeconds = 7 * 86400;  // unpacked headers that no compilation has asked for

const char* extension_of(Backend backend) {
  switch (backend) {
    case Backend::kNvrtc:
      return ".cubin";
    case Backend::kHost:
      return ".so";
    case Backend::kClang:
      return ".co";
  }
  return "";
}

bool is_entry(const fs::path& path) {
  const std::string stem = path.stem().string(), extension = path.extension().string();
  if (extension != ".cubin" && extension != ".so" && extension != ".co") return false;
  return stem.size() == kKeyDigits && stem.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::optional<struct stat> stat_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

// What lies in `folder`; an absent folder is an empty one.
Result<std::vector<fs::path>> paths_in(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> paths;
  fs::directory_iterator item(folder, error);
  if (error == std::errc::no_such_file_or_directory) return paths;
  for (; !error && item != fs::directory_iterator(); item.increment(error)) paths.push_back(item->path());
  if (error) return failure(Code::kIo, "cannot list {}: {}", folder.string(), error.message());
  return paths;
}

}  // namespace

Result<Cache> Cache::open() {
  uint64_t limit_mb = kDefaultLimitMb;
  if (const std::string text = environment("WAVETILE_CACHE_LIMIT_MB"); !text.empty()) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit_mb);
    if (error != std::errc() || end != text.data() + text.size() || limit_mb > (uint64_t{1} << 40)) {
      return bad_input("WAVETILE_CACHE_LIMIT_MB={} is not a number of megabytes; use 1024, or 0 for no cache", text);
    }
  }
  if (const std::string folder = environment("WAVETILE_CACHE_DIR"); !folder.empty()) {
    return Cache(fs::absolute(folder), limit_mb << 20);
  }
  if (limit_mb == 0) return Cache({}, 0);
  WT_TRY_ASSIGN(const fs::path folder, cache_folder());
  return Cache(fs::absolute(folder), limit_mb << 20);
}

fs::path Cache::path_of(Backend backend, const std::string& key) const {
  return root_ / "modules" / (key + extension_of(backend));
}

std::optional<Module> Cache::find(Backend backend, const std::string& key) const {
  const fs::path path = path_of(backend, key);
  std::error_code error;
  if (!enabled() || !fs::exists(path, error)) return std::nullopt;
  const Result<std::string> bytes = read_file(path);
  if (!bytes.ok()) return std::nullopt;  // another process dropped it just now
  Result<Module> module = decode_module(*bytes);
  if (module.ok() && module->key != key) module = failure(Code::kIo, "it is entry {}", module->key);
  if (!module.ok()) {
    log::warn("cache entry {} is damaged ({}); the kernel is compiled again", path.string(), module.status().message());
    fs::remove(path, error);
    return std::nullopt;
  }
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  module->path = path.string();
  module->from_cache = true;
  return std::move(*module);
}

Status Cache::store(Module& module) const {
  const fs::path path = path_of(module.backend, module.key);
  WT_TRY(write_file(path, encode_module(module)));
  module.path = path.string();
  return evict(path);
}

Result<std::vector<CacheEntry>> Cache::list() const {
  WT_TRY_ASSIGN(const std::vector<fs::path> paths, paths_in(root_ / "modules"));
  std::vector<CacheEntry> entries;
  for (const fs::path& path : paths) {
    if (!is_entry(path)) continue;
    const auto status = stat_of(path);
    if (!status) continue;
    entries.push_back({path, path.stem().string(), static_cast<uint64_t>(status->st_size), status->st_mtime});
  }
  std::sort(entries.begin(), entries.end(), [](const CacheEntry& a, const CacheEntry& b) {
    return a.last_used != b.last_used ? a.last_used > b.last_used : a.path < b.path;
  });
  return entries;
}

Result<CacheVerdict> Cache::verify() const {
  WT_TRY_ASSIGN(const std::vector<CacheEntry> entries, list());
  CacheVerdict verdict;
  for (const CacheEntry& entry : entries) {
    const Result<std::string> bytes = read_file(entry.path);
    if (!bytes.ok()) {
      verdict.bad.emplace_back(entry, bytes.status().message());
      continue;
    }
    const Result<Module> module = decode_module(*bytes);
    if (!module.ok()) {
      verdict.bad.emplace_back(entry, module.status().message());
    } else if (module->key != entry.key) {
      verdict.bad.emplace_back(entry, "it is entry " + module->key);
    } else {
      ++verdict.good;
    }
  }
  return verdict;
}

Status Cache::remove(const CacheEntry& entry) const {
  std::error_code error;
  fs::remove(entry.path, error);
  if (error) return failure(Code::kIo, "cannot remove {}: {}", entry.path.string(), error.message());
  return {};
}

Result<CacheClearance> Cache::clear() const {
  WT_TRY_ASSIGN(const std::vector<CacheEntry> entries, list());
  CacheClearance clearance;
  for (const CacheEntry& entry : entries) {
    WT_TRY(remove(entry));
    ++clearance.entries;
    clearance.bytes += entry.bytes;
  }
  for (const fs::path& folder : {root_ / "modules", headers_folder(), failed_folder()}) {
    std::error_code error;
    fs::remove_all(folder, error);
    if (error) return failure(Code::kIo, "cannot remove {}: {}", folder.string(), error.message());
  }
  return clearance;
}

Status Cache::evict(const fs::path& keep) const {
  WT_TRY_ASSIGN(const std::vector<CacheEntry> entries, list());
  uint64_t total = 0;
  for (const CacheEntry& entry : entries) total += entry.bytes;
  if (total <= limit_bytes_) return {};
  // WHY a tenth below the limit: otherwise every later store would evict again.
  const uint64_t goal = limit_bytes_ - limit_bytes_ / 10;
  for (auto entry = entries.rbegin(); entry != entries.rend() && total > goal; ++entry) {
    if (entry->path == keep) continue;
    WT_TRY(remove(*entry));
    total -= entry->bytes;
  }
  drop_leftovers();
  return {};
}

void Cache::drop_leftovers() const {
  const int64_t now = std::time(nullptr);
  const auto drop_old = [&](const fs::path& folder, int64_t age, bool entries_too) {
    const auto paths = paths_in(folder);
    if (!paths.ok()) return;
    for (const fs::path& path : *paths) {
      const auto status = stat_of(path);
      std::error_code error;
      if (status && now - status->st_mtime > age && (entries_too || !is_entry(path))) fs::remove_all(path, error);
    }
  };
  drop_old(root_ / "modules", kLeftoverSeconds, false);
  drop_old(headers_folder(), kUnusedHeaderSeconds, true);
}

}  // namespace wt::compile
