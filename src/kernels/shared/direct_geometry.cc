// SPDX-License-Identifier: Apache-2.0
#include "kernels/shared/direct_geometry.h"

#include <algorithm>
#include <utility>

#include "config/targets.h"
#include "kernels/depthwise_banded/device/shape.h"
#include "kernels/depthwise_gather/device/tile_shape.h"
#include "kernels/depthwise_stream/device/shape.h"
#include "kernels/groups/device/shape.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/tma_maps.h"
#include "problem/history.h"

namespace wt {
namespace {

// What a strip costs beside its rows, in rows: weights, first loads, coordinates.
constexpr int64_t kStripRows = 3;
constexpr int64_t kMostTiles = 4096;  // that are tried
constexpr int64_t kWarpLanes = 32;
constexpr int64_t kMostRuns = 8;       // of a row of gather_tile.h
constexpr int kTileBytes = 100 << 10;  // of its shared memory: two blocks per multiprocessor

// The walked rows and columns of the output, in steps of the stride for backward data.
struct Walked {
  int64_t rows, columns, planes, halo;
};

Walked walked(const KernelConfig& config, const ConvProblem& p) {
  const int64_t halo = ceil_div(config.fixed.filter_h, config.fixed.stride_h) - 1;
  if (p.direction != Direction::kBackwardData) return {p.out()[1], p.out()[2], p.out()[0], halo};
  const auto steps = [&](size_t dim, int64_t stride) {
    return (p.in[dim] - 1 + p.pad_lower[dim]) / stride - p.pad_lower[dim] / stride + 1;
  };
  return {steps(1, config.fixed.stride_h), steps(2, config.fixed.stride_w), p.in[0], halo};
}

// What output rows [first, stop) of one image cost, in steps.
struct WalkCost {
  int64_t halo;            // rows of the filter beyond the first
  int64_t pad = 0, count;  // padding before the rows of the input; these
  bool clips = true;       // the walk leaves out rows of padding before the image
  bool gradient = false;   // and after it, and multiplies none
  bool inside = false;     // the same forward: what is in flight after the last row is only written

  double operator()(int64_t first, int64_t stop) const {
    const int64_t last = stop - 1 + halo;
    if (!clips) return static_cast<double>(last - first + 1);
    // WHY a third: a row of dy that is only staged was about a third of a step; for rows that are only written, a
    // guess.
    constexpr double kStagedRow = 0.35;
    if (!gradient) {
      const int64_t end = inside ? std::clamp(pad + count - 1, stop - 1, last) : last;
      return static_cast<double>(end - std::max(first, std::min(pad, first + halo)) + 1) +
             kStagedRow * static_cast<double>(last - end);
    }
    const int64_t from = std::max(first, pad), to = std::min(last, pad + count - 1);
    return static_cast<double>(std::max<int64_t>(0, to - from + 1)) +
           kStagedRow * static_cast<double>(std::max<int64_t>(0, std::min(stop, pad) - first));
  }
};

// The longest walk where blocks take `share` rows each: a halo for every image that a block enters.
double longest_walk(int64_t rows, int64_t height, const WalkCost& cost, int64_t share) {
  double longest = 0;
  for (int64_t first = 0; first < rows; first += share) {
    const int64_t end = std::min(first + share, rows), images = (end - 1) / height - first / height;
    const int64_t begin = first % height, stop = (end - 1) % height + 1;
    longest = std::max(
        longest, images == 0 ? cost(begin, stop)
                             : cost(begin, height) + cost(0, stop) + static_cast<double>(images - 1) * cost(0, height));
  }
  return longest;
}

// The blocks of one channel block share its rows about evenly, cut where images end if that makes the longest walk
// shorter; neighbouring channel blocks walk in step.
template <class Cut>
void spread_rows(Cut& cut, int64_t height, const WalkCost& cost, int64_t capacity) {
  const int64_t ranges = std::clamp<int64_t>(capacity / cut.channel_blocks, 1, std::max<int64_t>(1, cut.rows));
  const int64_t even = std::max<int64_t>(1, ceil_div(cut.rows, ranges));
  cut.rows_per_block = even;
  if (cut.rows > 0) {
    const auto next = [&](int64_t step) { return ceil_div(even, step) * step; };
    int64_t divisor = even;
    while (divisor < height && height % divisor != 0) ++divisor;
    double least = longest_walk(cut.rows, height, cost, even);
    for (const int64_t share : {divisor, next(std::max<int64_t>(1, height / 2)), next(height)}) {
      const double steps = longest_walk(cut.rows, height, cost, share);
      if (steps >= least) continue;
      least = steps;
      cut.rows_per_block = share;
    }
    cut.range_rows = cut.rows_per_block;
    // The same number of blocks for every group, none of which enters a second one.
    const int64_t tiles = std::min(height, capacity / (cut.channel_blocks * cut.groups));
    if (const int64_t share = tiles > 0 ? ceil_div(height, tiles) : 0; share > 0) {
      const double steps = longest_walk(height, height, cost, share);
      if (steps < least) {
        least = steps;
        cut.rows_per_block = share;
        cut.range_rows = height;
        cut.range_blocks = ceil_div(height, share);
      }
    }
    cut.steps = least;
  }
  cut.grid = std::max<int64_t>(1, ceil_div(cut.rows, cut.range_rows)) * cut.range_blocks * cut.channel_blocks;
}

}  // namespace

ConvProblem turned(const ConvProblem& problem) {
  ConvProblem p = problem;
  if (p.dims != 1) return p;
  for (Spatial* value : {&p.in, &p.filter, &p.stride, &p.dilation, &p.pad_lower, &p.pad_upper})
    std::swap((*value)[1], (*value)[2]);
  return p;
}

DirectImage direct_image(const ConvProblem& p, bool is_output) {
  const TensorStrides strides = tensor_strides(p, is_output ? Tensor::kY : Tensor::kX);
  const Spatial size = is_output ? p.out() : p.in;
  DirectImage image{};
  image.n = strides.n;
  image.channel = strides.channel;
  for (size_t i = 0; i < 3; ++i) {
    image.size[i] = static_cast<i32>(size[i]);
    image.spatial[i] = strides.spatial[i];
  }
  return image;
}

DirectHistory direct_history(const ConvProblem& problem) {
  const Strides strides = history_strides(problem);
  DirectHistory history{};
  history.length = static_cast<i32>(problem.history_length());
  history.n = strides.outer;
  history.channel = strides.channel;
  history.pixel = strides.spatial[2];
  return history;
}

namespace {

// What a block's piece of a pixel costs more than its bytes: parts of sectors at its ends, and lines that it shares
// with other blocks. A study on an H200: keep at least 128 bytes of a pixel in one block.
double piece_cost(int64_t bytes, int64_t pixel_bytes) {
  constexpr int64_t kSector = 32, kLine = 128;
  if (bytes >= pixel_bytes) return 1;
  const bool aligned = bytes % kSector == 0 && pixel_bytes % kSector == 0;
  const double sectors =
      aligned ? 1 : static_cast<double>((ceil_div(bytes, kSector) + 1) * kSector) / static_cast<double>(bytes);
  return std::min(1.3, sectors) +
         (bytes < kLine ? 0.2 * (static_cast<double>(kLine) / static_cast<double>(bytes) - 1) : 0);
}

}  // namespace

DirectBlocks channel_blocks(int64_t channels, int vector, int threads, int max_lanes, int element_bytes) {
  const int64_t vectors = ceil_div(channels, vector);
  int64_t best = 1;
  double least = 1e300;
  for (int64_t lanes = 1; lanes <= std::min<int64_t>(vectors, max_lanes); ++lanes) {
    if (lanes > kWarpLanes && lanes < vectors) continue;  // longer pieces than a warp's gain nothing
    // Blocks that one strip takes: fewer where lanes divide both the channels and the block well.
    const double blocks = static_cast<double>(ceil_div(vectors, lanes)) / static_cast<double>(threads / lanes) *
                          piece_cost(lanes * vector * element_bytes, channels * element_bytes);
    if (blocks > least * 1.0001) continue;
    least = std::min(least, blocks);
    best = lanes;
  }
  return {static_cast<i32>(best), static_cast<i32>(ceil_div(vectors, best))};
}

namespace {

// The rows of a strip where a block has `lanes` channel vectors.
void cut_rows(const KernelConfig& config, const ConvProblem& p, const Walked& all, int64_t lanes, int64_t capacity,
              StreamCut& cut) {
  const bool weight = p.direction == Direction::kBackwardWeight;
  const int64_t vectors = ceil_div(p.c, config.direct.vector_in), slots = config.direct.block_size / lanes;
  const int64_t channel_blocks = ceil_div(vectors, lanes), fixed = channel_blocks * (weight ? p.filter[0] : 1);
  const int64_t most_splits = std::max<int64_t>(1, capacity / fixed);
  const double piece = p.layout == Layout::kChannelsLast
                           ? piece_cost(lanes * config.direct.vector_in * size_of(p.x), p.c * size_of(p.x))
                           : 1;
  for (int64_t tiles = 1; tiles <= std::min(all.rows, kMostTiles); ++tiles) {
    const int64_t rows = ceil_div(all.rows, tiles);
    const int64_t row_tiles = ceil_div(all.rows, rows);
    if (row_tiles != tiles) continue;
    const int64_t strips = p.n * all.planes * row_tiles * cut.column_tiles;
    const int64_t groups = std::max<int64_t>(1, ceil_div(strips, slots));
    int64_t splits = groups, rounds = 1;
    if (weight) {
      rounds = ceil_div(groups, std::min(groups, most_splits));
      splits = ceil_div(groups, rounds);
    }
    const int64_t waves = ceil_div(splits * fixed, capacity);
    // Among equal walks, those that occupy less.
    const double filled = static_cast<double>(splits * fixed) / static_cast<double>(waves * capacity);
    const double steps =
        static_cast<double>(waves * rounds * (rows + all.halo + kStripRows)) * piece * (1 + 0.05 * filled);
    if (steps >= cut.row_steps) continue;
    cut.row_steps = steps;
    cut.blocks = {static_cast<i32>(lanes), static_cast<i32>(channel_blocks)};
    cut.rows = rows;
    cut.row_tiles = row_tiles;
    cut.strips = strips;
    cut.splits = splits;
    cut.grid = splits * fixed;
    cut.waves = static_cast<double>(waves);
  }
}

}  // namespace

StreamCut cut_stream(const KernelConfig& config, const ConvProblem& p, int multiprocessors) {
  const DirectConfig& direct = config.direct;
  const Walked all = walked(config, p);
  const int64_t vectors = ceil_div(p.c, direct.vector_in), capacity = int64_t{multiprocessors} * config.min_blocks;
  StreamCut cut;
  cut.column_tiles = ceil_div(all.columns, direct.sub_w);
  cut.row_steps = 1e300;
  const int64_t most = p.layout == Layout::kChannelsLast ? std::min<int64_t>(vectors, kMostStreamLanes) : 1;
  // From the longest pieces of a pixel on; the first of equals stays. What wastes a fifth of the threads is not tried.
  for (int64_t lanes = most; lanes >= 1; --lanes) {
    if (lanes > kWarpLanes && lanes < vectors) continue;
    const int64_t threads = direct.block_size / lanes * lanes;
    const int64_t used = vectors * threads, held = ceil_div(vectors, lanes) * lanes * int64_t{direct.block_size};
    if (lanes > 1 && used * 5 < held * 4) continue;
    cut_rows(config, p, all, lanes, capacity, cut);
  }
  return cut;
}

BandedCut cut_banded(const KernelConfig& config, const ConvProblem& p, int multiprocessors) {
  const Spatial size = p.direction == Direction::kBackwardData ? p.in : p.out();
  BandedCut cut;
  const int64_t blocks = ceil_div(size[2], kBandedPixels);
  cut.segment_tiles = ceil_div(blocks, kBandedRows);
  cut.column_blocks = std::min<int64_t>(blocks, kBandedRows);
  while (cut.block_rows < cut.column_blocks) cut.block_rows *= 2;
  cut.group_segments = kBandedRows / cut.block_rows;
  cut.segments = p.n * size[0] * cut.segment_tiles;
  cut.groups = ceil_div(cut.segments, cut.group_segments);
  cut.channel_blocks = ceil_div(p.c, banded::channels(config));
  cut.rows = cut.groups * size[1];
  const bool data = p.direction == Direction::kBackwardData;
  const int64_t step = banded::step(config), halo = banded::phase_rows(config) - 1;
  const int64_t pad = data ? halo - p.pad_lower[1] : p.pad_lower[1], height = data ? p.out()[1] : p.in[1];
  const int64_t first = step == 1 ? pad : pad / step;
  const WalkCost cost{.halo = halo,
                      .pad = first,
                      .count = step == 1 ? height : (pad + height - 1) / step - first + 1,
                      .gradient = p.direction == Direction::kBackwardWeight,
                      .inside = banded::in_bulk(config)};
  // WHY: rows of narrow images with their windows may leave room for fewer blocks than registers do.
  constexpr int64_t kReserved = 1 << 10;
  const int64_t shared = info_of(config.target).shared_per_block;
  const int64_t bytes =
      banded::shared_bytes(config, static_cast<int>(cut.column_blocks), static_cast<int>(cut.group_segments));
  cut.resident = std::clamp<int64_t>(shared / (bytes + kReserved), 1, config.min_blocks);
  spread_rows(cut, size[1], cost, multiprocessors * cut.resident);
  return cut;
}

GatherTileCut cut_gather_tile(const KernelConfig& config, const ConvProblem& p) {
  const Spatial size = p.direction == Direction::kBackwardData ? p.in : p.out();
  const int64_t most = config.direct.block_size / gather_tile::kLanes, all = ceil_div(size[2], config.direct.sub_w);
  GatherTileCut cut;
  cut.column_tiles = ceil_div(all, kMostRuns);
  cut.runs = ceil_div(all, cut.column_tiles);
  cut.rows = std::min(size[1], most / cut.runs);
  const auto bytes = [&] {
    return gather_tile::shared_bytes(config, static_cast<int>(cut.rows), static_cast<int>(cut.runs),
                                     static_cast<int>(p.filter[2]));
  };
  while (cut.rows > 1 && bytes() > kTileBytes) cut.rows = ceil_div(cut.rows, 2);
  // A single row of a very wide filter: fewer columns, down to one run, which the constraint table has room for.
  while (cut.runs > 1 && bytes() > kTileBytes) {
    cut.runs = ceil_div(cut.runs, 2);
    cut.column_tiles = ceil_div(all, cut.runs);
  }
  cut.row_tiles = ceil_div(size[1], cut.rows);
  cut.channel_blocks = ceil_div(p.c, int64_t{gather_tile::kLanes} * config.direct.vector_out);
  cut.grid = cut.channel_blocks * cut.column_tiles * cut.row_tiles * p.n;
  return cut;
}

GroupsCut cut_groups(const KernelConfig& config, const ConvProblem& p, int multiprocessors) {
  const Walked all = walked(config, p);
  GroupsCut cut;
  cut.height = all.rows;
  cut.segment_tiles = std::max<int64_t>(1, ceil_div(all.columns, config.direct.tile_w));
  cut.columns = std::max<int64_t>(1, ceil_div(all.columns, cut.segment_tiles));
  cut.segments = p.n * cut.segment_tiles;
  cut.group_segments =
      std::min<int64_t>({config.direct.tile_w / cut.columns,
                         groups::most_positions(config) / groups::window(config, static_cast<int>(cut.columns)),
                         std::max<int64_t>(1, cut.segments)});
  cut.groups = ceil_div(cut.segments, cut.group_segments);
  cut.channel_blocks = ceil_div(p.c, groups::channels(config));
  cut.rows = cut.groups * cut.height;
  spread_rows(cut, cut.height, {.halo = all.halo, .count = 0, .clips = false},
              int64_t{multiprocessors} * config.min_blocks);
  return cut;
}

}  // namespace wt
