// SPDX-License-Identifier: Apache-2.0
// conformance/device/arguments.h - the parameter block of every probe; the host fills it (conformance/probe.h).
//
// A probe exercises one primitive and dumps raw bytes, so that devices can be compared bit for bit.
// Freestanding: host and device compilers lay this struct out alike.
#pragma once

#include "target/types.h"

namespace wt::probe {

struct Params {
  TensorMap map;  // over `in` or over `out`
  const u8* in;
  u8* out;
  i32 form;   // which of the probe's instructions
  i32 bytes;  // of the input, of a box, or of a dump: see the probe
  i32 at[5];  // corner, innermost first
  i32 tap[3];
  i32 count;
  i32 step;
  i32 leading_a, stride_a, step_a, swizzle_a;  // of a wgmma descriptor, and bytes from one product to the next
  i32 leading_b, stride_b, step_b, swizzle_b;
  i32 bytes_a;  // B follows A in the input
};

// What probes leave in shared memory before the primitive under test writes it.
inline constexpr u32 kUntouched = 0xa5c3e1f7u;

}  // namespace wt::probe
