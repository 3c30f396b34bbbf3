// SPDX-License-Identifier: Apache-2.0
// kernels/rows/device/filter.h - how a block of rows/kernel.h fetches its filter: once, before its first patch.
//
//   filter --numbers, vectors of them, or turned round vectors of columns--> packed octets in shared memory
//
// Nothing hides these instructions, and they come from a cold cache: short code without branches, in which all loads of
// a batch are on their way before the first is used.
#pragma once

#include "kernels/rows/device/arguments.h"
#include "kernels/rows/device/layout.h"
#include "kernels/tma/device/output.h"

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
  static constexpr bool kTurned = kConfig.direction == Direction::kBackwardData;
  using Element = Storage<operand_b(kConfig)>;

  WT_DEVICE const Element* source() const { return static_cast<const Element*>(p.filter); }

  WT_DEVICE SharedAddress address_of(int of_class, u32 chunk, u32 column) const {
    const u32 place = rows_layout::place_of(kConfig, column);
    return to + of_class * rows_layout::filter_bytes(kConfig) + (chunk / 8 * kColumns + place) * 128 +
           (chunk % 8 ^ place % 8) * 16;
  }

  // A thread's chunks of the filter as it lies, 16 bytes each: the same chunk of every `step`th column. WHY: what they
  // have in common, and that is nearly all, is computed once, and neighbouring lanes read and fill neighbouring chunks.
  struct Share {
    int chunk, column, step;  // the first column
    i32 start, left;          // numbers of the filter row before the chunk, and from there to the row's end
    const Element* from;
    i64 stride;  // to the next column

    // Chunks next to each other; of two classes each half of the threads has one, where so many are enough.
    static constexpr int kAcross = kFilterChunks < kMathThreads ? kFilterChunks : kMathThreads;
    static constexpr bool kHalves = kFilterChunks <= kMathThreads / 2;

    WT_DEVICE Share(const RowsFilter& filter, int of_class, int first_chunk) {
      const RowsArguments& p = filter.p;
      const bool half = kHalves && p.classes == 2;
      const auto thread = static_cast<u32>(device::thread_index()) % (half ? kMathThreads / 2 : kMathThreads);
      chunk = first_chunk + static_cast<int>(thread % kAcross);
      column = static_cast<int>(thread / kAcross);
      step = (half ? kMathThreads / 2 : kMathThreads) / kAcross;
      if (column >= step || chunk >= kFilterChunks) column = kColumns;  // threads that are left over
      const u32 row = static_cast<u32>(chunk) / kOctets;
      start = static_cast<i32>(static_cast<u32>(chunk) % kOctets * kOctet) - lead_of(p, of_class);
      // Behind the last row there may be half a step.
      left = kFilterChunks == kRows * kOctets || row < kRows ? p.run - start : 0;
      const u32 rows = static_cast<u32>(filter.first_column + column) * kRows + row;
      from = filter.source() + static_cast<u64>(rows) * static_cast<u32>(p.run) + start;
      stride = static_cast<i64>(static_cast<u64>(static_cast<u32>(step * kRows)) * static_cast<u32>(p.run));
    }
  };

  // Chunks of a thread in batches of equal size, up to `most`. WHY no more: their numbers and addresses spill. WHY
  // batches: one after the other, chunks take as long as so many waits.
  static constexpr int batch(int most) {
    const int step = kMathThreads / Share::kAcross, all = (kColumns + step - 1) / step,
              rounds = (all + most - 1) / most;
    return (all + rounds - 1) / rounds;
  }

  // `load` has a place and how many numbers lie before and behind it in their row.
  template <int kBatch, class Chunk, class Load>
  WT_DEVICE void load_shares(const Load& load) const {
    const i32 columns = static_cast<i32>(p.columns) - first_column;  // that exist
    const int own = Share::kHalves && p.classes == 2 ? device::thread_index() / (kMathThreads / 2) : 0;
    const int passes = (kFilterChunks + Share::kAcross - 1) / Share::kAcross;
    for (int at = own * passes; at < p.classes * passes; at += Share::kHalves ? 2 : 1) {
      const int of_class = at / passes;
      Share share(*this, of_class, at % passes * Share::kAcross);
      for (; share.column < kColumns; share.column += kBatch * share.step) {
        Chunk chunk[kBatch];
        WT_UNROLL for (int i = 0; i < kBatch; ++i) {
          chunk[i] = load(share.from, share.start, share.column + i * share.step < columns ? share.left : 0);
          share.from += share.stride;
        }
        WT_UNROLL for (int i = 0; i < kBatch; ++i) {
          const int column = share.column + i * share.step;
          if (column < kColumns) device::store_shared(address_of(of_class, share.chunk, column), chunk[i]);
        }
      }
    }
  }

  // Any rows, number by number: eight registers a chunk.
  WT_DEVICE void load_numbers() const {
    using Chunk = Vector<Element, kOctet>;
    load_shares<batch(4), Chunk>([](const Element* from, i32 start, i32 left) {
      Chunk chunk{};
      WT_UNROLL for (int i = 0; i < kOctet; ++i) {
        if (i < left && (i > 0 || start >= 0)) chunk.at[i] = device::load_global(from + i);
      }
      return chunk;
    });
  }

  // Rows that are whole vectors of `kWords` pairs, at the start of which windows start.
  template <int kWords>
  WT_DEVICE void load_vectors() const {
    using Part = Vector<u32, kWords>;
    using Chunk = Vector<u32, 4>;
    load_shares<batch(8), Chunk>([](const Element* from, i32, i32 left) {
      Chunk chunk{};
      WT_UNROLL for (int first = 0; first < 4; first += kWords) {
        if (2 * first >= left) continue;
        const Part part = device::load_global(reinterpret_cast<const Part*>(from + 2 * first));
        WT_UNROLL for (int i = 0; i < kWords; ++i) chunk.at[first + i] = part.at[i];
      }
      return chunk;
    });
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

  // The filter turned round, number by number; neighbouring columns are neighbours.
  WT_DEVICE void load_turned() const {
    constexpr int kBatch = 4, kChunks = kFilterChunks * kColumns;
    const int all = p.classes * kChunks;
    for (int first = device::thread_index(); first < all; first += kBatch * kMathThreads) {
      Vector<Element, kOctet> part[kBatch];
      WT_UNROLL for (int i = 0; i < kBatch; ++i) {
        const int index = first + i * kMathThreads, chunk = index / kColumns % kFilterChunks;
        const i32 column = first_column + index % kColumns, row = chunk / kOctets;
        const i32 start = chunk % kOctets * kOctet - lead_of(p, index / kChunks);
        part[i] = {};
        if (index >= all || row >= kRows || column >= p.columns) continue;
        TurnedNumbers from(p, kRows - 1 - row, start);
        WT_UNROLL for (int j = 0; j < kOctet; ++j) {
          if (start + j >= 0 && start + j < p.run)
            part[i].at[j] = device::load_global(source() + from.offset(p) + column);
          from.next(p, start + j >= 0);
        }
      }
      WT_UNROLL for (int i = 0; i < kBatch; ++i) {
        const int index = first + i * kMathThreads;
        if (index < all)
          device::store_shared(address_of(index / kChunks, index / kColumns % kFilterChunks, index % kColumns),
                               part[i]);
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
