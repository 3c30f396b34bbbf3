// SPDX-License-Identifier: Apache-2.0
// dispatch/tuning/same_code.h - whether a kernel is still the machine code that was measured.
//
//   content key as measured ------------------------------------------> same
//   machine code of the kernel as it is now: known to this process, the database, a pack or the cache, else
//   by compiling it, once; then it is kept in the database ----------> same, or changed (by another compiler perhaps)
#pragma once

#include "config/kernel_config.h"
#include "dispatch/tuning/database.h"
#include "runtime/device.h"

namespace wt::tuning {

enum class CodeCheck : bool {
  kKnown,    // say kUnknown rather than compile: for who only describes
  kCompile,  // for who would compile the kernel anyway
};

enum class Comparison : uint8_t {
  kSame,
  kOtherCompiler,  // it may differ; the measurement is still the best that is known
  kChanged,
  kUnknown,  // its source has changed, and nobody has compiled it since
};

// A failure: the kernel cannot be had here.
Result<Comparison> compare_code(const DeviceInfo& device, const KernelConfig& config, const KernelCode& measured,
                                CodeCheck check);

}  // namespace wt::tuning
