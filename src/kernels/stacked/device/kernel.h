// SPDX-License-Identifier: Apache-2.0
// kernels/stacked/device/kernel.h - small groups on Hopper: a row of pixels meets every row of the filter in one
// instruction.
//
//   input rows --TMA--> ring --descriptors shifted by tap--> wgmma --> sums of the output rows that the row meets
//   filter --TMA, once a block--> shared memory --/                    complete row --epilogue--> staged --TMA--> y, dx
//
// A consumer has 64 channels: a pixel is one swizzled row of 128 bytes, and a group's channels are some columns of it.
// An instruction multiplies 64 positions of a row by one column of a group's filter, whose rows are stacked along the
// instruction's columns; each goes to the sums of another output row. So operand A is read once for all rows of the
// filter, nothing is multiplied by zeros, and no value meets another group's. Two consumer warpgroups, each
// with a ring and a loading warp of its own, walk down different segments of the same channels and share their filter,
// or down the same segments of 64 channels each. Forward, and backward data of stride 1, which turns the filter round.
// groups.h serves other widths and targets.
#pragma once

#include "kernels/device/epilogue.h"
#include "kernels/device/gemm/ring.h"
#include "kernels/device/gemm/storage.h"
#include "kernels/stacked/device/arguments.h"
#include "kernels/stacked/device/shape.h"
#include "kernels/tma/device/operand.h"
#include "target/hopper.h"

namespace wt {

template <KernelConfig kConfig>
struct DirectStacked {
  using Params = StackedArguments;
  static constexpr int kThreads = stacked::kThreads;
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    constexpr stacked::SharedLayout kAt = stacked::shared_layout(kConfig);
    const SharedAddress base = aligned_shared_base();
    const SharedAddress filter = base + kAt.filter, rows = base + kAt.rows, barriers = base + kAt.barriers;
    if (device::thread_index() == 0) {
      device::tma_prefetch(p.from);
      device::tma_prefetch(p.filter);
      device::tma_prefetch(p.to);
      WT_ROLLED for (int i = 0; i < stacked::kConsumers; ++i) {
        device::mbarrier_init(barriers + i * kBarrierBytes, 1);
        RowRing{barriers + i * kBarrierBytes + 8}.init(1, 4);
      }
      device::mbarrier_fence_init();
      device::fence_async_shared();
      // WHY here: the filter must not wait behind the first rows, of which every product needs one, but all of it.
      WT_ROLLED for (int i = 0; i < (kApart ? stacked::kConsumers : 1); ++i) {
        load_filter(p, filter + i * stacked::aligned(stacked::filter_bytes(kConfig)), barriers + i * kBarrierBytes,
                    slice_of(p, i));
      }
    }
    device::sync_block();
    const int warp = device::warp_index();
    const int consumer = warp < 4 * stacked::kConsumers ? warp / 4 : warp - 4 * stacked::kConsumers;
    const SharedAddress own = rows + consumer * stacked::consumer_bytes(kConfig);
    const int owner = kApart ? consumer : 0;
    const Shared shared{filter + owner * stacked::aligned(stacked::filter_bytes(kConfig)),
                        own,
                        own + stacked::ring_bytes(kConfig),
                        barriers + owner * kBarrierBytes,
                        {barriers + consumer * kBarrierBytes + 8}};
    // WHY one if/else with nothing behind it: ptxas heeds the register moves only then.
    if (warp >= 4 * stacked::kConsumers) {
      device::give_registers<stacked::kProducerRegisters>();
      if (consumer < stacked::kConsumers && device::elect()) produce(p, shared, consumer);
    } else {
      device::take_registers<stacked::kConsumerRegisters>();
      consume(p, shared, consumer);
    }
  }

 private:
  static constexpr int kWidth = stacked::width(kConfig), kGroups = stacked::groups(kConfig);
  static constexpr int kRows = kConfig.fixed.filter_h, kCols = kConfig.fixed.filter_w;
  static constexpr int kStride = kConfig.fixed.stride_h;
  static constexpr int kSlots = stacked::slots(kConfig), kSteps = kWidth / 16;
  static constexpr int kGroupSums = kWidth / 2;  // of a group in one output row, in the registers of a thread
  static constexpr int kRowSums = stacked::kChannels / 2;
  static constexpr int kTapBytes = stacked::tap_bytes(kConfig);
  static constexpr bool kApart = stacked::apart(kConfig);
  static constexpr int kTurn = 1 + stacked::kConsumers, kTurnThreads = 128 * stacked::kConsumers;  // named barriers
  static constexpr bool kData = stacked::is_data(kConfig);
  static_assert(kConfig.fixed.stride_w == kStride && kWidth % 16 == 0 && stacked::kChannels % kWidth == 0);

  using RowRing = Ring<kConfig.direct.prefetch>;
  using Cursor = typename RowRing::Cursor;
  static constexpr int kBarrierBytes = stacked::barrier_bytes(kConfig);
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
  using Element = typename Steps::Element;
  static_assert(sizeof(Element) == 2, "rows are staged as 16-bit numbers");
  static constexpr EpilogueConfig kEpilogue = kConfig.epilogue;
  // WHY: scale, bias and residual end with the tensor, and amax counts what is stored; bulk stores drop what lies
  // outside the tensor, so nothing else cares.
  static constexpr bool kBounded = kEpilogue.scale || kEpilogue.bias || kEpilogue.placed() || kEpilogue.amax;

  struct Shared {  // addresses
    SharedAddress filter, rows, staged, filter_full;
    RowRing ring;
  };
  struct Item {
    i32 slice, image, w;  // of the first position
    i32 first, rows;      // output rows
    bool last;            // of the consumer
    i32 begin, end;       // steps whose input rows are not all padding
    WT_DEVICE i32 steps() const { return rows + kSlots - 1; }
  };
  // Sums of output rows in the making, the oldest first. WHY a second row of a step has sums of its own, which are
  // added to the youngest: it meets fewer of them, and products of different widths on the same accumulators wait for
  // each other.
  static constexpr int kSecond = kStride == 2 ? stacked::rows_met(kConfig, 1) * kGroupSums : 0;
  struct Sums {
    float at[kGroups][kSlots * kGroupSums];
    float second[kGroups][kSecond > 0 ? kSecond : 1];
  };
  struct Row {  // that is complete: the sums of 64 channels, in the order of channels
    float at[kRowSums];
  };

  // For 64 channels.
  WT_DEVICE static i32 slice_of(const Params& p, int consumer) {
    const i32 slice = device::block_index().x % p.slices;
    return kApart ? slice * stacked::kConsumers + consumer : slice;
  }

  template <class Body>
  WT_DEVICE static void for_items(const Params& p, int consumer, Body&& body) {
    constexpr int kTakers = kApart ? 1 : stacked::kConsumers;  // of a block that take items of their own
    const i32 slice = slice_of(p, consumer), step = device::grid_size().x / p.slices * kTakers;
    for (i32 at = device::block_index().x / p.slices * kTakers + (kApart ? 0 : consumer); at < p.items; at += step) {
      const i32 strip = at / p.segments, segment = at - strip * p.segments;
      const i32 images = strip / p.column_tiles, tile = strip - images * p.column_tiles;
      const i32 first = segment * p.segment_rows, left = p.size[0] - first;
      Item item{slice,
                images * p.images,
                tile * p.columns,
                first,
                left < p.segment_rows ? left : p.segment_rows,
                at + step >= p.items,
                0,
                0};
      // Sums are zero before the image, and its last row leaves output rows that are complete but for padding.
      const i32 row = p.start[0] + first * kStride, end = (p.in_rows - row + kStride - 1) / kStride;
      if (row < 0) item.begin = -row / kStride < kSlots - 1 ? -row / kStride : kSlots - 1;
      item.end = end < item.begin ? item.begin : end < item.steps() ? end : item.steps();
      body(item);
    }
  }

  WT_DEVICE static void produce(const Params& p, const Shared& shared, int consumer) {
    Cursor slot;
    for_items(p, consumer, [&](const Item& item) {
      const i32 first = p.start[0] + item.first * kStride;
      for (i32 row = first + item.begin * kStride; row < first + item.end * kStride; ++row) {
        shared.ring.wait_empty(slot);
        const SharedAddress full = shared.ring.full(slot.slot);
        const SharedAddress to = shared.rows + slot.slot * stacked::row_bytes(kConfig);
        device::mbarrier_arrive_expect(full, static_cast<u32>(p.row_bytes));
        WT_UNROLL for (int phase = 0; phase < kStride; ++phase) {
          device::tma_load(to + phase * stacked::phase_bytes(kConfig), p.from, full, item.slice * stacked::kChannels,
                           p.start[1] + item.w * kStride + phase, item.image, row, p.policy);
        }
        slot.next();
      }
    });
  }

  // Every tap of the block's groups, in the order in which stacks hold them: a group's columns, of each the rows of one
  // remainder of the stride, the last row first.
  WT_DEVICE static void load_filter(const Params& p, SharedAddress to, SharedAddress full, i32 slice) {
    device::mbarrier_arrive_expect(full, stacked::filter_bytes(kConfig));
    const i32 first = slice * stacked::kChannels;
    WT_ROLLED for (int group = 0; group < kGroups; ++group) {
      WT_ROLLED for (int column = 0; column < kCols; ++column) {
        WT_ROLLED for (int rest = 0; rest < kStride; ++rest) {
          WT_ROLLED for (int i = stacked::rows_met(kConfig, rest) - 1; i >= 0; --i) {
            const int row = rest + kStride * i;
            device::tma_load(to, p.filter, full, 0, p.first_tap + p.tap_step * (row * kCols + column),
                             first + group * kWidth);
            to += kTapBytes;
          }
        }
      }
    }
  }

  WT_DEVICE static void consume(const Params& p, const Shared& shared, int consumer) {
    // Consumers of the same segments have as many steps.
    i32 turns = 0x7fffffff;
    WT_ROLLED for (int i = kApart ? 1 : 0; i < stacked::kConsumers; ++i) {
      i32 steps = 0;
      for_items(p, i, [&](const Item& item) { steps += item.end - item.begin; });
      turns = steps < turns ? steps : turns;
    }
    Walk walk{p, shared, consumer, turns};
    if (consumer == 1 && walk.turns > 0) device::arrive_named(kTurn, kTurnThreads);
    // Pixels that positions without an output read, and staged positions that no instruction has: their values reach
    // nothing, but they are numbers.
    // WHY rolled, here and in load_filter: a block waits for its first instructions as it does for its first pixels.
    WT_ROLLED for (int i = 0; i < kConfig.direct.prefetch * kStride; ++i)
        clear(shared.rows + i * stacked::phase_bytes(kConfig), p.images * p.pitch);
    WT_ROLLED for (int i = 0; i < stacked::kStagedRows; ++i)
        clear(shared.staged + i * stacked::staged_bytes(kConfig), stacked::kPositions);
    device::fence_async_shared();
    device::sync_named(1 + consumer, 128);
    device::mbarrier_wait(shared.filter_full, 0);
    for_items(p, consumer, [&](const Item& item) { walk.run(item); });
  }

  // The pixels of a row from `first` on.
  WT_DEVICE static void clear(SharedAddress row, i32 first) {
    constexpr int kChunk = 16;
    const SharedAddress end = row + stacked::phase_bytes(kConfig);
    row += first * stacked::kPixelBytes + device::thread_index() % 128 * kChunk;
    WT_ROLLED for (; row < end; row += 128 * kChunk) device::store_shared(row, Vector<u32, kChunk / 4>{});
  }

  // A consumer on its way.
  struct Walk {
    const Params& p;
    const Shared& shared;
    int consumer;
    i32 turns;  // steps that both consumers have: they multiply in turns
    u64 filter = filter_descriptor(shared.filter);
    i32 turn = 0;
    Cursor issued = {}, released = {};
    int staged = 0;  // which of the staged rows is made next
    Steps steps = {};
    i64 place[2] = {};  // of the thread's two positions in the output's first row; -1: outside
    i32 channel = 0;    // of the block

    WT_DEVICE void run(const Item& item) {
      locate(item);
      Sums sums = {};
      Row row = {};
      // WHY a row is stored in the next step: while that one's products run.
      for (i32 step = item.begin; step < item.end; ++step) {
        issue(sums);
        store(item, step - 1, row);
        wait(sums);
        advance(sums, row);
      }
      for (i32 step = item.end;; ++step) {
        store(item, step - 1, row);
        if (step == item.steps()) break;
        advance(sums, row);
      }
      steps.finish(p.epilogue);
      // WHY here and not after the last item: code behind the loop over items makes ptxas ignore the register moves.
      if (item.last && device::thread_index() % 128 == 0) device::bulk_wait_read<0>();
    }

    // Starts the products of a step. WHY in turns: left alone, both consumers multiply at the same time and then move
    // their sums at the same time, and the matrix units wait. Barrier kTurn + c opens for consumer c.
    WT_DEVICE void issue(Sums& sums) {
      SharedAddress pixels[kStride];
      WT_UNROLL for (int rest = 0; rest < kStride; ++rest) {
        shared.ring.wait_full(issued);
        pixels[rest] = shared.rows + issued.slot * stacked::row_bytes(kConfig);
        issued.next();
      }
      if (turn < turns) device::sync_named(kTurn + consumer, kTurnThreads);
      // WHY: the zeros of new sums would otherwise be written between the products, which would then wait for them.
      hold(sums);
      device::wgmma_fence();
      multiply<0>(pixels[0], sums.at);
      if constexpr (kStride == 2) multiply<1>(pixels[1], sums.second);
      device::wgmma_commit();
      if (turn + consumer < turns) device::arrive_named(kTurn + (consumer ^ 1), kTurnThreads);
      ++turn;
    }

    // The products of a step's first or second input row. The accumulators of a group hold its output rows one after
    // the other, as a stack of taps does.
    template <int kRest, int kCount>
    WT_DEVICE void multiply(SharedAddress pixels, float (&sums)[kGroups][kCount]) {
      using Multiply = device::Wgmma<kConfig.x, kConfig.x, stacked::rows_met(kConfig, kRest) * kWidth>;
      const u64 row = device::wgmma_descriptor(pixels, 16, 1024, device::DescriptorSwizzle::k128);
      WT_UNROLL for (int column = 0; column < kCols; ++column) {
        WT_UNROLL for (int step = 0; step < kSteps; ++step) {
          WT_UNROLL for (int group = 0; group < kGroups; ++group) {
            const int at = column % kStride * stacked::phase_bytes(kConfig) + column / kStride * stacked::kPixelBytes +
                           group * kWidth * 2 + step * 32;
            const int tap = (group * kCols + column) * kRows + stacked::first_tap(kConfig, kRest);
            Multiply::template multiply<device::Major::kK, kData ? device::Major::kMn : device::Major::kK>(
                sums[group], further(row, at), further(filter, tap * kTapBytes + step * kFilterStep),
                kRest == 0 || column > 0 || step > 0);
          }
        }
      }
    }

    // A descriptor some bytes further on. WHY so: one addition, where a descriptor takes ten instructions to make.
    WT_DEVICE static u64 further(u64 descriptor, int bytes) {
      const u32 low = static_cast<u32>(descriptor) + static_cast<u32>(bytes / 16);
      return (descriptor >> 32 << 32) | low;
    }

    // The filter's first tap at its first 16 channels that are summed over. Forward a tap's rows are output channels,
    // and backward they are summed over.
    static constexpr int kEight = 8 * kWidth * 2;                // bytes of 8 rows
    static constexpr int kFilterStep = kData ? 2 * kEight : 32;  // to the next 16 channels
    WT_DEVICE static u64 filter_descriptor(SharedAddress filter) {
      return device::wgmma_descriptor(filter, kData ? kTapBytes : 16, kEight, descriptor_swizzle(kWidth * 2));
    }

    // Waits for a step's products and gives its rows back.
    WT_DEVICE void wait(Sums& sums) {
      device::wgmma_wait<0>();
      hold(sums);
      WT_UNROLL for (int rest = 0; rest < kStride; ++rest) {
        if (device::lane_index() == 0) device::mbarrier_arrive(shared.ring.empty(released.slot));
        released.next();
      }
      WT_UNROLL for (int group = 0; group < kGroups; ++group) {
        WT_UNROLL for (int i = 0; i < kSecond; ++i) {
          float& youngest = sums.at[group][kSlots * kGroupSums - kSecond + i];
          youngest = device::wgmma_copy(youngest + sums.second[group][i]);
        }
      }
    }

    // Takes the sums of the output row that a step completes; the others move on by a slot.
    WT_DEVICE static void advance(Sums& sums, Row& row) {
      WT_UNROLL for (int group = 0; group < kGroups; ++group) {
        WT_UNROLL for (int i = 0; i < kGroupSums; ++i) row.at[group * kGroupSums + i] =
            device::wgmma_copy(sums.at[group][i]);
        WT_UNROLL for (int i = 0; i < kSlots * kGroupSums; ++i) {
          const bool young = i >= (kSlots - 1) * kGroupSums;
          sums.at[group][i] = device::wgmma_copy(young ? 0 : sums.at[group][young ? i : i + kGroupSums]);
        }
      }
    }

    WT_DEVICE static void hold(Sums& sums) {
      WT_UNROLL for (int group = 0; group < kGroups; ++group) {
        device::wgmma_hold(sums.at[group]);
        if constexpr (kSecond > 0) device::wgmma_hold(sums.second[group]);
      }
    }

    // Where the thread's positions lie: of the accumulators, rows lane / 4 and 8 further of the warp's 16.
    WT_DEVICE void locate(const Item& item) {
      channel = item.slice * stacked::kChannels;
      if constexpr (kBounded) {
        const int thread = device::thread_index() % 128;
        WT_UNROLL for (int half = 0; half < 2; ++half) {
          const i32 position = thread / 32 * 16 + thread % 32 / 4 + 8 * half;
          const i32 image = position / p.pitch, column = position - image * p.pitch;
          const i32 n = item.image + image, w = item.w + column;
          const bool inside = image < p.images && n < p.all_images && column < p.columns && w < p.size[1];
          place[half] = inside ? n * p.out_stride[0] + w * p.out_stride[2] : -1;
        }
      }
    }

    // Stores the output row that step `step` completed, if there is one.
    WT_DEVICE void store(const Item& item, i32 step, const Row& row) {
      const i32 h = step - (kSlots - 1);
      if (h < 0) return;
      const SharedAddress to = shared.staged + staged * stacked::staged_bytes(kConfig);
      const bool sends = device::thread_index() % 128 == 0;
      stage(item.first + h, row, to);
      device::fence_async_shared();
      // One barrier says both that this row is staged and that the place of the next one is free.
      if (sends) device::bulk_wait_read<stacked::kStagedRows - 2>();
      device::sync_named(1 + consumer, 128);
      if (sends) {
        device::tma_store(p.to, to, channel, item.w, item.image, item.first + h);
        device::bulk_commit();
      }
      staged = staged + 1 == stacked::kStagedRows ? 0 : staged + 1;
    }

    // 64 positions of 64 channels, 128-byte swizzle.
    WT_DEVICE void stage(i32 h, const Row& row, SharedAddress to) {
      const int lane = device::lane_index(), warp = device::thread_index() % 128 / 32;
      // Lane l gives the address of row l % 16 of the warp's 16, in column block j + l / 16.
      const int matrix_row = warp * 16 + lane % 16;
      WT_UNROLL for (int j = 0; j < stacked::kChannels / 8; j += 2) {
        u32 packed[4] = {0, 0, 0, 0};
        WT_UNROLL for (int quarter = 0; quarter < 4; ++quarter) {
          const int block = j + quarter / 2, half = quarter % 2;
          const i32 at = channel + 8 * block + 2 * (lane % 4);
          if (kBounded && (place[half] < 0 || at >= p.channels)) continue;
          const i64 offset = place[half] + h * p.out_stride[1] + at;
          Vector<Element, 2> pair;
          pair.at[0] = steps.apply(p.epilogue, row.at[4 * block + 2 * half], offset, at);
          pair.at[1] = steps.apply(p.epilogue, row.at[4 * block + 2 * half + 1], offset + 1, at + 1);
          packed[quarter] = __builtin_bit_cast(u32, pair);
        }
        device::store_matrix<false>(to + matrix_row * stacked::kPixelBytes + ((j + lane / 16) ^ (matrix_row % 8)) * 16,
                                    packed);
      }
    }
  };
};

}  // namespace wt
