// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/tma/phases.h - the producer's place in a tile's sum: the taps of its region, or, of a strided image,
// those of one phase after another's.
//
// All phases have the same accumulators, and taps start from the same pixel in each of them, so that nobody else knows.
#pragma once

#include "kernel/gemm/tma/arguments.h"
#include "kernel/gemm/tma/operand.h"

namespace wt {

template <class Params, bool kPhases>
class SumCursor : public TapCursor {
 public:
  WT_DEVICE SumCursor(const Params& p, const TmaRegion& region) : TapCursor(region.taps), p_(p), region_(region) {}

  WT_DEVICE const TensorMap& map() const { return region_.a; }
  WT_DEVICE void seek(i32 steps) { TapCursor::seek(region_.taps, p_.depth_blocks, steps); }
  WT_DEVICE void next() { TapCursor::next(region_.taps, p_.depth_blocks); }

 private:
  const Params& p_;
  const TmaRegion& region_;
};

template <class Params>
class SumCursor<Params, true> : public TapCursor {
 public:
  WT_DEVICE SumCursor(const Params& p, const TmaRegion&) : TapCursor(p.phases[0].taps), p_(p) {}

  WT_DEVICE const TensorMap& map() const { return p_.phases[phase_].a; }

  // As `next` would after `steps` calls from the start, fewer than all.
  WT_DEVICE void seek(i32 steps) {
    for (;;) {
      const TapWalk& walk = p_.phases[phase_].taps;
      const i32 boxes = walk.count[0] * walk.count[1] * walk.count[2] * p_.depth_blocks;
      if (steps < boxes) break;
      steps -= boxes;
      enter(phase_ + 1);
    }
    TapCursor::seek(p_.phases[phase_].taps, p_.depth_blocks, steps);
  }

  // Past the last phase it is walked again, by copies that bring nothing.
  WT_DEVICE void next() {
    if (TapCursor::next(p_.phases[phase_].taps, p_.depth_blocks)) return;
    if (phase_ + 1 < p_.phase_count) enter(phase_ + 1);
  }

 private:
  WT_DEVICE void enter(i32 phase) {
    phase_ = phase;
    static_cast<TapCursor&>(*this) = TapCursor(p_.phases[phase].taps);
  }

  const Params& p_;
  i32 phase_ = 0;
};

}  // namespace wt
