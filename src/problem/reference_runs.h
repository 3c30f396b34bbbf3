// SPDX-License-Identifier: Apache-2.0
// problem/reference_runs.h - sums of products that lie at constant steps, in double: what the reference is made of.
#pragma once

#include <cstdint>

#include "problem/enums.h"

namespace wt {

struct RunSum {
  double total = 0, squares = 0;
  int64_t terms = 0;
};

struct ProductRun {
  int64_t first = 0, second = 0;            // where each operand starts, in elements
  int64_t first_step = 0, second_step = 0;  // to the next product
  int64_t count = 0;
  double zero = 0;  // is subtracted from every first factor
};

// Adds the products of a run to a sum.
using AddRun = void (*)(const void*, const void*, const ProductRun&, RunSum&);
// Null where the numbers have scales.
AddRun add_run_for(DataType first, DataType second);

}  // namespace wt
