// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace wt {
namespace fs = std::filesystem;
namespace {

Status io_failure(std::string_view what, const fs::path& path) {
  return failure(Code::kIo, "cannot {} {}: {}", what, path.string(), std::strerror(errno));
}

Status write_all(int file, std::string_view content, const fs::path& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return io_failure("write", path);
    content.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Result<fs::path> user_folder(const char* variable, const char* below_home) {
  if (const char* base = std::getenv(variable); base && *base) return fs::path(base) / "wavetile";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / below_home / "wavetile";
  return failure(Code::kIo, "neither {} nor HOME is set; set {} to a folder that can be written", variable, variable);
}

}  // namespace

Result<std::string> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return io_failure("open", path);
  std::string content{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (in.bad()) return io_failure("read", path);
  return content;
}

Status write_file(const fs::path& path, std::string_view content) {
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (error) return failure(Code::kIo, "cannot make folder {}: {}", path.parent_path().string(), error.message());
  std::string temporary = path.string() + ".XXXXXX";
  const int file = ::mkstemp(temporary.data());
  if (file < 0) return io_failure("create", temporary);
  // WHY: mkstemp makes files that only the owner reads; a cache or report is an ordinary file.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(file, 0666 & ~mask);
  Status status = write_all(file, content, temporary);
  if (::close(file) != 0 && status.ok()) status = io_failure("close", temporary);
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) status = io_failure("rename to", path);
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

Result<fs::path> cache_folder() { return user_folder("XDG_CACHE_HOME", ".cache"); }
Result<fs::path> data_folder() { return user_folder("XDG_DATA_HOME", ".local/share"); }

}  // namespace wt
