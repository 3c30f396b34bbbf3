// SPDX-License-Identifier: Apache-2.0
// cli/input/crop.h - a small problem of the same kind, for the simulator.
//
//   layer of a suite --crop--> the same filter, stride, dilation, padding, types, epilogue and channel remainders,
//   but fewer images, pixels, channels and groups
#pragma once

#include "problem/problem.h"

namespace wt::cli {

inline constexpr double kCropMultiplyAdds = 6e6;  // with tiles filled up

// At most about `multiply_adds`, unless the filter alone asks for more. What a kernel's edges depend on is kept: the
// remainder that the stride leaves on each axis, and the channel counts of a group modulo 8 (and modulo 64, 32 or 16
// where the budget allows). The result is valid and in no size larger than `problem`; a small problem comes back as
// it is.
ConvProblem crop(const ConvProblem& problem, double multiply_adds = kCropMultiplyAdds);

}  // namespace wt::cli
