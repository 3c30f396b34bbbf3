// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_strips/constraints.cc - what a strips kernel takes.
#include <algorithm>

#include "config/enum_names.h"
#include "kernels/depthwise_strips/kind.h"
#include "kernels/depthwise_strips/view.h"
#include "kernels/shared/constraint_rows.h"

namespace wt::depthwise_strips_kind {
namespace {

// As many channels as divide them all, 8 at most.
int widest(int64_t channels) {
  int vector = 8;
  while (channels % vector != 0) vector /= 2;
  return vector;
}
struct Vectors {
  int in, out;
};
Vectors vectors_of(const Case& at) {
  const ConvProblem& p = *at.problem;
  if (strips::fold(at.config) == 1) {
    const int both = std::min(widest(p.c), widest(p.k));
    return {both, both};
  }
  return {widest(p.k), std::min(widest(p.c), strips::channels(at.config) / strips::fold(at.config))};
}

constexpr Constraint kTargetRows[] = {
    {"direct-strips", "a strips kernel multiplies 16-bit channels-last images, four channels of them in each warp",
     nullptr,
     [](const Case& at) {
       const KernelConfig& c = at.config;
       const DirectConfig& d = c.direct;
       const bool channels =
           d.block_channels == 8 || d.block_channels == 16 || d.block_channels == 32 || d.block_channels == 64;
       if (!c.finite_only || c.layout != Layout::kChannelsLast || !has_one_16_bit_type(c) || !channels ||
           d.block_size <= 0 || d.block_size % 32 != 0)
         return false;
       const int warps = strips::warps(c), channel_warps = strips::channel_warps(c);
       return warps % channel_warps == 0 && (warps == channel_warps || !strips::is_weight(c)) && d.sub_h >= 1 &&
              d.sub_h <= 4 && (d.prefetch == 1 || d.prefetch == 2) &&
              (d.group_channels <= 1 ||
               ((d.group_channels == 2 || d.group_channels == 4) && c.direction == Direction::kBackwardData)) &&
              d.vector_out * strips::fold(c) <= strips::channels(c) && c.fixed.stride_w <= 1;
     },
     [](const Case& at) {
       const DirectConfig& d = at.config.direct;
       return fmt::format(
           "sub_h={} block_size={} block_channels={} prefetch={} group_channels={} stride_w={} finite_only={}: this "
           "kind has sub_h 1 to 4, a warp for each 4 of 8 to 64 block_channels (several of them but in backward "
           "weight), prefetch 1 or 2, group_channels 0 or 1, in backward data also 2 and 4, no wider vector_out than "
           "a block's channels of the output, stride_w 0 or 1, one 16-bit type (dw may be fp32), channels-last, "
           "finite_only=true",
           d.sub_h, d.block_size, d.block_channels, d.prefetch, d.group_channels, at.config.fixed.stride_w,
           at.config.finite_only);
     }},
};

constexpr Constraint kProblemRows[] = {
    {"direct-strips-copies", "copies of a pixel are as wide as its channels allow", nullptr,
     [](const Case& at) {
       const Vectors vectors = vectors_of(at);
       return at.config.direct.vector_in == vectors.in && at.config.direct.vector_out == vectors.out;
     },
     [](const Case& at) {
       const Vectors vectors = vectors_of(at);
       return fmt::format("{} input and {} output channels with vector_in={} vector_out={}; use vectors of {} and {}",
                          at.problem->c, at.problem->k, at.config.direct.vector_in, at.config.direct.vector_out,
                          vectors.in, vectors.out);
     }},

    {"direct-strips-multiplier", "group_channels is the number of output channels of an input channel, or 0", nullptr,
     [](const Case& at) {
       const int64_t compiled = at.config.direct.group_channels, has = at.problem->k_per_group();
       return compiled == has || (compiled == 0 && has > 1);
     },
     [](const Case& at) {
       return fmt::format("{} output channels per group with group_channels={}; use group_channels={}",
                          at.problem->k_per_group(), at.config.direct.group_channels,
                          at.problem->k_per_group() == 1 ? 1 : 0);
     }},

    {"direct-strips-count", "strides, and the windows of a strip's outputs, have a place in the launch's tables",
     nullptr, [](const Case& at) { return strips_can_count(*at.view); },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return fmt::format(
           "filter={} stride={} dilation={}: this kind has strides up to {} and windows of {} steps of 16 pixels; use "
           "kind depthwise_gather",
           text(p, p.filter), text(p, p.stride), text(p, p.dilation), kStripsMaxStride, kStripsMaxSteps);
     }},

    {"direct-strips-memory", "the filter and the smallest tile fit shared memory", nullptr,
     [](const Case& at) {
       if (!strips_can_count(*at.view)) return true;  // said by the row before
       return strips_fit(at.config, *at.view);
     },
     [](const Case& at) {
       return fmt::format(
           "filter={} with {} output channels per group and block_channels={} does not fit the {} bytes "
           "of shared memory of {}; use kind depthwise_gather",
           text(*at.problem, at.problem->filter), at.problem->k_per_group(), at.config.direct.block_channels,
           at.view->rates().shared_per_block, at.view->rates().gpu);
     }},
};

}  // namespace

// Quick: the choice asks this of every problem.
bool may_serve(const ConvProblem& problem) {
  return problem.c_per_group() == 1 && problem.layout == Layout::kChannelsLast;
}

std::span<const Constraint> target_rows() {
  static const std::vector<Constraint> rows = joined({direct_rows(), kTargetRows});
  return rows;
}
std::span<const Constraint> problem_rows() {
  static const std::vector<Constraint> rows = joined({direct_problem_rows(), kProblemRows});
  return rows;
}

}  // namespace wt::depthwise_strips_kind
