// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/rows/filter.h - how a block of rows/kernel.h fetches its filter: once, before its first patch.
//
//   filter --numbers, vectors of them, or turned round vectors of columns--> packed octets in shared memory
//
// Nothing hides these instructions, and they come from a cold cache: short code without branches, in which all loads of
// a batch are on their way before the first is used.
#pragma once

#include "kernel/gemm/rows/arguments.h"
#include "kernel/gemm/rows/layout.h"
#include "kernel/gemm/tma/output.h"

namespace wt {

template <KernelConfig kConfig>
struct RowsFilter {
  const RowsArguments& p;
  i32 first_column;  // of the block
  SharedAddress to;

  // 1 where the windows of a class start at an odd element of the patch.
  WT_DEVICE static i32 lead_of(const RowsArguments& p, i32 of_class) { return (of_class * p.step + p.lead) & 1; }

  // By the math threads.
  WT_DEVICE void load() const {
    if constexpr (kTurned && kConfig.gemm.vector_c > 1) {
      load_columns();
    } else if constexpr (kTurned) {
      load_turned();
    } else if constexpr (rows_layout::may_have_vectors(kConfig)) {
      const bool even = p.classes == 1 && p.lead == 0;
      if (even && p.run % 8 == 0) {
        load_vectors<4>();
      } else if (even && p.run % 4 == 0) {
        load_vectors<2>();
      } else if (even && p.run % 2 == 0) {
        load_vectors<1>();
      } else {
        load_numbers();
      }
    } else {
      load_numbers();
    }
  }

 private:
  static constexpr int kColumns = kConfig.gemm.tile.n, kMathThreads = 128 * rows_layout::groups(kConfig);
  static constexpr int kRows = rows_layout::filter_rows(kConfig), kOctets = rows_layout::octets_of_row(kConfig);
  static constexpr int kOctet = rows_layout::kOctet;
  static constexpr int kFilterChunks = rows_layout::steps(kConfig) * 2;  // of a column
  static constexpr int kChunks = kFilterChunks * kColumns;               // of a class
  static constexpr bool kTurned = kConfig.direction == Direction::kBackwardData;
  using Element = Storage<operand_b(kConfig)>;

  // Batches of equal size. WHY up to four: the addresses of more spill, and one after the other they take as long as
  // so many waits.
  static constexpr int kOfThread = (kChunks + kMathThreads - 1) / kMathThreads, kRounds = (kOfThread + 3) / 4;
  static constexpr int kBatch = (kOfThread + kRounds - 1) / kRounds;

  WT_DEVICE const Element* source() const { return static_cast<const Element*>(p.filter); }

  WT_DEVICE SharedAddress address_of(int of_class, u32 chunk, u32 column) const {
    const u32 place = rows_layout::place_of(kConfig, column);
    return to + of_class * rows_layout::filter_bytes(kConfig) + (chunk / 8 * kColumns + place) * 128 +
           (chunk % 8 ^ place % 8) * 16;
  }

  // 16 bytes of the packed filter: where they are among all, and in which.
  struct Chunk {
    int chunk, column, of_class;

    // WHY chunks inside: a warp's loads then lie in a few lines, and eight stores fill a row of the filter. Turned
    // round, neighbouring columns are neighbours. There are two classes at most.
    WT_DEVICE explicit Chunk(int index) : of_class(index >= kChunks) {
      const auto rest = static_cast<u32>(index - of_class * kChunks);  // WHY: divisions without signs are shorter
      chunk = static_cast<int>(kTurned ? rest / kColumns : rest % kFilterChunks);
      column = static_cast<int>(kTurned ? rest % kColumns : rest / kFilterChunks);
    }
    WT_DEVICE i32 row() const { return static_cast<i32>(static_cast<u32>(chunk) / kOctets); }
    WT_DEVICE i32 start() const { return static_cast<i32>(static_cast<u32>(chunk) % kOctets * kOctet); }
  };

  // Whether a chunk of the filter is one: behind the last row there may be half a step.
  WT_DEVICE bool exists(const Chunk& at) const {
    return (kFilterChunks == kRows * kOctets || at.row() < kRows) &&
           first_column + at.column < static_cast<i32>(p.columns);
  }
  WT_DEVICE const Element* start_of_row(const Chunk& at) const {
    const auto row = static_cast<u32>((first_column + at.column) * kRows + at.row());
    return source() + static_cast<u64>(row) * static_cast<u32>(p.run);
  }

  // Any rows, number by number.
  WT_DEVICE void load_numbers() const {
    const int all = p.classes * kChunks;
    for (int first = device::thread_index(); first < all; first += kBatch * kMathThreads) {
      Vector<Element, kOctet> part[kBatch];
      SharedAddress address[kBatch];
      WT_UNROLL for (int i = 0; i < kBatch; ++i) {
        const Chunk at(first + i * kMathThreads);
        const i32 start = at.start() - lead_of(p, at.of_class), left = exists(at) ? p.run - start : 0;
        const Element* from = start_of_row(at) + start;
        address[i] = address_of(at.of_class, at.chunk, at.column);
        part[i] = {};
        WT_UNROLL for (int j = 0; j < kOctet; ++j) {
          if (j < left && (j > 0 || start >= 0)) part[i].at[j] = device::load_global(from + j);
        }
      }
      WT_UNROLL for (int i = 0; i < kBatch; ++i) {
        if (first + i * kMathThreads < all) device::store_shared(address[i], part[i]);
      }
    }
  }

  // Rows that are whole vectors of `kWords` pairs, at the start of which windows start.
  template <int kWords>
  WT_DEVICE void load_vectors() const {
    constexpr int kParts = 4 / kWords;
    using Part = Vector<u32, kWords>;
    for (int first = device::thread_index(); first < kChunks; first += kBatch * kMathThreads) {
      Part parts[kBatch][kParts];
      SharedAddress address[kBatch];
      WT_UNROLL for (int i = 0; i < kBatch; ++i) {
        const Chunk at(first + i * kMathThreads);
        const i32 left = exists(at) ? p.run - at.start() : 0;
        const Element* from = start_of_row(at) + at.start();
        address[i] = address_of(0, at.chunk, at.column);
        WT_UNROLL for (int part = 0; part < kParts; ++part) {
          parts[i][part] = {};
          if (2 * kWords * part < left)
            parts[i][part] = device::load_global(reinterpret_cast<const Part*>(from + 2 * kWords * part));
        }
      }
      WT_UNROLL for (int i = 0; i < kBatch; ++i) {
        Vector<u32, 4> whole;
        WT_UNROLL for (int word = 0; word < 4; ++word) whole.at[word] = parts[i][word / kWords].at[word % kWords];
        if (first + i * kMathThreads < kChunks) device::store_shared(address[i], whole);
      }
    }
  }

  // The numbers of a row of the filter turned round, each with all its columns. Number i is channel i % step of the
  // pixel i / step, whose tap stands as far from the other end.
  struct TurnedNumbers {
    i32 row, pixels, pixel, channel;

    WT_DEVICE TurnedNumbers(const RowsArguments& p, i32 of_row, i32 start)
        : row(of_row),
          pixels(p.run / p.step),
          pixel(start < 0 ? 0 : start / p.step),
          channel(start < 0 ? 0 : start - pixel * p.step) {}

    WT_DEVICE i64 offset(const RowsArguments& p) const {
      return ((channel * kRows + row) * pixels + pixels - 1 - pixel) * p.columns;
    }
    WT_DEVICE void next(const RowsArguments& p, bool moves) {
      channel += moves;
      const bool wraps = channel == p.step;
      channel = wraps ? 0 : channel;
      pixel += wraps;
    }
  };

  // The filter turned round, number by number.
  WT_DEVICE void load_turned() const {
    const int all = p.classes * kChunks;
    for (int first = device::thread_index(); first < all; first += kBatch * kMathThreads) {
      Vector<Element, kOctet> part[kBatch];
      WT_UNROLL for (int i = 0; i < kBatch; ++i) {
        const Chunk at(first + i * kMathThreads);
        part[i] = {};
        if (first + i * kMathThreads >= all || !exists(at)) continue;
        const i32 start = at.start() - lead_of(p, at.of_class);
        TurnedNumbers from(p, kRows - 1 - at.row(), start);
        WT_UNROLL for (int j = 0; j < kOctet; ++j) {
          if (start + j >= 0 && start + j < p.run)
            part[i].at[j] = device::load_global(source() + from.offset(p) + first_column + at.column);
          from.next(p, start + j >= 0);
        }
      }
      WT_UNROLL for (int i = 0; i < kBatch; ++i) {
        const Chunk at(first + i * kMathThreads);
        if (first + i * kMathThreads < all) device::store_shared(address_of(at.of_class, at.chunk, at.column), part[i]);
      }
    }
  }

  // A chunk of some columns next to each other, as a filter that is turned round has them.
  struct ColumnsChunk {
    static constexpr int kBlock = kConfig.gemm.vector_c > 1 ? kConfig.gemm.vector_c : 2, kWords = kBlock / 2;
    static constexpr int kBlocks = kColumns / kBlock;
    using Number = Vector<u32, kWords>;

    int chunk, block, of_class;
    i32 column, start;
    bool exists;

    // WHY chunks inside for whole vectors: the lanes' stores then fill rows of the filter. Pairs want loads in few
    // lines more.
    WT_DEVICE ColumnsChunk(const RowsFilter& filter, int index)
        : chunk(kBlock == kOctet ? index % kFilterChunks : index / kBlocks % kFilterChunks),
          block(kBlock == kOctet ? index / kFilterChunks % kBlocks : index % kBlocks),
          of_class(index / kFilterChunks / kBlocks),
          column(filter.first_column + block * kBlock),
          start(chunk % kOctets * kOctet - lead_of(filter.p, of_class)),
          exists(chunk / kOctets < kRows && column < filter.p.columns) {}

    WT_DEVICE bool contains(const RowsArguments& p, int i) const {
      return exists && start + i >= 0 && start + i < p.run;
    }

    // WHY loads of the first number instead of none, and zeros afterwards: between branches, or used at once, each
    // would wait for the one before.
    WT_DEVICE void load(const RowsFilter& filter, Number (&number)[kOctet]) const {
      TurnedNumbers from(filter.p, kRows - 1 - chunk / kOctets, start);
      WT_UNROLL for (int i = 0; i < kOctet; ++i) {
        const i64 inside = contains(filter.p, i) ? -1 : 0;
        const Element* at = filter.source() + ((from.offset(filter.p) + column) & inside);
        number[i] = device::load_global(reinterpret_cast<const Number*>(at));
        from.next(filter.p, start + i >= 0);
      }
    }
    WT_DEVICE void store(const RowsFilter& filter, Number (&number)[kOctet]) const {
      WT_UNROLL for (int i = 0; i < kOctet; ++i) {
        const bool inside = contains(filter.p, i);
        WT_UNROLL for (int word = 0; word < kWords; ++word) number[i].at[word] = inside ? number[i].at[word] : 0;
      }
      WT_UNROLL for (int j = 0; j < kBlock; ++j) {
        Vector<u32, 4> part;
        WT_UNROLL for (int word = 0; word < 4; ++word) {
          const u32 low = number[2 * word].at[j / 2], high = number[2 * word + 1].at[j / 2];
          part.at[word] = j % 2 == 0 ? (low & 0xffff) | high << 16 : low >> 16 | (high & 0xffff0000u);
        }
        device::store_shared(filter.address_of(of_class, chunk, block * kBlock + j), part);
      }
    }
  };

  // The filter turned round, by vectors of columns; several where they are short, for as many bytes on their way.
  WT_DEVICE void load_columns() const {
    constexpr int kSome = kOctet / ColumnsChunk::kBlock;
    const int items = p.classes * kFilterChunks * ColumnsChunk::kBlocks;
    for (int first = device::thread_index(); first < items; first += kSome * kMathThreads) {
      typename ColumnsChunk::Number number[kSome][kOctet];
      WT_UNROLL for (int i = 0; i < kSome; ++i) {
        const int index = first + i * kMathThreads;
        ColumnsChunk(*this, index < items ? index : first).load(*this, number[i]);
      }
      WT_UNROLL for (int i = 0; i < kSome; ++i) {
        const int index = first + i * kMathThreads;
        if (index < items) ColumnsChunk(*this, index).store(*this, number[i]);
      }
    }
  }
};

}  // namespace wt
