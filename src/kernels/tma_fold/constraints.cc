// SPDX-License-Identifier: Apache-2.0
// kernels/tma_fold/constraints.cc - what the kernel whose columns are the taps of a filter row takes.
#include "config/enum_names.h"
#include "kernels/tma/device/layout.h"
#include "kernels/tma/rows.h"
#include "kernels/tma_fold/kind.h"

namespace wt::tma_fold_kind {
namespace {

using namespace tma_rows;

constexpr int kMostTiles = 4;  // of columns: it is for few output channels

constexpr Constraint kTargetRows[] = {
    {"tma-fold", "taps of a filter row lie side by side in whole tiles of forward problems", nullptr,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const int taps = at.config.fixed.filter_w;
       return at.config.direction == Direction::kForward && gemm.loader_a == Loader::kTmaIm2col &&
              gemm.loader_b == Loader::kTmaTiled && taps >= 2 && taps <= 8 && taps * gemm.tile.n <= 256 &&
              gemm.swizzle_a == 128 && tma_layout::boxes(at.config) == 1 &&
              gemm.specialization == Specialization::kDefault && gemm.filter_rows == 0;
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "filter_w={} with direction={} loader_a={} tile={}x{}x{} swizzle_a={} specialization={} "
           "filter_rows={}: pipeline tma folds 2 to 8 taps, forward, with tma_im2col, one box of 128 bytes per stage, "
           "filter_w*tile.n up to 256, default and 0",
           at.config.fixed.filter_w, text_of(at.config.direction), text_of(gemm.loader_a), gemm.tile.m, gemm.tile.n,
           gemm.tile.k, gemm.swizzle_a, text_of(gemm.specialization), gemm.filter_rows);
     }},

    {"tma-fold-tile", "whole sums of one group are folded by a block and stored by its threads", nullptr,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return !tma_layout::crosswise(at.config) && !tma_layout::in_clusters(at.config) &&
              gemm.split_k == SplitK::kNone && gemm.stream_k == StreamK::kOff && gemm.groups_per_tile == 1 &&
              !gemm.aligned_copy && gemm.staging != Staging::kTmaStore && !tma_layout::three_products(at.config);
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "filter_w={} with warps.m={} cluster={}x{} split_k={} stream_k={} groups_per_tile={} aligned_copy={} "
           "staging={} "
           "operand {}: folded taps take four warps a warpgroup, 1x1, none, off, 1, 1, shared or direct, and no fp32",
           at.config.fixed.filter_w, gemm.warps.m, gemm.cluster_m, gemm.cluster_n, text_of(gemm.split_k),
           text_of(gemm.stream_k), gemm.groups_per_tile, gemm.aligned_copy, text_of(gemm.staging),
           text_of(operand_a(at.config)));
     }},
};

constexpr Constraint kProblemRows[] = {
    {"tma-fold-filter",
     "the filter is as wide as the config says, with unit steps along w, and output channels are few", nullptr,
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return p.filter[2] == at.config.fixed.filter_w && p.stride[2] == 1 && p.dilation[2] == 1 &&
              p.k_per_group() <= kMostTiles * at.config.gemm.tile.n;
     },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return fmt::format(
           "filter={}x{}x{} stride={} dilation={} along w, {} output channels: the kernel folds {} taps, stride and "
           "dilation 1, of up to {} channels",
           p.filter[0], p.filter[1], p.filter[2], p.stride[2], p.dilation[2], p.k_per_group(), at.config.fixed.filter_w,
           kMostTiles * at.config.gemm.tile.n);
     }},
};

}  // namespace

std::span<const Constraint> target_rows() {
  static const std::vector<Constraint> rows = joined({roles(), staging(), kTargetRows});
  return rows;
}
std::span<const Constraint> problem_rows() {
  static const std::vector<Constraint> rows = joined({kProblemRows, channels()});
  return rows;
}

}  // namespace wt::tma_fold_kind
