// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_gather/constraints.cc - what a gathering kernel takes.
#include <algorithm>

#include "config/enum_names.h"
#include "kernels/depthwise_gather/device/tile_shape.h"
#include "kernels/depthwise_gather/kind.h"
#include "kernels/device/direct/limits.h"
#include "kernels/device/gemm/storage.h"
#include "kernels/shared/constraint_rows.h"

namespace wt::depthwise_gather_kind {
namespace {

bool is_gather_tile(const Case& at) { return at.config.direct.prefetch > 1 && at.config.direct.sub_w > 0; }

// The stored type that the input vector is read in.
DataType input_type(const KernelConfig& config) {
  return config.direction == Direction::kForward ? config.x : config.y;
}

int64_t gather_tile_bytes(const Case& at) {
  // Beyond this, sizes do not count in 32 bits.
  const auto filter_w = static_cast<int>(std::min<int64_t>(at.problem->filter[2], 1 << 20));
  return gather_tile::shared_bytes(at.config, 1, 1, filter_w);
}

constexpr Constraint kTargetRows[] = {
    {"direct-gather-tile",
     "a gathering kernel with rows in shared memory slides along them without stride and dilation", is_gather_tile,
     [](const Case& at) {
       const KernelConfig& c = at.config;
       const DirectConfig& d = c.direct;
       const FixedSizes& f = c.fixed;
       return !is_amd(c.target) && c.dims == 2 && c.layout == Layout::kChannelsLast &&
              c.direction != Direction::kBackwardWeight && size_of(input_type(c)) == 2 && f.stride_h == 1 &&
              f.stride_w == 1 && f.dilation_h == 1 && f.dilation_w == 1 && d.vector_in == 4 && d.vector_out == 4 &&
              d.sub_w == 8 && d.prefetch == 2 && d.block_size == 256;
     },
     [](const Case& at) {
       const DirectConfig& d = at.config.direct;
       const FixedSizes& f = at.config.fixed;
       return fmt::format(
           "prefetch={} on {} with direction={} stride={}x{} dilation={}x{} vectors={}/{} sub_w={} block_size={}: rows "
           "in shared memory are for targets with copies that a thread waits for (NVIDIA's), forward and backward "
           "data, 16-bit, 2D channels-last, stride and dilation 1, vectors of 4, sub_w=8, prefetch=2, block_size=256",
           d.prefetch, at.target.name, text_of(at.config.direction), f.stride_h, f.stride_w, f.dilation_h, f.dilation_w,
           d.vector_in, d.vector_out, d.sub_w, d.block_size);
     }},
};

constexpr Constraint kProblemRows[] = {
    {"direct-gather-memory", "one row of pixels, its halo and two rows of the filter fit shared memory", is_gather_tile,
     [](const Case& at) { return gather_tile_bytes(at) <= at.target.shared_per_block; },
     [](const Case& at) {
       return fmt::format("filter={} takes {} bytes of shared memory a block; {} has {}; use prefetch=1",
                          text(*at.problem, at.problem->filter), gather_tile_bytes(at), at.target.name,
                          at.target.shared_per_block);
     }},

    {"direct-int8", "sums of int8 are exact in fp32", [](const Case& at) { return at.config.x == DataType::kI8; },
     [](const Case& at) { return at.problem->filter_taps() <= kInt8Taps; },
     [](const Case& at) {
       return fmt::format("filter={} has {} taps; sums of int8 in fp32 are exact up to {}; use another kind",
                          text(*at.problem, at.problem->filter), at.problem->filter_taps(), kInt8Taps);
     }},

    {"direct-filter", "a row of the filter fits the shared memory of a block",
     [](const Case& at) { return at.config.direction != Direction::kBackwardWeight; },
     [](const Case& at) {
       return gather_row_bytes(at.config, at.problem->filter[2], at.problem->k_per_group()) <= kGatherSharedBytes;
     },
     [](const Case& at) {
       return fmt::format(
           "a row of filter={} with {} output channels per group does not fit {} bytes of shared memory; "
           "use another kind",
           text(*at.problem, at.problem->filter), at.problem->k_per_group(), kGatherSharedBytes);
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

}  // namespace wt::depthwise_gather_kind
