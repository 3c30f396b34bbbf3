// SPDX-License-Identifier: Apache-2.0
// compile/cache.h - compiled modules on disk, one file each (module_file.h), named by their content key.
//
//   <root>/modules/<key>.{cubin,so,co}   <root>/headers/<hash>/   <root>/failed/<kernel>.{cu,cc,hip}
//   <root>/usage: bytes of all modules, or more   <root>/lock: see flights.h
//
// Any number of processes may use one cache: files appear whole by rename, a reader checks what it read, and the file's
// time stamp says when it was last used. WAVETILE_CACHE_DIR sets the root (default: cache_folder() of base/files.h) and
// WAVETILE_CACHE_LIMIT_MB the size of all modules (default 1024; 0 turns the cache off).
//
// What lies here is executed, so a cache that another user can write is refused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "compile/compiler.h"

namespace wt::compile {

struct CacheEntry {
  std::filesystem::path path;
  std::string key;
  uint64_t bytes = 0;
  int64_t last_used = 0;  // seconds since 1970
};

struct CacheVerdict {
  size_t good = 0;
  std::vector<std::pair<CacheEntry, std::string>> bad;  // with what is wrong
};

struct CacheClearance {
  size_t entries = 0;
  uint64_t bytes = 0;
};

class Cache {
 public:
  static Result<Cache> open();  // as the environment says; touches nothing; a failure where others can write to it
  Cache(std::filesystem::path root, uint64_t limit_bytes) : root_(std::move(root)), limit_bytes_(limit_bytes) {}

  bool enabled() const { return limit_bytes_ > 0; }
  const std::filesystem::path& root() const { return root_; }
  uint64_t limit_bytes() const { return limit_bytes_; }
  std::filesystem::path headers_folder() const { return root_ / "headers"; }
  std::filesystem::path failed_folder() const { return root_ / "failed"; }
  std::filesystem::path path_of(Backend backend, const std::string& key) const;

  // Nothing where the entry is absent, or damaged: then it is removed and the log says so.
  std::optional<Module> find(Backend backend, const std::string& key) const;

  // Keeps `module` and sets its path; drops what was not used for longest while the limit is exceeded.
  Status store(Module& module) const;

  Result<std::vector<CacheEntry>> list() const;  // last used first, then by key
  Result<CacheVerdict> verify() const;           // reads all modules and headers, and looks for what dead writers left
  Status remove(const CacheEntry& entry) const;  // also a folder of headers, as verify() names it
  Result<CacheClearance> clear() const;          // modules, headers and failed sources

 private:
  Status check_trusted() const;
  Status count(const std::filesystem::path& stored) const;
  Result<uint64_t> evict(const std::filesystem::path& keep) const;
  void verify_modules(const std::vector<CacheEntry>& entries, CacheVerdict& verdict) const;
  Status verify_headers(CacheVerdict& verdict) const;
  void drop_leftovers() const;

  std::filesystem::path root_;
  uint64_t limit_bytes_;
};

}  // namespace wt::compile
