// SPDX-License-Identifier: Apache-2.0
// runtime/sim/primitives.h - the emulation's entry points, by file; table.cc puts them into the table.
#pragma once

#include "runtime/sim/engine.h"

namespace wt::sim {

// access.cc
int thread_index();
Int3 block_index();
Int3 grid_size();
SharedAddress shared_base();
const void* read_shared(SharedAddress address, u32 bytes, u32 alignment, Site site);
void* write_shared(SharedAddress address, u32 bytes, u32 alignment, Site site);
const void* read_global(const void* address, u32 bytes, u32 alignment, Site site);
void* write_global(void* address, u32 bytes, u32 alignment, Site site);
float atomic_add_float(float* address, float value, Site site);
u32 atomic_add(u32* address, u32 value, Site site);
u32 atomic_max(u32* address, u32 value, Site site);
u32 load_acquire(const u32* address, Site site);
void store_release(u32* address, u32 value, Site site);

// barrier.cc
void sync_block(Site site);
void sync_named(int id, int threads, Site site);
void arrive_named(int id, int threads, Site site);

// warp.cc
void sync_warp(Site site);
u64 vote(Vote kind, u64 value, int lane, Site site);

// mma.cc
void mma(MmaKind kind, float* c, const void* a, const void* b, Site site);

}  // namespace wt::sim
