// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/rows/kernel.h - convolution of few channels on Hopper: fragments of A read from raw image rows.
//
//   image rows --bulk copy or load warps--> slots of patches --32-bit loads--> A in registers --wgmma--> sums
//   filter --once a block--> shared memory -----------------------------------------------------/
//   sums --epilogue--> staging --> vectors of output rows
//
// The S * C numbers of a filter row follow each other in the image, so that a window is R runs. A matrix instruction's
// operand in registers has a pair of k in each 32 bits: pairs are read as they lie, with no matrix of windows anywhere.
// That needs windows that start at even elements. Where they start at odd ones, one number more is read before; where
// even and odd alternate, outputs are multiplied in two classes, each with a filter of its own. What is read beside a
// window is masked: it may be a NaN, and a zero in the filter would not stop it.
// Backward data without strides is the same of dy, with the filter turned round.
#pragma once

#include "kernel/gemm/ring.h"
#include "kernel/gemm/rows/arguments.h"
#include "kernel/gemm/rows/layout.h"
#include "kernel/gemm/tma/output.h"

namespace wt {

// What a block loads at once, and where its outputs are.
struct RowsPatch {
  i32 image, row, column;  // of the first output
  i32 rows;                // of outputs that exist
};

WT_DEVICE RowsPatch rows_patch(const RowsArguments& p, u32 index) {
  const u32 line = quotient(index, p.strips), image = quotient(line, p.row_blocks);
  const i32 column = static_cast<i32>(index - line * p.strips.by) * p.strip;
  const i32 row = static_cast<i32>(line - image * p.row_blocks.by) * p.tile_rows;
  return {static_cast<i32>(image), row, column, p.out[0] - row < p.tile_rows ? p.out[0] - row : p.tile_rows};
}

// The outputs of one class in a patch, counted row by row.
struct RowsOutputs {
  const RowsArguments& p;
  RowsPatch patch;
  i32 first;  // of the fragment
  i32 of_class;

  struct At {
    i32 row, column;  // in the patch
  };
  WT_DEVICE At at(i32 row) const {
    const i32 eights = row >> 3, among = eights & ((1 << p.spread) - 1);
    const auto number = static_cast<u32>(first + ((eights - among) << 3) + ((row & 7) << p.spread) + among);
    const u32 line = quotient(number, p.class_strip);
    return {static_cast<i32>(line), static_cast<i32>(number - line * p.class_strip.by) * p.classes + of_class};
  }
  // Where the output goes, in elements; -1: it does not exist.
  WT_DEVICE i64 offset(int row) const {
    const At place = at(row);
    const i32 column = patch.column + place.column;
    if (place.row >= patch.rows || column >= p.out[1] || place.column >= p.strip) return -1;
    return ((static_cast<i64>(patch.image) * p.out[0] + patch.row + place.row) * p.out[1] + column) * p.columns;
  }
};

template <KernelConfig kConfig>
struct RowsGemm {
  using Params = RowsArguments;
  static constexpr int kThreads = rows_layout::threads(kConfig);
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const Shared shared = layout(p);
    if (device::thread_index() == 0) {
      shared.ring.init(kInBulk ? 1 : kLoadThreads, 4 * kGroups);
      device::mbarrier_fence_init();
    }
    device::sync_block();
    const int group = device::warp_index() / 4;
    if (group < kGroups) {
      consume(p, shared, group);
    } else if constexpr (kInBulk) {
      if (device::elect()) load_in_bulk(p, shared);
    } else {
      load_words(p, shared, device::thread_index() - 128 * kGroups);
    }
  }

 private:
  static constexpr int kColumns = kConfig.gemm.tile.n, kStages = kConfig.gemm.stages;
  static constexpr int kGroups = rows_layout::groups(kConfig), kMathThreads = 128 * kGroups;
  static constexpr int kLoadThreads = rows_layout::load_threads(kConfig);
  static constexpr bool kInBulk = rows_layout::loads_in_bulk(kConfig);
  static constexpr int kRows = rows_layout::filter_rows(kConfig), kOctets = rows_layout::octets_of_row(kConfig);
  static constexpr int kSteps = rows_layout::steps(kConfig), kOctet = rows_layout::kOctet;
  static constexpr int kSets = rows_layout::sets(kConfig), kSetSteps = rows_layout::set_steps(kConfig);
  static constexpr int kFilterChunks = kSteps * 2;  // of a column
  static constexpr int kBarrier = 1;                // of the math threads
  static constexpr bool kTurned = kConfig.direction == Direction::kBackwardData;
  using Element = Storage<operand_a(kConfig)>;
  using Multiply = device::Wgmma<operand_a(kConfig), operand_b(kConfig), kColumns>;
  using SlotRing = Ring<kStages>;
  using Cursor = typename SlotRing::Cursor;
  using Output = TmaOutput<kConfig, Params>;

  struct Shared {  // addresses
    SharedAddress filter, staging, slots;
    SlotRing ring;
  };

  WT_DEVICE static Shared layout(const Params& p) {
    const SharedAddress filter = (device::shared_base() + 1023) & ~1023u;
    const SharedAddress staging = filter + p.classes * rows_layout::filter_bytes(kConfig);
    const SharedAddress slots = staging + rows_layout::out_bytes(kConfig);
    return {filter, staging, slots, {slots + kStages * p.slot_bytes}};
  }

  // A block's columns stay the same, and so its filter.
  WT_DEVICE static u32 first_patch(const Params& p) {
    return static_cast<u32>(device::block_index().x) / static_cast<u32>(p.tiles_n);
  }
  WT_DEVICE static u32 patch_step(const Params& p) {
    return static_cast<u32>(device::grid_size().x) / static_cast<u32>(p.tiles_n);
  }
  WT_DEVICE static i32 first_column(const Params& p) {
    return static_cast<i32>(static_cast<u32>(device::block_index().x) % static_cast<u32>(p.tiles_n)) * kColumns;
  }

  // The first element of a patch's rows, and its first row. WHY a multiple of 8: bulk copies start at 16 bytes.
  WT_DEVICE static i32 first_element(const Params& p, const RowsPatch& patch) {
    return (patch.column * p.step - p.pad) & ~7;
  }
  // Elements of a patch's row before the first window.
  WT_DEVICE static i32 before_window(const Params& p, const RowsPatch& patch) {
    return (patch.column * p.step - p.pad) & 7;
  }
  WT_DEVICE static i32 first_row(const Params& p, const RowsPatch& patch) { return patch.row * p.stride_h - p.pad_h; }

  WT_DEVICE static void load_in_bulk(const Params& p, const Shared& shared) {
    Cursor slot;
    for (u32 index = first_patch(p); index < p.patches; index += patch_step(p)) {
      const RowsPatch patch = rows_patch(p, index);
      shared.ring.wait_empty(slot);
      const SharedAddress full = shared.ring.full(slot.slot);
      device::mbarrier_arrive_expect(full, static_cast<u32>(p.patch_rows * p.pitch));
      device::tma_load(shared.slots + slot.slot * p.slot_bytes, p.source, full, first_element(p, patch) / 2,
                       first_row(p, patch), patch.image);
      slot.next();
    }
  }

  // A row whose length is a multiple of so many bytes.
  template <int kBytes>
  WT_DEVICE static void copy_row(const Params& p, const Element* line, bool inside, i32 from, SharedAddress to,
                                 int lane) {
    WT_UNROLL_FEW for (i32 byte = lane * kBytes; byte < p.pitch; byte += 32 * kBytes) {
      const i32 at = from + byte / static_cast<i32>(sizeof(Element));
      const bool exists = inside && at >= 0 && at < p.row_elements;
      device::copy_async<kBytes>(to + byte, line + (exists ? at : 0), exists ? kBytes : 0);
    }
  }

  // Rows of any length: a warp a row. Pairs lie at even elements of the image only where its rows have an even length.
  WT_DEVICE static void load_words(const Params& p, const Shared& shared, int thread) {
    const int warp = thread / 32, lane = thread % 32;
    const bool even = p.row_elements % 2 == 0;
    Cursor slot;
    for (u32 index = first_patch(p); index < p.patches; index += patch_step(p)) {
      const RowsPatch patch = rows_patch(p, index);
      const i32 from = first_element(p, patch), top = first_row(p, patch);
      shared.ring.wait_empty(slot);
      for (i32 row = warp; row < p.patch_rows; row += kLoadThreads / 32) {
        const i32 h = top + row;
        const bool inside = h >= 0 && h < p.in_rows;
        const auto* line = static_cast<const Element*>(p.x) +
                           (static_cast<i64>(patch.image) * p.in_rows + (inside ? h : 0)) * p.row_elements;
        const SharedAddress to = shared.slots + slot.slot * p.slot_bytes + row * p.pitch;
        if (p.row_elements % 4 == 0) {
          copy_row<8>(p, line, inside, from, to, lane);
        } else if (even) {
          copy_row<4>(p, line, inside, from, to, lane);
        } else {
          WT_UNROLL_FEW for (i32 word = lane; word < p.pitch / 4; word += 32) {
            const i32 at = from + 2 * word;
            Vector<Element, 2> pair{};
            WT_UNROLL for (int i = 0; i < 2; ++i) {
              if (inside && at + i >= 0 && at + i < p.row_elements) pair.at[i] = device::load_global(line + at + i);
            }
            device::store_shared(to + word * 4, pair);
          }
        }
      }
      if (even) {
        device::copy_async_arrive(shared.ring.full(slot.slot));
      } else {
        device::mbarrier_arrive(shared.ring.full(slot.slot));
      }
      slot.next();
    }
    // WHY: copies must not be in flight when their thread ends.
    device::copy_async_commit();
    device::copy_async_wait<0>();
  }

  // 1 where the windows of a class start at an odd element of the patch.
  WT_DEVICE static i32 lead_of(const Params& p, i32 of_class) { return (of_class * p.step + p.lead) & 1; }

  WT_DEVICE static SharedAddress filter_offset(int of_class, int chunk, int column) {
    const int place = rows_layout::place_of(kConfig, column);
    return of_class * rows_layout::filter_bytes(kConfig) + (chunk / 8 * kColumns + place) * 128 +
           (chunk % 8 ^ place % 8) * 16;
  }

  // The numbers of a row of the filter turned round, each with all its columns. Number i is channel i % step of the
  // pixel i / step, whose tap stands as far from the other end.
  struct TurnedNumbers {
    i32 row, pixels, pixel, channel;

    WT_DEVICE TurnedNumbers(const Params& p, i32 of_row, i32 start)
        : row(of_row),
          pixels(p.run / p.step),
          pixel(start < 0 ? 0 : start / p.step),
          channel(start < 0 ? 0 : start - pixel * p.step) {}

    WT_DEVICE i64 offset(const Params& p) const {
      return ((channel * kRows + row) * pixels + pixels - 1 - pixel) * p.columns;
    }
    WT_DEVICE void next(const Params& p, bool moves) {
      channel += moves;
      const bool wraps = channel == p.step;
      channel = wraps ? 0 : channel;
      pixel += wraps;
    }
  };

  // 16 bytes of the packed filter: where they are among all, and in which.
  struct FilterChunk {
    int chunk, column, of_class;

    // WHY chunks inside: a warp's loads then lie in a few lines, and eight stores fill a row of the filter. Turned
    // round, neighbouring columns are neighbours.
    WT_DEVICE explicit FilterChunk(int index)
        : chunk(kTurned ? index / kColumns % kFilterChunks : index % kFilterChunks),
          column(kTurned ? index % kColumns : index / kFilterChunks % kColumns),
          of_class(index / kFilterChunks / kColumns) {}

    WT_DEVICE Vector<Element, kOctet> load(const Params& p) const {
      const i32 filter = first_column(p) + column, row = chunk / kOctets;
      const i32 start = chunk % kOctets * kOctet - lead_of(p, of_class);
      Vector<Element, kOctet> part{};
      if (row >= kRows || filter >= p.columns) return part;
      if constexpr (kTurned) {
        TurnedNumbers from(p, kRows - 1 - row, start);
        WT_UNROLL for (int i = 0; i < kOctet; ++i) {
          if (start + i >= 0 && start + i < p.run)
            part.at[i] = device::load_global(static_cast<const Element*>(p.filter) + from.offset(p) + filter);
          from.next(p, start + i >= 0);
        }
        return part;
      }
      const Element* at = static_cast<const Element*>(p.filter) + (static_cast<i64>(filter) * kRows + row) * p.run;
      WT_UNROLL for (int i = 0; i < kOctet; ++i) {
        if (start + i >= 0 && start + i < p.run) part.at[i] = device::load_global(at + start + i);
      }
      return part;
    }
    WT_DEVICE SharedAddress offset() const { return filter_offset(of_class, chunk, column); }
  };

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
    WT_DEVICE ColumnsChunk(const Params& p, int index)
        : chunk(kBlock == kOctet ? index % kFilterChunks : index / kBlocks % kFilterChunks),
          block(kBlock == kOctet ? index / kFilterChunks % kBlocks : index % kBlocks),
          of_class(index / kFilterChunks / kBlocks),
          column(first_column(p) + block * kBlock),
          start(chunk % kOctets * kOctet - lead_of(p, of_class)),
          exists(chunk / kOctets < kRows && column < p.columns) {}

    WT_DEVICE bool contains(const Params& p, int i) const { return exists && start + i >= 0 && start + i < p.run; }

    // WHY loads of the first number instead of none, and zeros afterwards: between branches, or used at once, each
    // would wait for the one before.
    WT_DEVICE void load(const Params& p, Number (&number)[kOctet]) const {
      TurnedNumbers from(p, kRows - 1 - chunk / kOctets, start);
      WT_UNROLL for (int i = 0; i < kOctet; ++i) {
        const i64 inside = contains(p, i) ? -1 : 0;
        const Element* at = static_cast<const Element*>(p.filter) + ((from.offset(p) + column) & inside);
        number[i] = device::load_global(reinterpret_cast<const Number*>(at));
        from.next(p, start + i >= 0);
      }
    }
    WT_DEVICE void store(const Params& p, SharedAddress filter, Number (&number)[kOctet]) const {
      WT_UNROLL for (int i = 0; i < kOctet; ++i) {
        const bool inside = contains(p, i);
        WT_UNROLL for (int word = 0; word < kWords; ++word) number[i].at[word] = inside ? number[i].at[word] : 0;
      }
      WT_UNROLL for (int j = 0; j < kBlock; ++j) {
        Vector<u32, 4> part;
        WT_UNROLL for (int word = 0; word < 4; ++word) {
          const u32 low = number[2 * word].at[j / 2], high = number[2 * word + 1].at[j / 2];
          part.at[word] = j % 2 == 0 ? (low & 0xffff) | high << 16 : low >> 16 | (high & 0xffff0000u);
        }
        device::store_shared(filter + filter_offset(of_class, chunk, block * kBlock + j), part);
      }
    }
  };

  // The filter turned round, by vectors of columns; several where they are short, for as many bytes on their way.
  WT_DEVICE static void load_columns(const Params& p, SharedAddress filter) {
    constexpr int kBatch = kOctet / ColumnsChunk::kBlock;
    const int items = p.classes * kFilterChunks * ColumnsChunk::kBlocks;
    for (int first = device::thread_index(); first < items; first += kBatch * kMathThreads) {
      typename ColumnsChunk::Number number[kBatch][kOctet];
      WT_UNROLL for (int i = 0; i < kBatch; ++i) {
        const int index = first + i * kMathThreads;
        ColumnsChunk(p, index < items ? index : first).load(p, number[i]);
      }
      WT_UNROLL for (int i = 0; i < kBatch; ++i) {
        const int index = first + i * kMathThreads;
        if (index < items) ColumnsChunk(p, index).store(p, filter, number[i]);
      }
    }
  }

  // A filter whose rows are whole vectors of `kWords` pairs, at the start of which windows start.
  template <int kWords>
  WT_DEVICE static void load_vectors(const Params& p, SharedAddress filter) {
    // In batches of equal size. WHY up to four: the addresses of more spill.
    constexpr int kChunks = kFilterChunks * kColumns, kOfThread = (kChunks + kMathThreads - 1) / kMathThreads;
    constexpr int kRounds = (kOfThread + 3) / 4, kBatch = (kOfThread + kRounds - 1) / kRounds, kParts = 4 / kWords;
    using Part = Vector<u32, kWords>;
    const auto start_of = [](const FilterChunk& at, int part) {
      return at.chunk % kOctets * kOctet + 2 * kWords * part;
    };
    const auto exists = [&](const FilterChunk& at, int part) {
      return at.chunk / kOctets < kRows && first_column(p) + at.column < p.columns && start_of(at, part) < p.run;
    };
    for (int first = device::thread_index(); first < kChunks; first += kBatch * kMathThreads) {
      Part parts[kBatch][kParts];
      // WHY loads of the first numbers instead of none, and zeros afterwards: as above.
      WT_UNROLL for (int i = 0; i < kBatch; ++i) {
        const FilterChunk at(first + i * kMathThreads);
        WT_UNROLL for (int part = 0; part < kParts; ++part) {
          const i64 row = static_cast<i64>(first_column(p) + at.column) * kRows + at.chunk / kOctets;
          const i64 offset = (row * p.run + start_of(at, part)) & (exists(at, part) ? -1 : 0);
          parts[i][part] =
              device::load_global(reinterpret_cast<const Part*>(static_cast<const Element*>(p.filter) + offset));
        }
      }
      WT_UNROLL for (int i = 0; i < kBatch; ++i) {
        const FilterChunk at(first + i * kMathThreads);
        Vector<u32, 4> whole;
        WT_UNROLL for (int word = 0; word < 4; ++word) {
          whole.at[word] = exists(at, word / kWords) ? parts[i][word / kWords].at[word % kWords] : 0;
        }
        if (first + i * kMathThreads < kChunks) device::store_shared(filter + at.offset(), whole);
      }
    }
  }

  WT_DEVICE static void load_filter(const Params& p, SharedAddress filter) {
    if constexpr (kTurned && kConfig.gemm.vector_c > 1) {
      load_columns(p, filter);
    } else if constexpr (kTurned) {
      load_chunks(p, filter);
    } else {
      // WHY loops of their own: what is not executed is not fetched, and nothing hides the first instructions.
      const bool even = p.classes == 1 && p.lead == 0;
      if (even && p.run % 4 == 0) {
        load_vectors<2>(p, filter);
      } else if (even && p.run % 2 == 0) {
        load_vectors<1>(p, filter);
      } else {
        load_chunks(p, filter);
      }
    }
  }

  WT_DEVICE static void load_chunks(const Params& p, SharedAddress filter) {
    constexpr int kBatch = 4;  // WHY: loads that wait for each other's stores take four times as long
    const int chunks = p.classes * kFilterChunks * kColumns;
    for (int first = device::thread_index(); first < chunks; first += kBatch * kMathThreads) {
      Vector<Element, kOctet> part[kBatch];
      WT_UNROLL for (int i = 0; i < kBatch; ++i) {
        if (first + i * kMathThreads < chunks) part[i] = FilterChunk(first + i * kMathThreads).load(p);
      }
      WT_UNROLL for (int i = 0; i < kBatch; ++i) {
        const int index = first + i * kMathThreads;
        if (index < chunks) device::store_shared(filter + FilterChunk(index).offset(), part[i]);
      }
    }
  }

  WT_DEVICE static void consume(const Params& p, const Shared& shared, int group) {
    load_filter(p, shared.filter);
    device::fence_async_shared();
    device::sync_named(kBarrier, kMathThreads);

    Cursor slot;
    typename Output::Steps steps;
    const typename Output::Place columns{first_column(p), 0};
    const SharedAddress staging = shared.staging + group * (rows_layout::out_bytes(kConfig) / kGroups);
    i32 turn = group;  // the next fragment that is this group's, counted from the patch's first
    for (u32 index = first_patch(p); index < p.patches; index += patch_step(p)) {
      const RowsPatch patch = rows_patch(p, index);
      const i32 of_class = (patch.rows * static_cast<i32>(p.class_strip.by) + 63) / 64, all = of_class * p.classes;
      const SharedAddress source = shared.slots + slot.slot * p.slot_bytes;
      shared.ring.wait_full(slot);
      bool released = false;
      for (; turn < all; turn += kGroups) {
        const i32 second = turn >= of_class;
        const RowsOutputs outputs{p, patch, (turn - second * of_class) * 64, second};
        float d[kColumns / 2];
        multiply(p, outputs, source, shared.filter, d);
        if (turn + kGroups >= all) {
          release(shared.ring.empty(slot.slot));
          released = true;
        }
        store(p, outputs, columns, d, steps, staging);
      }
      if (!released) release(shared.ring.empty(slot.slot));
      turn -= all;
      slot.next();
    }
    steps.finish(p.epilogue);
  }

  WT_DEVICE static void release(SharedAddress empty) {
    device::sync_warp();
    if (device::lane_index() == 0) device::mbarrier_arrive(empty);
  }

  // What a lane reads: the windows of two outputs, its own pair of each group of four.
  struct Windows {
    SharedAddress from[2];
    i32 pitch;
    u32 first, last;  // masks of the first and the last octet of a run
    u32 before_last;  // of one row, where an odd number of octets is rounded up
  };

  WT_DEVICE static Windows windows_of(const Params& p, const RowsOutputs& outputs, SharedAddress source) {
    const int lane = device::lane_index(), pair = lane % 4;
    const i32 before = before_window(p, outputs.patch);
    Windows windows;
    WT_UNROLL for (int half = 0; half < 2; ++half) {
      const i32 row = device::thread_index() % 128 / 32 * 16 + lane / 4 + 8 * half;
      typename RowsOutputs::At at = outputs.at(row);
      if (at.row >= outputs.patch.rows) at = {0, outputs.of_class};  // the sum is dropped
      windows.from[half] = source + at.row * p.stride_h * p.pitch + ((at.column * p.step + before) >> 1) * 4 + pair * 4;
    }
    windows.pitch = p.pitch;
    const i32 lead = lead_of(p, outputs.of_class), end = lead + p.run - (kOctets - 1) * kOctet - 2 * pair;
    windows.first = pair == 0 && lead == 1 ? 0xffff0000u : 0xffffffffu;
    windows.last = pair_mask(end);
    windows.before_last = pair_mask(end + kOctet);
    return windows;
  }

  // Of a pair, the numbers that lie before the end of a run.
  WT_DEVICE static u32 pair_mask(i32 left) { return left >= 2 ? 0xffffffffu : left == 1 ? 0x0000ffffu : 0; }

  // One octet of k of both outputs.
  template <int kIndex>
  WT_DEVICE static void gather(const Windows& windows, u32& low, u32& high) {
    low = high = 0;
    if constexpr (kIndex < kRows * kOctets) {
      constexpr int kRow = kIndex / kOctets, kAt = kIndex % kOctets;
      low = device::load_shared<u32>(windows.from[0] + kRow * windows.pitch + kAt * 16);
      high = device::load_shared<u32>(windows.from[1] + kRow * windows.pitch + kAt * 16);
      if constexpr (kAt == 0) low &= windows.first, high &= windows.first;
      if constexpr (kAt == kOctets - 1) low &= windows.last, high &= windows.last;
      if constexpr (kRows == 1 && kAt == kOctets - 2) low &= windows.before_last, high &= windows.before_last;
    }
  }

  template <int kFirst, int kAt>
  WT_DEVICE static void gather_set(const Windows& windows, u32 (&a)[kSetSteps][4]) {
    if constexpr (kAt < kSetSteps && kFirst + kAt < kSteps) {
      gather<2 * (kFirst + kAt)>(windows, a[kAt][0], a[kAt][1]);
      gather<2 * (kFirst + kAt) + 1>(windows, a[kAt][2], a[kAt][3]);
      gather_set<kFirst, kAt + 1>(windows, a);
    }
  }

  template <int kSet>
  WT_DEVICE static void multiply_set(const Windows& windows, SharedAddress filter, u32 (&a)[kSets][kSetSteps][4],
                                     float (&d)[kColumns / 2]) {
    constexpr int kFirst = kSet * kSetSteps, kHeld = kSet % kSets;
    if constexpr (kFirst < kSteps) {
      if constexpr (kSet >= kSets) device::wgmma_wait<kSets - 1>();  // the set before that had these registers is read
      gather_set<kFirst, 0>(windows, a[kHeld]);
      device::wgmma_fence();
      WT_UNROLL for (int i = 0; i < kSetSteps; ++i) {
        if (kFirst + i >= kSteps) continue;
        const u64 b = device::wgmma_descriptor(filter + (kFirst + i) / 4 * kColumns * 128 + (kFirst + i) % 4 * 32, 16,
                                               1024, device::DescriptorSwizzle::k128);
        Multiply::template multiply<device::Major::kK>(d, a[kHeld][i], b, kFirst + i > 0);
      }
      device::wgmma_commit();
      multiply_set<kSet + 1>(windows, filter, a, d);
    }
  }

  WT_DEVICE static void multiply(const Params& p, const RowsOutputs& outputs, SharedAddress source,
                                 SharedAddress filter, float (&d)[kColumns / 2]) {
    const Windows windows = windows_of(p, outputs, source);
    u32 a[kSets][kSetSteps][4];
    multiply_set<0>(windows, filter + outputs.of_class * rows_layout::filter_bytes(kConfig), a, d);
    device::wgmma_wait<0>();
    device::wgmma_hold(d);
  }

  // A lane's sums of 32 columns are eight neighbours (rows_layout::place_of), and four lanes' two sectors.
  WT_DEVICE static void store_octets(const Params& p, const RowsOutputs& outputs, const typename Output::Place& columns,
                                     const float (&d)[kColumns / 2], typename Output::Steps& steps) {
    using Steps = typename Output::Steps;
    using Octet = Vector<typename Steps::Element, kOctet>;
    const int thread = device::thread_index() % 128, lane = thread % 32;
    WT_UNROLL for (int half = 0; half < 2; ++half) {
      const i64 start = outputs.offset(thread / 32 * 16 + lane / 4 + 8 * half);
      if (start < 0) continue;
      WT_UNROLL for (int block = 0; block < kColumns / 32; ++block) {
        const i64 channel = columns.column + 32 * block + lane % 4 * kOctet;
        if (channel >= p.columns) break;
        Octet octet;
        WT_UNROLL for (int i = 0; i < kOctet; ++i) {
          octet.at[i] =
              steps.apply(p.epilogue, d[4 * (4 * block + i / 2) + 2 * half + i % 2], start + channel + i, channel + i);
        }
        Steps::write(reinterpret_cast<Octet*>(static_cast<typename Steps::Element*>(p.y) + start + channel), octet);
      }
    }
  }

  WT_DEVICE static void store(const Params& p, const RowsOutputs& outputs, const typename Output::Place& columns,
                              const float (&d)[kColumns / 2], typename Output::Steps& steps, SharedAddress staging) {
    if constexpr (rows_layout::stores_octets(kConfig)) {
      store_octets(p, outputs, columns, d, steps);
    } else if constexpr (kConfig.gemm.staging == Staging::kDirect) {
      Output::store_direct(p, outputs, columns, d, steps);
    } else {
      Output::stage(p, outputs, columns, d, steps, staging);
      Output::copy_rows(p, outputs, columns, staging);
    }
  }
};

}  // namespace wt
