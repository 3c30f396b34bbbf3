// SPDX-License-Identifier: Apache-2.0
// kernels/naive/device/arguments.h - parameter blocks and results of the verification kernels; the host fills and reads
// them (dispatch/trial/gpu_verify.h).
//
// Freestanding: host and device compilers lay these structs out alike.
#pragma once

#include "kernels/device/arguments.h"

namespace wt::naive {

inline constexpr int kThreads = 256;  // of a block, in every kernel of this folder

struct Sums {
  double total;    // of the products
  double squares;  // of the products' squares
  i64 terms;       // products, those with padding left out
};

struct SumsParams {
  ConvShape shape;
  TensorStrides x, w, y;
  const void* first;   // x; dy for backward data
  const void* second;  // w; dy for backward weight
  const i64* indices;  // of the output elements, in memory order; null: first_index and those after it
  i64 first_index;
  i64 count;
  Sums* sums;  // (parts, count)
  i32 parts;   // of each element's sum
  i32 channels_last;
  double zero;  // is subtracted from every first factor: x's zero point
};

inline constexpr int kFaultsKept = 8;

struct ScanResult {
  u32 unwritten;  // still poisoned: every bit set
  u32 nan;        // other NaNs
  u32 largest;    // bits of the largest |value|
  u32 kept;       // faults met, of which the first kFaultsKept to arrive are in `at`
  i64 at[kFaultsKept];
};

struct ScanParams {
  const void* data;
  i64 count;
  ScanResult* result;  // zeroed
};

struct GatherParams {
  const void* data;
  const i64* indices;  // null: first_index and those after it
  i64 first_index;
  i64 count;
  float* values;
};

}  // namespace wt::naive
