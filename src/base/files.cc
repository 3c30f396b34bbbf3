// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/environment.h"

namespace wt {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kUnfinished = ".unfinished-";

Status io_failure(std::string_view what, const fs::path& path) {
  return failure(Code::kIo, "cannot {} {}: {}", what, path.string(), std::strerror(errno));
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

bool is_trusted_user(uid_t user) {
  if (user == ::geteuid() || user == 0) return true;
  const std::string users = environment("WAVETILE_TRUSTED_USERS");
  const char* at = users.c_str();
  for (char* end = nullptr; *at; at = end) {
    const unsigned long named = std::strtoul(at, &end, 10);
    if (end == at) return false;
    if (named == user) return true;
    end += std::strspn(end, ", ");
  }
  return false;
}

Status check_trusted_by(const fs::path& path, uid_t owner, mode_t mode) {
  if (!is_trusted_user(owner)) {
    return failure(
        Code::kIo,
        "{} belongs to user {}, who could put code into it that this process would run; use one of your own, "
        "or set WAVETILE_TRUSTED_USERS={} where that user may do so",
        path.string(), owner, owner);
  }
  if ((mode & (S_IWGRP | S_IWOTH)) != 0) {
    return failure(Code::kIo,
                   "{} can be written by other users (mode {:o}), who could put code into it that this process would "
                   "run; if you trust what is there: chmod go-w {}",
                   path.string(), mode & 07777, path.string());
  }
  return {};
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

Status make_folders(const fs::path& folder, mode_t mode) {
  struct stat status {};
  if (folder.empty()) return {};
  if (::stat(folder.c_str(), &status) != 0) {
    WT_TRY(make_folders(folder.parent_path(), mode));
    if (::mkdir(folder.c_str(), mode) != 0 && errno != EEXIST) return io_failure("make folder", folder);
  } else if (!S_ISDIR(status.st_mode)) {
    errno = ENOTDIR;
    return io_failure("make folder", folder);
  }
  return {};
}

// A new file beside the one that it will replace; closed and removed unless it took that one's name.
class Replacement {
 public:
  Replacement() = default;
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement() {
    if (file_ >= 0) ::close(file_);
    if (made_) ::unlink(name_.c_str());
  }

  // WHY not mkstemp: it makes files that only the owner reads, and the umask that an ordinary file has to follow can
  // only be asked for by changing it for all threads.
  Status make_beside(const fs::path& path, mode_t mode) {
    for (int attempt = 0; attempt < 1000; ++attempt) {
      name_ = unfinished_name(path);
      file_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
      made_ = file_ >= 0;
      if (made_) return {};
      if (errno != EEXIST) break;  // of a process before with the same number
    }
    return io_failure("create", name_);
  }

  Status write(std::string_view content, bool to_disk) {
    WT_TRY(write_all(file_, content, name_));
    if (to_disk && ::fsync(file_) != 0) return io_failure("write to disk", name_);
    const int file = std::exchange(file_, -1);
    return ::close(file) == 0 ? Status() : io_failure("close", name_);
  }

  Status take_name(const fs::path& path) {
    if (::rename(name_.c_str(), path.c_str()) != 0) return io_failure("rename to", path);
    made_ = false;
    return {};
  }

 private:
  fs::path name_;
  int file_ = -1;
  bool made_ = false;
};

// WHY: until the folder is on disk too, the new name may be lost though the content is not.
Status sync_folder(const fs::path& folder) {
  const int file = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return io_failure("open", folder);
  // Some file systems cannot do this for folders and say EINVAL.
  const bool synced = ::fsync(file) == 0 || errno == EINVAL;
  const Status status = synced ? Status() : io_failure("write to disk", folder);
  ::close(file);
  return status;
}

Result<fs::path> user_folder(const char* variable, const char* below_home) {
  if (const char* base = environment_or_null(variable); base && *base) return fs::path(base) / "wavetile";
  if (const char* home = environment_or_null("HOME"); home && *home) return fs::path(home) / below_home / "wavetile";
  return failure(Code::kIo, "neither {} nor HOME is set; set {} to a folder that can be written", variable, variable);
}

}  // namespace

Result<InputFile> InputFile::open(const fs::path& path) {
  InputFile input;
  input.path_ = path;
  // WHY O_NONBLOCK: opening a pipe would wait for somebody to write to it.
  input.file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat status {};
  if (input.file_ < 0 || ::fstat(input.file_, &status) != 0) return io_failure("open", path);
  if (!S_ISREG(status.st_mode)) {
    return failure(Code::kIo, "cannot read {}: it is {}, not a file", path.string(), kind_of(status.st_mode));
  }
  input.bytes_ = static_cast<uint64_t>(status.st_size);
  input.owner_ = status.st_uid;
  input.mode_ = status.st_mode;
  return input;
}

InputFile::InputFile(InputFile&& other) noexcept { *this = std::move(other); }

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  std::swap(bytes_, other.bytes_);
  std::swap(owner_, other.owner_);
  std::swap(mode_, other.mode_);
  return *this;
}

InputFile::~InputFile() {
  if (file_ >= 0) ::close(file_);
}

Status InputFile::check_trusted() const { return check_trusted_by(path_, owner_, mode_); }

Result<std::string> InputFile::read() const {
  std::string content(bytes_, '\0');
  size_t filled = 0;
  for (;;) {
    // Some files (of /proc) are longer than they say, and one may grow while it is read.
    if (filled == content.size()) content.resize(filled + 4096);
    const ssize_t count = ::pread(file_, content.data() + filled, content.size() - filled, static_cast<off_t>(filled));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return io_failure("read", path_);
    if (count == 0) break;
    filled += static_cast<size_t>(count);
  }
  content.resize(filled);
  return content;
}

Result<std::string> InputFile::read(uint64_t offset, uint64_t size) const {
  if (offset > bytes_ || size > bytes_ - offset) {
    return failure(Code::kIo, "cannot read {} bytes at {} of {}, which has {}", size, offset, path_.string(), bytes_);
  }
  std::string content(size, '\0');
  for (size_t filled = 0; filled < size;) {
    const ssize_t count = ::pread(file_, content.data() + filled, size - filled, static_cast<off_t>(offset + filled));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return io_failure("read", path_);
    if (count == 0) return failure(Code::kIo, "{} became shorter while it was in use", path_.string());
    filled += static_cast<size_t>(count);
  }
  return content;
}

Result<std::string> read_file(const fs::path& path) {
  WT_TRY_ASSIGN(const InputFile file, InputFile::open(path));
  return file.read();
}

Result<std::string> read_trusted_file(const fs::path& path) {
  WT_TRY_ASSIGN(const InputFile file, InputFile::open(path));
  WT_TRY(file.check_trusted());
  return file.read();
}

Status check_trusted_folder(const fs::path& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) return errno == ENOENT ? Status() : io_failure("look at", folder);
  return check_trusted_by(folder, status.st_uid, status.st_mode);
}

Status write_file(const fs::path& path, std::string_view content, FileKind kind) {
  const bool own = kind == FileKind::kPrivate;
  struct stat there {};
  // WHY: renaming would put a file in the place of a pipe or a device, such as /dev/null.
  if (::stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode)) {
    return failure(Code::kIo, "cannot write {}: it is {}, not a file", path.string(), kind_of(there.st_mode));
  }
  WT_TRY(make_folders(path.parent_path(), own ? 0700 : 0777));
  const mode_t mode = kind == FileKind::kOrdinary ? 0666 : kind == FileKind::kDurable ? 0644 : 0600;
  Replacement replacement;
  WT_TRY(replacement.make_beside(path, mode));
  WT_TRY(replacement.write(content, kind != FileKind::kOrdinary));
  WT_TRY(replacement.take_name(path));
  return kind == FileKind::kOrdinary ? Status() : sync_folder(path.parent_path());
}

fs::path unfinished_name(const fs::path& path) {
  static std::atomic<unsigned> counter{0};
  return fmt::format("{}{}{}-{}", path.string(), kUnfinished, ::getpid(), counter.fetch_add(1));
}

Status move_folder(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return io_failure("rename to", to);
  return sync_folder(to.parent_path());
}

Status make_private_folder(const fs::path& folder) { return make_folders(folder, 0700); }

bool is_unfinished(const fs::path& path) { return path.filename().string().find(kUnfinished) != std::string::npos; }

Result<fs::path> cache_folder() { return user_folder("XDG_CACHE_HOME", ".cache"); }
Result<fs::path> data_folder() { return user_folder("XDG_DATA_HOME", ".local/share"); }

}  // namespace wt
