// SPDX-License-Identifier: Apache-2.0
// problem/random_problem.h - random valid problems for property tests and fuzzers.
#pragma once

#include <vector>

#include "problem/problem.h"
#include "problem/random.h"

namespace wt {

// Empty lists mean "all".
struct RandomLimits {
  std::vector<Direction> directions;
  std::vector<Layout> layouts;
  std::vector<DataType> types;  // of the inputs
  std::vector<int> dims;
  int64_t max_channels = 32;  // of c and of k
  int64_t max_batch = 4;
  int64_t max_in = 16;  // of a dimension
  int64_t max_filter = 5;
  int64_t max_stride = 4;
  int64_t max_dilation = 3;
  int64_t max_multiply_adds = 1 << 20;  // of the whole problem
  bool epilogues = true;
  bool mixed_types = true;   // an output type other than the inputs', mixed fp8
  bool empty_batch = false;  // n=0 now and then
  bool scaled = false;       // numbers with scales of blocks now and then
  bool history = false;      // causal ones with a history alone
};

// Always valid. Draws again until the limits hold.
ConvProblem random_problem(Random& random, const RandomLimits& limits = {});

}  // namespace wt
