// SPDX-License-Identifier: Apache-2.0
#include "compile/toolchain.h"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>

#include "base/files.h"
#include "compile/cache.h"
#include "compile/process.h"

namespace wt::compile {
namespace fs = std::filesystem;
namespace {

Status write_headers(const HeaderSet& headers, const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return failure(Code::kIo, "cannot make folder {}: {}", folder.string(), failed.message());
  for (const Header& header : headers.headers) {
    const fs::path path = folder / header.name;
    std::error_code error;
    if (fs::file_size(path, error) == header.text.size() && !error) continue;
    WT_TRY(write_file(path, header.text));
  }
  return {};
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
  std::string path = (base / "wavetile-XXXXXX").string();
  if (!::mkdtemp(path.data())) {
    return failure(Code::kIo, "cannot make a folder in {}; set TMPDIR to a folder that can be written", base.string());
  }
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
}

Result<std::string> unpack_headers(const HeaderSet& headers, const std::string& fallback) {
  if (const Result<Cache> cache = Cache::open(); cache.ok() && cache->enabled()) {
    const fs::path folder = cache->headers_folder() / headers.hash.substr(0, 32);
    if (write_headers(headers, folder).ok()) {
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
  WT_TRY_ASSIGN(ProcessResult result, run_process(arguments, compile_timeout_seconds()));
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
