// SPDX-License-Identifier: Apache-2.0
// config/constraints_direct.cc - the rows of the direct family.
#include <algorithm>

#include "config/constraint_rows.h"
#include "config/enum_names.h"
#include "kernel/direct/banded_shape.h"
#include "kernel/direct/gather_tile_shape.h"
#include "kernel/direct/groups_shape.h"
#include "kernel/direct/limits.h"
#include "kernel/direct/stacked_shape.h"
#include "kernel/gemm/storage.h"

namespace wt {

namespace {

bool is_direct(const Case& at) { return at.config.family == Family::kDirect; }
bool is_depthwise(const Case& at) {
  return is_direct(at) &&
         (at.config.direct.design == DirectDesign::kGather || at.config.direct.design == DirectDesign::kStream ||
          at.config.direct.design == DirectDesign::kBanded);
}
bool is_stream(const Case& at) { return is_direct(at) && at.config.direct.design == DirectDesign::kStream; }
bool is_gather(const Case& at) { return is_direct(at) && at.config.direct.design == DirectDesign::kGather; }

bool is_banded(const Case& at) { return is_direct(at) && at.config.direct.design == DirectDesign::kBanded; }

bool is_groups(const Case& at) { return is_direct(at) && at.config.direct.design == DirectDesign::kGroups; }
bool is_stacked(const Case& at) { return is_direct(at) && at.config.direct.design == DirectDesign::kStacked; }
bool is_matrix(const Case& at) { return is_banded(at) || is_groups(at) || is_stacked(at); }

bool is_gather_tile(const Case& at) {
  return is_gather(at) && at.config.direct.prefetch > 1 && at.config.direct.sub_w > 0;
}

bool is_power_of_two(int value) { return value > 0 && (value & (value - 1)) == 0; }
// The stored type that the input vector is read in.
DataType input_type(const KernelConfig& config) {
  return config.direction == Direction::kForward ? config.x : config.y;
}

// The image whose columns a banded kernel lays on strips.
Spatial banded_image(const Case& at) {
  return at.config.direction == Direction::kBackwardData ? at.problem->in : at.problem->out();
}

constexpr int kVectorBytes = 16;

std::string text(const ConvProblem& problem, const Spatial& value) {
  std::string out;
  for (int i = kMaxDims - problem.dims; i < kMaxDims; ++i)
    out += fmt::format("{}{}", out.empty() ? "" : "x", value[static_cast<size_t>(i)]);
  return out;
}

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
