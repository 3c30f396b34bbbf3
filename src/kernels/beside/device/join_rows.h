// SPDX-License-Identifier: Apache-2.0
// kernels/beside/device/join_rows.h - copies rows of history and x as if they were one image.
//
//   history, x --> out: both joined for a kernel that knows no history, or the end of both, the next history
//
// A thread copies its rows in order, so `out` may be the history where one thread has all rows of its unit. Without a
// history it copies some rows of an image to another.
#pragma once

#include "kernels/beside/device/join_rows_arguments.h"
#include "kernels/device/raw.h"

namespace wt {

template <int kBytes>
struct JoinRows {
  using Params = JoinRowsArguments;
  using Unit = typename RawOf<kBytes>::Type;
  static constexpr int kThreads = kRowThreads;
  static constexpr int kMinBlocks = 1;

  WT_DEVICE static void run(const Params& p) {
    const i64 threads = p.images * p.strips * p.units, step = static_cast<i64>(device::grid_size().x) * kThreads;
    for (i64 i = static_cast<i64>(device::block_index().x) * kThreads + device::thread_index(); i < threads;
         i += step) {
      const i64 strip = i / p.units;
      copy(p, strip / p.strips, i % p.units, strip % p.strips * p.rows_of_thread);
    }
  }

 private:
  WT_DEVICE static void copy(const Params& p, i64 image, i64 unit, i64 begin) {
    const Unit* history = static_cast<const Unit*>(p.history) + image * p.length * p.units + unit;
    const Unit* x = static_cast<const Unit*>(p.x) + image * p.x_rows * p.units + unit;
    Unit* out = static_cast<Unit*>(p.out) + image * p.out_rows * p.units + unit;
    const i64 end = begin + p.rows_of_thread < p.count ? begin + p.rows_of_thread : p.count;
    for (i64 i = begin; i < end; ++i) {
      const i64 at = p.first + i;
      const Unit* from = at < p.length ? history + at * p.units : x + (at - p.length) * p.units;
      device::store_global(out + i * p.units, device::load_global(from));
    }
  }
};

}  // namespace wt
