// SPDX-License-Identifier: Apache-2.0
// runtime/gpu/module.h - a loaded image on a context and its functions, as far as CUDA and HIP agree.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "compile/compiler.h"
#include "runtime/gpu/context.h"

namespace wt::gpu {

// What `const Function*` points at on a GPU.
template <class Context>
struct KernelFunction {
  typename Context::Driver::FunctionHandle handle = nullptr;
  std::string name;
  const char* lasting_name = nullptr;  // the same, outliving the module, for faults that come to light late
  int64_t param_bytes = -1;            // of the one by-value argument; -1: nobody can say
  int64_t static_shared_bytes = 0;
};

template <class Context>
const KernelFunction<Context>& unwrap(const Function& function) {
  return reinterpret_cast<const KernelFunction<Context>&>(function);
}

// A launch in words, for a refusal.
template <class Context>
std::string describe(const KernelFunction<Context>& function, const LaunchShape& shape, size_t param_bytes) {
  std::string text = fmt::format(
      "kernel {}: grid {}x{}x{}, {} threads, cluster {}x{}x{}, {} + {} bytes of shared memory, {} bytes of parameters",
      function.name, shape.grid[0], shape.grid[1], shape.grid[2], shape.threads, shape.cluster[0], shape.cluster[1],
      shape.cluster[2], shape.shared_bytes, function.static_shared_bytes, param_bytes);
  if (shape.replay) text += fmt::format("; replay with: {}", shape.replay);
  return text;
}

// Ok, or that `params` is not the block that the kernel takes.
template <class Context>
Status check_params(const KernelFunction<Context>& function, size_t bytes) {
  if (function.param_bytes < 0 || function.param_bytes == static_cast<int64_t>(bytes)) [[likely]]
    return {};
  return failure(Code::kDevice, "kernel {} takes {} bytes of parameters and was given {}", function.name,
                 function.param_bytes, bytes);
}

template <class Context>
class DriverModule : public LoadedModule {
 public:
  using Driver = typename Context::Driver;
  using Kernel = KernelFunction<Context>;

  ~DriverModule() override {
    const typename Context::Scope scope(*context_);
    if (scope.status().ok()) context_->driver().module_unload(handle_);
  }

  // Sets everything up that a launch needs, so that a launch sets nothing.
  Result<const Function*> find(const std::string& name) final {
    std::lock_guard lock(mutex_);
    if (auto it = functions_.find(name); it != functions_.end()) return reinterpret_cast<const Function*>(&it->second);
    const typename Context::Scope scope(*context_);
    WT_TRY(scope.status());
    const Driver& driver = context_->driver();
    Kernel kernel{.name = name, .lasting_name = replay_text(name)};
    if (int code = driver.module_get_function(&kernel.handle, handle_, name.c_str()))
      return context_->failed(code, driver.module_get_function, fmt::format("module {} and entry {}", name_, name));
    int static_shared = 0;
    WT_TRY(context_->call(driver.func_get_attribute, &static_shared, kSharedSizeBytes, kernel.handle));
    kernel.static_shared_bytes = static_shared;
    WT_TRY(prepare(kernel));
    return reinterpret_cast<const Function*>(&functions_.emplace(name, std::move(kernel)).first->second);
  }

 protected:
  DriverModule(std::shared_ptr<const Context> context, typename Driver::ModuleHandle handle, std::string name)
      : context_(std::move(context)), handle_(handle), name_(std::move(name)) {}

  const Context& context() const { return *context_; }

 private:
  // What this driver needs once a function, and what it knows of the parameters.
  virtual Status prepare(Kernel& kernel) = 0;

  std::shared_ptr<const Context> context_;
  typename Driver::ModuleHandle handle_;
  std::string name_;
  std::mutex mutex_;  // of functions_
  std::map<std::string, Kernel> functions_;
};

// Loads `module`, which `backend` must have made; `misfit` says why a driver may call the image another GPU's.
template <class Context, class Misfit>
Result<typename Context::Driver::ModuleHandle> load_image(const Context& context, const compile::Module& module,
                                                          compile::Backend backend, const char* maker,
                                                          const Misfit& misfit) {
  if (module.backend != backend)
    return unsupported("module {} was not made for an {} GPU, so {} cannot load it", module.name, maker,
                       context.info().id);
  typename Context::Driver::ModuleHandle handle = nullptr;
  if (int code = context.driver().module_load_data(&handle, module.image.data())) {
    std::string detail = fmt::format("module {} of {} bytes", module.name, module.image.size());
    if (code == kNoBinaryForGpu || code == kInvalidImage) detail += "; " + misfit();
    return context.failed(code, context.driver().module_load_data, detail);
  }
  return handle;
}

}  // namespace wt::gpu
