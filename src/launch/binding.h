// SPDX-License-Identifier: Apache-2.0
// launch/binding.h - a configuration meets a problem: the launches with everything filled in but the addresses.
//
//   KernelConfig + ConvProblem --kernels/kind.h: bind--> Binding --dispatch/plan--> execute
#pragma once

#include <vector>

#include "launch/device_info.h"
#include "launch/launch.h"
#include "problem/problem.h"

namespace wt {

// How stream-K cuts a problem: whole rounds of tiles, then tiles cut evenly among the blocks.
struct StreamKCut {
  int64_t blocks = 0;            // 0: the kernel does not stream
  int64_t rounds = 0;            // of whole tiles
  int64_t tiles = 0, depth = 0;  // those that are cut, and k-blocks of each
  int64_t share = 0, rest = 0;   // k-blocks of a block; `rest` blocks have one more
};

struct Binding {
  std::vector<Launch> launches;  // in order; none where the problem has no output
  int64_t workspace_bytes = 0;
  // For people (dispatch/choice/split_facts.h): parts of each sum of a gemm kernel that divides them, or how Hopper's
  // stream-K cuts them.
  int64_t parts = 1;
  StreamKCut stream{};
};

// The role of the direction's output: y, x (dx) or w (dw).
constexpr Tensor output_tensor(Direction direction) {
  return direction == Direction::kForward        ? Tensor::kY
         : direction == Direction::kBackwardData ? Tensor::kX
                                                 : Tensor::kW;
}

}  // namespace wt
