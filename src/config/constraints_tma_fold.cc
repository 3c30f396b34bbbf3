// SPDX-License-Identifier: Apache-2.0
// config/constraints_tma_fold.cc - the rows of Hopper's kernels whose columns are the taps of a filter row
// (kernel/gemm/tma/fold_kernel.h).
#include "config/constraint_rows.h"
#include "config/enum_names.h"
#include "kernel/gemm/tma/layout.h"

namespace wt {

namespace {

bool folds(const Case& at) {
  return at.config.family == Family::kGemm && at.config.gemm.pipeline == Pipeline::kTma &&
         at.config.direct.filter_w != 0;
}

constexpr int kMostTiles = 4;  // of columns: it is for few output channels

constexpr Constraint kTargetRows[] = {
    {"tma-fold", "taps of a filter row lie side by side in whole tiles of forward problems", folds,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const int taps = at.config.direct.filter_w;
       return at.config.direction == Direction::kForward && gemm.loader_a == Loader::kTmaIm2col &&
              gemm.loader_b == Loader::kTmaTiled && taps >= 2 && taps <= 8 && taps * gemm.tile.n <= 256 &&
              gemm.swizzle_a == 128 && tma_layout::boxes(at.config) == 1 &&
              gemm.specialization == Specialization::kDefault && gemm.filter_rows == 0;
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "filter_w={} with direction={} loader_a={} tile={}x{}x{} swizzle_a={} specialization={} "
           "filter_rows={}: pipeline tma folds 2 to 8 taps, forward, with tma_im2col, one box of 128 bytes a stage, "
           "filter_w*tile.n up to 256, default and 0",
           at.config.direct.filter_w, text_of(at.config.direction), text_of(gemm.loader_a), gemm.tile.m, gemm.tile.n,
           gemm.tile.k, gemm.swizzle_a, text_of(gemm.specialization), gemm.filter_rows);
     }},

    {"tma-fold-tile", "whole sums of one group are folded by a block and stored by its threads", folds,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return !tma_layout::crosswise(at.config) && !tma_layout::in_clusters(at.config) &&
              gemm.split_k == SplitK::kNone && gemm.stream_k == StreamK::kOff && gemm.groups_per_tile == 1 &&
              gemm.vector_a == 1 && gemm.staging != Staging::kTmaStore && !tma_layout::three_products(at.config);
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "filter_w={} with warps.m={} cluster={}x{} split_k={} stream_k={} groups_per_tile={} vector_a={} staging={} "
           "operand {}: folded taps take four warps a warpgroup, 1x1, none, off, 1, 1, shared or direct, and no fp32",
           at.config.direct.filter_w, gemm.warps.m, gemm.cluster_m, gemm.cluster_n, text_of(gemm.split_k),
           text_of(gemm.stream_k), gemm.groups_per_tile, gemm.vector_a, text_of(gemm.staging),
           text_of(operand_a(at.config)));
     }},
};

constexpr Constraint kProblemRows[] = {
    {"tma-fold-filter",
     "the filter is as wide as the config says, with unit steps along w, and output channels are few", folds,
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return p.filter[2] == at.config.direct.filter_w && p.stride[2] == 1 && p.dilation[2] == 1 &&
              p.k_per_group() <= kMostTiles * at.config.gemm.tile.n;
     },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return fmt::format(
           "filter={}x{}x{} stride={} dilation={} along w, {} output channels: the kernel folds {} taps, stride and "
           "dilation 1, of up to {} channels",
           p.filter[0], p.filter[1], p.filter[2], p.stride[2], p.dilation[2], p.k_per_group(),
           at.config.direct.filter_w, kMostTiles * at.config.gemm.tile.n);
     }},
};

}  // namespace

std::span<const Constraint> tma_fold_rows() { return kTargetRows; }
std::span<const Constraint> tma_fold_problem_rows() { return kProblemRows; }

}  // namespace wt
