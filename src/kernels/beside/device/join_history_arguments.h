// SPDX-License-Identifier: Apache-2.0
// kernels/beside/device/join_history_arguments.h - the parameter block of join_history.h.
#pragma once

#include "target/types.h"

namespace wt {

inline constexpr int kJoinThreads = 256;

// An image of some pixels. Distances in units: elements, or 16 bytes of neighbouring channels.
struct JoinImage {
  i64 n, pixel, unit;
};

struct JoinHistoryArguments {
  const void* history;
  const void* x;
  void* out;
  JoinImage from_history, from_x, to;
  i64 images, units;   // units of one pixel
  i64 length;          // pixels of the history
  i64 first, count;    // pixels of history and x joined that are copied
  i64 pixels, strips;  // of a thread; strips of an image
  bool units_apart;    // channels-first: neighbouring threads take neighbouring pixels
};

}  // namespace wt
