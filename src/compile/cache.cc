// SPDX-License-Identifier: Apache-2.0
#include "compile/cache.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <map>

#include "base/environment.h"
#include "base/files.h"
#include "base/log.h"
#include "compile/elf.h"
#include "compile/flights.h"
#include "compile/module_file.h"
#include "compile/source_headers.h"

namespace wt::compile {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kDefaultLimitMb = 1024;
constexpr size_t kKeyDigits = 32;
constexpr int64_t kLeftoverSeconds = 3600;           // a temporary file this old has no writer any more
constexpr double kUsageSeconds = 10;                 // to wait for another process to count
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

// An entry as it should be: whole, and the one that its name says.
Result<Module> read_entry(const fs::path& path, const std::string& key) {
  WT_TRY_ASSIGN(const std::string bytes, read_trusted_file(path));
  WT_TRY_ASSIGN(Module module, decode_module(bytes));
  if (module.key != key) return failure(Code::kIo, "it is entry {}", module.key);
  return module;
}

// The hash of the headers in it, as headers_for() makes it.
Result<std::string> hash_of_folder(const fs::path& folder) {
  std::error_code error;
  std::map<std::string, std::string> texts;
  fs::recursive_directory_iterator item(folder, error);
  for (; !error && item != fs::recursive_directory_iterator(); item.increment(error)) {
    if (item->is_directory(error)) continue;
    WT_TRY_ASSIGN(std::string text, read_trusted_file(item->path()));
    texts.emplace(item->path().lexically_relative(folder).string(), std::move(text));
  }
  if (error) return failure(Code::kIo, "cannot list {}: {}", folder.string(), error.message());
  return hash_of(texts);
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
  fs::path folder = environment("WAVETILE_CACHE_DIR");
  if (folder.empty() && limit_mb == 0) return Cache({}, 0);
  if (folder.empty()) {
    WT_TRY_ASSIGN(folder, cache_folder());
  }
  Cache cache(fs::absolute(folder), limit_mb << 20);
  WT_TRY(cache.check_trusted());
  return cache;
}

Status Cache::check_trusted() const {
  for (const fs::path& folder : {root_, root_ / "modules", headers_folder()}) WT_TRY(check_trusted_folder(folder));
  return {};
}

fs::path Cache::path_of(Backend backend, const std::string& key) const {
  return root_ / "modules" / (key + extension_of(backend));
}

std::optional<Module> Cache::find(Backend backend, const std::string& key) const {
  const fs::path path = path_of(backend, key);
  std::error_code error;
  if (!enabled() || !fs::exists(path, error)) return std::nullopt;
  Result<Module> module = read_entry(path, key);
  if (!module.ok() && !fs::exists(path, error)) return std::nullopt;  // another process dropped it just now
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
  WT_TRY(write_file(path, encode_module(module), FileKind::kPrivate));
  module.path = path.string();
  return count(path);
}

// WHY a sum in a file: looking at every entry at every store would take longer the more there are. The sum is never
// below the truth but for a process that ended in between, and is made exact whenever it passes the limit.
Status Cache::count(const fs::path& stored) const {
  const ByteLock lock(lock_file(root_), kUsageByte, 1, kUsageSeconds);
  const auto status = stat_of(stored);
  const fs::path file = root_ / "usage";
  uint64_t total = 0;
  const Result<std::string> before = read_file(file);
  const auto parsed = before.ok() ? std::from_chars(before->data(), before->data() + before->size(), total)
                                  : std::from_chars_result{nullptr, std::errc::invalid_argument};
  const bool known = parsed.ec == std::errc() && parsed.ptr == before->data() + before->size();
  total += status ? static_cast<uint64_t>(status->st_size) : 0;
  if (!known || total > limit_bytes_) {
    WT_TRY_ASSIGN(total, evict(stored));
  }
  return write_file(file, fmt::format("{}", total));
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
  verify_modules(entries, verdict);
  WT_TRY(verify_headers(verdict));
  WT_TRY_ASSIGN(const std::vector<fs::path> all, paths_in(root_ / "modules"));
  for (const fs::path& path : all) {
    const auto status = stat_of(path);
    if (!status || !is_unfinished(path) || std::time(nullptr) - status->st_mtime <= kLeftoverSeconds) continue;
    verdict.bad.emplace_back(
        CacheEntry{path, path.filename().string(), static_cast<uint64_t>(status->st_size), status->st_mtime},
        "its writer ended before it was whole");
  }
  return verdict;
}

void Cache::verify_modules(const std::vector<CacheEntry>& entries, CacheVerdict& verdict) const {
  for (const CacheEntry& entry : entries) {
    const Result<Module> module = read_entry(entry.path, entry.key);
    Status status = module.status();
    if (status.ok()) status = check_elf(module->image);  // or no device could load it
    if (status.ok()) {
      ++verdict.good;
    } else {
      verdict.bad.emplace_back(entry, status.message());
    }
  }
}

Status Cache::verify_headers(CacheVerdict& verdict) const {
  WT_TRY_ASSIGN(const std::vector<fs::path> folders, paths_in(headers_folder()));
  for (const fs::path& folder : folders) {
    const auto status = stat_of(folder);
    if (is_unfinished(folder)) {
      if (!status || std::time(nullptr) - status->st_mtime <= kLeftoverSeconds) continue;  // somebody writes it
      verdict.bad.emplace_back(CacheEntry{folder, folder.filename().string(), 0, status->st_mtime},
                               "its writer ended before it was whole");
      continue;
    }
    const Result<std::string> hash = hash_of_folder(folder);
    if (hash.ok() && hash->starts_with(folder.filename().string())) {
      ++verdict.good;
      continue;
    }
    verdict.bad.emplace_back(CacheEntry{folder, folder.filename().string(), 0, status ? status->st_mtime : 0},
                             hash.ok() ? "its headers are not those of its name" : hash.status().message());
  }
  return {};
}

Status Cache::remove(const CacheEntry& entry) const {
  std::error_code error;
  fs::remove_all(entry.path, error);
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
  std::error_code error;
  fs::remove(root_ / "usage", error);
  return clearance;
}

Result<uint64_t> Cache::evict(const fs::path& keep) const {
  WT_TRY_ASSIGN(const std::vector<CacheEntry> entries, list());
  uint64_t total = 0;
  for (const CacheEntry& entry : entries) total += entry.bytes;
  if (total <= limit_bytes_) return total;
  // WHY a tenth below the limit: otherwise every later store would evict again.
  const uint64_t goal = limit_bytes_ - limit_bytes_ / 10;
  for (auto entry = entries.rbegin(); entry != entries.rend() && total > goal; ++entry) {
    if (entry->path == keep) continue;
    WT_TRY(remove(*entry));
    total -= entry->bytes;
  }
  drop_leftovers();
  return total;
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
