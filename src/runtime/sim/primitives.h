// SPDX-License-Identifier: Apache-2.0
// runtime/sim/primitives.h - the emulation's entry points, by file; table.cc puts them into the table.
#pragma once

#include "runtime/sim/engine.h"

namespace wt::sim {

// access.cc: every access is inside a buffer, or inside the block's shared memory, and aligned.
void check_shared(const Block& block, u32 address, u32 bytes, u32 alignment, const char* operation, Site site);
void check_global(Cluster& cluster, uintptr_t address, u32 bytes, u32 alignment, const char* operation, Site site);
int thread_index();
Int3 block_index();
Int3 grid_size();
SharedAddress shared_base();
const void* read_shared(SharedAddress address, u32 bytes, u32 alignment, Site site);
const void* peek_shared(SharedAddress address, u32 bytes, u32 alignment, Site site);
void* write_shared(SharedAddress address, u32 bytes, u32 alignment, Site site);
const void* read_global(const void* address, u32 bytes, u32 alignment, Site site);
void* write_global(void* address, u32 bytes, u32 alignment, Site site);
void prefetch_global(const void* address, Site site);
void fence_global(Site site);
void wait_prerequisites(Site site);
void read_buffer(void* to, const void* base, u32 range, u32 offset, u32 bytes, Site site);
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
void note_aligned(Site site);

bool elect(Site site);
void load_matrix(u32* to, int count, bool transposed, SharedAddress row, Site site);
void store_matrix(SharedAddress row, const u32* from, int count, bool transposed, Site site);
void set_registers(int count, bool take, Site site);

// mma.cc
void mma(MmaKind kind, int count, float* c, const void* a, const void* b, Site site);

// Reports accumulators none of which was ever set, and to which a product is about to be added.
void check_cleared(const float* accumulators, int count, const char* operation, Site site);

// async_copy.cc
void copy_async(SharedAddress to, const void* from, int bytes, int valid, Site site);
void copy_buffer(SharedAddress to, const void* base, u32 range, u32 offset, u32 bytes, Site site);
void copy_async_commit(Site site);
void copy_async_wait(int pending, Site site);
void copy_async_arrive(SharedAddress barrier, Site site);
void land_copies(Thread& thread, size_t count);  // the first `count` copies' bytes are in shared memory
void retire_copies(Thread& thread, size_t count, uint32_t clock);

// mbarrier.cc
void mbarrier_init(SharedAddress barrier, u32 arrivals, Site site);
void mbarrier_fence_init(Site site);
void mbarrier_arrive(SharedAddress barrier, u32 bytes, bool expects, Site site);
void mbarrier_arrive_remote(SharedAddress barrier, u32 rank, Site site);
void mbarrier_arrive_expect_remote(SharedAddress barrier, u32 rank, u32 bytes, Site site);
bool mbarrier_try_wait(SharedAddress barrier, u32 parity, Site site);
void mbarrier_wait(SharedAddress barrier, u32 parity, Site site);
// The barrier at an address, or a report; `user` must be ordered after its init.
Mbarrier& find_mbarrier(Block& block, SharedAddress barrier, const Thread& user, const char* operation, Site site);
void finish_phase(Cluster& cluster, Mbarrier& barrier);  // if its arrivals and bytes have come

// tma.cc
void fence_async_shared(Site site);
void tma_prefetch(const TensorMap& map, Site site);
void tma_load(const TmaLoad& load, Site site);
void tma_store(const TmaStore& store, Site site);
void bulk_load(SharedAddress to, const void* from, u32 bytes, SharedAddress barrier, Site site);
void bulk_store(void* to, SharedAddress from, u32 bytes, Site site);
void bulk_commit(Site site);
void bulk_wait(int pending, bool read_only, Site site);
// The receiving mbarrier gets the bytes of a bulk load or of an answer.
void bytes_came(Cluster& cluster, Block& block, const AsyncWork& work);
void read_store(Thread& thread, BulkStore& store);   // takes the bytes out of shared memory
void write_store(Thread& thread, BulkStore& store);  // and puts them into global memory

// cluster.cc: block `rank` of the cluster, or a report.
Block& remote_block(u32 rank, const char* operation, Site site);
u32 cluster_rank();
u32 cluster_blocks();
void cluster_arrive(bool relaxed, Site site);
void cluster_wait(Site site);
u32 cluster_address(SharedAddress local, u32 rank, Site site);
const void* read_cluster(u32 address, u32 bytes, Site site);
void* write_cluster(u32 address, u32 bytes, Site site);
void store_counted(u32 address, const void* from, u32 bytes, u32 barrier, Site site);

// wgmma.cc
void wgmma_fence(Site site);
void wgmma_commit(Site site);
void wgmma_wait(int pending, Site site);
void wgmma(const WgmmaCall& call, Site site);

// tensor_memory.cc, tensor_registers.cc
void tensor_allocate(int blocks, SharedAddress to, u32 columns, Site site);
void tensor_free(int blocks, u32 address, u32 columns, Site site);
void tensor_relinquish(int blocks, Site site);
void tensor_fence_before(Site site);
void tensor_fence_after(Site site);
void tensor_registers(const TensorRegistersCall& call, Site site);
void tensor_wait(bool stores, Site site);

// tcgen05.cc
void tensor_multiply(const TensorCall& call, Site site);
void tensor_copy(int copy, int blocks, u32 to, u64 from, Site site);
void tensor_commit(int blocks, u32 barrier, u16 mask, Site site);
void complete_commit(Cluster& cluster, const AsyncWork& work);

// launch_control.cc
void take_cluster(SharedAddress answer, SharedAddress barrier, Site site);
bool taken_cluster(SharedAddress answer, Int3* first, Site site);
void complete_answer(Cluster& cluster, AsyncWork& work);

}  // namespace wt::sim
