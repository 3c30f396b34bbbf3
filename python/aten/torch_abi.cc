// SPDX-License-Identifier: Apache-2.0
#include "python/aten/torch_abi.h"

#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace wt::aten {
namespace {

Torch functions;
std::string fault;

template <class Function>
bool bind(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (!function) fault = std::string("this torch has no ") + name + "; torch 2.10 or newer is needed";
  return function != nullptr;
}

}  // namespace

const Torch& torch() { return functions; }

const char* load_torch() {
  fault.clear();
  void* library = dlopen("libtorch_cpu.so", RTLD_NOW | RTLD_NOLOAD);
  if (!library) {
    fault = "libtorch_cpu.so is not loaded; import torch first";
    return fault.c_str();
  }
#define WT_BIND(result, name, parameters) \
  if (!bind(library, #name, functions.name)) return fault.c_str();
  WT_TORCH_FUNCTIONS(WT_BIND)
  library = dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_NOLOAD);
  if (library) {
    WT_TORCH_CUDA_FUNCTIONS(WT_BIND)
  }
#undef WT_BIND
  return "";
}

void fail(const char* text) { throw std::runtime_error(text); }

void check(AOTITorchError error, const char* what) {
  if (error != 0) fail((std::string("torch failed in ") + what + "; its own message stands above").c_str());
}

}  // namespace wt::aten
