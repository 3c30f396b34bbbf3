// SPDX-License-Identifier: Apache-2.0
// base/files.h - whole files, written so that a reader never sees half of one.
//
// Only regular files are read: opening a pipe or a device as one would wait for ever. What is executed later (compiled
// modules, packs) is read as trusted: from files that no other user can write. docs/security.md says why.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/status.h"

namespace wt {

// A regular file, open for reading. Everything is asked of the open file, never of its name again.
class InputFile {
 public:
  static Result<InputFile> open(const std::filesystem::path& path);
  InputFile() = default;
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  const std::filesystem::path& path() const { return path_; }
  uint64_t bytes() const { return bytes_; }  // when it was opened

  // Refuses a file that another user (not root) owns or can write; WAVETILE_TRUSTED_USERS names users to accept.
  Status check_trusted() const;

  Result<std::string> read() const;                                // all of it
  Result<std::string> read(uint64_t offset, uint64_t size) const;  // a part; a failure where the file ends before

 private:
  std::filesystem::path path_;
  int file_ = -1;
  uint64_t bytes_ = 0;
  uid_t owner_ = 0;
  mode_t mode_ = 0;
};

Result<std::string> read_file(const std::filesystem::path& path);
Result<std::string> read_trusted_file(const std::filesystem::path& path);

// As InputFile::check_trusted, of a folder; one that does not exist yet is fine.
Status check_trusted_folder(const std::filesystem::path& folder);

enum class FileKind {
  kOrdinary,  // as the umask says; the content may be lost where the machine stops soon after
  kDurable,   // as the umask says, but never writable by others; on disk when the call returns
  kPrivate,   // as kDurable, for the owner alone, and so are folders made on the way
};

// Writes to a temporary name in the same folder (made when absent) and renames it into place.
Status write_file(const std::filesystem::path& path, std::string_view content, FileKind kind = FileKind::kOrdinary);

// The name under which a file or folder is written before it gets `path`; another one at each call.
std::filesystem::path unfinished_name(const std::filesystem::path& path);

// Gives a folder that was written under unfinished_name() its name, on disk when the call returns.
Status move_folder(const std::filesystem::path& from, const std::filesystem::path& to);

// Makes what is missing of `folder`, for its owner alone.
Status make_private_folder(const std::filesystem::path& folder);

// Whether a file of this name is one that write_file had not finished when its process ended.
bool is_unfinished(const std::filesystem::path& path);

// $XDG_CACHE_HOME/wavetile, or ~/.cache/wavetile.
Result<std::filesystem::path> cache_folder();

// $XDG_DATA_HOME/wavetile, or ~/.local/share/wavetile.
Result<std::filesystem::path> data_folder();

}  // namespace wt
