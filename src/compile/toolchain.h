// SPDX-License-Identifier: Apache-2.0
// compile/toolchain.h - what the three compilers have in common, behind compiler.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "compile/compiler.h"
#include "compile/flights.h"
#include "compile/leftovers.h"
#include "compile/source_headers.h"

namespace wt::compile {

// What a compiler makes of a source.
struct Product {
  std::string image;
  Resources resources;
  std::string log;
};

// A compiler found on this machine, for one target.
struct Toolchain {
  std::string program;             // path of the compiler or of its library
  std::string version;             // name and version; part of the cache key
  std::vector<std::string> flags;  // part of the cache key
};

// Extra flags a user gives in `variable`, appended to `flags`.
void append_flags(std::vector<std::string>& flags, const char* variable);

double compile_timeout_seconds();  // WAVETILE_COMPILE_TIMEOUT, default 300

// The first line of `program --version`, asked once per process.
Result<std::string> version_line(const std::string& program);

// A folder under the system's temporary folder that goes away with this object. Folders of processes that were killed
// are removed by the next process that makes one.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> make();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path);
  std::string path_;
  std::unique_ptr<KnownFolder> known_;
  std::unique_ptr<ByteLock> alive_;  // others see by it that the owner is there
};

// The headers as files, for compilers that read files: <cache>/headers/<hash>, or `fallback` where the cache cannot be
// written. Files that already have the right content are left alone.
Result<std::string> unpack_headers(const HeaderSet& headers, const std::string& fallback);

// Runs a compiler that writes `output` and gives what it wrote; the failure is the compiler's log, in which the
// unpacked folder is named as the source tree it came from.
Result<Product> run_compiler(const std::vector<std::string>& arguments, const std::string& output,
                             const HeaderSet& headers, const std::string& header_folder);

}  // namespace wt::compile
