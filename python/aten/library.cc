// SPDX-License-Identifier: Apache-2.0
// python/aten/library.cc - what Python calls of this library, by ctypes (python/wavetile/torch/library.py).
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "python/aten/aten_kernels.h"
#include "python/aten/operators.h"
#include "python/aten/plans.h"

using namespace wt::aten;

namespace {

thread_local std::string last_text;  // of the calls below
std::map<std::string, TorchLibraryHandle> overrides;
std::mutex overrides_lock;

void define_operators() {
  TorchLibraryHandle fragment = nullptr;
  check(torch().aoti_torch_library_init_fragment("wavetile", __FILE__, __LINE__, &fragment), "library_init_fragment");
  for (const Operator& each : operators()) {
    check(torch().aoti_torch_library_def(fragment, each.schema), each.schema);
  }
  for (const char* key : {"CPU", "CUDA"}) {
    TorchLibraryHandle kernels = nullptr;
    check(torch().aoti_torch_library_init_impl("wavetile", key, __FILE__, __LINE__, &kernels), "library_init_impl");
    for (const Operator& each : operators()) {
      check(torch().torch_library_impl(kernels, each.name, each.kernel, kTorchVersion), each.name);
    }
  }
}

// "" or the text of what was thrown.
template <class Work>
const char* text_of(Work work) {
  try {
    last_text.clear();
    work();
  } catch (const std::exception& error) {
    last_text = error.what();
  }
  return last_text.c_str();
}

}  // namespace

#define WT_EXPORT extern "C" __attribute__((visibility("default")))

// Finds torch's functions and defines torch.ops.wavetile; "" or why not.
WT_EXPORT const char* wavetile_torch_load(int (*flags_callback)(int device)) {
  return text_of([&] {
    const char* missing = load_torch();
    if (*missing) fail(missing);
    switches().flags = flags_callback;
    define_operators();
  });
}

// Puts our kernels in the place of aten's for a dispatch key ("CPU", "CUDA"), or takes them away again.
WT_EXPORT const char* wavetile_torch_override(const char* key, int on) {
  return text_of([&] {
    const std::lock_guard hold(overrides_lock);
    const auto found = overrides.find(key);
    if (!on && found != overrides.end()) {
      check(torch().aoti_torch_delete_library_object(found->second), "delete_library_object");
      overrides.erase(found);
    }
    if (on && found == overrides.end()) {
      TorchLibraryHandle library = nullptr;
      check(torch().aoti_torch_library_init_impl("aten", key, __FILE__, __LINE__, &library), "library_init_impl");
      check(torch().torch_library_impl(library, "convolution", convolution, kTorchVersion), "convolution");
      check(torch().torch_library_impl(library, "convolution_backward", convolution_backward, kTorchVersion),
            "convolution_backward");
      overrides[key] = library;
    }
  });
}

WT_EXPORT void wavetile_torch_switch(int serving, int strict) {
  switches().serving = serving != 0;
  switches().strict = strict != 0;
}

// Calls `range` with a name before each convolution and with null after it; null: no more.
WT_EXPORT void wavetile_torch_ranges(void (*range)(const char* name)) { switches().range = range; }

// This thread's calls make plans and compute nothing; with tuning_seconds above 0 they measure for so long.
WT_EXPORT void wavetile_torch_rehearse(int on, double tuning_seconds) {
  rehearsal() = {.on = on != 0, .tuning_seconds = on ? tuning_seconds : 0};
}

WT_EXPORT void wavetile_torch_set_error(const char* text) { set_stock_error(text); }

WT_EXPORT const char* wavetile_torch_report() {
  return text_of([&] { last_text = report_json(); });
}

WT_EXPORT void wavetile_torch_clear_report() { clear_report(); }
