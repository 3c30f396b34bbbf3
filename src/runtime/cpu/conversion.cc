// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/conversion.h"

#include <algorithm>

#include "runtime/cpu/workers.h"

namespace wt::cpu {

namespace {

constexpr int64_t kPiece = 16384;  // elements of a work item

int64_t copy_bytes(int64_t elements) { return aligned(elements * static_cast<int64_t>(sizeof(float))); }

void convert(const Source& source, float* to, int64_t count, int threads) {
  for_each_item((count + kPiece - 1) / kPiece, threads, [&](int64_t item, int) {
    const int64_t first = item * kPiece;
    read(source, first, to + first, std::min(kPiece, count - first));
  });
}

}  // namespace

Conversion Conversion::of_inputs(const ConvProblem& problem) {
  return {problem.direction != Direction::kBackwardData && !is_fp32(problem.x),
          problem.direction != Direction::kBackwardWeight && !is_fp32(problem.w),
          problem.direction != Direction::kForward && !is_fp32(problem.y)};
}

int64_t Conversion::bytes(const ConvProblem& problem) const {
  return (x ? copy_bytes(problem.x_elements()) : 0) + (w ? copy_bytes(problem.w_elements()) : 0) +
         (y ? copy_bytes(problem.y_elements()) : 0);
}

Inputs Conversion::apply(const ConvProblem& problem, const Tensors& tensors, char* workspace, int threads) const {
  const auto take = [&](bool wanted, DataType type, Tensor tensor, int64_t elements, int zero = 0) {
    Source source{type, at(tensors, tensor), static_cast<float>(zero)};
    if (problem.has_scales() && tensor != Tensor::kY) {
      source.scales = problem.scales;
      source.scale_bytes = at(tensors, tensor == Tensor::kX ? Tensor::kXScales : Tensor::kWScales);
    }
    if (!wanted) return source;
    float* copy = reinterpret_cast<float*>(workspace);
    workspace += copy_bytes(elements);
    convert(source, copy, elements, threads);
    return Source{DataType::kF32, copy};
  };
  Inputs inputs;
  inputs.x = take(x, problem.x, Tensor::kX, problem.x_elements(), problem.x_zero);
  inputs.w = take(w, problem.w, Tensor::kW, problem.w_elements());
  inputs.y = take(y, problem.y, Tensor::kY, problem.y_elements());
  return inputs;
}

}  // namespace wt::cpu
