// SPDX-License-Identifier: Apache-2.0
// runtime/sim/shadow.h - who last wrote and who reads each 16 bytes of a block's shared memory.
//
// Judges ordering, not timing: an access is wrong when the clock of the thread that makes it does not cover the one
// before, whatever the schedule of this run was. Neighbouring bytes of a cell have masks, and a lane each that wrote
// them, so that two warps or lanes may work side by side in it; where two warps do, the older of two writers is
// forgotten, which can hide a race but never invents one.
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
  uint16_t ever = 0;  // bytes that anybody has written
  Writer writer : 4 =
      Writer::kNone;  // kBulk: actor is an mbarrier; kCopy: a cp.async of `write_actor`'s warp in flight
  uint8_t readers : 4 = 0;
  uint8_t bulk_reads = 0;  // bulk stores in flight that read the cell
};
static_assert(sizeof(Cell) == 12);

// Who reads a cell: the first Cell::readers entries.
struct Readers {
  static constexpr int kMost = 4;
  uint32_t clock[kMost];
  uint16_t actor[kMost];
  uint16_t mask[kMost];
};
// Which lanes of those that are warps. WHY apart: products, of which there are most, have none.
struct ReaderLanes {
  uint64_t of[Readers::kMost];
};

class Shadow {
 public:
  static constexpr uint32_t kCell = 16;

  void reset(uint32_t low, uint32_t high) {
    low_ = low & ~(kCell - 1);
    cells_.assign((high - low_ + kCell - 1) / kCell, Cell{});
    if (readers_.size() < cells_.size()) readers_.resize(cells_.size());
    if (reader_lanes_.size() < cells_.size()) reader_lanes_.resize(cells_.size());
    if (lanes_.size() < cells_.size() * kCell) lanes_.resize(cells_.size() * kCell);
  }
  Cell& at(uint32_t address) { return cells_[(address - low_) / kCell]; }
  Readers& readers_of(uint32_t address) { return readers_[(address - low_) / kCell]; }
  ReaderLanes& reader_lanes_of(uint32_t address) { return reader_lanes_[(address - low_) / kCell]; }

  // Accesses of the generic proxy by `thread`, to the memory of `block`, which need not be its own.
  // `peeks`: bytes that nobody wrote may be read, too.
  void read(Thread& thread, const Block& block, uint32_t address, uint32_t bytes, const char* operation, Site site,
            bool peeks = false);
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
  // Product number `product` of the sequence of `actor` may read the cell from now on; `known`: by the issuing warp.
  void note_product_read(uint32_t address, uint16_t actor, uint32_t product, const Clock& known);

 private:
  uint8_t* lanes_at(uint32_t address) { return &lanes_[address - low_]; }
  void note_read(uint32_t address, uint16_t mask, uint16_t actor, uint64_t lanes, uint32_t clock, const Clock& known);
  void set_writer(uint32_t address, uint16_t mask, Writer writer, const Thread& thread, uint32_t clock);
  // The lane of the cell's warp whose write of one of these bytes `thread` does not know, or kKnown.
  static constexpr int kKnown = -1;
  int unknown_writer(const Thread& thread, const Cell& cell, uint32_t address, uint16_t mask);
  bool unknown_reader(const Thread& thread, uint32_t address, int entry, uint16_t mask);
  [[noreturn]] void report_read(const Thread& thread, const Cell& cell, const Block& block, uint32_t address,
                                uint16_t mask, const char* operation, Site site);
  [[noreturn]] void report_write(const Thread& thread, uint16_t mask, const Block& block, uint32_t address,
                                 const char* operation, Site site);
  void check_write(const Thread& thread, uint16_t mask, const Block& block, uint32_t address, const char* operation,
                   Site site);

  uint32_t low_ = 0;
  std::vector<Cell> cells_;
  std::vector<Readers> readers_;  // not cleared: Cell::readers says what counts
  std::vector<ReaderLanes> reader_lanes_;
  std::vector<uint8_t> lanes_;  // by byte: of the warp that wrote it; not cleared either
};

constexpr uint16_t byte_mask(uint32_t first, uint32_t end) {
  return static_cast<uint16_t>(((1u << end) - 1) & ~((1u << first) - 1));
}

}  // namespace wt::sim
