// SPDX-License-Identifier: Apache-2.0
// config/storage.h - what a config takes of a block's shared memory and of a thread's registers.
//
// Shared memory is the kernels' own formula (kernel/gemm/storage.h), so that both sides agree by construction.
#pragma once

#include <cstdint>

#include "config/targets.h"

namespace wt {

int threads_of(const KernelConfig& config);  // of a block, with the warps that only load

int64_t shared_bytes_of(const KernelConfig& config);  // dynamic, of a block

// An estimate before compilation: accumulators, fragments of one k-step, and what addressing takes. The compiler's own
// count is in compile::Resources.
int registers_of(const KernelConfig& config);

// The most registers a thread may have so that min_blocks blocks fit a multiprocessor.
int register_limit(const KernelConfig& config);

}  // namespace wt
