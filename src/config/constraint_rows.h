// SPDX-License-Identifier: Apache-2.0
// config/constraint_rows.h - the parts of the constraint table, joined by constraints.cc.
#pragma once

#include "config/constraints.h"

namespace wt {

std::span<const Constraint> shape_rows();          // constraints_target.cc: kernel, tile, resources
std::span<const Constraint> feature_rows();        // constraints_features.cc: loaders, pipelines, clusters, splits
std::span<const Constraint> tma_rows();            // constraints_tma.cc: the Hopper kernels
std::span<const Constraint> tma_fold_rows();       // constraints_tma_fold.cc: taps side by side
std::span<const Constraint> weight_few_rows();     // constraints_weight_few.cc: few output channels
std::span<const Constraint> weight_halo_rows();    // constraints_weight_halo.cc: patches for weight gradients
std::span<const Constraint> four_wave_rows();      // constraints_four_wave.cc: CDNA
std::span<const Constraint> wavelet_rows();        // constraints_wavelet.cc: the Hopper kernels that gather
std::span<const Constraint> taps_rows();           // constraints_taps.cc: the Hopper kernel for few output channels
std::span<const Constraint> rows_rows();           // constraints_rows.cc: the Hopper kernel for few input channels
std::span<const Constraint> rows_weight_rows();    // constraints_rows_weight.cc: its weight gradients
std::span<const Constraint> portable_rows();       // constraints_portable.cc: the portable pipelines
std::span<const Constraint> direct_rows();         // constraints_direct.cc: the direct family
std::span<const Constraint> direct_matrix_rows();  // constraints_direct_matrix.cc: its designs with matrix instructions

std::span<const Constraint> general_problem_rows();        // constraints_problem.cc
std::span<const Constraint> tma_problem_rows();            // constraints_tma.cc
std::span<const Constraint> tma_fold_problem_rows();       // constraints_tma_fold.cc
std::span<const Constraint> weight_few_problem_rows();     // constraints_weight_few.cc
std::span<const Constraint> weight_halo_problem_rows();    // constraints_weight_halo.cc
std::span<const Constraint> four_wave_problem_rows();      // constraints_four_wave.cc
std::span<const Constraint> wavelet_problem_rows();        // constraints_wavelet.cc
std::span<const Constraint> taps_problem_rows();           // constraints_taps.cc
std::span<const Constraint> rows_problem_rows();           // constraints_rows.cc
std::span<const Constraint> rows_weight_problem_rows();    // constraints_rows_weight.cc
std::span<const Constraint> portable_problem_rows();       // constraints_portable.cc
std::span<const Constraint> direct_problem_rows();         // constraints_direct.cc
std::span<const Constraint> direct_matrix_problem_rows();  // constraints_direct_matrix.cc

// A value of each of the problem's dimensions, as a message has it: 3x3.
std::string text(const ConvProblem& problem, const Spatial& value);

inline bool has_design(const Case& at, DirectDesign design) {
  return at.config.family == Family::kDirect && at.config.direct.design == design;
}

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
