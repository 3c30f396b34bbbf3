// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_banded/constraints.cc - what a banded kernel takes.
#include <algorithm>

#include "config/enum_names.h"
#include "kernels/depthwise_banded/device/shape.h"
#include "kernels/depthwise_banded/kind.h"
#include "kernels/shared/constraint_rows.h"

namespace wt::depthwise_banded_kind {
namespace {

// The image whose columns a banded kernel lays on strips.
Spatial banded_image(const Case& at) {
  return at.config.direction == Direction::kBackwardData ? at.problem->in : at.problem->out();
}

// With the narrowest images, whose windows take the most room: one strip each, or two.
int banded_bytes(const Case& at) {
  const bool lone = at.config.direct.images == kBandedRows;
  return banded::shared_bytes(at.config, lone ? 1 : 2, lone ? kBandedRows : kBandedRows / 2);
}

constexpr Constraint kTargetRows[] = {
    {"direct-banded", "a banded kernel multiplies 16-bit channels-last images with undilated filters of stride 1 or 2",
     nullptr,
     [](const Case& at) {
       const KernelConfig& c = at.config;
       const DirectConfig& d = c.direct;
       const FixedSizes& f = c.fixed;
       const bool cube = c.dims == 3 && f.filter_h == f.filter_w && f.filter_h <= kBandedMaxCube;
       return c.finite_only && (c.dims == 2 || cube) && c.layout == Layout::kChannelsLast && has_one_16_bit_type(c) &&
              f.filter_h > 0 && f.filter_w > 0 && f.filter_w <= kBandedMaxFilter && f.stride_h == f.stride_w &&
              f.stride_h >= 1 && f.stride_h <= (banded::in_bulk(c) ? 2 : 1) && f.dilation_h == 1 && f.dilation_w == 1 &&
              d.vector_in == 4 && d.vector_out == 4 && d.prefetch >= 2 && (d.images == 1 || d.images == kBandedRows) &&
              (d.block_size == 64 || d.block_size == 128 || d.block_size == 256 || d.block_size == 512);
     },
     [](const Case& at) {
       const DirectConfig& d = at.config.direct;
       const FixedSizes& f = at.config.fixed;
       return fmt::format(
           "filter={}x{} stride={}x{} vectors={}/{} prefetch={} images={} block_size={} finite_only={}: this kind "
           "has "
           "filters up to {} wide, stride 1 (2 with bulk_rows), vectors of 4, prefetch of at "
           "least "
           "2, "
           "images "
           "1 or {}, 64 to 512 "
           "threads, one 16-bit type (dw may be fp32), 2D channels-last or cubes up to {} wide, finite_only=true",
           f.filter_h, f.filter_w, f.stride_h, f.stride_w, d.vector_in, d.vector_out, d.prefetch, d.images,
           d.block_size, at.config.finite_only, kBandedMaxFilter, kBandedRows, kBandedMaxCube);
     }},

    {"direct-banded-bulk", "rows that the copy engine brings are those of forward and backward data in two dimensions",
     [](const Case& at) { return banded::in_bulk(at.config); },
     [](const Case& at) {
       const KernelConfig& c = at.config;
       return has_bulk_copies(c.target) && c.dims == 2 && c.direction != Direction::kBackwardWeight &&
              (c.fixed.stride_h == 1 || c.direction == Direction::kForward) && banded::pixel_bytes(c) >= 32 &&
              banded::pixel_bytes(c) <= 128 && (c.fixed.stride_h == 1 || !c.direct.read_ahead);
     },
     [](const Case& at) {
       return fmt::format(
           "bulk_rows with target {}, {}D, direction {}, stride {}, read_ahead={}, {} channels per block: "
           "this kind copies rows in bulk on sm_90a and later targets, in 2D, forward, with stride 1 also backward "
           "data and "
           "read_ahead, with 16 to 64 channels; use kind depthwise_stream",
           text_of(at.config.target), at.config.dims, text_of(at.config.direction), at.config.fixed.stride_h,
           at.config.direct.read_ahead, banded::channels(at.config));
     }},

    {"direct-banded-memory", "rows on their way fit the shared memory of a block", nullptr,
     [](const Case& at) { return banded_bytes(at) <= at.target.shared_per_block; },
     [](const Case& at) {
       const DirectConfig& d = at.config.direct;
       return fmt::format("prefetch={} block_size={} images={} take {} bytes of shared memory; {} has {} a block",
                          d.prefetch, d.block_size, d.images, banded_bytes(at), at.target.name,
                          at.target.shared_per_block);
     }},
};

constexpr Constraint kProblemRows[] = {
    {"direct-banded-cube", "a banded kernel of three dimensions is compiled for a cube of stride and dilation 1",
     [](const Case& at) { return at.config.dims == 3; },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return p.filter[0] == at.config.fixed.filter_h && p.stride[0] == 1 && p.dilation[0] == 1;
     },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return fmt::format(
           "filter={} stride={} dilation={} with a kernel for cubes of {}; it needs as many planes, one after the "
           "other; "
           "use kind depthwise_stream",
           text(p, p.filter), text(p, p.stride), text(p, p.dilation), at.config.fixed.filter_h);
     }},

    {"direct-banded-phases", "with a stride of 2, even and odd columns have a tensor map each",
     [](const Case& at) { return at.config.fixed.stride_w > 1; }, [](const Case& at) { return at.problem->in[2] > 1; },
     [](const Case& at) {
       return fmt::format("{} column with a kernel of stride {}; use kind depthwise_stream", at.problem->in[2],
                          at.config.fixed.stride_w);
     }},

    {"direct-banded-images", "images of up to 8 columns take one strip each", nullptr,
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

std::span<const Constraint> target_rows() {
  static const std::vector<Constraint> rows = joined({direct_rows(), kTargetRows});
  return rows;
}
std::span<const Constraint> problem_rows() {
  static const std::vector<Constraint> rows = joined({direct_problem_rows(), kProblemRows});
  return rows;
}

}  // namespace wt::depthwise_banded_kind
