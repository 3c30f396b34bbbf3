// SPDX-License-Identifier: Apache-2.0
// kernels/beside/device/whole_rows_arguments.h - the parameter block of whole_rows.h.
//
// Freestanding: host (kernels/beside/whole_rows.cc) and device compilers lay these structs out alike.
#pragma once

#include "target/types.h"

namespace wt {

inline constexpr int kWholeRowsThreads = 256;
inline constexpr int kWholeRowsMost = 2;  // tensors that a kernel's bulk copies read

inline constexpr const char* kWholeRowsSuffix = "_rows";  // of the entry that copies a kernel's inputs before it

struct WholeRowsArguments {
  struct Copy {
    const void* in;  // rows of `row` elements of 16 bits
    void* out;       // the same, each in `chunks` chunks of 16 bytes
    i64 count;       // chunks of all rows
    i32 row, chunks;
    i64 rows;
    // The copy is made again and again, each time behind `shift` more zeros.
    i64 once;  // chunks of one
    i32 shift;
    // Where `run` is not 0, a row is a patch: runs of so many elements, `apart` from start to start. For patches there
    // are `beside` next to each other, and such lines start `line` elements after each other.
    i32 run, beside;
    i64 apart, line;
  };
  Copy copies[kWholeRowsMost];
};

}  // namespace wt
