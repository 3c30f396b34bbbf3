// SPDX-License-Identifier: Apache-2.0
// base/dynamic_library.h - a library loaded at run time (CUDA driver, HIP, NVRTC, the oneDNN provider, simulator
// kernels).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace wt {

class DynamicLibrary {
 public:
  // Tries each name in turn; the failure lists what every one of them answered.
  static Result<DynamicLibrary> open(const std::vector<std::string>& names);
  // As open, but one that this process has loaded already comes first, whatever its place in `names`.
  static Result<DynamicLibrary> open_loaded_first(const std::vector<std::string>& names);

  // From an image in memory: what was checked is what is loaded, with no file that could be another one by then.
  static Result<DynamicLibrary> load(const std::string& name, std::string_view image);

  DynamicLibrary(DynamicLibrary&& other) noexcept;
  DynamicLibrary& operator=(DynamicLibrary&& other) noexcept;
  ~DynamicLibrary();

  const std::string& path() const { return path_; }
  void* find(const char* symbol) const;  // null when absent

  template <class Function>
  Status bind(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(find(symbol));
    if (!function) return failure(Code::kDevice, "{} has no symbol {}", path_, symbol);
    return {};
  }

 private:
  DynamicLibrary(void* handle, std::string path, int memory = -1)
      : handle_(handle), path_(std::move(path)), memory_(memory) {}
  void* handle_ = nullptr;
  std::string path_;
  int memory_ = -1;  // the file in memory that it was loaded from
};

}  // namespace wt
