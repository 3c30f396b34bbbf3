// SPDX-License-Identifier: Apache-2.0
// tests/runtime/sim_harness.h - compiles a kernel of sim_kernels/ for the simulator and runs it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "compile/compiler.h"
#include "config/targets.h"
#include "runtime/sim/device.h"
#include "tests/places.h"

namespace wt::sim_test {

// A device buffer of T, freed at the end.
template <class T>
class Buffer {
 public:
  Buffer(Device& device, size_t count) : device_(device), count_(count) {
    Result<void*> memory = device.allocate(count * sizeof(T));
    EXPECT_TRUE(memory.ok()) << memory.status().message();
    if (memory.ok()) memory_ = static_cast<T*>(*memory);
  }
  Buffer(Device& device, const std::vector<T>& values) : Buffer(device, values.size()) { set(values); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { EXPECT_TRUE(device_.free(memory_).ok()); }

  T* get() const { return memory_; }
  void set(const std::vector<T>& values) {
    ASSERT_TRUE(device_.copy_in(memory_, values.data(), values.size() * sizeof(T)).ok());
  }
  std::vector<T> values() const {
    std::vector<T> result(count_);
    EXPECT_TRUE(device_.copy_out(result.data(), memory_, count_ * sizeof(T)).ok());
    return result;
  }

 private:
  Device& device_;
  T* memory_ = nullptr;
  size_t count_ = 0;
};

// `before`, `file` of sim_kernels/, and WT_KERNEL(name, type).
inline compile::Source kernel_source(const std::string& file, const std::string& name, const std::string& type,
                                     Target target, const std::string& before) {
  const auto path = std::filesystem::path(places::kSourceTree) / "tests/runtime/sim_kernels" / file;
  const Result<std::string> text = read_file(path);
  EXPECT_TRUE(text.ok()) << text.status().message();
  compile::Source source;
  source.name = name;
  source.target = target;
  source.text = before + "#line 1 \"tests/runtime/sim_kernels/" + file + "\"\n" + (text.ok() ? *text : "") +
                "\nWT_KERNEL(" + name + ", " + type + ")\n";
  return source;
}

// Compiled once per process for each source and target.
inline Result<compile::Module> compiled(const compile::Source& source) {
  static std::mutex mutex;
  static std::map<std::string, compile::Module> modules;
  std::lock_guard lock(mutex);
  const std::string key = std::to_string(static_cast<int>(source.target)) + source.text;
  if (const auto found = modules.find(key); found != modules.end()) return found->second;
  WT_TRY_ASSIGN(compile::Module module, compile::compile(compile::Backend::kHost, source));
  modules[key] = module;
  return module;
}

// Whether a run said one of these, which stand between bars.
inline bool mentions(const std::string& said, std::string_view reports) {
  for (;;) {
    const size_t end = reports.find('|');
    if (said.find(reports.substr(0, end)) != std::string::npos) return true;
    if (end == std::string_view::npos) return false;
    reports.remove_prefix(end + 1);
  }
}

class Kernel {
 public:
  Kernel(Target target, const sim::Options& options, const std::string& file, const std::string& name,
         const std::string& type, const std::string& before = "") {
    Result<std::shared_ptr<Device>> device = open_sim_device(target, options);
    EXPECT_TRUE(device.ok()) << device.status().message();
    device_ = *device;
    Result<compile::Module> module = compiled(kernel_source(file, name, type, target, before));
    EXPECT_TRUE(module.ok()) << module.status().message();
    if (!module.ok()) return;
    Result<std::shared_ptr<LoadedModule>> loaded = device_->load(*module);
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    if (!loaded.ok()) return;
    module_ = *loaded;
    Result<const Function*> function = module_->find(name);
    EXPECT_TRUE(function.ok()) << function.status().message();
    if (function.ok()) function_ = *function;
  }

  Device& device() { return *device_; }

  template <class Params>
  Status run(const LaunchShape& shape, const Params& params) {
    if (!function_) return failure(Code::kCompile, "the kernel was not loaded");
    return device_->launch(*function_, shape, {reinterpret_cast<const std::byte*>(&params), sizeof params}, nullptr);
  }

 private:
  std::shared_ptr<Device> device_;
  std::shared_ptr<LoadedModule> module_;
  const Function* function_ = nullptr;
};

}  // namespace wt::sim_test
