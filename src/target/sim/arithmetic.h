// SPDX-License-Identifier: Apache-2.0
// target/sim/arithmetic.h - float operations that need an instruction rather than an operator.
#pragma once

#include "target/sim/identity.h"

namespace wt::device {

WT_DEVICE float multiply_add(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
WT_DEVICE float square_root(float value) { return __builtin_sqrtf(value); }

}  // namespace wt::device
