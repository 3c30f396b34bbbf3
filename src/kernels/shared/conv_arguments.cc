// SPDX-License-Identifier: Apache-2.0
#include "kernels/shared/conv_arguments.h"

#include <algorithm>
#include <cstddef>

#include "base/check.h"
#include "base/integers.h"
#include "launch/binding.h"
#include "problem/user_code.h"

namespace wt {
namespace {

void copy(i32 (&to)[3], const Spatial& from) {
  for (int i = 0; i < 3; ++i) to[i] = static_cast<i32>(from[i]);
}

// `channels` of a group, all `groups`, over pixels of size `image`.
TensorStrides activation_strides(Layout layout, int64_t groups, int64_t channels, const Spatial& image) {
  const int64_t all = groups * channels, pixels = image[0] * image[1] * image[2];
  const int64_t pixel = layout == Layout::kChannelsLast ? all : 1;
  TensorStrides strides{};
  strides.n = pixels * all;
  strides.channel = layout == Layout::kChannelsLast ? 1 : pixels;
  strides.g = channels * strides.channel;
  strides.spatial[2] = pixel;
  strides.spatial[1] = pixel * image[2];
  strides.spatial[0] = pixel * image[2] * image[1];
  return strides;
}

}  // namespace

ConvShape conv_shape(const ConvProblem& problem) {
  ConvShape shape{};
  shape.n = problem.n;
  shape.groups = static_cast<i32>(problem.g);
  shape.c = static_cast<i32>(problem.c_per_group());
  shape.k = static_cast<i32>(problem.k_per_group());
  copy(shape.in, problem.in);
  copy(shape.out, problem.out());
  copy(shape.filter, problem.filter);
  copy(shape.stride, problem.stride);
  copy(shape.dilation, problem.dilation);
  copy(shape.pad, problem.pad_lower);
  return shape;
}

TensorStrides tensor_strides(const ConvProblem& problem, Tensor tensor) {
  switch (tensor) {
    case Tensor::kX:
      return activation_strides(problem.layout, problem.g, problem.c_per_group(), problem.in);
    case Tensor::kY:
      return activation_strides(problem.layout, problem.g, problem.k_per_group(), problem.out());
    case Tensor::kW: {
      // An output channel of the filter is an image of c/g channels; groups follow each other along k.
      TensorStrides strides = activation_strides(problem.layout, 1, problem.c_per_group(), problem.filter);
      strides.g = strides.n * problem.k_per_group();
      return strides;
    }
    default:
      WT_CHECK(false, "tensor {} has no image", static_cast<int>(tensor));
  }
}

Correction correction_of(const ConvProblem& problem) {
  Correction correction{};
  const Spatial out = problem.out();
  for (size_t i = 0; i < kMaxDims; ++i) {
    const int64_t stride = problem.stride[i], reach = problem.dilation[i] * (problem.filter[i] - 1);
    const int64_t low = std::min(out[i], ceil_div(problem.pad_lower[i], stride));
    // The last pixel whose taps all lie before the image's end.
    const int64_t room = problem.in[i] + problem.pad_lower[i] - 1 - reach;
    const int64_t last = room < 0 ? -1 : std::min(out[i] - 1, room / stride);
    const int64_t high = std::max(last, low - 1);
    correction.low[i] = static_cast<i32>(low);
    correction.high[i] = static_cast<i32>(high);
  }
  return correction;
}

EpilogueArguments epilogue_arguments(const Epilogue& epilogue) {
  EpilogueArguments arguments{};
  arguments.alpha = epilogue.alpha;
  arguments.beta = epilogue.beta;
  arguments.slope = epilogue.slope;
  arguments.low = epilogue.low;
  arguments.high = epilogue.high;
  std::ranges::copy(epilogue.betas, arguments.betas);
  std::ranges::copy(epilogue.scalars, arguments.scalars);
  return arguments;
}

EpilogueArguments epilogue_arguments(const ConvProblem& problem, int merged) {
  EpilogueArguments arguments = epilogue_arguments(problem.epilogue);
  if (problem.epilogue.has_text() || problem.x_zero != 0) arguments.shape = output_shape(problem);
  if (problem.x_zero != 0) arguments.correction = correction_of(problem);
  arguments.y_zero = problem.y_zero;
  arguments.shape.group_channels /= merged;
  return arguments;
}

void bind_epilogue(Launch& launch, const ConvProblem& problem, uint32_t at) {
  const auto pointer = [&](bool present, size_t field, Tensor tensor) {
    if (present) launch.pointers.push_back({at + static_cast<uint32_t>(field), tensor, 0});
  };
  pointer(problem.epilogue.scale, offsetof(EpilogueArguments, scale), Tensor::kScale);
  pointer(problem.epilogue.bias, offsetof(EpilogueArguments, bias), Tensor::kBias);
  pointer(problem.epilogue.residual, offsetof(EpilogueArguments, residual), Tensor::kResidual);
  pointer(problem.epilogue.amax, offsetof(EpilogueArguments, amax), Tensor::kAmax);
  if (problem.epilogue.amax) launch.zeros.push_back({Tensor::kAmax, 0, sizeof(float)});
  for (int i = 0; i < problem.epilogue.auxiliaries(); ++i)
    pointer(true, offsetof(EpilogueArguments, aux) + sizeof(void*) * static_cast<size_t>(i), auxiliary_tensor(i));
  // The kernel puts its filter's sums there: kernels/beside/filter_sums.h.
  pointer(problem.x_zero != 0, offsetof(EpilogueArguments, correction) + offsetof(Correction, table),
          Tensor::kWorkspace);
  pointer(!problem.epilogue.store.empty(), offsetof(EpilogueArguments, out), output_tensor(problem.direction));
}

}  // namespace wt
