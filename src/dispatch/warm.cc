// SPDX-License-Identifier: Apache-2.0
#include "dispatch/warm.h"

#include <cstddef>
#include <cstdlib>

namespace wt {

WarmArguments bind_warm(Launch& launch, const ConvProblem& problem, bool at_once, uint32_t at) {
  // Of larger ones, the first copies would wait for what is needed last; an H200's memory brings the smaller number in
  // about a microsecond, and its L2 holds the larger one beside what others left.
  constexpr int64_t kAlways = int64_t{4} << 20, kMost = int64_t{24} << 20;
  const bool forward = problem.direction == Direction::kForward;
  const int64_t image = forward ? problem.x_elements() * size_of(problem.x) : problem.y_elements() * size_of(problem.y);
  const int64_t filter = problem.w_elements() * size_of(problem.w);
  WarmArguments warm{};
  if (const char* off = std::getenv("WAVETILE_WARM"); off && *off == '0') return warm;  // to measure
  if (image + filter > (at_once ? kMost : kAlways)) return warm;
  warm.lines[0] = static_cast<i32>(image / kWarmLine);
  warm.lines[1] = static_cast<i32>(filter / kWarmLine);
  const auto place = static_cast<uint32_t>(at + offsetof(WarmArguments, operand));
  launch.pointers.push_back({place, forward ? Tensor::kX : Tensor::kY, 0});
  launch.pointers.push_back({place + static_cast<uint32_t>(sizeof(void*)), Tensor::kW, 0});
  return warm;
}

}  // namespace wt
