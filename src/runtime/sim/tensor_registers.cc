// SPDX-License-Identifier: Apache-2.0
// runtime/sim/tensor_registers.cc - registers to and from tensor memory.
#include <algorithm>
#include <cmath>

#include "runtime/sim/primitives.h"
#include "runtime/sim/report.h"
#include "runtime/sim/tensor_memory.h"

namespace wt::sim {
namespace {

const char* name_of(bool store) { return store ? "tensor_store" : "tensor_load"; }

void finish(TensorMemory& memory, TensorTransfer& transfer) {
  if (transfer.done) return;
  transfer.done = true;
  for (int t = 0; t < 32; ++t) {
    for (int i = 0; i < transfer.count; ++i) {
      const device::TensorPlace at = device::tensor_place(transfer.shape, t, i, transfer.count);
      float& value =
          memory.value(static_cast<int>(transfer.lane) + at.lane, transfer.column + static_cast<uint32_t>(at.column));
      if (transfer.store) {
        value = transfer.from[static_cast<size_t>(t) * static_cast<size_t>(transfer.count) + static_cast<size_t>(i)];
      } else {
        transfer.to[t][i] = value;
      }
    }
  }
}

// Whether the warp's own registers are on their way to the cell, and not waited for.
bool in_flight(TensorMemory& memory, const std::vector<TensorTransfer>& transfers, const TensorCell& cell) {
  bool found = false;
  for (const TensorTransfer& transfer : transfers) {
    if (transfer.store && !transfer.waited)
      for_cells(memory, transfer, [&](TensorCell& other, uint32_t) { found |= &other == &cell; });
  }
  return found;
}

[[noreturn, gnu::noinline, gnu::cold]] void fail_load(const Thread& thread, const TensorCell& cell, uint32_t column,
                                                      Site site) {
  const Cluster& cluster = *thread.block->cluster;
  if (thread.warp->clock.seen[cell.write_actor] >= cell.write_clock) {
    fail(Fault::kUse, "tensor_load", site,
         fmt::format("thread {} knows that column {} is written, but executed no tensor_fence_after since",
                     thread.index, column));
  }
  fail(Fault::kRace, "tensor_load", site,
       fmt::format("column {} of tensor memory is written by {}, and no wait for an mbarrier that follows it comes "
                   "before this read",
                   column, actor_text(cluster, cell.write_actor).text));
}

void check_load(Warp& warp, TensorMemory& memory, const TensorTransfer& transfer, Site site) {
  Block& block = *warp.block;
  const bool checks = block.cluster->plan->options.checks;
  const TensorCell* last = nullptr;
  for_cells(memory, transfer, [&](TensorCell& cell, uint32_t column) {
    if (!cell.written) {
      fail(Fault::kUninitialised, "tensor_load", site,
           fmt::format("column {} of tensor memory is read, and nobody wrote it", column));
    }
    const bool own = cell.write_actor == warp.actor;
    if (own && checks && in_flight(memory, memory.transfers[warp.index], cell)) {
      fail(Fault::kRace, "tensor_load", site,
           fmt::format("column {} of tensor memory is read before tensor_store_wait", column));
    }
    const bool same = last && last->write_actor == cell.write_actor && last->write_clock == cell.write_clock;
    if (checks && !own && !same) {
      for (int lane = 0; lane < warp.lanes; ++lane) {
        const Thread& thread = block.threads[static_cast<size_t>(warp.index) * 32 + static_cast<size_t>(lane)];
        if (!tensor_knows(thread, cell.write_actor, cell.write_clock)) fail_load(thread, cell, column, site);
      }
    }
    last = &cell;
    int slot = 0;
    while (slot < cell.readers && cell.by[slot].actor != warp.actor) ++slot;
    if (slot == TensorCell::kMost) return;  // forgotten, which can hide a race
    cell.readers = static_cast<uint8_t>(std::max<int>(cell.readers, slot + 1));
    cell.by[slot] = {TensorCell::kNotReleased, static_cast<uint16_t>(warp.actor)};
  });
}

void check_store(Warp& warp, TensorMemory& memory, const TensorTransfer& transfer, Site site) {
  const Thread& thread = warp.block->threads[static_cast<size_t>(warp.index) * 32];
  for_cells(memory, transfer, [&](TensorCell& cell, uint32_t column) {
    TensorCell others = cell;  // what the warp did itself is in its order
    others.readers = 0;
    for (int i = 0; i < cell.readers; ++i) {
      if (cell.by[i].actor != warp.actor) others.by[others.readers++] = cell.by[i];
    }
    if (cell.write_actor == warp.actor) others.written = false;
    check_overwrite(thread, others, column, 0, "tensor_store", site);
    cell = {};
    cell.written = true;
    cell.write_actor = static_cast<uint16_t>(warp.actor);
    cell.write_clock = TensorCell::kNotReleased;
  });
}

void transfer_registers(Warp& warp, void** lanes) {
  const auto& first = *static_cast<const TensorRegistersCall*>(lanes[0]);
  const bool store = first.from != nullptr;
  const char* operation = name_of(store);
  const Site site = warp.collective.site;
  Block& block = *warp.block;
  if (!block.tensor) fail(Fault::kUse, operation, site, "no tensor memory is allocated");
  TensorMemory& memory = *block.tensor;
  for (int lane = 1; lane < warp.lanes; ++lane) {
    if (static_cast<const TensorRegistersCall*>(lanes[lane])->address == first.address) continue;
    fail(Fault::kDivergence, operation, site, fmt::format("lane {} has another address than lane 0", lane));
  }
  TensorTransfer transfer{};
  transfer.shape = static_cast<device::TensorShape>(first.shape);
  transfer.lane = first.address >> 16;
  transfer.column = first.address & 0xffff;
  transfer.count = first.count;
  transfer.store = store;
  const bool whole = transfer.shape == device::TensorShape::k32x32;
  const auto own = static_cast<uint32_t>(warp.index % 4 * 32);
  if (transfer.lane != own && (whole || transfer.lane != own + 16)) {
    fail(Fault::kUse, operation, site,
         fmt::format("it starts in lane {}: warp {} reaches lanes {} to {} and no others", transfer.lane, warp.index,
                     own, own + 31));
  }
  const device::TensorPlace last = device::tensor_place(transfer.shape, 31, transfer.count - 1, transfer.count);
  check_columns(memory, transfer.column, static_cast<u32>(last.column) + 1, operation, site);
  if (store) {
    check_store(warp, memory, transfer, site);
  } else {
    check_load(warp, memory, transfer, site);
  }
  memory.fenced[warp.index] = 0;
  for (int lane = 0; lane < warp.lanes; ++lane) {
    const auto& call = *static_cast<const TensorRegistersCall*>(lanes[lane]);
    if (store) {
      transfer.from.insert(transfer.from.end(), call.from, call.from + call.count);
    } else {
      transfer.to[lane] = call.to;
      std::fill_n(call.to, call.count, std::nanf(""));
    }
  }
  if (block.cluster->completes_now()) finish(memory, transfer);
  memory.transfers[warp.index].push_back(std::move(transfer));
}

template <bool kStores>
void finish_transfers(Warp& warp, void**) {
  if (!warp.block->tensor) return;
  for (TensorTransfer& transfer : warp.block->tensor->transfers[warp.index]) {
    if (transfer.store != kStores) continue;
    finish(*warp.block->tensor, transfer);
    transfer.waited = true;
  }
}

}  // namespace

void tensor_registers(const TensorRegistersCall& call, Site site) {
  TensorRegistersCall argument = call;
  collective(name_of(call.from != nullptr), &argument, site, transfer_registers);
}

void tensor_wait(bool stores, Site site) {
  collective(stores ? "tensor_store_wait" : "tensor_load_wait", nullptr, site,
             stores ? finish_transfers<true> : finish_transfers<false>);
}

}  // namespace wt::sim
