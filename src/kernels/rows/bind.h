// SPDX-License-Identifier: Apache-2.0
// kernels/rows/bind.h - launches of the Hopper kernel for few input channels.
#pragma once

#include "launch/binding.h"
#include "target/types.h"

namespace wt {

// What both kernels over raw image rows are told of the image: RowsArguments and RowsView, or those of weight
// gradients.
template <class Arguments, class Divided>
void set_image_rows(Arguments& arguments, const ConvProblem& problem, const Divided& view) {
  arguments.out[0] = static_cast<i32>(problem.out()[1]);
  arguments.out[1] = static_cast<i32>(problem.out()[2]);
  arguments.in_rows = static_cast<i32>(problem.in[1]);
  arguments.row_elements = static_cast<i32>(problem.in[2] * problem.c);
  arguments.stride_h = static_cast<i32>(problem.stride[1]);
  arguments.pad_h = static_cast<i32>(problem.pad_lower[1]);
  arguments.step = static_cast<i32>(view.step);
  arguments.pad = static_cast<i32>(problem.pad_lower[2] * problem.c);
  arguments.run = static_cast<i32>(view.run);
}

}  // namespace wt
