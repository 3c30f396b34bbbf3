// SPDX-License-Identifier: Apache-2.0
#include "compile/toolchain.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>

#include "base/environment.h"
#include "base/files.h"
#include "base/fork_gate.h"
#include "compile/cache.h"
#include "compile/process.h"

namespace wt::compile {
namespace fs = std::filesystem;
namespace {

Status write_headers(const HeaderSet& headers, const fs::path& folder) {
  WT_TRY(make_private_folder(folder));
  for (const Header& header : headers.headers) {
    const fs::path path = folder / header.name;
    // WHY by content: a header that a crash or a bad disk has changed would be compiled into a module under a good key.
    const Result<std::string> there = read_trusted_file(path);
    if (there.ok() && *there == header.text) continue;
    WT_TRY(write_file(path, header.text, FileKind::kPrivate));
  }
  return {};
}

// A new set appears whole, by the rename of a folder; one that is there is only repaired.
Status keep_headers(const HeaderSet& headers, const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder, error)) return write_headers(headers, folder);
  const fs::path unfinished = unfinished_name(folder);
  Status status = write_headers(headers, unfinished);
  if (status.ok()) status = move_folder(unfinished, folder);
  if (status.ok()) return {};
  fs::remove_all(unfinished, error);
  return fs::exists(folder, error) ? write_headers(headers, folder) : status;  // another process was first
}

constexpr const char* kPrefix = "wavetile-work-";
constexpr const char* kAlive = ".alive";  // locked by its owner
constexpr int64_t kNewSeconds = 600;      // its owner may not have come to lock it

// Removes the folders whose owners were killed. Only our own: another user's are not ours to judge.
void remove_orphans(const fs::path& base) {
  std::error_code error;
  for (fs::directory_iterator item(base, error); !error && item != fs::directory_iterator(); item.increment(error)) {
    struct stat status {};
    const fs::path path = item->path();
    if (!path.filename().string().starts_with(kPrefix) || ::lstat(path.c_str(), &status) != 0) continue;
    if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid()) continue;
    std::error_code ignored;
    const bool locked_before = fs::exists(path / kAlive, ignored);
    if (!locked_before && std::time(nullptr) - status.st_mtime < kNewSeconds) continue;
    if (locked_before && !ByteLock(path / kAlive, 0, 1, 0).held()) continue;
    fs::remove_all(path, ignored);
  }
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

void append_flags(std::vector<std::string>& flags, const char* variable) {
  for (std::string& word : split_words(environment(variable))) flags.push_back(std::move(word));
}

double compile_timeout_seconds() {
  const double asked = std::atof(environment("WAVETILE_COMPILE_TIMEOUT").c_str());
  return asked > 0 ? asked : 300;
}

Result<std::string> version_line(const std::string& program) {
  static std::mutex mutex;
  static std::map<std::string, std::string> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(program); found != known.end()) return found->second;
  WT_TRY_ASSIGN(const ProcessResult result, run_process({program, "--version"}, 30));
  if (result.exit_code != 0) {
    return failure(Code::kCompile, "{} --version ended with code {}: {}", program, result.exit_code, result.output);
  }
  return known[program] = result.output.substr(0, result.output.find('\n'));
}

Result<TemporaryFolder> TemporaryFolder::make() {
  std::error_code error;
  const fs::path base = fs::temp_directory_path(error);
  if (error) return failure(Code::kIo, "no temporary folder: {}; set TMPDIR", error.message());
  static std::once_flag swept;
  std::call_once(swept, [&] { remove_orphans(base); });
  std::string path = (base / (std::string(kPrefix) + "XXXXXX")).string();
  const Starting starting;  // a signal that ends the process finds the folder known, or none made
  if (!starting.allowed()) return failure(Code::kIo, "no temporary folder: the process is being ended");
  if (!::mkdtemp(path.data())) {
    return failure(Code::kIo, "cannot make a folder in {}; set TMPDIR to a folder that can be written", base.string());
  }
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::TemporaryFolder(std::string path)
    : path_(std::move(path)),
      known_(std::make_unique<KnownFolder>(path_)),
      alive_(std::make_unique<ByteLock>(fs::path(path_) / kAlive, 0, 1, 0)) {}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), known_(std::move(other.known_)), alive_(std::move(other.alive_)) {}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  try {
    fs::remove_all(path_);
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "wavetile: the folder %s was not removed: %s\n", path_.c_str(), fault.what());
  }
}

Result<std::string> unpack_headers(const HeaderSet& headers, const std::string& fallback) {
  if (const Result<Cache> cache = Cache::open(); cache.ok() && cache->enabled()) {
    const fs::path folder = cache->headers_folder() / headers.hash.substr(0, 32);
    if (keep_headers(headers, folder).ok()) {
      std::error_code error;
      fs::last_write_time(folder, fs::file_time_type::clock::now(), error);  // the cache drops what is long unused
      return folder.string();
    }
  }
  const fs::path folder = fs::path(fallback) / "include";
  WT_TRY(write_headers(headers, folder));
  return folder.string();
}

Result<Product> run_compiler(const std::vector<std::string>& arguments, const std::string& output,
                             const HeaderSet& headers, const std::string& header_folder) {
  WT_TRY_ASSIGN(ProcessResult result, [&] {
    const ForkGate::Away away;
    return run_process(arguments, compile_timeout_seconds());
  }());
  if (!headers.source_dir.empty()) {
    replace_all(result.output, header_folder, (fs::path(headers.source_dir) / "src").string());
  }
  if (result.exit_code != 0) {
    return failure(Code::kCompile, "{} ended with code {}\n{}", arguments[0], result.exit_code, result.output);
  }
  Product product;
  WT_TRY_ASSIGN(product.image, read_file(output));
  product.log = std::move(result.output);
  return product;
}

}  // namespace wt::compile
