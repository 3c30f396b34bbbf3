// SPDX-License-Identifier: Apache-2.0
// dispatch/plan/own_memory.h - what a plan for the CPU allocates in an execute whose caller allows no workspace.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "base/integers.h"
#include "base/status.h"

namespace wt {

inline constexpr int64_t kScratchAlignment = 256;
inline int64_t scratch_bytes(int64_t bytes) { return ceil_div(bytes, kScratchAlignment) * kScratchAlignment; }

class OwnMemory {
 public:
  Status allocate(int64_t bytes) {
    const auto size = static_cast<size_t>(scratch_bytes(bytes));
    memory_.reset(static_cast<char*>(std::aligned_alloc(kScratchAlignment, size)));
    if (memory_) return {};
    return failure(Code::kDevice, "no {} bytes of memory for copied rows; allow a workspace instead", size);
  }
  char* get() const { return memory_.get(); }

 private:
  std::unique_ptr<char, decltype(&std::free)> memory_{nullptr, &std::free};
};

}  // namespace wt
