// SPDX-License-Identifier: Apache-2.0
// kernels/beside/device/join_history.h - copies pixels of history and x as if they were one image.
//
//   history, x --> out: both joined for a kernel that knows no history, or the end of both, the next history
//
// A thread copies its pixels in order, so `out` may be the history where one thread has all pixels of its channels.
#pragma once

#include "kernels/beside/device/join_history_arguments.h"
#include "kernels/device/raw.h"

namespace wt {

template <int kBytes>
struct JoinHistory {
  using Params = JoinHistoryArguments;
  using Unit = typename RawOf<kBytes>::Type;
  static constexpr int kThreads = kJoinThreads;
  static constexpr int kMinBlocks = 1;

  WT_DEVICE static void run(const Params& p) {
    const i64 threads = p.images * p.strips * p.units, step = static_cast<i64>(device::grid_size().x) * kThreads;
    for (i64 i = static_cast<i64>(device::block_index().x) * kThreads + device::thread_index(); i < threads;
         i += step) {
      const i64 image = i / (p.strips * p.units), rest = i - image * p.strips * p.units;
      const i64 unit = p.units_apart ? rest / p.strips : rest % p.units;
      const i64 strip = p.units_apart ? rest % p.strips : rest / p.units;
      copy(p, image, unit, strip * p.pixels);
    }
  }

 private:
  WT_DEVICE static void copy(const Params& p, i64 image, i64 unit, i64 begin) {
    const Unit* history = static_cast<const Unit*>(p.history) + place(p.from_history, image, unit);
    const Unit* x = static_cast<const Unit*>(p.x) + place(p.from_x, image, unit);
    Unit* out = static_cast<Unit*>(p.out) + place(p.to, image, unit);
    const i64 end = begin + p.pixels < p.count ? begin + p.pixels : p.count;
    for (i64 i = begin; i < end; ++i) {
      const i64 at = p.first + i;
      const Unit* from = at < p.length ? history + at * p.from_history.pixel : x + (at - p.length) * p.from_x.pixel;
      device::store_global(out + i * p.to.pixel, device::load_global(from));
    }
  }
  WT_DEVICE static i64 place(const JoinImage& image, i64 n, i64 unit) { return n * image.n + unit * image.unit; }
};

}  // namespace wt
