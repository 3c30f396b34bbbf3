// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_stream/constraints.cc - what a streaming kernel takes.
#include <algorithm>

#include "config/enum_names.h"
#include "kernels/depthwise_stream/kind.h"
#include "kernels/device/direct/limits.h"
#include "kernels/shared/constraint_rows.h"

namespace wt::depthwise_stream_kind {
namespace {

constexpr Constraint kTargetRows[] = {
    {"direct-stream", "a streaming kernel is compiled for its filter and stride, without dilation", nullptr,
     [](const Case& at) {
       const DirectConfig& d = at.config.direct;
       const FixedSizes& f = at.config.fixed;
       return (at.config.layout == Layout::kChannelsLast || at.config.dims > 1) && f.filter_h > 0 && f.filter_w > 0 &&
              f.stride_h > 0 && f.stride_w > 0 && f.dilation_h == 1 && f.dilation_w == 1 && d.prefetch > 0 &&
              d.vector_in == d.vector_out &&
              (at.config.dims < 3 || at.config.direction == Direction::kBackwardWeight || !d.register_weights) &&
              d.sub_w * f.stride_w + f.filter_w <= kMaxStreamColumns;
     },
     [](const Case& at) {
       const DirectConfig& d = at.config.direct;
       const FixedSizes& f = at.config.fixed;
       return fmt::format(
           "filter={}x{} stride={}x{} dilation={}x{} sub_w={} prefetch={} register_weights={}: this kind needs "
           "them all above 0, dilation 1, channels-last in 1D, weights in shared memory in 3D data, and at most {} "
           "columns per thread",
           f.filter_h, f.filter_w, f.stride_h, f.stride_w, f.dilation_h, f.dilation_w, d.sub_w, d.prefetch,
           d.register_weights, kMaxStreamColumns);
     }},
};

}  // namespace

std::span<const Constraint> target_rows() {
  static const std::vector<Constraint> rows = joined({direct_rows(), kTargetRows});
  return rows;
}
std::span<const Constraint> problem_rows() { return direct_problem_rows(); }

}  // namespace wt::depthwise_stream_kind
