// SPDX-License-Identifier: Apache-2.0
// target/amd/async_copy.h - copies from global to shared memory that pass no register: not offered on these targets.
//
// WHY: clang 19 has global_load_lds for gfx940 on only, and its backend crashes on it. The constraint portable-async
// keeps kernels away; the names are declared for code that asks its config first.
#pragma once

#include "target/amd/identity.h"

namespace wt::device {

template <int kBytes>
WT_DEVICE void copy_async(SharedAddress to, const void* from, int valid);
WT_DEVICE void copy_async_line(SharedAddress to, const void* from, int valid);
WT_DEVICE void copy_async_commit();
template <int kPending>
WT_DEVICE void copy_async_wait();

}  // namespace wt::device
