// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler.h"

#include <atomic>
#include <chrono>
#include <mutex>

#include "base/check.h"
#include "base/files.h"
#include "base/log.h"
#include "base/parallel.h"
#include "compile/cache.h"
#include "compile/clang.h"
#include "compile/flights.h"
#include "compile/host_compiler.h"
#include "compile/nvrtc.h"
#include "compile/sha256.h"
#include "config/targets.h"

namespace wt::compile {
namespace {

const char* extension_of(Backend backend) {
  switch (backend) {
    case Backend::kNvrtc:
      return ".cu";
    case Backend::kHost:
      return ".cc";
    case Backend::kClang:
      return ".hip";
  }
  return "";
}

Result<Toolchain> toolchain_of(Backend backend, Target target) {
  if (backend != Backend::kHost && backend != backend_of(target)) {
    return unsupported("{} does not compile for {}; use {}", name_of(backend), architecture_of(target),
                       name_of(backend_of(target)));
  }
  switch (backend) {
    case Backend::kNvrtc:
      return nvrtc_toolchain(target);
    case Backend::kHost:
      return host_toolchain(target);
    case Backend::kClang:
      return clang_toolchain(target);
  }
  WT_CHECK(false, "backend {}", static_cast<int>(backend));
}

Result<Product> build(Backend backend, const Toolchain& toolchain, const Source& source, const HeaderSet& headers) {
  switch (backend) {
    case Backend::kNvrtc:
      return nvrtc_build(toolchain, source, headers);
    case Backend::kHost:
      return host_build(toolchain, source, headers);
    case Backend::kClang:
      return clang_build(toolchain, source, headers);
  }
  WT_CHECK(false, "backend {}", static_cast<int>(backend));
}

std::string key_of(Backend backend, const Toolchain& toolchain, const Source& source, const HeaderSet& headers) {
  Sha256 hash;
  hash.add_field("wavetile module");
  hash.add_field(name_of(backend));
  hash.add_field(architecture_of(source.target));
  hash.add_field(toolchain.version);
  for (const std::string& flag : toolchain.flags) hash.add_field(flag);
  hash.add_field(source.name);
  hash.add_field(source.text);
  hash.add_field(headers.hash);
  return hash.hex().substr(0, 32);
}

// Says once per process why modules are not kept.
void warn_no_cache(const Status& status) {
  static std::atomic<bool> said{false};
  if (!said.exchange(true)) {
    log::warn("compiled kernels are not kept: {} (WAVETILE_CACHE_DIR names another folder)", status.message());
  }
}

// A refused source is kept as a file, so that the lines in the log can be looked up.
std::string keep_failed_source(const Result<Cache>& cache, Backend backend, const Source& source) {
  if (!cache.ok() || !cache->enabled()) return "not kept, the cache is off";
  const auto path = cache->failed_folder() / (source.name + extension_of(backend));
  return write_file(path, source.text, FileKind::kPrivate).ok() ? path.string()
                                                                : "not kept, the cache cannot be written";
}

}  // namespace

const char* name_of(Backend backend) {
  switch (backend) {
    case Backend::kNvrtc:
      return "nvrtc";
    case Backend::kHost:
      return "host";
    case Backend::kClang:
      return "clang";
  }
  return "?";
}

std::string architecture_of(Target target) { return std::string(info_of(target).compiler_arch); }

Backend backend_of(Target target) {
  return info_of(target).vendor == Vendor::kNvidia ? Backend::kNvrtc : Backend::kClang;
}

Status available(Backend backend, Target target) { return toolchain_of(backend, target).status(); }

Result<std::string> compiler_version(Backend backend) {
  const Target target = backend == Backend::kClang ? Target::kGfx90a : Target::kSm80;
  WT_TRY_ASSIGN(Toolchain toolchain, toolchain_of(backend, target));
  return std::move(toolchain.version);
}

namespace {

// Past the cache. `cache` is where the product is kept.
Result<Module> build_and_keep(Backend backend, const Source& source, const Toolchain& toolchain,
                              const HeaderSet& headers, const std::string& key, const Result<Cache>& cache) {
  const auto start = std::chrono::steady_clock::now();
  Result<Product> product = build(backend, toolchain, source, headers);
  if (!product.ok()) {
    return failure(product.status().code(), "kernel {} for {} did not compile with {} (source: {}): {}", source.name,
                   architecture_of(source.target), toolchain.version, keep_failed_source(cache, backend, source),
                   product.status().message());
  }
  Module module;
  module.backend = backend;
  module.target = source.target;
  module.name = source.name;
  module.image = std::move(product->image);
  module.key = key;
  module.compiler = toolchain.version;
  module.resources = product->resources;
  module.resources.compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  module.log = std::move(product->log);
  log::debug("kernel {} for {}: compiled in {:.2f} s", source.name, architecture_of(source.target),
             module.resources.compile_seconds);
  if (cache.ok() && cache->enabled()) {
    if (Status status = cache->store(module); !status.ok()) warn_no_cache(status);
  }
  return module;
}

}  // namespace

Result<Module> compile(Backend backend, const Source& source) {
  WT_TRY_ASSIGN(const Toolchain toolchain, toolchain_of(backend, source.target));
  WT_TRY_ASSIGN(const HeaderSet headers, headers_for(source.text));
  const std::string key = key_of(backend, toolchain, source, headers);
  const Result<Cache> cache = Cache::open();
  if (!cache.ok()) warn_no_cache(cache.status());
  const auto hit = [&]() -> std::optional<Module> {
    if (!cache.ok()) return std::nullopt;
    std::optional<Module> found = cache->find(backend, key);
    if (found)
      log::debug("kernel {} for {}: from cache entry {}", source.name, architecture_of(source.target), found->path);
    return found;
  };
  if (std::optional<Module> found = hit()) return std::move(*found);
  return one_flight(key, [&]() -> Result<Module> {
    const bool shared = cache.ok() && cache->enabled() && make_private_folder(cache->root()).ok();
    const std::filesystem::path root = shared ? cache->root() : std::filesystem::path();
    const Turn turn(root, key);
    if (std::optional<Module> found = hit()) return std::move(*found);  // of another process, while this one waited
    const Slot slot(root);
    return build_and_keep(backend, source, toolchain, headers, key, cache);
  });
}

void forget(const Module& module, const Status& why) {
  if (!module.from_cache || module.path.empty()) return;
  log::warn("cache entry {} cannot be loaded ({}); the kernel is compiled again", module.path, why.message());
  std::error_code error;
  std::filesystem::remove(module.path, error);
}

Result<std::string> content_key(Backend backend, const Source& source) {
  WT_TRY_ASSIGN(const Toolchain toolchain, toolchain_of(backend, source.target));
  WT_TRY_ASSIGN(const HeaderSet headers, headers_for(source.text));
  return key_of(backend, toolchain, source, headers);
}

bool is_cached(Backend backend, const Source& source) {
  const Result<std::string> key = content_key(backend, source);
  const Result<Cache> cache = Cache::open();
  std::error_code error;
  return key.ok() && cache.ok() && cache->enabled() && std::filesystem::exists(cache->path_of(backend, *key), error);
}

std::vector<Result<Module>> compile_all(Backend backend, std::span<const Source> sources,
                                        const CompileProgress& progress) {
  std::vector<Result<Module>> results(sources.size(), Status());
  std::mutex mutex;
  size_t done = 0;
  parallel_for(static_cast<int64_t>(sources.size()), [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    results[at] = compile(backend, sources[at]);
    const std::lock_guard lock(mutex);
    ++done;
    if (progress) progress(done, sources[at], results[at]);
  });
  return results;
}

}  // namespace wt::compile
