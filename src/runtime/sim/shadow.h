// SPDX-License-Identifier: Apache-2.0
// runtime/sim/shadow.h - who last wrote and who reads each 16 bytes of a block's shared memory.
//
// Judges ordering, not timing: an access is wrong when the clock of the warp that makes it does not cover the one
// before, whatever the schedule of this run was. Lanes of one warp are one actor. Neighbouring bytes of a cell have
// masks, so that two warps may work side by side in it; where they do, the older of two writers is forgotten, which can
// hide a race but never invents one.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/sim/clock.h"
#include "target/sim/table.h"

namespace wt::sim {

struct Thread;
struct Block;
struct Warp;

enum class Writer : uint8_t { kNone, kGeneric, kBulk, kCopy };

// WHY apart from Readers: products look at the writers of whole operands, which then fit the cache.
struct Cell {
  uint32_t write_clock = 0;
  uint16_t write_actor = 0;
  uint16_t write_mask = 0;
  Writer writer = Writer::kNone;  // kBulk: actor is an mbarrier; kCopy: a cp.async of `write_actor`'s warp in flight
  uint8_t bulk_reads = 0;         // bulk stores in flight that read the cell
  uint8_t readers = 0;
  uint8_t evict = 0;
};

// Who reads a cell: the first Cell::readers entries.
struct Readers {
  static constexpr int kMost = 4;
  uint32_t clock[kMost];
  uint16_t actor[kMost];
  uint16_t mask[kMost];
};

class Shadow {
 public:
  static constexpr uint32_t kCell = 16;

  void reset(uint32_t low, uint32_t high) {
    low_ = low & ~(kCell - 1);
    cells_.assign((high - low_ + kCell - 1) / kCell, Cell{});
    if (readers_.size() < cells_.size()) readers_.resize(cells_.size());
  }
  Cell& at(uint32_t address) { return cells_[(address - low_) / kCell]; }
  Readers& readers_of(uint32_t address) { return readers_[(address - low_) / kCell]; }

  // Accesses of the generic proxy by `thread`, to the memory of `block`, which need not be its own.
  void read(Thread& thread, const Block& block, uint32_t address, uint32_t bytes, const char* operation, Site site);
  void write(Thread& thread, const Block& block, uint32_t address, uint32_t bytes, const char* operation, Site site);

  // A bulk load, asked for by `thread`, will write these bytes in phase `phase` of the mbarrier `actor`.
  void bulk_write(Thread& thread, const Block& block, uint32_t address, uint32_t bytes, int actor, uint32_t phase,
                  const char* operation, Site site);
  // A cp.async of `thread` will write these bytes; `copy_landed` when the thread, or its mbarrier, knows that it did.
  void copy_write(Thread& thread, const Block& block, uint32_t address, uint32_t bytes, Site site);
  void copy_landed(const Warp& warp, uint32_t address, uint32_t bytes, uint32_t clock);

  // The asynchronous proxy is about to read 16 bytes for `thread`: every write must be ordered before and fenced.
  void async_read(Thread& thread, const Block& block, uint32_t address, const char* operation, Site site);
  void note_async_read(Thread& thread, uint32_t address);  // done, as a read of its warp at this time

 private:
  void note_read(uint32_t address, uint16_t mask, uint16_t actor, uint32_t clock, const Clock& known);
  [[noreturn]] void report_read(const Cell& cell, const Block& block, uint32_t address, const char* operation,
                                Site site);
  [[noreturn]] void report_write(uint16_t mask, uint16_t actor, const Clock& known, const Block& block,
                                 uint32_t address, const char* operation, Site site);
  void check_write(uint16_t mask, uint16_t actor, const Clock& known, const Block& block, uint32_t address,
                   const char* operation, Site site);

  uint32_t low_ = 0;
  std::vector<Cell> cells_;
  std::vector<Readers> readers_;  // not cleared: Cell::readers says what counts
};

constexpr uint16_t byte_mask(uint32_t first, uint32_t end) {
  return static_cast<uint16_t>(((1u << end) - 1) & ~((1u << first) - 1));
}

}  // namespace wt::sim
