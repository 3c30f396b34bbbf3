// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/kernels.h"

#include <cstdlib>
#include <string_view>

#include "base/environment.h"

namespace wt::cpu {

const Kernels& kernels() {
  static const Kernels& chosen = []() -> const Kernels& {
#ifdef __x86_64__
    // WAVETILE_CPU_KERNELS names a lesser set (for tests of what an older CPU runs); never one this CPU lacks.
    const char* text = environment_or_null("WAVETILE_CPU_KERNELS");
    const std::string_view asked = text ? text : "";
    if (asked != "portable") {
      if (asked != "x86-64-v3" && __builtin_cpu_supports("x86-64-v4")) return kV4Kernels;
      if (__builtin_cpu_supports("x86-64-v3")) return kV3Kernels;
    }
#endif
    return kPortableKernels;
  }();
  return chosen;
}

}  // namespace wt::cpu
