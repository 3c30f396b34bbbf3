// SPDX-License-Identifier: Apache-2.0
// kernels/portable/constraints.cc - the rows of the portable kernels .
#include <algorithm>

#include "config/enum_names.h"
#include "config/pipelines.h"
#include "kernels/portable/device/layout.h"
#include "kernels/portable/kind.h"
#include "kernels/portable/view.h"
#include "kernels/shared/constraint_rows.h"
#include "kernels/wavelet/device/layout.h"

namespace wt::portable_kind {
namespace {

using namespace portable_layout;

// Elements of the filter as a launch reads it: merged groups make one of their filters' blocks and zeros between.
int64_t merged_filter(const Case& at) {
  const bool merged = is_amd(at.config.target) && at.config.direction != Direction::kBackwardWeight;
  return at.problem->w_elements() * (merged ? at.config.gemm.groups_per_tile : 1);
}

// Rows that divide by extents wait for tile-positive.
bool is_sound(const Case& at) {
  const auto positive = [](const Extent3& e) { return e.m > 0 && e.n > 0 && e.k > 0; };
  const GemmConfig& gemm = at.config.gemm;
  return positive(gemm.tile) && positive(gemm.warps) && positive(gemm.mma);
}
bool is_weight(const Case& at) { return at.config.direction == Direction::kBackwardWeight; }
bool is_forward(const Case& at) { return at.config.direction == Direction::kForward; }
bool walks(const Case& at) { return !is_weight(at); }

// fp8 lies along k alone: across it a lane would gather single bytes.
bool is_multiplied(const KernelConfig& config) {
  switch (operand_a(config)) {
    case DataType::kE4m3:
    case DataType::kE5m2:
      return multiplies_fp8(config.target) && config.direction == Direction::kForward;
    case DataType::kI8:
      return config.target != Target::kGfx1250;  // whose matrix instruction src/target/amd does not have
    default:
      return true;
  }
}

bool is_async_pipeline(const Case& at) { return info_of(at.config.gemm.pipeline).async_copy; }

// A loader and the vector it can move: copies take 4, 8 or 16 bytes and round nothing, single numbers are gathered.
bool loader_takes(Loader loader, int vector, DataType type) {
  if (loader == Loader::kAsync) return vector * size_of(type) >= 4 && type != DataType::kTf32;
  return loader == Loader::kVector || (loader == Loader::kGather && vector == 1);
}
bool loaders_suit(const Case& at) {
  const GemmConfig& gemm = at.config.gemm;
  const bool a = gemm.loader_a == Loader::kAsync, b = gemm.loader_b == Loader::kAsync;
  // Load warps of wavelet may move either way.
  if (a != b || (gemm.pipeline != Pipeline::kWavelet && a != is_async_pipeline(at))) return false;
  return loader_takes(gemm.loader_a, gemm.vector_a, operand_a(at.config)) &&
         loader_takes(gemm.loader_b, gemm.vector_b, operand_b(at.config));
}

// Output channels of dw, y or dx that are one tile's rows or columns.
int64_t merged_outputs(const Case& at) {
  const ConvProblem& p = *at.problem;
  const bool inputs = at.config.direction == Direction::kBackwardData;
  return (inputs ? p.c_per_group() : p.k_per_group()) * at.config.gemm.groups_per_tile;
}
int64_t tile_of_outputs(const Case& at) { return is_weight(at) ? at.config.gemm.tile.m : at.config.gemm.tile.n; }

bool is_span(int bytes) { return bytes == 32 || bytes == 64 || bytes == 128; }

// Whether the load threads share an operand of `extent` rows or columns in whole chunks.
bool shares_evenly(const KernelConfig& config, int extent, bool across) {
  const int loading = load_threads(config),
            chunks_across = across ? extent / chunk(config) : along_span(config) / kChunkBytes;
  if (chunks_across <= 0 || loading % chunks_across != 0) return false;
  const int step = loading / chunks_across;  // rows that all threads load at a time
  if (across)
    return is_span(across_span(config, extent)) && extent * element_bytes(config) % across_span(config, extent) == 0 &&
           config.gemm.tile.k % step == 0;
  return is_span(along_span(config)) && step % 8 == 0 && extent % step == 0;
}

// Whether waves have whole rows of a block of columns, and a thread's rows one place in the swizzle.
bool waves_share(const KernelConfig& config, int extent, bool across) {
  if (!across) return true;
  const int span = across_span(config, extent), chunks = extent / chunk(config);
  if (span <= 0 || chunks <= 0) return false;
  const int blocks = chunks * kChunkBytes / span, waves = load_threads(config) / warp_size(config.target);
  return blocks > 0 && waves % blocks == 0 && load_threads(config) / chunks % 8 == 0;
}
bool waves_share(const Case& at) {
  return is_sound(at) && waves_share(at.config, at.config.gemm.tile.m, a_lies_across(at.config)) &&
         waves_share(at.config, at.config.gemm.tile.n, b_lies_across(at.config));
}

bool takes_pairs(const Case& at) {
  const GemmConfig& gemm = at.config.gemm;
  const bool matrices = at.target.vendor == Vendor::kNvidia && element_bytes(at.config) <= 2;
  return !matrices || gemm.tile.n / (gemm.warps.n * gemm.mma.n) % 2 == 0;
}

constexpr Constraint kTargetRows[] = {
    {"portable-types", "both operands are of one type that is multiplied as it is stored", nullptr,
     [](const Case& at) { return operand_a(at.config) == operand_b(at.config) && is_multiplied(at.config); },
     [](const Case& at) {
       return fmt::format(
           "operands {} and {}: pipeline {} multiplies fp16, bf16, fp32 or tf32, both alike, forward int8 but on "
           "gfx1250, and on gfx1201 and gfx1250 fp8; use basic_v1",
           text_of(operand_a(at.config)), text_of(operand_b(at.config)), text_of(at.config.gemm.pipeline));
     }},

    {"portable-layout", "channels are consecutive", nullptr,
     [](const Case& at) { return at.config.layout == Layout::kChannelsLast; },
     [](const Case& at) {
       return fmt::format("pipeline {} reads channels-last tensors; use basic_v1", text_of(at.config.gemm.pipeline));
     }},

    {"portable-loader", "loaders suit the pipeline and their vectors", nullptr, loaders_suit,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "loaders {} and {} with vectors of {} and {}: pipeline {} moves both operands {}; copies take 4, 8 or 16 "
           "bytes and do not round to tf32, gather takes single numbers",
           text_of(gemm.loader_a), text_of(gemm.loader_b), gemm.vector_a, gemm.vector_b, text_of(gemm.pipeline),
           gemm.pipeline == Pipeline::kWavelet ? "the same way"
           : is_async_pipeline(at)             ? "by loader async"
                                               : "by loaders vector or gather");
     }},

    {"portable-async", "copies without registers are NVIDIA's, or of whole chunks and waves of CDNA",
     [](const Case& at) { return at.target.async_copy && is_async(at.config); },
     [](const Case& at) {
       if (at.target.vendor == Vendor::kNvidia) return true;
       const GemmConfig& gemm = at.config.gemm;
       return at.target.warp_size == 64 && gemm.pipeline != Pipeline::kWavelet && gemm.vector_a == chunk(at.config) &&
              gemm.vector_b == chunk(at.config) && waves_share(at);
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "loader async of pipeline {} with vectors of {} and {} on {}: CDNA copies 16 bytes of every lane, in rows "
           "of "
           "columns that the waves share evenly, and not by wavelet; use compv4 with loaders vector",
           text_of(gemm.pipeline), gemm.vector_a, gemm.vector_b, at.target.name);
     }},

    {"portable-share", "every load thread has whole 16-byte chunks of both operands", is_sound,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return shares_evenly(at.config, gemm.tile.m, a_lies_across(at.config)) &&
              shares_evenly(at.config, gemm.tile.n, b_lies_across(at.config));
     },
     [](const Case& at) {
       const Extent3& tile = at.config.gemm.tile;
       return fmt::format(
           "tile={}x{}x{} of {}-byte elements does not give each of {} load threads whole chunks of 16 bytes, in rows "
           "of 32, 64 or 128 bytes; enlarge the tile or use fewer warps",
           tile.m, tile.n, tile.k, element_bytes(at.config), load_threads(at.config));
     }},

    {"portable-pairs", "ldmatrix fills two fragments of B at a time", is_sound, takes_pairs,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format("tile.n={} over warps.n={} is an odd number of mma.n={}; use an even one", gemm.tile.n,
                          gemm.warps.n, gemm.mma.n);
     }},

    {"portable-staging", "outputs leave directly or through shared memory, several sums and vectors through it",
     nullptr,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return gemm.staging == Staging::kShared ||
              (gemm.staging == Staging::kDirect && sums(at.config) == 1 && gemm.vector_c == 1);
     },
     [](const Case& at) {
       return fmt::format("staging={} with wave_groups={} warps.k={} vector_c={}; use shared",
                          text_of(at.config.gemm.staging), at.config.gemm.wave_groups, at.config.gemm.warps.k,
                          at.config.gemm.vector_c);
     }},

    {"portable-output-vector", "vectors of the output are for rows of channels, which a weight gradient has not",
     [](const Case& at) { return at.config.gemm.vector_c > 1; }, walks,
     [](const Case& at) {
       return fmt::format(
           "vector_c={} with direction={}: rows of dw are stored by 16 bytes where they are whole, else one by one; "
           "leave it at 1",
           at.config.gemm.vector_c, text_of(at.config.direction));
     }},

    {"portable-shared-k", "warps share the k of a tile, or groups of warps take tiles in turns", is_sound,
     [](const Case& at) { return at.config.gemm.warps.k == 1 || at.config.gemm.wave_groups == 1; },
     [](const Case& at) {
       return fmt::format("warps.k={} with wave_groups={} of pipeline {}: its groups divide k already; use warps.k=1",
                          at.config.gemm.warps.k, at.config.gemm.wave_groups, text_of(at.config.gemm.pipeline));
     }},

    {"portable-stream", "parts of a streamed sum leave through shared memory",
     [](const Case& at) { return streams(at.config); },
     [](const Case& at) { return at.config.gemm.staging == Staging::kShared && is_weight(at); },
     [](const Case& at) {
       return fmt::format("stream_k={} with staging={} and direction={}; use staging=shared, for bwd_weight",
                          text_of(at.config.gemm.stream_k), text_of(at.config.gemm.staging),
                          text_of(at.config.direction));
     }},

    {"portable-merge-zero", "merged groups and x's zero point each take the workspace for their filter",
     [](const Case& at) { return at.config.epilogue.x_zero; },
     [](const Case& at) { return at.config.gemm.groups_per_tile == 1; },
     [](const Case& at) {
       return fmt::format("groups_per_tile={} with a zero point of x; use groups_per_tile=1",
                          at.config.gemm.groups_per_tile);
     }},

    {"portable-explicit", "an explicit GEMM is the weight gradient of a filter of one tap", nullptr,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return gemm.explicit_gemm ? is_weight(at) : gemm.specialization == Specialization::kDefault;
     },
     [](const Case& at) {
       return fmt::format(
           "explicit_gemm={} with specialization={} and direction={}: pipeline {} has both for bwd_weight, or neither",
           at.config.gemm.explicit_gemm, text_of(at.config.gemm.specialization), text_of(at.config.direction),
           text_of(at.config.gemm.pipeline));
     }},

    {"portable-split", "the sum of a weight gradient may be divided, through a workspace", nullptr,
     [](const Case& at) {
       const SplitK split = at.config.gemm.split_k;
       return split == SplitK::kNone || (split != SplitK::kCluster && is_weight(at));
     },
     [](const Case& at) {
       return fmt::format("split_k={} with direction={}: pipeline {} has split_k=workspace and atomic for bwd_weight",
                          text_of(at.config.gemm.split_k), text_of(at.config.direction),
                          text_of(at.config.gemm.pipeline));
     }},
};

constexpr Constraint kProblemRows[] = {
    {"portable-vector", "the channels of a tap that are summed over are whole vectors", walks,
     [](const Case& at) { return portable_view(at.config, *at.view) != nullptr; },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return fmt::format(
           "{} channels per group are no multiple of vector_a={}; use a narrower vector or loader gather",
           is_forward(at) ? p.c_per_group() : p.k_per_group(), at.config.gemm.vector_a);
     }},

    {"portable-filter", "rows of the filter are whole vectors", walks,
     [](const Case& at) {
       const WaveletView* view = portable_view(at.config, *at.view);
       if (!view) return true;
       const int64_t row = is_forward(at) ? view->problem.filter_taps() * view->depth : view->columns;
       return row % at.config.gemm.vector_b == 0;
     },
     [](const Case& at) {
       return fmt::format(
           "a filter of {} taps and {} channels per group is no multiple of vector_b={}; use a narrower vector or "
           "loader gather",
           at.problem->filter_taps(), at.problem->c_per_group(), at.config.gemm.vector_b);
     }},

    {"portable-output-rows", "rows of the output are whole vectors where the kernel stores no others",
     [](const Case& at) { return at.config.gemm.vector_c > 1 && walks(at); },
     [](const Case& at) {
       const WaveletView* view = portable_view(at.config, *at.view);
       return !view || view->columns % at.config.gemm.vector_c == 0;
     },
     [](const Case& at) {
       return fmt::format("{} output channels are no multiple of vector_c={}; use a narrower vector, or 1 for any",
                          portable_view(at.config, *at.view)->columns, at.config.gemm.vector_c);
     }},

    {"portable-phases", "the phases of a stride fit the parameter block", walks,
     [](const Case& at) {
       const WaveletView* view = portable_view(at.config, *at.view);
       return !view || view->phase_count() <= wavelet_layout::phases(at.config);
     },
     [](const Case& at) {
       return fmt::format("{} phases of all dimensions together; this kernel has room for {}; use basic_v1",
                          portable_view(at.config, *at.view)->phase_count(), wavelet_layout::phases(at.config));
     }},

    {"portable-merge-width", "the output channels of merged groups fit one tile",
     [](const Case& at) { return at.config.gemm.groups_per_tile > 1; },
     [](const Case& at) { return merged_outputs(at) <= tile_of_outputs(at); },
     [](const Case& at) {
       return fmt::format("groups_per_tile={} makes {} channels, more than the {} of tile={}x{}; merge fewer groups",
                          at.config.gemm.groups_per_tile, merged_outputs(at), tile_of_outputs(at),
                          at.config.gemm.tile.m, at.config.gemm.tile.n);
     }},

    {"portable-image", "tensors that 32-bit indices do not reach are divided by images, each a part of the sum",
     nullptr,
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       const int64_t largest = std::max(p.x_elements(), p.y_elements()), limit = index_limit(at.config);
       const int64_t filter = merged_filter(at);
       if (std::max(largest, filter) < limit) return true;
       const bool divides = is_weight(at) ? at.config.gemm.split_k != SplitK::kNone : !p.epilogue.has_text();
       return filter < limit && largest / p.n < limit && divides;
     },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return fmt::format(
           "a tensor has {} elements: pipeline {} takes images and filters of up to {} on {}, weight gradients with "
           "split_k=workspace, and no expression of the user's; use basic_v1",
           std::max({p.x_elements(), merged_filter(at), p.y_elements()}), text_of(at.config.gemm.pipeline),
           index_limit(at.config) - 1, at.target.name);
     }},

    {"portable-weight", "channels of dy are whole vectors of A, those of x of B", is_weight,
     [](const Case& at) { return portable_weight_view(at.config, *at.view) != nullptr; },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return fmt::format(
           "{} channels of dy and {} of x per group are no multiples of vector_a={} and vector_b={}; use narrower "
           "vectors or loader gather",
           p.k_per_group(), p.c_per_group(), at.config.gemm.vector_a, at.config.gemm.vector_b);
     }},
};

}  // namespace

std::span<const Constraint> target_rows() { return kTargetRows; }
std::span<const Constraint> problem_rows() {
  static const std::vector<Constraint> rows = joined({kProblemRows, outdone_rows()});
  return rows;
}

}  // namespace wt::portable_kind
