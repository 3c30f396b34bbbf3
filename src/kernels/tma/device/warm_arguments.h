// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/warm_arguments.h - the operands that a kernel asks for before its first copies (warm.h).
#pragma once

#include "kernels/device/arguments.h"

namespace wt {

inline constexpr int kWarmLine = 128;  // bytes

struct WarmArguments {
  const void* operand[2];
  i32 lines[2];  // 0: none
};

}  // namespace wt
