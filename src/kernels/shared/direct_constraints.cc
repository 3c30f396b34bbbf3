// SPDX-License-Identifier: Apache-2.0
// kernels/shared/direct_constraints.cc - the rows that the kinds for depthwise and small groups share.
#include <algorithm>

#include "config/enum_names.h"
#include "kernels/depthwise_banded/device/shape.h"
#include "kernels/depthwise_gather/device/tile_shape.h"
#include "kernels/device/direct/limits.h"
#include "kernels/device/gemm/storage.h"
#include "kernels/shared/constraint_rows.h"

namespace wt {

namespace {

bool is_stream(const Case& at) { return at.config.kind == Kind::kDepthwiseStream; }
bool is_gather(const Case& at) { return at.config.kind == Kind::kDepthwiseGather; }
bool is_banded(const Case& at) { return at.config.kind == Kind::kDepthwiseBanded; }
bool is_strips(const Case& at) { return at.config.kind == Kind::kDepthwiseStrips; }
bool is_taps(const Case& at) { return at.config.kind == Kind::kDepthwiseTaps; }
bool is_step(const Case& at) { return at.config.kind == Kind::kDepthwiseStep; }
bool is_groups(const Case& at) { return at.config.kind == Kind::kGroups; }
bool is_matrix(const Case& at) {
  return is_banded(at) || is_strips(at) || is_taps(at) || is_groups(at) || at.config.kind == Kind::kStacked;
}
bool is_depthwise(const Case& at) {
  return is_stream(at) || is_gather(at) || is_banded(at) || is_strips(at) || is_taps(at) || is_step(at);
}

bool is_gather_tile(const Case& at) {
  return is_gather(at) && at.config.direct.prefetch > 1 && at.config.direct.sub_w > 0;
}

bool is_power_of_two(int value) { return value > 0 && (value & (value - 1)) == 0; }
// The stored type that the input vector is read in.
DataType input_type(const KernelConfig& config) {
  return config.direction == Direction::kForward ? config.x : config.y;
}

constexpr int kVectorBytes = 16;

// Spatial values as a direct kernel counts them: one-dimensional problems lie along h, but not in designs strips,
// gather and groups.
Spatial turned(const Case& at, const Spatial& value, int64_t neutral) {
  return at.problem->dims == 1 && !is_strips(at) && !is_taps(at) && !is_gather(at) && !is_groups(at)
             ? Spatial{neutral, value[2], neutral}
             : value;
}

bool equals_or_free(int64_t config, int64_t problem) { return config == 0 || config == problem; }

bool shape_is_compiled_in(const Case& at) {
  const FixedSizes& d = at.config.fixed;
  const ConvProblem& p = *at.problem;
  const Spatial filter = turned(at, p.filter, 1), stride = turned(at, p.stride, 1),
                dilation = turned(at, p.dilation, 1);
  return equals_or_free(d.filter_h, filter[1]) && equals_or_free(d.filter_w, filter[2]) &&
         equals_or_free(d.stride_h, stride[1]) && equals_or_free(d.stride_w, stride[2]) &&
         equals_or_free(d.dilation_h, dilation[1]) && equals_or_free(d.dilation_w, dilation[2]);
}

constexpr Constraint kTargetRows[] = {
    {"direct-block", "a direct kernel's block is whole warps and fits the target", nullptr,
     [](const Case& at) {
       const int threads = at.config.direct.block_size;
       return threads > 0 && threads % at.target.warp_size == 0 && threads <= at.target.threads_per_block;
     },
     [](const Case& at) {
       return fmt::format("block_size={} must be a multiple of {} up to {} on {}", at.config.direct.block_size,
                          at.target.warp_size, at.target.threads_per_block, at.target.name);
     }},

    {"direct-vector", "vectors are powers of two of at most 16 bytes, and of one channel where channels lie apart",
     is_depthwise,
     [](const Case& at) {
       const DirectConfig& direct = at.config.direct;
       if (at.config.layout == Layout::kChannelsFirst) return direct.vector_in == 1 && direct.vector_out == 1;
       return is_power_of_two(direct.vector_in) && is_power_of_two(direct.vector_out) &&
              direct.vector_in * size_of(input_type(at.config)) <= kVectorBytes &&
              (direct.vector_in == 1 || direct.vector_in == direct.vector_out);
     },
     [](const Case& at) {
       const DirectConfig& direct = at.config.direct;
       return fmt::format(
           "vector_in={} vector_out={} of {} in layout {}: vectors are powers of two of at most {} bytes, equal unless "
           "vector_in=1, and 1 for channels-first",
           direct.vector_in, direct.vector_out, text_of(input_type(at.config)), text_of(at.config.layout),
           kVectorBytes);
     }},

    {"direct-history", "history stands before the pixels of a one-dimensional image, which backward data writes alone",
     [](const Case& at) { return at.config.direct.history; },
     [](const Case& at) { return at.config.dims == 1 && at.config.direction != Direction::kBackwardData; },
     [](const Case& at) {
       return fmt::format(
           "history=true with direction={} and {} dimensions; it is for fwd and bwd_weight in one dimension",
           text_of(at.config.direction), at.config.dims);
     }},
};

constexpr Constraint kProblemRows[] = {
    {"direct-groups", "direct kernels are for depthwise and small groups", nullptr,
     [](const Case& at) { return at.problem->c_per_group() <= 32; },
     [](const Case& at) {
       return fmt::format("{} input channels per group; direct kernels take up to 32; use another kind",
                          at.problem->c_per_group());
     }},

    {"direct-depthwise", "these kinds take one input channel per group", is_depthwise,
     [](const Case& at) { return at.problem->c_per_group() == 1; },
     [](const Case& at) {
       return fmt::format("{} input channels per group; kind {} takes 1; use another kind", at.problem->c_per_group(),
                          text_of(at.config.kind));
     }},

    {"direct-multiplier", "vectors of input channels meet vectors of as many output channels",
     [](const Case& at) {
       return is_stream(at) || is_banded(at) || is_step(at) || (is_gather(at) && at.config.direct.vector_in > 1);
     },
     [](const Case& at) { return at.problem->k_per_group() == 1; },
     [](const Case& at) {
       return fmt::format(
           "{} output channels per group with kind {} and vector_in={}; use kind depthwise_gather with "
           "vector_in=1",
           at.problem->k_per_group(), text_of(at.config.kind), at.config.direct.vector_in);
     }},

    {"direct-channels", "a vector divides the channels",
     [](const Case& at) { return is_depthwise(at) && at.config.direct.vector_out > 1; },
     [](const Case& at) {
       const int64_t channels = at.config.direction == Direction::kBackwardData ? at.problem->c : at.problem->k;
       return channels % at.config.direct.vector_out == 0;
     },
     [](const Case& at) {
       return fmt::format("{} channels are not a multiple of vector_out={}; use a narrower vector",
                          at.config.direction == Direction::kBackwardData ? at.problem->c : at.problem->k,
                          at.config.direct.vector_out);
     }},

    {"direct-shape", "sizes compiled into a direct kernel are the problem's", nullptr, shape_is_compiled_in,
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return fmt::format(
           "filter={} stride={} dilation={} differ from the sizes compiled in; use a kernel with "
           "run-time sizes",
           text(p, p.filter), text(p, p.stride), text(p, p.dilation));
     }},

    {"direct-chunks", "a pixel that is copied to shared memory is whole chunks of 16 bytes",
     [](const Case& at) {
       return is_groups(at) || is_gather_tile(at) || (is_banded(at) && banded::chunk_bytes(at.config) == 16);
     },
     [](const Case& at) { return at.problem->c % 8 == 0; },
     [](const Case& at) {
       return fmt::format("{} channels are not a multiple of 8; use {}", at.problem->c,
                          is_banded(at)   ? "kind depthwise_stream"
                          : is_groups(at) ? "another kind"
                                          : "prefetch=1");
     }},

    {"direct-size", "rows of all images are counted in 32 bits",
     [](const Case& at) { return is_matrix(at) || is_gather_tile(at); },
     [](const Case& at) { return std::max(at.problem->x_elements(), at.problem->y_elements()) < int64_t{1} << 31; },
     [](const Case& at) {
       return fmt::format("a tensor has {} elements; this kernel counts to 2147483647; use {}",
                          std::max(at.problem->x_elements(), at.problem->y_elements()),
                          is_banded(at)   ? "kind depthwise_stream"
                          : is_matrix(at) ? "another kind"
                                          : "prefetch=1");
     }},
};

}  // namespace

std::span<const Constraint> direct_rows() { return kTargetRows; }
std::span<const Constraint> direct_problem_rows() { return kProblemRows; }

}  // namespace wt
