// SPDX-License-Identifier: Apache-2.0
// base/dynamic_library.h - a library loaded at run time (CUDA driver, NVRTC, the oneDNN provider, simulator kernels).
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace wt {

class DynamicLibrary {
 public:
  // Tries each name in turn; the failure lists what every one of them answered.
  static Result<DynamicLibrary> open(const std::vector<std::string>& names);

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
  DynamicLibrary(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  void* handle_ = nullptr;
  std::string path_;
};

}  // namespace wt
