// SPDX-License-Identifier: Apache-2.0
// config/constraints_direct_matrix.cc - the rows of direct designs with matrix instructions: banded, groups and
// stacked.
#include <algorithm>

#include "config/constraint_rows.h"
#include "config/enum_names.h"
#include "kernel/direct/banded_shape.h"
#include "kernel/direct/groups_shape.h"
#include "kernel/direct/limits.h"
#include "kernel/direct/stacked_shape.h"
#include "kernel/gemm/storage.h"

namespace wt {

namespace {

bool is_banded(const Case& at) { return has_design(at, DirectDesign::kBanded); }
bool is_groups(const Case& at) { return has_design(at, DirectDesign::kGroups); }
bool is_stacked(const Case& at) { return has_design(at, DirectDesign::kStacked); }

// The image whose columns a banded kernel lays on strips.
Spatial banded_image(const Case& at) {
  return at.config.direction == Direction::kBackwardData ? at.problem->in : at.problem->out();
}

bool groups_fill_warps(const Case& at) {
  const DirectConfig& d = at.config.direct;
  if (d.vector_in < kChunkChannels || d.vector_in > 32 || d.vector_in % kChunkChannels != 0) return false;
  if (d.vector_out < 8 || d.vector_in % d.vector_out != 0 || d.vector_out % 8 != 0) return false;
  const int warps = d.block_size / 32, lanes = groups::channel_warps(at.config);
  if (warps < lanes || warps % lanes != 0 || d.block_size % groups::chunks(at.config) != 0) return false;
  const int span = kTilePositions * groups::position_warps(at.config);
  if (d.tile_w < span || d.tile_w % span != 0) return false;
  return at.config.direction != Direction::kBackwardWeight ||
         (groups::position_warps(at.config) == 1 && d.vector_out == 8 && !at.config.finite_only);
}
bool stacked_filter(const KernelConfig& config) {
  const DirectConfig& d = config.direct;
  const int most = config.direction == Direction::kForward ? 2 : 1;
  return d.filter_h > 0 && d.filter_w > 0 && d.stride_h > 0 && d.stride_h <= most && d.stride_w == d.stride_h &&
         d.dilation_h == 1 && d.dilation_w == 1 && stacked::sums(config) <= stacked::kMaxSums;
}
bool stacked_shape(const Case& at) {
  const KernelConfig& c = at.config;
  const DirectConfig& d = c.direct;
  return c.dims == 2 && c.layout == Layout::kChannelsLast && size_of(c.x) == 2 && c.x == c.w && c.x == c.y &&
         c.direction != Direction::kBackwardWeight && stacked_filter(c) &&
         (d.vector_out == 64 || d.vector_out == 128) && (d.vector_in == 16 || d.vector_in == 32) &&
         d.block_size == stacked::kThreads && c.min_blocks == 1 && d.prefetch > d.stride_h;
}
// With the narrowest images, whose windows take the most room: one strip each, or two.
int banded_bytes(const Case& at) {
  const bool lone = at.config.direct.images == kBandedRows;
  return banded::shared_bytes(at.config, lone ? 1 : 2, lone ? kBandedRows : kBandedRows / 2);
}
int groups_bytes(const Case& at) { return groups::shared_bytes(at.config, groups::most_positions(at.config)); }

constexpr Constraint kTargetRows[] = {
    {"direct-banded", "a banded kernel multiplies 16-bit channels-last images with undilated filters of stride 1 or 2",
     is_banded,
     [](const Case& at) {
       const KernelConfig& c = at.config;
       const DirectConfig& d = c.direct;
       const bool cube = c.dims == 3 && d.filter_h == d.filter_w && d.filter_h <= kBandedMaxCube;
       return c.finite_only && (c.dims == 2 || cube) && c.layout == Layout::kChannelsLast && size_of(c.x) == 2 &&
              c.x == c.w && c.x == c.y && d.filter_h > 0 && d.filter_w > 0 && d.filter_w <= kBandedMaxFilter &&
              d.stride_h == d.stride_w && d.stride_h >= 1 && d.stride_h <= (banded::in_bulk(c) ? 2 : 1) &&
              d.dilation_h == 1 && d.dilation_w == 1 && d.vector_in == 4 && d.vector_out == 4 && d.prefetch >= 2 &&
              (d.images == 1 || d.images == kBandedRows) &&
              (d.block_size == 64 || d.block_size == 128 || d.block_size == 256 || d.block_size == 512);
     },
     [](const Case& at) {
       const DirectConfig& d = at.config.direct;
       return fmt::format(
           "filter={}x{} stride={}x{} vectors={}/{} prefetch={} images={} block_size={} finite_only={}: design banded "
           "has "
           "filters up to {} wide, stride 1 (2 with loader_a=tma_tiled), vectors of 4, prefetch of at "
           "least "
           "2, "
           "images "
           "1 or {}, 64 to 512 "
           "threads, one 16-bit type, 2D channels-last or cubes up to {} wide, finite_only=true",
           d.filter_h, d.filter_w, d.stride_h, d.stride_w, d.vector_in, d.vector_out, d.prefetch, d.images,
           d.block_size, at.config.finite_only, kBandedMaxFilter, kBandedRows, kBandedMaxCube);
     }},

    {"direct-banded-bulk", "rows that the copy engine brings are those of forward and backward data in two dimensions",
     [](const Case& at) { return is_banded(at) && banded::in_bulk(at.config); },
     [](const Case& at) {
       const KernelConfig& c = at.config;
       return c.target == Target::kSm90a && c.dims == 2 && c.direction != Direction::kBackwardWeight &&
              (c.direct.stride_h == 1 || c.direction == Direction::kForward) && banded::pixel_bytes(c) >= 32 &&
              banded::pixel_bytes(c) <= 128 && (c.direct.stride_h == 1 || !c.gemm.double_buffer);
     },
     [](const Case& at) {
       return fmt::format(
           "loader_a=tma_tiled with target {}, {}D, direction {}, stride {}, double_buffer={}, {} channels a block: "
           "design banded copies rows in bulk on sm_90a, in 2D, forward, with stride 1 also backward data and "
           "double_buffer, with 16 to 64 channels; use design stream",
           text_of(at.config.target), at.config.dims, text_of(at.config.direction), at.config.direct.stride_h,
           at.config.gemm.double_buffer, banded::channels(at.config));
     }},

    {"direct-banded-memory", "rows on their way fit the shared memory of a block", is_banded,
     [](const Case& at) { return banded_bytes(at) <= at.target.shared_per_block; },
     [](const Case& at) {
       const DirectConfig& d = at.config.direct;
       return fmt::format("prefetch={} block_size={} images={} take {} bytes of shared memory; {} has {} a block",
                          d.prefetch, d.block_size, d.images, banded_bytes(at), at.target.name,
                          at.target.shared_per_block);
     }},

    {"direct-groups-shape", "a kernel for small groups multiplies 16-bit channels-last images with undilated filters",
     is_groups,
     [](const Case& at) {
       const KernelConfig& c = at.config;
       const DirectConfig& d = c.direct;
       const bool line = c.dims == 1 && d.filter_h == 1 && d.stride_h == 1;
       return (line || c.dims == 2) && c.layout == Layout::kChannelsLast && size_of(c.x) == 2 && c.x == c.w &&
              c.x == c.y && d.filter_h > 0 && d.filter_w > 0 && d.stride_h > 0 && d.stride_w > 0 && d.dilation_h == 1 &&
              d.dilation_w == 1 && d.prefetch >= 2;
     },
     [](const Case& at) {
       const DirectConfig& d = at.config.direct;
       return fmt::format(
           "filter={}x{} stride={}x{} dilation={}x{} prefetch={}: design groups needs filter and stride above 0, "
           "dilation 1, prefetch of at least 2, one 16-bit type, channels-last in 2D, or in 1D with one row",
           d.filter_h, d.filter_w, d.stride_h, d.stride_w, d.dilation_h, d.dilation_w, d.prefetch);
     }},

    {"direct-groups-warps", "warps share the channels and positions of a block evenly", is_groups, groups_fill_warps,
     [](const Case& at) {
       const DirectConfig& d = at.config.direct;
       return fmt::format(
           "vectors={}/{} block_size={} tile_w={} finite_only={}: bundles are 8, 16, 24 or 32 channels, whole warps of "
           "outputs and of {} positions, for backward weight 8 outputs of all positions and finite_only=false",
           d.vector_in, d.vector_out, d.block_size, d.tile_w, at.config.finite_only, kTilePositions);
     }},

    {"direct-stacked-shape", "a row of pixels meets stacked rows of an undilated filter, of one group a product",
     is_stacked, stacked_shape,
     [](const Case& at) {
       const DirectConfig& d = at.config.direct;
       return fmt::format(
           "direction={} filter={}x{} stride={}x{} dilation={}x{} vectors={}/{} block_size={} prefetch={}: design "
           "stacked takes forward with stride 1 or 2 and backward data with 1, output rows of at most {} filter rows "
           "in the making, dilation 1, groups of 16 or 32 channels, 64 or 128 a block, {} threads, min_blocks 1, "
           "prefetch of a step and more, one 16-bit type, 2D channels-last",
           text_of(at.config.direction), d.filter_h, d.filter_w, d.stride_h, d.stride_w, d.dilation_h, d.dilation_w,
           d.vector_in, d.vector_out, d.block_size, d.prefetch, 2 * stacked::kMaxSums / stacked::kChannels,
           stacked::kThreads);
     }},

    {"direct-stacked-memory", "filter, rings and staged rows fit the shared memory of a block",
     [](const Case& at) { return is_stacked(at) && stacked_shape(at); },
     [](const Case& at) { return stacked::shared_bytes(at.config) <= at.target.shared_per_block; },
     [](const Case& at) {
       const DirectConfig& d = at.config.direct;
       return fmt::format("filter={}x{} vectors={} prefetch={} take {} bytes of shared memory; {} has {} a block",
                          d.filter_h, d.filter_w, d.vector_in, d.prefetch, stacked::shared_bytes(at.config),
                          at.target.name, at.target.shared_per_block);
     }},

    {"direct-groups-memory", "filter, ring and staged rows fit the shared memory of a block",
     [](const Case& at) { return is_groups(at) && groups_fill_warps(at) && at.config.direct.stride_w > 0; },
     [](const Case& at) { return groups_bytes(at) <= at.target.shared_per_block; },
     [](const Case& at) {
       return fmt::format("tile_w={} with prefetch={} takes {} bytes of shared memory; {} has {} a block",
                          at.config.direct.tile_w, at.config.direct.prefetch, groups_bytes(at), at.target.name,
                          at.target.shared_per_block);
     }},
};

constexpr Constraint kProblemRows[] = {
    {"direct-bundle", "a bundle is one group, or whole narrower ones where the kernel is finite_only", is_groups,
     [](const Case& at) {
       const int64_t channels = at.problem->c_per_group(), bundle = at.config.direct.vector_in;
       if (channels < 2 || channels != at.problem->k_per_group() || bundle % channels != 0) return false;
       return at.config.direction == Direction::kBackwardWeight || at.config.finite_only == (channels < bundle);
     },
     [](const Case& at) {
       return fmt::format(
           "{} input and {} output channels per group in bundles of {} with finite_only={}; they must be equal, at "
           "least "
           "2 and divide the bundle, and fill it unless the kernel is finite_only; use family gemm",
           at.problem->c_per_group(), at.problem->k_per_group(), at.config.direct.vector_in, at.config.finite_only);
     }},

    {"direct-stacked-width", "a group is as wide as the kernel's products", is_stacked,
     [](const Case& at) {
       return at.problem->c_per_group() == at.config.direct.vector_in &&
              at.problem->k_per_group() == at.config.direct.vector_in;
     },
     [](const Case& at) {
       return fmt::format("{} input and {} output channels per group; the kernel is made for {}; use design groups",
                          at.problem->c_per_group(), at.problem->k_per_group(), at.config.direct.vector_in);
     }},

    {"direct-banded-cube", "a banded kernel of three dimensions is compiled for a cube of stride and dilation 1",
     [](const Case& at) { return is_banded(at) && at.config.dims == 3; },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return p.filter[0] == at.config.direct.filter_h && p.stride[0] == 1 && p.dilation[0] == 1;
     },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return fmt::format(
           "filter={} stride={} dilation={} with a kernel for cubes of {}; it needs as many planes, one after the "
           "other; "
           "use design stream",
           text(p, p.filter), text(p, p.stride), text(p, p.dilation), at.config.direct.filter_h);
     }},

    {"direct-banded-phases", "with a stride of 2, even and odd columns have a tensor map each",
     [](const Case& at) { return is_banded(at) && at.config.direct.stride_w > 1; },
     [](const Case& at) { return at.problem->in[2] > 1; },
     [](const Case& at) {
       return fmt::format("{} column with a kernel of stride {}; use design stream", at.problem->in[2],
                          at.config.direct.stride_w);
     }},

    {"direct-banded-images", "images of up to 8 columns take one strip each", is_banded,
     [](const Case& at) {
       const Spatial size = banded_image(at);
       return (size[2] <= kBandedPixels) == (at.config.direct.images == kBandedRows);
     },
     [](const Case& at) {
       const Spatial size = banded_image(at);
       return fmt::format("{} columns of output with images={}; use images={}", size[2], at.config.direct.images,
                          size[2] <= kBandedPixels ? kBandedRows : 1);
     }},
};

}  // namespace

std::span<const Constraint> direct_matrix_rows() { return kTargetRows; }
std::span<const Constraint> direct_matrix_problem_rows() { return kProblemRows; }

}  // namespace wt
