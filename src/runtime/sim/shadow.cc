// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/shadow.h"

#include <algorithm>

#include "runtime/sim/engine.h"
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

}  // namespace

void Shadow::note_read(uint32_t address, uint16_t mask, uint16_t actor, uint32_t clock, const Clock& known) {
  Cell& cell = at(address);
  Readers& by = readers_of(address);
  for (int i = 0; i < cell.readers; ++i) {
    if (by.actor[i] == actor && by.clock[i] == clock) {
      by.mask[i] |= mask;
      return;
    }
    // An earlier read that this one follows says nothing more, if this one covers its bytes.
    if ((by.mask[i] & ~mask) == 0 && by.clock[i] <= known.seen[by.actor[i]]) {
      by.actor[i] = actor;
      by.clock[i] = clock;
      by.mask[i] = mask;
      return;
    }
  }
  const int slot = cell.readers < Readers::kMost ? cell.readers++ : cell.evict++ % Readers::kMost;
  by.actor[slot] = actor;
  by.clock[slot] = clock;
  by.mask[slot] = mask;
}

[[gnu::noinline, gnu::cold]] void Shadow::report_read(const Cell& cell, const Block& block, uint32_t address,
                                                      const char* operation, Site site) {
  const Cluster& cluster = *block.cluster;
  fail(
      Fault::kRace, operation, site,
      fmt::format("{} is written by {}, and nothing orders that write before this read{}",
                  shared_text(block, address).text, actor_text(cluster, cell.write_actor).text, fix_of(cell, cluster)));
}

[[gnu::noinline, gnu::cold]] void Shadow::report_write(uint16_t mask, uint16_t actor, const Clock& known,
                                                       const Block& block, uint32_t address, const char* operation,
                                                       Site site) {
  const Cluster& cluster = *block.cluster;
  const Cell& cell = at(address);
  const Readers& by = readers_of(address);
  if (cell.bulk_reads) {
    fail(Fault::kRace, operation, site,
         fmt::format("{} is still read by a bulk store; bulk_wait_read and a barrier must come between",
                     shared_text(block, address).text));
  }
  for (int i = 0; i < cell.readers; ++i) {
    if ((by.mask[i] & mask) && by.actor[i] != actor && by.clock[i] > known.seen[by.actor[i]]) {
      fail(Fault::kRace, operation, site,
           fmt::format("{} may still be read by {}: nothing orders that read before this write",
                       shared_text(block, address).text, actor_text(cluster, by.actor[i]).text));
    }
  }
  fail(
      Fault::kRace, operation, site,
      fmt::format("{} is written by {}, and nothing orders that write before this one{}",
                  shared_text(block, address).text, actor_text(cluster, cell.write_actor).text, fix_of(cell, cluster)));
}

void Shadow::check_write(uint16_t mask, uint16_t actor, const Clock& known, const Block& block, uint32_t address,
                         const char* operation, Site site) {
  const Cell& cell = at(address);
  const bool unordered =
      cell.writer == Writer::kCopy || (cell.write_actor != actor && cell.write_clock > known.seen[cell.write_actor]);
  bool wrong = cell.bulk_reads || (cell.writer != Writer::kNone && (cell.write_mask & mask) && unordered);
  const Readers& by = readers_of(address);
  for (int i = 0; i < cell.readers; ++i) {
    wrong |= (by.mask[i] & mask) && by.actor[i] != actor && by.clock[i] > known.seen[by.actor[i]];
  }
  if (wrong) [[unlikely]]
    report_write(mask, actor, known, block, address, operation, site);
}

void Shadow::read(Thread& thread, const Block& block, uint32_t address, uint32_t bytes, const char* operation,
                  Site site) {
  const Clock& known = thread.warp->clock;
  const auto actor = static_cast<uint16_t>(thread.warp->actor);
  const uint32_t clock = known.seen[actor];
  for_cells(address, bytes, [&](uint32_t at_address, uint16_t mask) {
    Cell& cell = at(at_address);
    if (cell.writer != Writer::kNone && (cell.write_mask & mask)) {
      const bool unordered = cell.write_actor != actor && cell.write_clock > known.seen[cell.write_actor];
      if (unordered || cell.writer == Writer::kCopy) report_read(cell, block, at_address, operation, site);
    }
    note_read(at_address, mask, actor, clock, known);
  });
}

void Shadow::write(Thread& thread, const Block& block, uint32_t address, uint32_t bytes, const char* operation,
                   Site site) {
  Warp& warp = *thread.warp;
  const Clock& known = warp.clock;
  const auto actor = static_cast<uint16_t>(warp.actor);
  const uint32_t clock = known.seen[actor];
  warp.unfenced |= uint64_t{1} << thread.lane;
  for_cells(address, bytes, [&](uint32_t at_address, uint16_t mask) {
    Cell& cell = at(at_address);
    check_write(mask, actor, known, block, at_address, operation, site);
    // The same warp's earlier bytes stay its own; those of another are forgotten.
    const bool same = cell.writer == Writer::kGeneric && cell.write_actor == actor && cell.write_clock == clock;
    cell.writer = Writer::kGeneric;
    cell.write_actor = actor;
    cell.write_clock = clock;
    cell.write_mask = same ? cell.write_mask | mask : mask;
  });
}

void Shadow::bulk_write(Thread& thread, const Block& block, uint32_t address, uint32_t bytes, int actor, uint32_t phase,
                        const char* operation, Site site) {
  const Clock& known = thread.warp->clock;
  const auto own = static_cast<uint16_t>(thread.warp->actor);
  for_cells(address, bytes, [&](uint32_t at_address, uint16_t mask) {
    Cell& cell = at(at_address);
    check_write(mask, own, known, block, at_address, operation, site);
    cell.writer = Writer::kBulk;
    cell.write_actor = static_cast<uint16_t>(actor);
    cell.write_clock = phase + 1;
    cell.write_mask = mask;
    cell.readers = 0;
  });
}

void Shadow::copy_write(Thread& thread, const Block& block, uint32_t address, uint32_t bytes, Site site) {
  const Clock& known = thread.warp->clock;
  const auto actor = static_cast<uint16_t>(thread.warp->actor);
  for_cells(address, bytes, [&](uint32_t at_address, uint16_t mask) {
    Cell& cell = at(at_address);
    check_write(mask, actor, known, block, at_address, "copy_async", site);
    const bool same = cell.writer == Writer::kCopy && cell.write_actor == actor;
    cell.writer = Writer::kCopy;
    cell.write_actor = actor;
    cell.write_clock = known.seen[actor];
    cell.write_mask = same ? cell.write_mask | mask : mask;
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
  const Clock& known = thread.warp->clock;
  const Cell& cell = at(address);
  switch (cell.writer) {
    case Writer::kNone:
      fail(Fault::kRace, operation, site,
           fmt::format("{} is read but was never written", shared_text(block, address).text));
    case Writer::kCopy:
      report_read(cell, block, address, operation, site);
    case Writer::kBulk:
      if (cell.write_clock > known.seen[cell.write_actor]) report_read(cell, block, address, operation, site);
      return;
    case Writer::kGeneric:
      if (cell.write_clock > known.seen[cell.write_actor]) report_read(cell, block, address, operation, site);
      if (cell.write_clock > known.fenced[cell.write_actor]) {
        fail(Fault::kProxy, operation, site,
             fmt::format("{} was written by ordinary stores of {} without fence_async_shared after them",
                         shared_text(block, address).text, actor_text(*block.cluster, cell.write_actor).text));
      }
      return;
  }
}

void Shadow::note_async_read(Thread& thread, uint32_t address) {
  const Clock& known = thread.warp->clock;
  const auto actor = static_cast<uint16_t>(thread.warp->actor);
  note_read(address, 0xffff, actor, known.seen[actor], known);
}

}  // namespace wt::sim
