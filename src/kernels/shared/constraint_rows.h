// SPDX-License-Identifier: Apache-2.0
// kernels/shared/constraint_rows.h - rows of the constraint table that several kinds share, and what rows ask.
#pragma once

#include "kernels/constraints.h"

namespace wt {

std::span<const Constraint> shape_rows();            // target_constraints.cc: kernel, tile, resources
std::span<const Constraint> feature_rows();          // feature_constraints.cc: loaders, pipelines, clusters, splits
std::span<const Constraint> general_problem_rows();  // problem_constraints.cc

// Rows of the kinds with pipeline wavelet: outdone_constraint.cc.
std::span<const Constraint> outdone_rows();

// Rows of the kinds for depthwise and small groups: direct_constraints.cc.
std::span<const Constraint> direct_rows();
std::span<const Constraint> direct_problem_rows();

// Whether all tensors have one 16-bit type. A weight gradient, whose parts are summed in fp32, may also be fp32.
inline bool has_one_16_bit_type(const KernelConfig& config) {
  const bool wide = config.direction == Direction::kBackwardWeight && config.w == DataType::kF32;
  return size_of(config.x) == 2 && config.x == config.y && (config.x == config.w || wide);
}

// A value of each of the problem's dimensions, as a message has it: 3x3.
std::string text(const ConvProblem& problem, const Spatial& value);

inline bool is_tma(Loader loader) {
  return loader == Loader::kTmaTiled || loader == Loader::kTmaIm2col || loader == Loader::kTmaHalo;
}
inline bool is_buffer(Loader loader) {
  return loader == Loader::kBufferRows || loader == Loader::kBufferUniform || loader == Loader::kBufferLane;
}
inline bool is_wide(Loader loader) {
  return loader == Loader::kVector || loader == Loader::kAsync || is_buffer(loader);
}

}  // namespace wt
