// SPDX-License-Identifier: Apache-2.0
// dispatch/cost_model_direct.cc - predicted times of the direct family.
//
// Depthwise layers wait for memory: bytes once at the device's rate, worsened by narrow accesses and by the last wave
// of blocks; or for their multiply-adds. The constants stand for an H200 and were set by eye on times of the depthwise
// suite and of grouped ResNets: the first choice was then 0.4 % behind the fastest in the mean.
#include <algorithm>
#include <cmath>

#include "dispatch/cost_model.h"
#include "dispatch/direct_geometry.h"
#include "kernel/direct/banded_shape.h"
#include "kernel/direct/gather_tile_shape.h"
#include "kernel/direct/groups_shape.h"
#include "kernel/direct/stream_shape.h"

namespace wt {
namespace {

constexpr double kLaunchUs = 3;
constexpr double kFirstDataUs = 2;
constexpr double kSumUs = 2.5;              // the launch that adds partial sums
constexpr double kBytesPerUs = 4.3e6;       // of the whole device
constexpr double kMultiplyAddsPerUs = 224;  // of one multiprocessor, times 1000
constexpr double kStreamIssue = 0.57;       // of the instructions that streaming kernels could issue
constexpr double kGatherShare = 0.15;
constexpr double kSlidingShare = 0.35;
constexpr double kTileShare = 0.41;           // 72 instructions of 100 multiply, where sliding has 61; not measured
constexpr double kMatrixProductsPerUs = 720;  // m16n8k16 of one multiprocessor, a third less than it can
// Bytes once, as far as each design stays behind the device's rate; and what sharing columns between strips adds.
constexpr double kStreamBytes = 1.15;
constexpr double kPlaneBytes = 0.95;  // the same of planes with stride 1, which start later
constexpr double kPlaneUs = 1;
constexpr double kHaloBytes = 0.95;
constexpr double kRingBytes = 1.25;  // where a strided step's rows wait in shared memory
constexpr double kRingHalo = 0.2;
constexpr double kAheadBytes = 0.87;  // of a step of stride 1 with its rows there
constexpr double kAheadUs = 1;
constexpr double kBandedBytes = 1.0;
constexpr double kBandedUs = 1.8;
// The same of the kernels for small groups.
constexpr double kGroupsBytes = 1.0;
constexpr double kEnteredSteps = 1.4;
constexpr double kApartBytes = 0.8;  // more where a thread reads one pixel of one channel at a time

double bytes_us(const ConvProblem& p) {
  const double bytes = static_cast<double>(p.x_elements()) * size_of(p.x) +
                       static_cast<double>(p.w_elements()) * size_of(p.w) +
                       static_cast<double>(p.y_elements()) * size_of(p.y);
  return bytes / kBytesPerUs;
}

double multiply_us(const ConvProblem& p, int multiprocessors, double share) {
  return p.flops() / 2 / (kMultiplyAddsPerUs * 1000 * multiprocessors * share);
}

// How far narrow accesses of a thread stay behind the device's rate, beside the factor of a wide one.
double narrow(int bytes) { return bytes >= 16 ? 0 : bytes >= 8 ? 0.05 : bytes >= 4 ? 0.4 : 1.8; }

// Memory of a streaming kernel, as a multiple of the bytes once: neighbouring strips read the columns between them
// twice, and a filter's planes are read one after the other.
double stream_factor(const KernelConfig& config, const ConvProblem& p) {
  const DirectConfig& direct = config.direct;
  const bool data = p.direction == Direction::kBackwardData;
  const double step = data ? 1 : direct.stride_w;
  const double halo = data ? (direct.filter_w + direct.stride_w - 1) / direct.stride_w - 1 : direct.filter_w - step;
  const double again = std::max(0.0, halo / (direct.sub_w * step)) + 0.3 * static_cast<double>(p.filter[0] - 1);
  const auto x = static_cast<double>(p.x_elements()), y = static_cast<double>(p.y_elements());
  const double share = (data ? y : x) / (x + y);  // of the input that strips share
  const int bytes = direct.vector_in * size_of(data ? p.y : p.x);
  if (stream_has_ring(config) && direct.stride_h > 1)
    return (kRingBytes + kRingHalo * 2 * share * again + narrow(bytes)) * (config.min_blocks > 2   ? 0.93
                                                                           : config.min_blocks < 2 ? 1.02
                                                                                                   : 1);
  const bool plane = p.dims == 2 && direct.stride_h == 1;
  return (plane ? kPlaneBytes : kStreamBytes) + kHaloBytes * 2 * share * again +
         (config.layout == Layout::kChannelsLast ? narrow(bytes) : kApartBytes);
}

// The share of multiply-adds in the instructions of a streaming kernel, counted on one thread and step: 3x3 filters
// with 4 channels x 4 columns have 144 of 270. One thread's share of few channels and columns is mostly something else:
// x3d_dw_108 took 87 us with 2 x 2.
double stream_share(const KernelConfig& config, const ConvProblem& p) {
  const DirectConfig& direct = config.direct;
  const bool data = p.direction == Direction::kBackwardData, weight = p.direction == Direction::kBackwardWeight;
  const double width = direct.vector_in, columns = direct.sub_w, taps = direct.filter_h * direct.filter_w;
  const double reach_h = std::ceil(direct.filter_h / static_cast<double>(direct.stride_h));
  const double reach_w = std::ceil(direct.filter_w / static_cast<double>(direct.stride_w));
  const double inputs =
      data ? columns + reach_w - 1 : direct.stride_h * ((columns - 1) * direct.stride_w + direct.filter_w);
  const double products = taps * width * columns, loads = 5 * (inputs + (weight ? columns : 0));
  const double widened = size_of(p.x) == 2 ? width * (inputs + (weight ? reach_h * columns : 0)) : 0;
  const double weights = weight || direct.register_weights ? 0 : taps * std::ceil(width / 4);
  const double outputs = weight ? 0 : columns * (data ? direct.stride_h * direct.stride_w : 1);
  const double stored = outputs * (1.5 * width + 6) / static_cast<double>(p.filter[0]);
  return kStreamIssue * products / (products + loads + widened + weights + stored + 15);
}

double stream_us(const KernelConfig& config, const ConvProblem& p, int multiprocessors) {
  const StreamCut cut = cut_stream(config, turned(p), multiprocessors);
  const double capacity = static_cast<double>(multiprocessors) * config.min_blocks;
  // A grid that fills its last wave badly leaves multiprocessors idle.
  const double idle = cut.waves * capacity / std::max(1.0, static_cast<double>(cut.grid));
  // Backward weight reads both images again for every plane of taps.
  const double passes = p.direction == Direction::kBackwardWeight ? static_cast<double>(p.filter[0]) : 1;
  const double memory = passes * bytes_us(p) * stream_factor(config, p);
  const double products = multiply_us(p, multiprocessors, stream_share(config, p));
  const bool ahead = stream_has_ring(config) && config.direct.stride_h == 1;
  // Of variants that the terms above do not tell apart, the first of config/kernels/direct_stream.cc.
  const bool weight = p.direction == Direction::kBackwardWeight;
  const double busy = std::max(ahead && !weight ? kAheadBytes * memory : memory, products) * std::clamp(idle, 1.0, 4.0);
  // A thread's first row of a wide filter waits for all its weights.
  constexpr double kTapUs = 0.1;
  const double taps = static_cast<double>(p.filter_taps() / p.filter[0]);
  const double start = config.direct.stride_h == 1 ? kTapUs * std::max(0.0, taps - 9) : 0;
  return busy + start + (ahead ? kAheadUs : 0) + (p.dims == 2 && config.direct.stride_h == 1 ? kPlaneUs : 0);
}

double gather_us(const KernelConfig& config, const ConvProblem& p, int multiprocessors) {
  const int width = config.layout == Layout::kChannelsLast ? config.direct.vector_out : config.direct.sub_w;
  const double rows = static_cast<double>(p.filter[0] * p.filter[1]), pixels = config.direct.sub_w;
  // Every tap reads its pixel again, from the caches, unless threads slide along rows.
  const bool sliding = config.direct.stride_w == 1;
  const double again =
      sliding ? rows * (pixels + static_cast<double>(p.filter[2]) - 1) / pixels : static_cast<double>(p.filter_taps());
  const double memory = bytes_us(p) * (kStreamBytes + narrow(width * size_of(p.y))) * (1 + 0.25 * again);
  const double share = (sliding ? kSlidingShare : kGatherShare) * std::min(1.0, width / 4.0);
  // What runs took of this: 1.7 to 3.9 where every tap reads again, the median of 29; strided backward data as
  // predicted.
  constexpr double kMeasured = 2.3;
  const bool strided = p.direction == Direction::kBackwardData && p.stride[2] > 1;
  const double busy = std::max(memory, multiply_us(p, multiprocessors, share)) * (strided ? 1 : kMeasured);
  // A thread takes taps one after the other: of 25 and 49 each waited for so long. Larger filters were not timed.
  constexpr double kTapUs = 0.24, kTimedTaps = 49;
  return std::max(busy, kTapUs * std::min(kTimedTaps, static_cast<double>(p.filter_taps())));
}

// Rows in shared memory: threads beyond the image's edge wait, and neighbouring blocks read the halo between them
// again.
double gather_tile_us(const KernelConfig& config, const ConvProblem& p, int multiprocessors) {
  const GatherTileCut cut = cut_gather_tile(config, p);
  const Spatial size = p.direction == Direction::kBackwardData ? p.in : p.out();
  const auto columns = static_cast<double>(cut.runs * config.direct.sub_w), rows = static_cast<double>(cut.rows);
  const double covered = columns * static_cast<double>(cut.column_tiles) * rows * static_cast<double>(cut.row_tiles);
  const double threads = static_cast<double>(cut.runs * cut.rows * gather_tile::kLanes) / config.direct.block_size;
  const double used = static_cast<double>(size[1] * size[2]) / covered * threads;
  const double waves = std::ceil(static_cast<double>(cut.grid) / (multiprocessors * config.min_blocks));
  const double filled = static_cast<double>(cut.grid) / (waves * multiprocessors * config.min_blocks);
  const double again =
      (rows + static_cast<double>(p.filter[1]) - 1) / rows * (columns + static_cast<double>(p.filter[2]) - 1) / columns;
  // A row of the filter costs as much as four taps before its first; a block's first rows come before any product.
  const double taps = static_cast<double>(p.filter[2]) / static_cast<double>(p.filter[2] + 4);
  const double memory = bytes_us(p) * (kStreamBytes + 0.25 * (again - 1)) / filled;
  return memory / 2 + std::max(memory, multiply_us(p, multiprocessors, kTileShare * used * filled * taps));
}

// Copies, and the matrix products of whole bands: taps that do not exist are multiplied too.
double banded_us(const KernelConfig& config, const ConvProblem& p, int multiprocessors) {
  const BandedCut cut = cut_banded(config, p, multiprocessors);
  const double rows = cut.steps;
  // Of one multiprocessor, all its blocks together.
  const double blocks = std::ceil(static_cast<double>(cut.grid) / multiprocessors);
  const double products = blocks * rows * banded::depth(config) * banded::step(config) * config.direct.filter_h *
                          (config.direct.block_size / 32.0) * config.direct.vector_in / kMatrixProductsPerUs;
  // WHY: mbv2_144_56 with 32 bytes a pixel and block took a sixth more of its bytes' time than layers with 64.
  const double narrow_blocks = config.direct.filter_h == 3 && banded::pixel_bytes(config) < 64 ? 0.15 : 0;
  const double busy =
      (kBandedBytes + narrow_blocks) * bytes_us(p) * blocks * multiprocessors / static_cast<double>(cut.grid) +
      products;
  // WHY: filters of 5 and more took a twentieth longer with one block of 8 warps than with two of 4.
  const double lone = config.min_blocks == 1 && (config.direct.filter_h > 3 || p.dims == 3) ? 1.08 : 1;
  // On an H200 the copy engine's rows took a twelfth less of this.
  const double bulk = banded::in_bulk(config) ? 0.93 : 1;
  return bulk * lone * busy + 0.01 * config.direct.prefetch - (config.gemm.double_buffer ? 0.1 : 0);
}

// Copies, and the matrix products of whole tiles of positions, of which half is taken to be hidden. Backward weight
// writes its partial sums and reads them again.
double groups_us(const KernelConfig& config, const ConvProblem& p, int multiprocessors) {
  const GroupsCut cut = cut_groups(config, p, multiprocessors);
  const double capacity = static_cast<double>(multiprocessors) * config.min_blocks;
  const double waves = std::ceil(static_cast<double>(cut.grid) / capacity);
  const double rows = cut.steps;
  // Of one tile of positions and one step: every tap meets every channel of the bundle, two chunks at a time.
  double chunk_pairs = 0;
  const int bundle_chunks = groups::bundle(config) / kChunkChannels, filter_w = config.direct.filter_w;
  for (int phase = 0; phase < groups::out_cols(config); ++phase) {
    const int columns = groups::ceil_div(filter_w - phase, groups::out_cols(config));
    chunk_pairs += groups::ceil_div(columns * bundle_chunks, 2);
  }
  const double products = chunk_pairs * config.direct.filter_h * (groups::channels(config) / 8.0) *
                          (config.direct.tile_w / static_cast<double>(kTilePositions));
  double bytes = bytes_us(p);
  if (p.direction == Direction::kBackwardWeight)
    bytes += 8.0 * static_cast<double>(p.w_elements() * (cut.grid / cut.channel_blocks)) / kBytesPerUs;
  // Neighbouring segments read the columns between them twice. On an H200, 16 warps of one block were a little faster
  // than 8 at stride 2.
  const double columns =
      static_cast<double>(groups::window(config, static_cast<int>(cut.columns))) / static_cast<double>(cut.columns);
  const bool lone = config.min_blocks == 1 && config.direct.stride_h == 1 && p.direction != Direction::kBackwardWeight;
  const bool short_rows = config.direct.tile_w < 64 && config.direct.stride_h == 1 && p.dims == 2;
  const double warps = config.direct.block_size > 256 ? 0.93 : lone || short_rows ? 1.08 : 1;
  const double memory = kGroupsBytes * warps * bytes * columns * waves * capacity / static_cast<double>(cut.grid);
  const double multiply = waves * config.min_blocks * rows * products / kMatrixProductsPerUs;
  // In one dimension every step enters another segment; not measured.
  const double entered = p.dims == 1 ? kEnteredSteps : 1;
  return entered * (std::max(memory, multiply) + std::min(memory, multiply) / 2) + 0.01 * config.direct.prefetch;
}

// Planes of a three-dimensional filter come from the L2 again; seen on the kernels of one layer, 108 channels of
// 16x28x28. Backward weight of design stream has counted them as passes.
double planes_factor(const KernelConfig& config, const ConvProblem& problem) {
  if (problem.filter[0] == 1) return 1;
  const bool wide = config.direct.sub_w * config.direct.vector_in > 8;
  if (config.direct.design == DirectDesign::kBanded) return 2.3;
  if (config.direct.design != DirectDesign::kStream) return 1.8;
  if (problem.direction == Direction::kBackwardWeight) return wide ? 0.9 : 0.65;
  return wide ? 2.35 : 1.45;
}

double busy_us(const KernelConfig& config, const ConvProblem& problem, int multiprocessors) {
  switch (config.direct.design) {
    case DirectDesign::kStream:
      return stream_us(config, problem, multiprocessors);
    case DirectDesign::kBanded:
      return banded_us(config, problem, multiprocessors);
    case DirectDesign::kGroups:
      return groups_us(config, problem, multiprocessors);
    case DirectDesign::kStacked:
    case DirectDesign::kGather:
      break;
  }
  if (config.direct.prefetch > 1) return gather_tile_us(config, problem, multiprocessors);
  // WHY: measured once, on one input channel of 32 outputs, whose image is read again for each.
  const double outputs = static_cast<double>(problem.k_per_group()) / static_cast<double>(problem.c_per_group());
  return gather_us(config, problem, multiprocessors) * (1 + std::max(0.0, outputs - 1) / 4);
}

// What a weight gradient takes: two launches and the sums of warps at a block's end, and how much longer than the terms
// above say; fitted to the layers of the depthwise suite and of grouped ResNets.
struct Gradient {
  double start, slope;
};
Gradient gradient_of(const KernelConfig& config) {
  switch (config.direct.design) {
    case DirectDesign::kStream:
      return {10.8, 0.97};
    case DirectDesign::kBanded:
      return {9.3, 1.42};
    case DirectDesign::kGroups:
      return {7.5, groups::bundle(config) > 8 ? 1.45 : 1.05};
    case DirectDesign::kStacked:
    case DirectDesign::kGather:
      break;
  }
  return {kLaunchUs + kFirstDataUs + kSumUs, 1};
}

}  // namespace

double predicted_direct_us(const KernelConfig& config, const ConvProblem& problem, int multiprocessors) {
  if (problem.output_elements() == 0) return kLaunchUs;
  if (config.direct.design == DirectDesign::kStacked) return predicted_stacked_us(config, problem, multiprocessors);
  const double busy = busy_us(config, problem, multiprocessors) * planes_factor(config, problem);
  if (problem.direction == Direction::kBackwardWeight) {
    const Gradient gradient = gradient_of(config);
    return gradient.start + gradient.slope * busy;
  }
  return kLaunchUs + kFirstDataUs + (config.direct.design == DirectDesign::kBanded ? kBandedUs : 0) + busy;
}

}  // namespace wt
