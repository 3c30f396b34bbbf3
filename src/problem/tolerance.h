// SPDX-License-Identifier: Apache-2.0
// problem/tolerance.h - how far a correct result may be from the reference: the one place for error bounds.
//
// A result passes when it lies in [round(v - e), round(v + e)], where v is the reference's value before rounding, e the
// bound below and round() that of the output's type. So the output's own rounding, overflow and saturation are exact,
// and e holds only what fp32 arithmetic in another order, tf32 and the matrix units' accumulators may add. Exact data
// has e = 0, and so has int8, but for activations that are approximations.
#pragma once

#include "problem/reference.h"

namespace wt {

struct ErrorModel {
  bool exact = false;  // the inputs are Fill::kExact: the sum has no error
  int splits = 1;      // of the sum's terms (split-K); the partial sums are added in fp32
};

// The bound on |sum - dot| of one element, before the epilogue. It grows with the terms in three parts: rounding at
// random (square root of the terms), truncation by the matrix unit (one step an instruction, always towards zero), and
// the rounding of inputs (tf32). Partial sums of signed data are taken to stay within |dot| + 2 sqrt(square_sum).
double sum_bound(const ConvProblem& problem, const ReferenceElement& element, const ErrorModel& model);

// The bound e on |v| of one element, epilogue included.
double error_bound(const ConvProblem& problem, const ReferenceElement& element, const ErrorModel& model);

// The bound on |got - total| of a sum of `terms` numbers in fp32 in any order: an element of a bias gradient.
double channel_sum_bound(double total, double square_sum, int64_t terms, const ErrorModel& model);

// Whether `got` (an element of the output as float) is within `bound` of `expected`. NaN never is.
bool within(DataType type, double expected, double bound, float got);

// How much of the distance that `within` allows `got` takes: at most 1 where it is within, 0 where it is `expected`
// rounded.
double share_of_bound(DataType type, double expected, double bound, float got);

}  // namespace wt
