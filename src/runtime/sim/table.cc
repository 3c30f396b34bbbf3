// SPDX-License-Identifier: Apache-2.0
// runtime/sim/table.cc - the one table that every simulated kernel is bound to.
#include "runtime/sim/primitives.h"

namespace wt::sim {

const Table& library_table() {
  static const Table table = {
      .version = kTableVersion,
      .bytes = sizeof(Table),
      .thread_index = thread_index,
      .block_index = block_index,
      .grid_size = grid_size,
      .shared_base = shared_base,
      .read_shared = read_shared,
      .write_shared = write_shared,
      .read_global = read_global,
      .write_global = write_global,
      .read_buffer = read_buffer,
      .atomic_add_float = atomic_add_float,
      .atomic_add = atomic_add,
      .atomic_max = atomic_max,
      .load_acquire = load_acquire,
      .store_release = store_release,
      .sync_block = sync_block,
      .sync_named = sync_named,
      .arrive_named = arrive_named,
      .sync_warp = sync_warp,
      .vote = vote,
      .note_aligned = note_aligned,
      .mma = mma,
      .copy_async = copy_async,
      .copy_async_commit = copy_async_commit,
      .copy_async_wait = copy_async_wait,
      .copy_async_arrive = copy_async_arrive,
      .load_matrix = load_matrix,
      .store_matrix = store_matrix,
      .mbarrier_init = mbarrier_init,
      .mbarrier_fence_init = mbarrier_fence_init,
      .mbarrier_arrive = mbarrier_arrive,
      .mbarrier_arrive_remote = mbarrier_arrive_remote,
      .mbarrier_try_wait = mbarrier_try_wait,
      .mbarrier_wait = mbarrier_wait,
      .fence_async_shared = fence_async_shared,
      .tma_prefetch = tma_prefetch,
      .tma_load = tma_load,
      .tma_store = tma_store,
      .bulk_load = bulk_load,
      .bulk_store = bulk_store,
      .bulk_commit = bulk_commit,
      .bulk_wait = bulk_wait,
      .cluster_rank = cluster_rank,
      .cluster_blocks = cluster_blocks,
      .cluster_arrive = cluster_arrive,
      .cluster_wait = cluster_wait,
      .cluster_address = cluster_address,
      .read_cluster = read_cluster,
      .write_cluster = write_cluster,
      .wgmma_fence = wgmma_fence,
      .wgmma_commit = wgmma_commit,
      .wgmma_wait = wgmma_wait,
      .wgmma = wgmma,
      .elect = elect,
      .set_registers = set_registers,
  };
  return table;
}

}  // namespace wt::sim
