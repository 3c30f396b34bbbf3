// SPDX-License-Identifier: Apache-2.0
// kernels/shared/outdone_constraint.cc - kernels that are right and never the fastest: they decline, so that a choice
// asks fewer, and say why.
#include "base/format.h"
#include "kernels/device/gemm/storage.h"
#include "kernels/shared/constraint_rows.h"

namespace wt {
namespace {

constexpr int kLongVector = 8;

constexpr Constraint kRows[] = {
    {"outdone-vectors", "short vectors are gathered where channels are no whole long ones",
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return gemm.pipeline == Pipeline::kWavelet && size_of(operand_a(at.config)) == 2 &&
              gemm.vector_a < kLongVector && gemm.vector_b < kLongVector;
     },
     [](const Case& at) { return at.asked->c_per_group() % 64 != 0 || at.asked->k_per_group() % 64 != 0; },
     // Short vectors were the fastest for none of 327 such layers that were timed.
     [](const Case& at) {
       return fmt::format(
           "{} and {} channels per group are whole vectors of {}, which are faster than vectors of {} and {}; use the "
           "kernels with vector_a={} or vector_b={}",
           at.asked->c_per_group(), at.asked->k_per_group(), kLongVector, at.config.gemm.vector_a,
           at.config.gemm.vector_b, kLongVector, kLongVector);
     }},
};

}  // namespace

std::span<const Constraint> outdone_rows() { return kRows; }

}  // namespace wt
