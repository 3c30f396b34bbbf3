// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight/constraints.cc - what Hopper's weight gradient takes.
#include "config/enum_names.h"
#include "kernels/tma/device/layout.h"
#include "kernels/tma/rows.h"
#include "kernels/tma_weight/kind.h"

namespace wt::tma_weight_kind {
namespace {

using namespace tma_rows;

constexpr Constraint kTargetRows[] = {
    {"tma-weight-unit", "weight gradients whose x is read by plain boxes are those of unit filters",
     [](const Case& at) {
       return at.config.direction == Direction::kBackwardWeight && at.config.gemm.loader_b == Loader::kTmaTiled;
     },
     [](const Case& at) {
       return at.config.gemm.specialization == Specialization::kFilter1x1Stride1Pad0 &&
              at.config.gemm.groups_per_tile == 1;
     },
     [](const Case& at) {
       return fmt::format(
           "loader_b=tma_tiled with specialization={} groups_per_tile={}: weight gradients take it with "
           "filter1x1_stride1_pad0 and 1; use tma_im2col",
           text_of(at.config.gemm.specialization), at.config.gemm.groups_per_tile);
     }},

    {"tma-merge", "the gradient of merged groups is taken from partial sums",
     [](const Case& at) {
       return at.config.gemm.groups_per_tile > 1 && at.config.direction == Direction::kBackwardWeight;
     },
     [](const Case& at) { return at.config.gemm.split_k == SplitK::kWorkspace; },
     [](const Case& at) {
       return fmt::format(
           "groups_per_tile={} with split_k={}: weight gradients of merged groups need split_k=workspace",
           at.config.gemm.groups_per_tile, text_of(at.config.gemm.split_k));
     }},

    {"tma-weight-store", "bulk stores write gradients that are whole and whose epilogue is the same everywhere",
     [](const Case& at) { return stores_bulk(at) && at.config.direction == Direction::kBackwardWeight; },
     [](const Case& at) {
       const EpilogueConfig& steps = at.config.epilogue;
       return at.config.gemm.split_k == SplitK::kNone && at.config.gemm.groups_per_tile == 1 && !steps.scale &&
              !steps.bias && !steps.placed() && !steps.amax;
     },
     [](const Case& at) {
       return fmt::format(
           "staging=tma_store for a gradient with split_k={} groups_per_tile={}: it takes none and 1, and no scale, "
           "bias, "
           "residual or amax; use staging=direct",
           text_of(at.config.gemm.split_k), at.config.gemm.groups_per_tile);
     }},
};

}  // namespace

std::span<const Constraint> target_rows() {
  static const std::vector<Constraint> rows = joined({roles(), staging(), features(), kTargetRows});
  return rows;
}
std::span<const Constraint> problem_rows() {
  static const std::vector<Constraint> rows = joined({channels(), bulk_stores()});
  return rows;
}

}  // namespace wt::tma_weight_kind
