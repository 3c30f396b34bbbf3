// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/depth_steps.h - how many matrix instructions a box of channels takes along k.
//
//   channels that are summed over --boxes, narrower than their room or the last one part full--> steps of each box
#pragma once

#include "kernels/tma/device/layout.h"
#include "target/hopper.h"

namespace wt {

// The steps of one box after the other, from `first_box` of a tap on, which has `boxes`. Steps without channels are
// left out.
template <KernelConfig kConfig>
struct DepthSteps {
  i32 box, all, last;

  template <class Params>
  WT_DEVICE DepthSteps(const Params& p, i32 first_box) : box(first_box) {
    constexpr int kStepChannels = 32 / size_of(operand_a(kConfig));
    all = p.box_channels / kStepChannels;
    last = (p.depth - (p.depth_blocks - 1) * p.box_channels + kStepChannels - 1) / kStepChannels;
  }
  WT_DEVICE i32 next(i32 boxes) {
    const i32 steps = box + 1 == boxes ? last : all;
    box = box + 1 == boxes ? 0 : box + 1;
    return steps;
  }
};

// A number that the compiler knows.
template <int kNumber>
struct StepCount {
  static constexpr int kCount = kNumber;
};

// Calls issue(StepCount<n>) for at least `steps` of kSteps. WHY three cases: the instructions of a stage stand between
// a fence and a commit without a condition, and each number of them is code of its own.
template <int kSteps, class Issue>
WT_DEVICE void issue_steps(i32 steps, Issue&& issue) {
  if (steps == kSteps) {
    issue(StepCount<kSteps>{});
  } else if (2 * steps > kSteps) {
    issue(StepCount<kSteps - 1>{});
  } else {
    issue(StepCount<kSteps / 2>{});
  }
}

}  // namespace wt
