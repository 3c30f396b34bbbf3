// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/shadow.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/sim/lane.h"
#include "runtime/sim/report.h"

namespace wt::sim {
namespace {

// Calls visit(cell address, byte mask) for each cell of [address, address + bytes).
template <class Visit>
void for_cells(uint32_t address, uint32_t bytes, Visit visit) {
  const uint32_t end = address + bytes;
  while (address < end) {
    const uint32_t first = address % Shadow::kCell, stop = std::min(Shadow::kCell, first + (end - address));
    visit(address, byte_mask(first, stop));
    address += stop - first;
  }
}

const char* fix_of(const Cell& cell, const Cluster& cluster) {
  if (cell.writer == Writer::kCopy) return "; a copy_async_wait and a barrier must come between";
  if (cell.write_actor >= cluster.mbarrier_actor(0, 0)) return "; mbarrier_wait on that phase must come between";
  return "";
}

constexpr const char* kLaneFix = "; sync_warp must come between";

// Who wrote, for a report: a lane of a warp, or a bulk copy.
Text writer_text(const Cluster& cluster, const Cell& cell, int lane) {
  if (cell.writer == Writer::kBulk) return actor_text(cluster, cell.write_actor);
  return lane_text(cluster, cell.write_actor, lane);
}

[[noreturn, gnu::noinline, gnu::cold]] void fail_unwritten(const Block& block, uint32_t address, uint16_t mask,
                                                           const Cell& cell, const char* operation, Site site) {
  const auto missing = static_cast<uint32_t>(mask & ~cell.ever);
  const uint32_t byte = address / Shadow::kCell * Shadow::kCell + static_cast<uint32_t>(std::countr_zero(missing));
  fail(Fault::kUninitialised, operation, site,
       fmt::format("{} is read before anybody wrote it: the write is missing, or what orders it before this read",
                   shared_text(block, byte).text));
}

}  // namespace

void Shadow::note_read(uint32_t address, uint16_t mask, uint16_t actor, uint64_t lanes, uint32_t clock,
                       const Clock& known) {
  Cell& cell = at(address);
  Readers& by = readers_of(address);
  int slot = -1;
  for (int i = 0; i < cell.readers; ++i) {
    if (by.actor[i] == actor && by.clock[i] == clock) {
      by.mask[i] |= mask;
      if (lanes) reader_lanes_of(address).of[i] |= lanes;
      return;
    }
    // An earlier read that this one follows says nothing more, if this one covers its bytes.
    if ((by.mask[i] & ~mask) == 0 && by.clock[i] <= known.seen[by.actor[i]]) slot = i;
  }
  if (slot < 0) slot = cell.readers < Readers::kMost ? cell.readers++ : static_cast<int>(clock % Readers::kMost);
  by.actor[slot] = actor;
  by.clock[slot] = clock;
  by.mask[slot] = mask;
  if (lanes) reader_lanes_of(address).of[slot] = lanes;
}

int Shadow::unknown_writer(const Thread& thread, const Cell& cell, uint32_t address, uint16_t mask) {
  const Clock& known = thread.warp->clock;
  if (cell.write_clock <= known.seen[cell.write_actor]) return kKnown;
  if (cell.writer == Writer::kBulk) return 0;
  const bool own = cell.write_actor == thread.warp->actor;
  const auto lanes = static_cast<uint32_t>(thread.block->cluster->plan->target->warp_size);
  const uint8_t* writers = lanes_at(address / kCell * kCell);
  for (uint32_t bytes = mask & cell.write_mask; bytes; bytes &= bytes - 1) {
    const uint32_t lane = writers[std::countr_zero(bytes)];
    if (own && static_cast<int>(lane) == thread.lane) continue;
    if (!knows(known, cell.write_actor, lane, lanes, cell.write_clock)) return static_cast<int>(lane);
  }
  return kKnown;
}

bool Shadow::unknown_reader(const Thread& thread, uint32_t address, int entry, uint16_t mask) {
  const Clock& known = thread.warp->clock;
  const Readers& by = readers_of(address);
  const uint32_t actor = by.actor[entry], clock = by.clock[entry];
  if (!(by.mask[entry] & mask) || clock <= known.seen[actor]) return false;
  if (static_cast<int>(actor) >= thread.block->cluster->products_actor(0, 0)) return true;
  const uint64_t all = reader_lanes_of(address).of[entry];
  const auto lanes = static_cast<uint32_t>(thread.block->cluster->plan->target->warp_size);
  uint64_t unknown = all;
  if (static_cast<int>(actor) == thread.warp->actor) unknown &= ~(uint64_t{1} << thread.lane);
  if (known.lanes) {
    for (uint64_t left = unknown; left; left &= left - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(left));
      if (knows(known, actor, lane, lanes, clock)) unknown &= ~(uint64_t{1} << lane);
    }
  }
  // Which of the bytes some lanes read is not remembered: then all of these must be overwritten.
  return unknown && (unknown == all || (by.mask[entry] & ~mask) == 0);
}

[[gnu::noinline, gnu::cold]] void Shadow::report_read(const Thread& thread, const Cell& cell, const Block& block,
                                                      uint32_t address, uint16_t mask, const char* operation,
                                                      Site site) {
  const Cluster& cluster = *block.cluster;
  const int lane = std::max(unknown_writer(thread, cell, address, mask), 0);
  const bool own = cell.writer == Writer::kGeneric && cell.write_actor == thread.warp->actor;
  fail(Fault::kRace, operation, site,
       fmt::format("{} is written by {}, and nothing orders that write before this read{}",
                   shared_text(block, address).text, writer_text(cluster, cell, lane).text,
                   own ? kLaneFix : fix_of(cell, cluster)));
}

[[noreturn, gnu::noinline, gnu::cold]] void Shadow::report_write(const Thread& thread, uint16_t mask,
                                                                 const Block& block, uint32_t address,
                                                                 const char* operation, Site site) {
  const Cluster& cluster = *block.cluster;
  const Cell& cell = at(address);
  const Readers& by = readers_of(address);
  if (cell.bulk_reads) {
    fail(Fault::kRace, operation, site,
         fmt::format("{} is still read by a bulk store; bulk_wait_read and a barrier must come between",
                     shared_text(block, address).text));
  }
  for (int i = 0; i < cell.readers; ++i) {
    if (!unknown_reader(thread, address, i, mask)) continue;
    const bool own = by.actor[i] == thread.warp->actor;
    fail(Fault::kRace, operation, site,
         fmt::format("{} may still be read by {}: nothing orders that read before this write{}",
                     shared_text(block, address).text,
                     own ? "other lanes of this warp" : actor_text(cluster, by.actor[i]).text, own ? kLaneFix : ""));
  }
  const int lane = std::max(unknown_writer(thread, cell, address, mask), 0);
  const bool own = cell.writer == Writer::kGeneric && cell.write_actor == thread.warp->actor;
  fail(Fault::kRace, operation, site,
       fmt::format("{} is written by {}, and nothing orders that write before this one{}",
                   shared_text(block, address).text, writer_text(cluster, cell, lane).text,
                   own ? kLaneFix : fix_of(cell, cluster)));
}

void Shadow::check_write(const Thread& thread, uint16_t mask, const Block& block, uint32_t address,
                         const char* operation, Site site) {
  const Cell& cell = at(address);
  bool wrong = cell.bulk_reads;
  if (cell.writer != Writer::kNone && (cell.write_mask & mask)) {
    wrong |= cell.writer == Writer::kCopy || unknown_writer(thread, cell, address, mask) != kKnown;
  }
  for (int i = 0; i < cell.readers; ++i) wrong |= unknown_reader(thread, address, i, mask);
  if (wrong) [[unlikely]]
    report_write(thread, mask, block, address, operation, site);
}

// The same warp's bytes of the same time stay its own; those of others are forgotten.
void Shadow::set_writer(uint32_t address, uint16_t mask, Writer writer, const Thread& thread, uint32_t clock) {
  Cell& cell = at(address);
  const auto actor = static_cast<uint16_t>(thread.warp->actor);
  const bool same =
      cell.writer == writer && cell.write_actor == actor && (cell.write_clock == clock || writer == Writer::kCopy);
  cell.writer = writer;
  cell.write_actor = actor;
  cell.write_clock = clock;
  cell.write_mask = same ? cell.write_mask | mask : mask;
  cell.ever |= mask;
  std::memset(lanes_at(address), thread.lane, static_cast<size_t>(std::popcount(mask)));
}

void Shadow::read(Thread& thread, const Block& block, uint32_t address, uint32_t bytes, const char* operation,
                  Site site, bool peeks) {
  const Clock& known = thread.warp->clock;
  const auto actor = static_cast<uint16_t>(thread.warp->actor);
  const uint32_t clock = touch(thread, false);
  for_cells(address, bytes, [&](uint32_t at_address, uint16_t mask) {
    Cell& cell = at(at_address);
    if (!peeks && (mask & ~cell.ever)) fail_unwritten(block, at_address, mask, cell, operation, site);
    if (cell.write_mask & mask) {
      if (cell.writer == Writer::kCopy || unknown_writer(thread, cell, at_address, mask) != kKnown)
        report_read(thread, cell, block, at_address, mask, operation, site);
    }
    note_read(at_address, mask, actor, uint64_t{1} << thread.lane, clock, known);
  });
}

void Shadow::write(Thread& thread, const Block& block, uint32_t address, uint32_t bytes, const char* operation,
                   Site site) {
  const uint32_t clock = touch(thread, true);
  for_cells(address, bytes, [&](uint32_t at_address, uint16_t mask) {
    check_write(thread, mask, block, at_address, operation, site);
    set_writer(at_address, mask, Writer::kGeneric, thread, clock);
  });
}

void Shadow::bulk_write(Thread& thread, const Block& block, uint32_t address, uint32_t bytes, int actor, uint32_t phase,
                        const char* operation, Site site) {
  for_cells(address, bytes, [&](uint32_t at_address, uint16_t mask) {
    Cell& cell = at(at_address);
    check_write(thread, mask, block, at_address, operation, site);
    cell.writer = Writer::kBulk;
    cell.write_actor = static_cast<uint16_t>(actor);
    cell.write_clock = phase + 1;
    cell.write_mask = mask;
    cell.ever |= mask;
    cell.readers = 0;
  });
}

void Shadow::copy_write(Thread& thread, const Block& block, uint32_t address, uint32_t bytes, Site site) {
  const uint32_t clock = touch(thread, true);
  for_cells(address, bytes, [&](uint32_t at_address, uint16_t mask) {
    check_write(thread, mask, block, at_address, "copy_async", site);
    set_writer(at_address, mask, Writer::kCopy, thread, clock);
  });
}

void Shadow::copy_landed(const Warp& warp, uint32_t address, uint32_t bytes, uint32_t clock) {
  for_cells(address, bytes, [&](uint32_t at_address, uint16_t mask) {
    Cell& cell = at(at_address);
    if (cell.writer != Writer::kCopy || cell.write_actor != warp.actor) return;
    const uint16_t left = cell.write_mask & ~mask;
    cell.write_mask = left ? left : mask;  // bytes of other lanes' copies in the same cell stay in flight
    if (left) return;
    cell.writer = Writer::kGeneric;
    cell.write_clock = clock;
  });
}

void Shadow::async_read(Thread& thread, const Block& block, uint32_t address, const char* operation, Site site) {
  const Cell& cell = at(address);
  if (cell.writer == Writer::kNone) fail_unwritten(block, address, 0xffff, cell, operation, site);
  if (cell.writer == Writer::kCopy || unknown_writer(thread, cell, address, 0xffff) != kKnown)
    report_read(thread, cell, block, address, 0xffff, operation, site);
  if (cell.writer != Writer::kGeneric) return;
  const uint8_t* writers = lanes_at(address / kCell * kCell);
  for (uint32_t bytes = cell.write_mask; bytes; bytes &= bytes - 1) {
    const int lane = writers[std::countr_zero(bytes)];
    if (lane_fenced(thread, cell.write_actor, static_cast<uint32_t>(lane), cell.write_clock)) continue;
    fail(Fault::kProxy, operation, site,
         fmt::format("{} was written by ordinary stores of {} without fence_async_shared after them",
                     shared_text(block, address).text, lane_text(*block.cluster, cell.write_actor, lane).text));
  }
}

void Shadow::note_async_read(Thread& thread, uint32_t address) {
  const auto actor = static_cast<uint16_t>(thread.warp->actor);
  note_read(address, 0xffff, actor, uint64_t{1} << thread.lane, touch(thread, false), thread.warp->clock);
}

void Shadow::note_product_read(uint32_t address, uint16_t actor, uint32_t product, const Clock& known) {
  Cell& cell = at(address);
  Readers& by = readers_of(address);
  for (int i = 0; i < cell.readers; ++i) {
    if (by.actor[i] != actor) continue;
    by.clock[i] = product;  // products are done in their order: who knows this one knows the one before
    return;
  }
  note_read(address, 0xffff, actor, 0, product, known);
}

}  // namespace wt::sim
