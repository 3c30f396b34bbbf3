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
      .mma = mma,
  };
  return table;
}

}  // namespace wt::sim
