// SPDX-License-Identifier: Apache-2.0
// config/constraints_direct.cc - the rows of the direct family; those of its designs with matrix instructions are in
// constraints_direct_matrix.cc.
#include <algorithm>

#include "config/constraint_rows.h"
#include "config/enum_names.h"
#include "kernel/direct/banded_shape.h"
#include "kernel/direct/gather_tile_shape.h"
#include "kernel/direct/limits.h"
#include "kernel/gemm/storage.h"

namespace wt {

namespace {

bool is_direct(const Case& at) { return at.config.family == Family::kDirect; }
bool is_stream(const Case& at) { return has_design(at, DirectDesign::kStream); }
bool is_gather(const Case& at) { return has_design(at, DirectDesign::kGather); }
bool is_banded(const Case& at) { return has_design(at, DirectDesign::kBanded); }
bool is_groups(const Case& at) { return has_design(at, DirectDesign::kGroups); }
bool is_matrix(const Case& at) { return is_banded(at) || is_groups(at) || has_design(at, DirectDesign::kStacked); }
bool is_depthwise(const Case& at) { return is_stream(at) || is_gather(at) || is_banded(at); }

bool is_gather_tile(const Case& at) {
  return is_gather(at) && at.config.direct.prefetch > 1 && at.config.direct.sub_w > 0;
}

bool is_power_of_two(int value) { return value > 0 && (value & (value - 1)) == 0; }
// The stored type that the input vector is read in.
DataType input_type(const KernelConfig& config) {
  return config.direction == Direction::kForward ? config.x : config.y;
}

constexpr int kVectorBytes = 16;

// Spatial values as a direct kernel counts them: one-dimensional problems lie along h, but not in designs gather and
// groups.
Spatial turned(const Case& at, const Spatial& value, int64_t neutral) {
  return at.problem->dims == 1 && !is_gather(at) && !is_groups(at) ? Spatial{neutral, value[2], neutral} : value;
}

bool equals_or_free(int64_t config, int64_t problem, int64_t free) { return config == free || config == problem; }

bool shape_is_compiled_in(const Case& at) {
  const DirectConfig& d = at.config.direct;
  const ConvProblem& p = *at.problem;
  const Spatial filter = turned(at, p.filter, 1), stride = turned(at, p.stride, 1),
                dilation = turned(at, p.dilation, 1), pad = turned(at, p.pad_lower, 0);
  return equals_or_free(d.filter_h, filter[1], 0) && equals_or_free(d.filter_w, filter[2], 0) &&
         equals_or_free(d.stride_h, stride[1], 0) && equals_or_free(d.stride_w, stride[2], 0) &&
         equals_or_free(d.dilation_h, dilation[1], 0) && equals_or_free(d.dilation_w, dilation[2], 0) &&
         equals_or_free(d.pad_h, pad[1], -1) && equals_or_free(d.pad_w, pad[2], -1);
}

int64_t gather_tile_bytes(const Case& at) {
  // Beyond this, sizes do not count in 32 bits.
  const auto filter_w = static_cast<int>(std::min<int64_t>(at.problem->filter[2], 1 << 20));
  return gather_tile::shared_bytes(at.config, 1, 1, filter_w);
}

constexpr Constraint kTargetRows[] = {
    {"direct-tile", "a direct kernel's sub-tile divides its tile", is_direct,
     [](const Case& at) {
       const DirectConfig& direct = at.config.direct;
       return direct.sub_h > 0 && direct.sub_w > 0 && direct.tile_h >= 0 && direct.tile_w >= 0 &&
              direct.tile_h % direct.sub_h == 0 && direct.tile_w % direct.sub_w == 0;
     },
     [](const Case& at) {
       const DirectConfig& direct = at.config.direct;
       return fmt::format("tile {}x{} is not a multiple of sub-tile {}x{}", direct.tile_h, direct.tile_w, direct.sub_h,
                          direct.sub_w);
     }},

    {"direct-block", "a direct kernel's block is whole warps and fits the target", is_direct,
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

    {"direct-stream", "a streaming kernel is compiled for its filter and stride, without dilation", is_stream,
     [](const Case& at) {
       const DirectConfig& d = at.config.direct;
       return (at.config.layout == Layout::kChannelsLast || at.config.dims > 1) && d.filter_h > 0 && d.filter_w > 0 &&
              d.stride_h > 0 && d.stride_w > 0 && d.dilation_h == 1 && d.dilation_w == 1 && d.prefetch > 0 &&
              d.vector_in == d.vector_out &&
              (at.config.dims < 3 || at.config.direction == Direction::kBackwardWeight || !d.register_weights) &&
              d.sub_w * d.stride_w + d.filter_w <= kMaxStreamColumns;
     },
     [](const Case& at) {
       const DirectConfig& d = at.config.direct;
       return fmt::format(
           "filter={}x{} stride={}x{} dilation={}x{} sub_w={} prefetch={} register_weights={}: design stream needs "
           "them all above 0, dilation 1, channels-last in 1D, weights in shared memory in 3D data, and at most {} "
           "columns a thread",
           d.filter_h, d.filter_w, d.stride_h, d.stride_w, d.dilation_h, d.dilation_w, d.sub_w, d.prefetch,
           d.register_weights, kMaxStreamColumns);
     }},

    {"direct-history", "history stands before the pixels of a one-dimensional image, forward",
     [](const Case& at) { return at.config.direct.history; },
     [](const Case& at) { return at.config.dims == 1 && at.config.direction == Direction::kForward; },
     [](const Case& at) {
       return fmt::format("history=true with direction={} and {} dimensions; it is for forward in one dimension",
                          text_of(at.config.direction), at.config.dims);
     }},

    {"direct-gather-tile",
     "a gathering kernel with rows in shared memory slides along them without stride and dilation", is_gather_tile,
     [](const Case& at) {
       const KernelConfig& c = at.config;
       const DirectConfig& d = c.direct;
       return c.dims == 2 && c.layout == Layout::kChannelsLast && c.direction != Direction::kBackwardWeight &&
              size_of(input_type(c)) == 2 && d.stride_h == 1 && d.stride_w == 1 && d.dilation_h == 1 &&
              d.dilation_w == 1 && d.vector_in == 4 && d.vector_out == 4 && d.sub_w == 8 && d.prefetch == 2 &&
              d.block_size == 256;
     },
     [](const Case& at) {
       const DirectConfig& d = at.config.direct;
       return fmt::format(
           "prefetch={} with direction={} stride={}x{} dilation={}x{} vectors={}/{} sub_w={} block_size={}: rows "
           "in shared memory are for forward and backward data, 16-bit, 2D channels-last, stride and dilation 1, "
           "vectors of 4, "
           "sub_w=8, prefetch=2, block_size=256",
           d.prefetch, text_of(at.config.direction), d.stride_h, d.stride_w, d.dilation_h, d.dilation_w, d.vector_in,
           d.vector_out, d.sub_w, d.block_size);
     }},
};

constexpr Constraint kProblemRows[] = {
    {"history", "what stands before the first pixel is the problem's: a history, or zeros",
     [](const Case&) { return true; }, [](const Case& at) { return at.config.direct.history == at.problem->history; },
     [](const Case& at) -> std::string {
       if (at.config.direct.history) return "the kernel reads a history, which the problem has not; use history=false";
       return "the kernel reads no history; use one with direct.history=true, or let a plan join history and x first";
     }},

    {"direct-groups", "direct kernels are for depthwise and small groups", is_direct,
     [](const Case& at) { return at.problem->c_per_group() <= 32; },
     [](const Case& at) {
       return fmt::format("{} input channels per group; direct kernels take up to 32; use family gemm",
                          at.problem->c_per_group());
     }},

    {"direct-depthwise", "these designs take one input channel a group", is_depthwise,
     [](const Case& at) { return at.problem->c_per_group() == 1; },
     [](const Case& at) {
       return fmt::format("{} input channels per group; design {} takes 1; use family gemm", at.problem->c_per_group(),
                          text_of(at.config.direct.design));
     }},

    {"direct-multiplier", "vectors of input channels meet vectors of as many output channels",
     [](const Case& at) {
       return is_depthwise(at) && (is_stream(at) || is_banded(at) || at.config.direct.vector_in > 1);
     },
     [](const Case& at) { return at.problem->k_per_group() == 1; },
     [](const Case& at) {
       return fmt::format(
           "{} output channels per group with design {} and vector_in={}; use design gather with "
           "vector_in=1",
           at.problem->k_per_group(), text_of(at.config.direct.design), at.config.direct.vector_in);
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

    {"direct-shape", "sizes compiled into a direct kernel are the problem's", is_direct, shape_is_compiled_in,
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return fmt::format(
           "filter={} stride={} dilation={} pad={} differ from the sizes compiled in; use a kernel with "
           "run-time sizes",
           text(p, p.filter), text(p, p.stride), text(p, p.dilation), text(p, p.pad_lower));
     }},

    {"direct-chunks", "a pixel that is copied to shared memory is whole chunks of 16 bytes",
     [](const Case& at) {
       return is_groups(at) || is_gather_tile(at) || (is_banded(at) && banded::chunk_bytes(at.config) == 16);
     },
     [](const Case& at) { return at.problem->c % 8 == 0; },
     [](const Case& at) {
       return fmt::format("{} channels are not a multiple of 8; use {}", at.problem->c,
                          is_banded(at)   ? "design stream"
                          : is_groups(at) ? "family gemm"
                                          : "prefetch=1");
     }},

    {"direct-gather-memory", "one row of pixels, its halo and two rows of the filter fit shared memory", is_gather_tile,
     [](const Case& at) { return gather_tile_bytes(at) <= at.target.shared_per_block; },
     [](const Case& at) {
       return fmt::format("filter={} takes {} bytes of shared memory a block; {} has {}; use prefetch=1",
                          text(*at.problem, at.problem->filter), gather_tile_bytes(at), at.target.name,
                          at.target.shared_per_block);
     }},

    {"direct-size", "rows of all images are counted in 32 bits",
     [](const Case& at) { return is_matrix(at) || is_gather_tile(at); },
     [](const Case& at) { return std::max(at.problem->x_elements(), at.problem->y_elements()) < int64_t{1} << 31; },
     [](const Case& at) {
       return fmt::format("a tensor has {} elements; this kernel counts to 2147483647; use {}",
                          std::max(at.problem->x_elements(), at.problem->y_elements()),
                          is_banded(at)   ? "design stream"
                          : is_matrix(at) ? "family gemm"
                                          : "prefetch=1");
     }},

    {"direct-filter", "a row of the filter fits the shared memory of a block",
     [](const Case& at) { return is_gather(at) && at.config.direction != Direction::kBackwardWeight; },
     [](const Case& at) {
       return gather_row_bytes(at.config, at.problem->filter[2], at.problem->k_per_group()) <= kGatherSharedBytes;
     },
     [](const Case& at) {
       return fmt::format(
           "a row of filter={} with {} output channels per group does not fit {} bytes of shared memory; "
           "use family gemm",
           text(*at.problem, at.problem->filter), at.problem->k_per_group(), kGatherSharedBytes);
     }},
};

}  // namespace

std::span<const Constraint> direct_rows() { return kTargetRows; }
std::span<const Constraint> direct_problem_rows() { return kProblemRows; }

}  // namespace wt
