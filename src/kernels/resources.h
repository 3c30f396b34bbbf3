// SPDX-License-Identifier: Apache-2.0
// kernels/resources.h - what a config takes of a block's shared memory and of a thread's registers.
//
// Kinds say their own (kind.h); shared memory by the formula that the device code lays out by.
#pragma once

#include <cstdint>

#include "config/targets.h"

namespace wt {

int threads_of(const KernelConfig& config);  // of a block, with the warps that only load

int64_t shared_bytes_of(const KernelConfig& config);  // dynamic, of a block

// An estimate before compilation: accumulators, fragments of one k-step, and what addressing takes. The compiler's own
// count is in compile::Resources.
int registers_of(const KernelConfig& config);

// Parts of that estimate. Addressing, loop counters and values under way lie between what the generic and the Hopper
// kernels take.
inline constexpr int kAddressRegisters = 48;
int accumulators_of(const KernelConfig& config);
int fragments_of(const KernelConfig& config);  // of one k-step

// Blocks that share a multiprocessor, by threads, shared memory and as many registers of a thread as the compiler says;
// 0: not known, and not looked at.
int64_t resident_blocks(const KernelConfig& config, int registers);

// The most registers a thread may have so that min_blocks blocks fit a multiprocessor.
int register_limit(const KernelConfig& config);
int occupancy_registers(const KernelConfig& config);  // the same by the target alone, whatever a kind says

}  // namespace wt
