// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/shadow.h"

#include "runtime/sim/engine.h"
#include "runtime/sim/report.h"

namespace wt::sim {

void Shadow::note_read(Cell& cell, uint16_t mask, uint16_t actor, uint32_t clock, const Clock& known) {
  for (int i = 0; i < cell.readers; ++i) {
    const bool same = cell.read_actor[i] == actor;
    if (same && cell.read_clock[i] == clock) {
      cell.read_mask[i] |= mask;
      return;
    }
    // An earlier read that this one follows says nothing more, if this one covers its bytes.
    if ((cell.read_mask[i] & ~mask) == 0 && cell.read_clock[i] <= known.seen[cell.read_actor[i]]) {
      cell.read_actor[i] = actor;
      cell.read_clock[i] = clock;
      cell.read_mask[i] = mask;
      return;
    }
  }
  const int slot = cell.readers < Cell::kReaders ? cell.readers++ : cell.evict++ % Cell::kReaders;
  cell.read_actor[slot] = actor;
  cell.read_clock[slot] = clock;
  cell.read_mask[slot] = mask;
}

void Shadow::report_read(const Cell& cell, uint32_t address, const char* operation, Site site) {
  const Cluster& cluster = *current->block->cluster;
  fail(Fault::kRace, operation, site,
       fmt::format("{} was written by {}, and nothing orders that write before this read",
                   shared_text(*current->block, address).text, actor_text(cluster, cell.write_actor).text));
}

void Shadow::check_write(const Cell& cell, uint16_t mask, uint16_t actor, const Clock& known, uint32_t address,
                         const char* operation, Site site) {
  const Cluster& cluster = *current->block->cluster;
  if (cell.writer != Writer::kNone && (cell.write_mask & mask) && cell.write_actor != actor &&
      cell.write_clock > known.seen[cell.write_actor]) {
    fail(Fault::kRace, operation, site,
         fmt::format("{} was written by {}, and nothing orders that write before this one",
                     shared_text(*current->block, address).text, actor_text(cluster, cell.write_actor).text));
  }
  for (int i = 0; i < cell.readers; ++i) {
    if ((cell.read_mask[i] & mask) && cell.read_actor[i] != actor && cell.read_clock[i] > known.seen[cell.read_actor[i]]) {
      fail(Fault::kRace, operation, site,
           fmt::format("{} may still be read by {}: nothing orders that read before this write",
                       shared_text(*current->block, address).text, actor_text(cluster, cell.read_actor[i]).text));
    }
  }
}

void Shadow::read(Thread& thread, uint32_t address, uint32_t bytes, const char* operation, Site site) {
  const Clock& known = thread.warp->clock;
  const auto actor = static_cast<uint16_t>(thread.warp->actor);
  const uint32_t clock = known.seen[actor];
  const uint32_t end = address + bytes;
  while (address < end) {
    const uint32_t first = address % kCell, stop = end - address < kCell - first ? first + (end - address) : kCell;
    const uint16_t mask = byte_mask(first, stop);
    Cell& cell = at(address);
    if (cell.writer != Writer::kNone && cell.write_actor != actor && (cell.write_mask & mask) &&
        cell.write_clock > known.seen[cell.write_actor]) {
      report_read(cell, address, operation, site);
    }
    note_read(cell, mask, actor, clock, known);
    address += stop - first;
  }
}

void Shadow::write(Thread& thread, uint32_t address, uint32_t bytes, const char* operation, Site site) {
  const Clock& known = thread.warp->clock;
  const auto actor = static_cast<uint16_t>(thread.warp->actor);
  const uint32_t clock = known.seen[actor];
  const uint32_t end = address + bytes;
  while (address < end) {
    const uint32_t first = address % kCell, stop = end - address < kCell - first ? first + (end - address) : kCell;
    const uint16_t mask = byte_mask(first, stop);
    Cell& cell = at(address);
    check_write(cell, mask, actor, known, address, operation, site);
    // The same warp's earlier bytes stay its own; those of another are forgotten unless they were overwritten.
    const bool same = cell.writer == Writer::kGeneric && cell.write_actor == actor && cell.write_clock == clock;
    cell.writer = Writer::kGeneric;
    cell.write_actor = actor;
    cell.write_clock = clock;
    cell.write_mask = same ? cell.write_mask | mask : mask;
    address += stop - first;
  }
}

}  // namespace wt::sim
