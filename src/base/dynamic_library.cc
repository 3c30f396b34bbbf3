// SPDX-License-Identifier: Apache-2.0
#include "base/dynamic_library.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace wt {
namespace {

std::string path_of(int memory) { return fmt::format("/proc/self/fd/{}", memory); }

// Some libraries stay loaded when they are closed (those with unique symbols, which the compiler makes of inline
// variables).
bool is_loaded(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (handle) dlclose(handle);
  return handle != nullptr;
}

}  // namespace

Result<DynamicLibrary> DynamicLibrary::open(const std::vector<std::string>& names) {
  std::string answers;
  for (const std::string& name : names) {
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return DynamicLibrary(handle, name);
    const char* answer = dlerror();
    answers += std::string(answers.empty() ? "" : "; ") + (answer ? answer : name.c_str());
  }
  return failure(Code::kDevice, "no library could be loaded: {}", answers);
}

Result<DynamicLibrary> DynamicLibrary::load(const std::string& name, std::string_view image) {
  DynamicLibrary library(nullptr, name, -1);  // before there is a file, which it closes
  library.memory_ = ::memfd_create(name.substr(0, 200).c_str(), MFD_CLOEXEC);
  if (library.memory_ < 0)
    return failure(Code::kIo, "cannot make a file in memory for {}: {}", name, std::strerror(errno));
  while (!image.empty()) {
    const ssize_t written = ::write(library.memory_, image.data(), image.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failure(Code::kIo, "cannot copy {} into memory: {}", name, std::strerror(errno));
    image.remove_prefix(static_cast<size_t>(written));
  }
  // WHY the file stays open as long as the library is loaded: the loader knows libraries by path, and would take the
  // next one under the same number for this one.
  library.handle_ = dlopen(path_of(library.memory_).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library.handle_) return library;
  const char* answer = dlerror();
  return failure(Code::kDevice, "{} could not be loaded: {}", name, answer ? answer : "no reason was given");
}

Result<DynamicLibrary> DynamicLibrary::open_loaded_first(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) return DynamicLibrary(handle, name);
  return open(names);
}

DynamicLibrary::DynamicLibrary(DynamicLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      path_(std::move(other.path_)),
      memory_(std::exchange(other.memory_, -1)) {}

DynamicLibrary& DynamicLibrary::operator=(DynamicLibrary&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(path_, other.path_);
  std::swap(memory_, other.memory_);
  return *this;
}

DynamicLibrary::~DynamicLibrary() {
  if (handle_) dlclose(handle_);
  if (memory_ >= 0 && !is_loaded(path_of(memory_))) ::close(memory_);
}

void* DynamicLibrary::find(const char* symbol) const { return dlsym(handle_, symbol); }

}  // namespace wt
