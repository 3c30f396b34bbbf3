// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_stream/device/shape.h - the sizes that a streaming kernel is compiled for, and its shared memory.
//
// Freestanding: dispatch and the kernels read the same formulas.
#pragma once

#include "config/kernel_config.h"

namespace wt {

template <KernelConfig kConfig>
struct StreamShape {
  static constexpr int kThreads = kConfig.direct.block_size;
  static constexpr int kWidth = kConfig.direct.vector_in;  // channels a thread
  static constexpr int kColumns = kConfig.direct.sub_w;    // a thread; of each stride phase in backward data
  static constexpr bool kPlanes = kConfig.dims == 3;       // the filter has planes, a run-time number of them
  static constexpr int kRows = kConfig.fixed.filter_h, kCols = kConfig.fixed.filter_w;
  static constexpr int kTaps = kRows * kCols;  // of a plane
  static constexpr int kStepRows = kConfig.fixed.stride_h, kStepCols = kConfig.fixed.stride_w;
  // Rows and columns of taps that one stride phase meets, the most of any phase.
  static constexpr int kPhaseRows = (kRows + kStepRows - 1) / kStepRows;
  static constexpr int kPhaseCols = (kCols + kStepCols - 1) / kStepCols;
  static constexpr int kAhead = kConfig.direct.prefetch;
  static_assert(!kPlanes || kConfig.direction == Direction::kBackwardWeight || !kConfig.direct.register_weights,
                "planes are walked in a loop");
  static_assert(kConfig.direct.vector_out == kWidth, "one output channel an input channel");
};

inline constexpr int kMostStreamLanes = 64;  // channel vectors of a block

// Bytes of the vector that a thread reads of a pixel.
constexpr int stream_pixel_bytes(const KernelConfig& config) {
  return config.direct.vector_in * size_of(config.direction == Direction::kBackwardData ? config.y : config.x);
}
// Whether rows on their way wait in shared memory, each thread's in places of its own, and not in registers: where they
// are many. WHY for strides at once: the compiler would load their rows after the products of the step before. WHY not
// on AMD: a thread there has twice the registers, and no copies into shared memory that it can wait for one by one.
constexpr bool stream_has_ring(const KernelConfig& config) {
  if (is_amd(config.target)) return false;
  const bool data = config.direction == Direction::kBackwardData;
  const bool weight = config.direction == Direction::kBackwardWeight;
  return (config.dims == 2 || (config.dims == 3 && weight)) && config.layout == Layout::kChannelsLast &&
         ((config.fixed.stride_h > 1 && !data) || config.direct.prefetch > 2) && stream_pixel_bytes(config) >= 4 &&
         (!weight || size_of(config.x) == size_of(config.y));
}
// Pixels that a thread reads in a step; backward weight reads those of dy after those of x.
constexpr int stream_step_pixels(const KernelConfig& config) {
  const DirectConfig& direct = config.direct;
  if (config.direction == Direction::kBackwardData)
    return direct.sub_w + (config.fixed.filter_w + config.fixed.stride_w - 1) / config.fixed.stride_w - 1;
  return config.fixed.stride_h * ((direct.sub_w - 1) * config.fixed.stride_w + config.fixed.filter_w) +
         (config.direction == Direction::kBackwardWeight ? direct.sub_w : 0);
}
constexpr int stream_slot_bytes(const KernelConfig& config) {
  return stream_step_pixels(config) * stream_pixel_bytes(config) * config.direct.block_size;
}
// A step more than are on their way: the one that is multiplied.
constexpr int stream_ring_bytes(const KernelConfig& config) {
  return stream_has_ring(config) ? (config.direct.prefetch + 1) * stream_slot_bytes(config) : 0;
}

// A lane's weights in shared memory. WHY odd: eight lanes' vectors of four weights then lie in different banks.
constexpr int stream_tap_pitch(int taps) { return taps | 1; }

// Words from one tap's sums of a strip to the next, of `width` channels. WHY more: neighbouring taps are then added up
// from different banks.
constexpr int stream_sum_pitch(int width) { return width >= 32 ? width + 4 : width; }

// Bytes of dynamic shared memory with `lanes` channel vectors a block.
constexpr int stream_shared_bytes(const KernelConfig& config, int lanes, int filter_d) {
  const DirectConfig& direct = config.direct;
  const int ring = stream_ring_bytes(config);
  if (config.direction == Direction::kBackwardWeight) {
    const int sums = direct.block_size / lanes * stream_sum_pitch(lanes * direct.vector_in) * config.fixed.filter_h *
                     config.fixed.filter_w * 4;
    return ring > sums ? ring : sums;
  }
  return ring +
         lanes * direct.vector_in * stream_tap_pitch(filter_d * config.fixed.filter_h * config.fixed.filter_w) * 4;
}

}  // namespace wt
