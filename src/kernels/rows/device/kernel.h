// SPDX-License-Identifier: Apache-2.0
// kernels/rows/device/kernel.h - convolution of few channels on Hopper: fragments of A read from raw image rows.
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

#include "kernels/device/gemm/ring.h"
#include "kernels/device/shifted_rows.h"
#include "kernels/rows/device/arguments.h"
#include "kernels/rows/device/filter.h"
#include "kernels/rows/device/layout.h"
#include "kernels/rows/device/store.h"

namespace wt {

template <KernelConfig kConfig>
struct RowsGemm {
  using Params = RowsArguments;
  static constexpr int kThreads = rows_layout::threads(kConfig);
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const Shared shared = layout(p);
    start_barriers([&] { shared.ring.init(kInBulk ? 1 : kLoadThreads, 4 * kGroups); });
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
  static constexpr int kBarrier = 1;  // of the math threads
  using Element = Storage<operand_a(kConfig)>;
  using Multiply = device::Wgmma<operand_a(kConfig), operand_b(kConfig), kColumns>;
  using SlotRing = Ring<kStages>;
  using Cursor = typename SlotRing::Cursor;
  using Store = RowsStore<kConfig>;
  using Outputs = RowsOutputs<kConfig>;

  struct Shared {  // addresses
    SharedAddress filter, staging, slots;
    SlotRing ring;
  };

  WT_DEVICE static Shared layout(const Params& p) {
    constexpr rows_layout::RegionBytes kBytes = rows_layout::region_bytes(kConfig);
    const rows_layout::SharedLayout<SharedAddress, i32> at(aligned_shared_base(), kBytes, p.classes, p.slot_bytes);
    return {at.filter, at.staging, at.slots, {at.ring}};
  }

  // A block's columns stay the same, and so its filter.
  WT_DEVICE static u32 first_patch(const Params& p) {
    return quotient(static_cast<u32>(device::block_index().x), p.tiles_n);
  }
  WT_DEVICE static u32 patch_step(const Params& p) {
    return quotient(static_cast<u32>(device::grid_size().x), p.tiles_n);
  }
  WT_DEVICE static i32 column_of_block(const Params& p) {
    const auto block = static_cast<u32>(device::block_index().x);
    return static_cast<i32>(block - quotient(block, p.tiles_n) * p.tiles_n.by) * kColumns;
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

  // In three dimensions a patch's image is an output plane.
  struct Planes {
    i32 image, first;  // of the image's planes, under the filter

    WT_DEVICE Planes(const Params& p, const RowsPatch& patch) {
      const auto plane = static_cast<u32>(patch.image);
      image = static_cast<i32>(quotient(plane, p.out_planes));
      first = (patch.image - image * static_cast<i32>(p.out_planes.by)) * p.stride_d - p.pad_d;
    }
  };

  // The line of the image that a row of a patch is; -1 where there is none.
  WT_DEVICE static i64 line_of(const Params& p, const RowsPatch& patch, i32 row) {
    i32 above = patch.image, in_plane = row;
    bool inside = true;
    if constexpr (kConfig.dims == 3) {
      const Planes planes(p, patch);
      const auto of_patch = static_cast<i32>(quotient(static_cast<u32>(row), p.plane_rows));
      const i32 plane = planes.first + of_patch;
      in_plane -= of_patch * p.patch_rows;
      inside = plane >= 0 && plane < p.in_planes;
      above = planes.image * p.in_planes + plane;
    }
    const i32 h = first_row(p, patch) + in_plane;
    inside = inside && h >= 0 && h < p.in_rows;
    return inside ? static_cast<i64>(above) * p.in_rows + h : -1;
  }
  WT_DEVICE static i32 rows_of_patch(const Params& p) {
    return kConfig.dims == 3 ? p.patch_rows * p.filter_planes : p.patch_rows;
  }

  WT_DEVICE static void load_in_bulk(const Params& p, const Shared& shared) {
    Cursor slot;
    for (u32 index = first_patch(p); index < p.patches; index += patch_step(p)) {
      const RowsPatch patch = rows_patch(p, index);
      shared.ring.wait_empty(slot);
      const SharedAddress full = shared.ring.full(slot.slot);
      const SharedAddress to = shared.slots + slot.slot * p.slot_bytes;
      const i32 from = first_element(p, patch) / 2, top = first_row(p, patch);
      if constexpr (kConfig.dims == 3) {
        const Planes planes(p, patch);
        device::mbarrier_arrive_expect(full, static_cast<u32>(p.filter_planes * p.patch_rows * p.pitch));
        device::tma_load(to, p.source, full, from, top, planes.first, planes.image);
      } else if constexpr (kConfig.dims == 1 || kRows == 1) {
        // One row may be several boxes; with unit filters it is all pixels of all images.
        device::mbarrier_arrive_expect(full, static_cast<u32>(p.patch_rows * p.pitch));
        const i32 bytes = p.pitch / p.boxes;
        for (i32 box = 0; box < p.boxes; ++box)
          device::tma_load(to + box * bytes, p.source, full, from + box * (bytes / 4), top, patch.image);
      } else {
        device::mbarrier_arrive_expect(full, static_cast<u32>(p.patch_rows * p.pitch));
        device::tma_load(to, p.source, full, from, top, patch.image);
      }
      slot.next();
    }
  }

  // A row whose length is a multiple of 8 bytes; `line` is -1 where there is none.
  WT_DEVICE static void copy_row(const Params& p, i64 line, i32 from, SharedAddress to, int lane) {
    constexpr int kBytes = 8;
    const bool inside = line >= 0;
    const auto* start = static_cast<const Element*>(p.x) + (inside ? line : 0) * p.row_elements;
    WT_UNROLL_FEW for (i32 byte = lane * kBytes; byte < p.pitch; byte += 32 * kBytes) {
      const i32 at = from + byte / static_cast<i32>(sizeof(Element));
      const bool exists = inside && at >= 0 && at < p.row_elements;
      device::copy_async<kBytes>(to + byte, start + (exists ? at : 0), exists ? kBytes : 0);
    }
  }

  // Rows of any length: by 8 bytes that land by themselves where they are aligned, else through registers.
  WT_DEVICE static void load_words(const Params& p, const Shared& shared, int thread) {
    const int warp = thread / 32, lane = thread % 32;
    const bool lands = p.row_elements % 4 == 0;
    Cursor slot;
    for (u32 index = first_patch(p); index < p.patches; index += patch_step(p)) {
      const RowsPatch patch = rows_patch(p, index);
      const i32 from = first_element(p, patch);
      const SharedAddress to = shared.slots + slot.slot * p.slot_bytes;
      shared.ring.wait_empty(slot);
      if (lands) {
        for (i32 row = warp; row < rows_of_patch(p); row += kLoadThreads / 32)
          copy_row(p, line_of(p, patch, row), from, to + row * p.pitch, lane);
        device::copy_async_arrive(shared.ring.full(slot.slot));
      } else {
        const ShiftedRows<kLoadThreads> rows{{p.x, p.image_elements}, p.row_elements, p.row_loads};
        rows.copy(rows_of_patch(p), from, thread, [&](i32 row) {
          return ShiftedRow{line_of(p, patch, row), to + row * p.pitch};
        });
        device::mbarrier_arrive(shared.ring.full(slot.slot));
      }
      slot.next();
    }
    // WHY: copies must not be in flight when their thread ends.
    device::copy_async_commit();
    device::copy_async_wait<0>();
  }

  WT_DEVICE static void consume(const Params& p, const Shared& shared, int group) {
    const i32 first_column = column_of_block(p);
    RowsFilter<kConfig>{p, first_column, shared.filter}.load();
    device::fence_async_shared();
    device::sync_named(kBarrier, kMathThreads);

    Cursor slot;
    typename Store::Steps steps;
    const Store store{p, first_column, shared.staging + group * (rows_layout::out_bytes(kConfig) / kGroups)};
    i32 turn = group;  // the next fragment that is this group's, counted from the patch's first
    for (u32 index = first_patch(p); index < p.patches; index += patch_step(p)) {
      const RowsPatch patch = rows_patch(p, index);
      const i32 of_class = (patch.rows * static_cast<i32>(p.class_strip.by) + 63) / 64, all = of_class * p.classes;
      const i64 origin = (static_cast<i64>(patch.image) * p.out[0] + patch.row) * p.out[1] + patch.column;
      const i64 start = store.start_of(origin);
      const SharedAddress source = shared.slots + slot.slot * p.slot_bytes;
      shared.ring.wait_full(slot);
      bool released = false;
      for (; turn < all; turn += kGroups) {
        const i32 second = turn >= of_class;
        const Outputs outputs{p, patch, origin, (turn - second * of_class) * 64, second};
        float d[kColumns / 2];
        multiply(p, outputs, source, shared.filter, d);
        if (turn + kGroups >= all) {
          release(shared.ring.empty(slot.slot));
          released = true;
        }
        store(outputs, start, d, steps);
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
    const Params& p;
    u32 first, last;  // masks of the first and the last octet of a run
    u32 before_last;  // of one row, where an odd number of octets is rounded up
  };

  WT_DEVICE static Windows windows_of(const Params& p, const Outputs& outputs, SharedAddress source) {
    const int lane = device::lane_index(), pair = lane % 4;
    const i32 before = before_window(p, outputs.patch);
    Windows windows{{}, p, 0, 0, 0};
    WT_UNROLL for (int half = 0; half < 2; ++half) {
      const i32 row = device::thread_index() % 128 / 32 * 16 + lane / 4 + 8 * half;
      typename Outputs::At at = outputs.at(row);
      if (at.row >= outputs.patch.rows) at = {0, outputs.of_class};  // the sum is dropped
      windows.from[half] = source + at.row * p.stride_h * p.pitch + ((at.column * p.step + before) >> 1) * 4 + pair * 4;
    }
    const i32 lead = RowsFilter<kConfig>::lead_of(p, outputs.of_class),
              end = lead + p.run - (kOctets - 1) * kOctet - 2 * pair;
    windows.first = pair == 0 && lead == 1 ? 0xffff0000u : 0xffffffffu;
    windows.last = pair_mask(end);
    windows.before_last = pair_mask(end + kOctet);
    return windows;
  }

  // The numbers of a pair that lie before the end of a run.
  WT_DEVICE static u32 pair_mask(i32 left) { return left >= 2 ? 0xffffffffu : left == 1 ? 0x0000ffffu : 0; }

  // One octet of k of both outputs.
  template <int kIndex>
  WT_DEVICE static void gather(const Windows& windows, u32& low, u32& high) {
    low = high = 0;
    if constexpr (kIndex < kRows * kOctets) {
      constexpr int kRow = kIndex / kOctets, kAt = kIndex % kOctets;
      const i32 run = kConfig.dims == 3 ? windows.p.run_at[kRow] : kRow * windows.p.pitch;
      low = device::load_shared<u32>(windows.from[0] + run + kAt * 16);
      high = device::load_shared<u32>(windows.from[1] + run + kAt * 16);
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
  WT_DEVICE static void multiply_set(const Windows& windows, u64 filter, u32 (&a)[kSets][kSetSteps][4],
                                     float (&d)[kColumns / 2]) {
    constexpr int kFirst = kSet * kSetSteps, kHeld = kSet % kSets;
    if constexpr (kFirst < kSteps) {
      if constexpr (kSet >= kSets) device::wgmma_wait<kSets - 1>();  // the set before that had these registers is read
      gather_set<kFirst, 0>(windows, a[kHeld]);
      device::wgmma_fence();
      WT_UNROLL for (int i = 0; i < kSetSteps; ++i) {
        if (kFirst + i >= kSteps) continue;
        constexpr int kUnit = 16;  // of addresses in descriptors
        const int offset = (kFirst + i) / 4 * kColumns * 128 + (kFirst + i) % 4 * 32;
        Multiply::template multiply<device::Major::kK>(d, a[kHeld][i], filter + offset / kUnit, kFirst + i > 0);
      }
      device::wgmma_commit();
      multiply_set<kSet + 1>(windows, filter, a, d);
    }
  }

  WT_DEVICE static void multiply(const Params& p, const Outputs& outputs, SharedAddress source, SharedAddress filter,
                                 float (&d)[kColumns / 2]) {
    const Windows windows = windows_of(p, outputs, source);
    u32 a[kSets][kSetSteps][4];
    const u64 b = device::wgmma_descriptor(filter + outputs.of_class * rows_layout::filter_bytes(kConfig), 16, 1024,
                                           device::DescriptorSwizzle::k128);
    multiply_set<0>(windows, b, a, d);
    device::wgmma_wait<0>();
    device::wgmma_hold(d);
  }
};

}  // namespace wt
