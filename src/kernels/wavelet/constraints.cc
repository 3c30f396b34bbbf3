// SPDX-License-Identifier: Apache-2.0
// kernels/wavelet/constraints.cc - the rows of the Hopper kernels whose load warps gather .
#include "config/enum_names.h"
#include "kernels/portable/device/layout.h"
#include "kernels/shared/constraint_rows.h"
#include "kernels/wavelet/device/layout.h"
#include "kernels/wavelet/kind.h"
#include "kernels/wavelet/view.h"

namespace wt::wavelet_kind {
namespace {

bool is_weight(const Case& at) { return at.config.direction == Direction::kBackwardWeight; }
bool is_forward(const Case& at) { return at.config.direction == Direction::kForward; }
bool walks(const Case& at) { return !is_weight(at); }

// A loader and the vector it can copy: cp.async takes 4, 8 or 16 bytes and rounds nothing, single numbers are gathered.
bool loader_takes(Loader loader, int vector, DataType type) {
  if (loader == Loader::kAsync) return vector * size_of(type) >= 4 && type != DataType::kTf32;
  return loader == Loader::kVector || (loader == Loader::kGather && vector == 1);
}

int64_t filter_elements(const ConvProblem& p) { return p.filter_taps() * p.c_per_group(); }

constexpr Constraint kTargetRows[] = {
    {"wavelet-roles", "whole warpgroups load and multiply, 64 rows or a multiple of it each", nullptr,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return (gemm.load_warps == 4 || gemm.load_warps == 8) && (gemm.warps.m == 4 || gemm.warps.m == 8) &&
              gemm.load_warps + gemm.warps.m <= 12 && gemm.warps.n == 1 && gemm.persistent &&
              gemm.tile.m % (gemm.warps.m * 16) == 0;
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "load_warps={} warps={}x{} persistent={} tile.m={}: pipeline wavelet has 4+4, 8+4 or 4+8 load and math "
           "warps, warps.n=1, persistent=true and 64 rows or a multiple of it for four math warps",
           gemm.load_warps, gemm.warps.m, gemm.warps.n, gemm.persistent, gemm.tile.m);
     }},

    {"wavelet-span", "tile.k numbers are one swizzle span, the same for both operands", nullptr,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const int span = gemm.tile.k * size_of(operand_a(at.config));
       return (span == 64 || span == 128) && gemm.swizzle_a == span && gemm.swizzle_b == span;
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "tile.k={} of {} bytes with swizzle_a={} and swizzle_b={}: pipeline wavelet has rows of 64 or 128 bytes and "
           "swizzles as wide",
           gemm.tile.k, size_of(operand_a(at.config)), gemm.swizzle_a, gemm.swizzle_b);
     }},

    {"wavelet-loader", "vectors suit their loader", nullptr,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return loader_takes(gemm.loader_a, gemm.vector_a, operand_a(at.config)) &&
              loader_takes(gemm.loader_b, gemm.vector_b, operand_b(at.config));
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "vectors of {} and {} with loaders {} and {}: async copies take 4, 8 or 16 bytes and do not round to "
           "tf32, gather takes single numbers; use vector or wider vectors",
           gemm.vector_a, gemm.vector_b, text_of(gemm.loader_a), text_of(gemm.loader_b));
     }},

    {"wavelet-depth", "k-blocks of weight gradients are pixels that all load threads share", is_weight,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return gemm.tile.k == 64 && gemm.load_warps > 0 && gemm.tile.m * gemm.tile.k % (8 * 32 * gemm.load_warps) == 0;
     },
     [](const Case& at) {
       return fmt::format(
           "tile.m={} tile.k={} load_warps={}: weight gradients have tile.k=64 and whole rows of it for "
           "every load thread",
           at.config.gemm.tile.m, at.config.gemm.tile.k, at.config.gemm.load_warps);
     }},

    {"wavelet-major", "wgmma reads an operand across its channels for 16-bit types only",
     [](const Case& at) { return wavelet_layout::b_is_mn_major(at.config); },
     [](const Case& at) { return size_of(operand_b(at.config)) == 2; },
     [](const Case& at) {
       return fmt::format("direction={} sums across channels, which wgmma reads for 16-bit types only, not {}",
                          text_of(at.config.direction), text_of(operand_b(at.config)));
     }},
};

constexpr Constraint kProblemRows[] = {
    {"wavelet-vector", "the gathered operand's channels, or its rows of taps, are whole aligned vectors", walks,
     [](const Case& at) { return wavelet_view(at.config, *at.view).has_value(); },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return fmt::format(
           "{} channels per group, {} pixels wide, stride {}, dilation {}: neither channels nor rows of taps are "
           "vectors "
           "of {} for loader {}, or finite_only={} asks for a stride without dilation; use a narrower vector, or "
           "loader "
           "vector",
           is_forward(at) ? p.c_per_group() : p.k_per_group(), is_forward(at) ? p.in[2] : p.out()[2], p.stride[2],
           p.dilation[2], at.config.gemm.vector_a, text_of(at.config.gemm.loader_a), at.config.finite_only);
     }},

    {"wavelet-filter", "vectors of the filter are aligned and hold no padding", walks,
     [](const Case& at) {
       const auto& view = wavelet_view(at.config, *at.view);
       const int vector = at.config.gemm.vector_b;
       if (!view || vector == 1) return true;
       if (!is_forward(at)) return !wavelet_layout::has_phase_columns(at.config) && view->columns % vector == 0;
       return !view->padded() && filter_elements(view->problem) % vector == 0;
     },
     [](const Case& at) {
       return fmt::format(
           "a filter of {} taps and {} channels per group is no multiple of vector_b={}, or rows of taps are padded; "
           "use a narrower vector_b",
           at.problem->filter_taps(), at.problem->c_per_group(), at.config.gemm.vector_b);
     }},

    {"wavelet-phases", "the phases of a stride fit the parameter block", walks,
     [](const Case& at) {
       const auto& view = wavelet_view(at.config, *at.view);
       return !view || view->phase_count() <= wavelet_layout::phases(at.config);
     },
     [](const Case& at) {
       return fmt::format("{} phases of all dimensions together; this kernel has room for {}; use basic_v1",
                          wavelet_view(at.config, *at.view)->phase_count(), wavelet_layout::phases(at.config));
     }},

    {"wavelet-weight", "the gathered tensor fits vector_a, the plain one vector_b, and dy is gathered with unit stride",
     is_weight, [](const Case& at) { return wavelet_weight_view(at.config, *at.view).has_value(); },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       const bool outputs = at.config.finite_only;
       return fmt::format(
           "stride {}x{}x{}, {} channels of {} gathered in vectors of {} and {} channels of {} in vectors of {}: use "
           "narrower vectors, or finite_only=false with a stride",
           p.stride[0], p.stride[1], p.stride[2], outputs ? p.k_per_group() : p.c_per_group(), outputs ? "dy" : "x",
           at.config.gemm.vector_a, outputs ? p.c_per_group() : p.k_per_group(), outputs ? "x" : "dy",
           at.config.gemm.vector_b);
     }},
};

}  // namespace

std::span<const Constraint> target_rows() { return kTargetRows; }
std::span<const Constraint> problem_rows() {
  static const std::vector<Constraint> rows = joined({kProblemRows, outdone_rows()});
  return rows;
}

}  // namespace wt::wavelet_kind
