// SPDX-License-Identifier: Apache-2.0
#include "base/dynamic_library.h"

#include <dlfcn.h>

namespace wt {

Result<DynamicLibrary> DynamicLibrary::open(const std::vector<std::string>& names) {
  std::string answers;
  for (const std::string& name : names) {
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return DynamicLibrary(handle, name);
    const char* answer = dlerror();
    answers += std::string(answers.empty() ? "" : "; ") + (answer ? answer : name.c_str());
  }
  return failure(Code::kDevice, "no library could be loaded: {}", answers);
}

DynamicLibrary::DynamicLibrary(DynamicLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}

DynamicLibrary& DynamicLibrary::operator=(DynamicLibrary&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(path_, other.path_);
  return *this;
}

DynamicLibrary::~DynamicLibrary() {
  if (handle_) dlclose(handle_);
}

void* DynamicLibrary::find(const char* symbol) const { return dlsym(handle_, symbol); }

}  // namespace wt
