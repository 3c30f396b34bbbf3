// SPDX-License-Identifier: Apache-2.0
// kernels/beside/device/fnuz_copy_arguments.h - the launch of fnuz_copy.h as the host sees it.
//
// Freestanding: host (kernels/beside/fnuz_copy.cc) and device compilers lay these structs out alike.
#pragma once

#include "target/types.h"

namespace wt {

inline constexpr int kFnuzThreads = 256, kFnuzChunk = 16;  // numbers of a thread at a time
inline constexpr int kFnuzMost = 2;                        // tensors
// Of the entry's name, after that of the kernel it prepares for.
inline constexpr const char* kFnuzSuffix = "_fnuz";

struct FnuzCopyArguments {
  struct Copy {
    const void* in;  // e4m3
    void* out;       // half of each, as FNUZ; room for whole chunks
    i64 count;       // numbers
  };
  Copy copies[kFnuzMost];
};

}  // namespace wt
