// SPDX-License-Identifier: Apache-2.0
#include "problem/reference_runs.h"

#include "problem/number.h"

namespace wt {
namespace {

struct LoadF32 {
  static double at(const void* p, int64_t i) { return static_cast<const float*>(p)[i]; }
};
struct LoadF16 {
  static double at(const void* p, int64_t i) { return fp16_to_float(static_cast<const uint16_t*>(p)[i]); }
};
struct LoadBf16 {
  static double at(const void* p, int64_t i) { return bf16_to_float(static_cast<const uint16_t*>(p)[i]); }
};
struct LoadE4m3 {
  static double at(const void* p, int64_t i) { return e4m3_to_float(static_cast<const uint8_t*>(p)[i]); }
};
struct LoadE5m2 {
  static double at(const void* p, int64_t i) { return e5m2_to_float(static_cast<const uint8_t*>(p)[i]); }
};
struct LoadI8 {
  static double at(const void* p, int64_t i) { return static_cast<const int8_t*>(p)[i]; }
};

template <class First, class Second>
void add_run(const void* first, const void* second, const ProductRun& run, RunSum& sum) {
  // Four sums at a time: one alone waits for each addition.
  double total[4] = {}, squares[4] = {};
  int64_t a = run.first, b = run.second, i = 0;
  for (; i + 4 <= run.count; i += 4) {
    for (int lane = 0; lane < 4; ++lane, a += run.first_step, b += run.second_step) {
      const double product = (First::at(first, a) - run.zero) * Second::at(second, b);
      total[lane] += product;
      squares[lane] += product * product;
    }
  }
  for (; i < run.count; ++i, a += run.first_step, b += run.second_step) {
    const double product = (First::at(first, a) - run.zero) * Second::at(second, b);
    total[0] += product;
    squares[0] += product * product;
  }
  sum.total += (total[0] + total[1]) + (total[2] + total[3]);
  sum.squares += (squares[0] + squares[1]) + (squares[2] + squares[3]);
  sum.terms += run.count;
}

}  // namespace

AddRun add_run_for(DataType first, DataType second) {
  switch (first) {
    case DataType::kF32:
    case DataType::kTf32:
      return add_run<LoadF32, LoadF32>;
    case DataType::kF16:
      return add_run<LoadF16, LoadF16>;
    case DataType::kBf16:
      return add_run<LoadBf16, LoadBf16>;
    case DataType::kE4m3:
      return second == DataType::kE4m3 ? add_run<LoadE4m3, LoadE4m3> : add_run<LoadE4m3, LoadE5m2>;
    case DataType::kE5m2:
      return second == DataType::kE4m3 ? add_run<LoadE5m2, LoadE4m3> : add_run<LoadE5m2, LoadE5m2>;
    case DataType::kE2m1:
      return nullptr;  // has scales: add_scaled
    case DataType::kI8:
      return add_run<LoadI8, LoadI8>;
  }
  return nullptr;
}

}  // namespace wt
