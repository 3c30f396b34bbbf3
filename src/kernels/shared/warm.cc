// SPDX-License-Identifier: Apache-2.0
#include "kernels/shared/warm.h"

#include <cstddef>

namespace wt {

WarmArguments bind_warm(Launch& launch, const ConvProblem& problem, uint32_t at) {
  // An H200's memory brings so much in about a microsecond. With more, the first copies would wait for what is needed
  // last: 18 MB were slower so.
  constexpr int64_t kMost = int64_t{4} << 20;
  const bool reads_x = problem.direction != Direction::kBackwardData;
  const bool reads_w = problem.direction != Direction::kBackwardWeight;
  const int64_t x = problem.x_elements() * size_of(problem.x), y = problem.y_elements() * size_of(problem.y);
  const int64_t first = reads_x ? x : y, second = reads_w ? problem.w_elements() * size_of(problem.w) : y;
  WarmArguments warm{};
  if (first + second > kMost) return warm;
  warm.lines[0] = static_cast<i32>(first / kWarmLine);
  warm.lines[1] = static_cast<i32>(second / kWarmLine);
  const auto place = static_cast<uint32_t>(at + offsetof(WarmArguments, operand));
  launch.pointers.push_back({place, reads_x ? Tensor::kX : Tensor::kY, 0});
  launch.pointers.push_back({place + static_cast<uint32_t>(sizeof(void*)), reads_w ? Tensor::kW : Tensor::kY, 0});
  return warm;
}

}  // namespace wt
