// SPDX-License-Identifier: Apache-2.0
// problem/transposed.h - transposed convolution in its own words, and the convolution that computes it.
//
//   TransposedConv --to_convolution--> ConvProblem
//
// A transposed convolution spreads each input pixel over the output through the filter: the backward data of a
// convolution whose y is the transposed one's input and whose x is its output. So its passes are those of that
// convolution with the roles exchanged, and its filter (input channels, output channels per group, taps) is stored as
// the convolution's w is.
//
//   pass             computes                            direction of the convolution
//   kForward         input, filter -> output             kBackwardData    y, w -> x
//   kBackwardData    output gradient, filter -> input's  kForward         x, w -> y
//   kBackwardWeight  input, output gradient -> filter's  kBackwardWeight  y and x -> w
#pragma once

#include "problem/problem.h"

namespace wt {

struct TransposedConv {
  Direction pass = Direction::kForward;
  int dims = 2;
  Layout layout = Layout::kChannelsLast;
  DataType input = DataType::kBf16;
  DataType w = DataType::kBf16;
  DataType output = DataType::kBf16;
  DataType acc = DataType::kF32;

  int64_t n = 1;
  int64_t g = 1;
  int64_t c = 1;  // input channels, all groups
  int64_t k = 1;  // output channels, all groups
  Spatial in = {1, 1, 1};
  Spatial filter = {1, 1, 1};
  Spatial stride = {1, 1, 1};
  Spatial dilation = {1, 1, 1};
  Spatial pad_lower = {0, 0, 0};  // cropped from the output
  Spatial pad_upper = {0, 0, 0};
  // Pixels that the output has beyond the last that a filter reaches. A stride above 1 gives several output sizes the
  // same input size; this says which.
  Spatial output_padding = {0, 0, 0};

  Epilogue epilogue;           // of the pass's output
  bool bias_gradient = false;  // of kBackwardWeight: sums of the output gradient over its channels

  // (in - 1) * stride - pad_lower - pad_upper + dilation * (filter - 1) + 1 + output_padding; nothing where that leaves
  // 63 bits. Reads values of at least 1, and paddings of at least 0.
  std::optional<Spatial> output_size() const;
};

// The validated convolution, or one message in the transposed convolution's words.
Result<ConvProblem> to_convolution(const TransposedConv& transposed);

}  // namespace wt
