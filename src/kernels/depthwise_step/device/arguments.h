// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_step/device/arguments.h - the parameter block of kernel.h. Freestanding: hosts read it too.
#pragma once

#include "kernels/device/arguments.h"

namespace wt {

// Distances in elements.
struct StepImage {
  i64 n, pixel, channel;
};

struct StepArguments {
  const void* x;
  const void* history;
  const void* w;
  void* y;
  void* new_history;  // null: not wanted; may be the history
  StepImage from_x, from_history, to;
  i64 threads, vectors;  // vectors: of neighbouring channels, in one pixel
  i32 tokens, outputs;   // pixels of x and y
  i32 stride, taps, dilation;
  i32 length;  // pixels of the history
  EpilogueArguments epilogue;
};

}  // namespace wt
