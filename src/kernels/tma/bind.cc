// SPDX-License-Identifier: Apache-2.0
// kernels/tma/bind.cc - launches of forward and backward data: tensor maps, regions and tiles. Kinds tma_fold and
// tcgen05 have them too.
#include "kernels/tma/bind.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/check.h"
#include "config/fields.h"
#include "kernels/beside/device/transpose_arguments.h"
#include "kernels/beside/split_sum.h"
#include "kernels/beside/stream_sum.h"
#include "kernels/beside/whole_rows.h"
#include "kernels/shared/cache_policy.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/split.h"
#include "kernels/shared/tile_runs.h"
#include "kernels/shared/tma_maps.h"
#include "kernels/shared/tma_regions.h"
#include "kernels/shared/warm.h"
#include "kernels/tcgen05/device/layout.h"
#include "kernels/tcgen05/kind.h"
#include "kernels/tma/cost.h"
#include "kernels/tma/device/arguments.h"
#include "kernels/tma/device/layout.h"
#include "kernels/tma/kind.h"
#include "kernels/tma/seen.h"
#include "kernels/tma_fold/kind.h"
#include "problem/patch_view.h"

namespace wt {
namespace {

// The image that operand A walks over: x forward, dy backward.
Image image_of(const ConvProblem& problem, const Lattice& seen) {
  if (problem.direction == Direction::kForward) return {problem.x, problem.c, problem.in, seen};
  return {problem.y, problem.k, problem.out(), seen};
}

constexpr int64_t kMapAlignment = 256;  // of what a map starts at; 16 bytes suffice

// Numbers from one row of the turned filter to the next: maps need whole 16 bytes.
int64_t turned_pitch(const ConvProblem& problem) {
  const int64_t bytes = problem.k_per_group() * size_of(problem.w);
  return whole_row_bytes(bytes) / size_of(problem.w);
}
int64_t turned_elements(const ConvProblem& problem) {
  return problem.g * pixels(problem.filter) * problem.c_per_group() * turned_pitch(problem);
}

// (k, taps c) of each group becomes (taps c, k) in the workspace.
Launch turn_filter_launch(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device,
                          uint64_t at) {
  TransposeArguments arguments{};
  arguments.rows = problem.k_per_group();
  arguments.columns = pixels(problem.filter) * problem.c_per_group();
  arguments.pitch = turned_pitch(problem);
  arguments.tiles_rows = ceil_div(arguments.rows, transpose_edge(size_of(problem.w)));
  arguments.tiles_columns = ceil_div(arguments.columns, transpose_edge(size_of(problem.w)));
  arguments.tiles = problem.g * arguments.tiles_rows * arguments.tiles_columns;
  Launch launch;
  launch.kernel = name_of(config) + kTurnSuffix;
  launch.shape.threads = kTransposeThreads;
  launch.shape.shared_bytes = static_cast<uint32_t>(transpose_shared_bytes(size_of(problem.w)));
  launch.shape.grid[0] = static_cast<uint32_t>(std::min<int64_t>(arguments.tiles, int64_t{device.multiprocessors} * 8));
  set_params(launch, arguments);
  launch.pointers.push_back({offsetof(TransposeArguments, in), Tensor::kW, 0});
  launch.pointers.push_back({offsetof(TransposeArguments, out), Tensor::kWorkspace, at});
  return launch;
}

// The stages that a tile of the region sums over.
template <int kRegions>
int64_t stages_of_tile(const KernelConfig& config, const TmaArguments<kRegions>& arguments, const TmaRegion& region) {
  const TapWalk& taps = region.taps;
  const int64_t boxes = int64_t{taps.count[0]} * taps.count[1] * taps.count[2] * arguments.depth_blocks;
  return ceil_div(boxes, tma_layout::boxes(config));
}

// Tiles by how long they take, as kernels/tma/device/schedule.h counts them: columns in bands, regions after each
// other.
template <int kRegions>
std::vector<TileClass> tile_classes(const KernelConfig& config, const TmaArguments<kRegions>& arguments) {
  // What follows the products, in stages; consumers in turns hide it.
  const int64_t output = config.gemm.ping_pong ? 0 : 3;
  std::vector<TileClass> classes;
  int64_t next = 0;
  for (i32 group = 0; group < arguments.groups; ++group) {
    for (int64_t column = 0; column < arguments.tiles_n; column += config.gemm.block_swizzle) {
      const int64_t wide = std::min<int64_t>(config.gemm.block_swizzle, arguments.tiles_n - column);
      for (i32 i = 0; i < arguments.region_count; ++i) {
        const TmaRegion& region = arguments.regions[i];
        const int64_t end = i + 1 < arguments.region_count ? arguments.regions[i + 1].first_tile : arguments.tiles_m;
        classes.push_back({next, (end - region.first_tile) * wide, stages_of_tile(config, arguments, region) + output});
        next += classes.back().count;
      }
    }
  }
  return classes;
}

template <int kRegions>
void set_zeros(TmaArguments<kRegions>& arguments, const KernelConfig& config, const ConvProblem& problem,
               int64_t image_units) {
  const int64_t units = problem.n * image_units, pixel_bytes = problem.c * size_of(problem.output_type());
  WT_CHECK(units < int64_t{1} << 30, "{} sets of pixels are more than the kernels count", units);
  arguments.zero_units = static_cast<i32>(units);
  arguments.image_zero_units = static_cast<i32>(image_units);
  arguments.zero_vectors = make_divider(pixel_bytes / tma_layout::zero_bytes(config, pixel_bytes));
}

template <int kRegions>
void set_all_params(const KernelConfig& config, const TmaArguments<kRegions>& arguments, Launch& launch) {
  if (tma_layout::copies_residual(config)) {
    set_params(launch, TmaResidualArguments<kRegions>{arguments, {}, {}});
  } else {
    set_params(launch, arguments);
  }
}

void set_stream(Launch& launch, const TmaArguments<1>& arguments, const StreamShares& cut) {
  TmaStreamArguments all{};
  static_cast<TmaArguments<1>&>(all) = arguments;
  all.stream = cut;
  // The workspace of the pieces, behind all that the other kernels have.
  if (cut.divides()) launch.pointers.push_back({sizeof(TmaResidualArguments<1>), Tensor::kWorkspace, 0});
  set_params(launch, all);
}

template <int kRegions>
Binding bind_list(const KernelConfig& config, const View& seen, const DeviceInfo& device, int splits,
                  std::vector<HostRegion> regions, const PatchRuns& runs) {
  using Arguments = TmaArguments<kRegions>;
  const ConvProblem& problem = seen.problem();
  const GemmConfig& gemm = config.gemm;
  const bool forward = problem.direction == Direction::kForward, raw = tma_layout::raw_patches(config);
  WT_CHECK(regions.size() <= kRegions, "{} regions in room for {}", regions.size(), kRegions);

  Arguments arguments{};
  arguments.groups = static_cast<i32>(problem.g);
  arguments.depth = static_cast<i32>(forward ? problem.c_per_group() : problem.k_per_group());
  const RawPatches patches = raw ? raw_patches(problem) : RawPatches{1, 1, arguments.depth};
  arguments.depth = static_cast<i32>(patches.depth);
  arguments.depth_blocks = static_cast<i32>(ceil_div(arguments.depth, tma_layout::box_k(config)));
  arguments.box_channels = tma_layout::copied_depth(config, arguments.depth);
  const bool tensor = tma_layout::on_tensor(config);
  int64_t most_rows = 0;
  for (const HostRegion& region : regions) most_rows = std::max<int64_t>(most_rows, region.region.rows);
  arguments.copied_rows = tensor ? tcgen05_layout::copied_rows(config, most_rows) : 0;
  const bool few_rows = tensor && arguments.copied_rows < tcgen05_layout::kRows;
  arguments.stage_bytes =
      tma_layout::boxes(config) * arguments.box_channels *
      ((few_rows ? arguments.copied_rows : gemm.tile.m) * size_of(operand_a(config)) +
       tma_layout::tap_columns(config) * tma_layout::b_copied_bytes(config) / tma_layout::box_k(config));
  arguments.columns = static_cast<i32>(forward ? problem.k_per_group() : problem.c_per_group());
  arguments.group_filter = static_cast<i32>(tma_layout::turns_filter(config)    ? pixels(problem.filter)
                                            : tma_layout::b_is_mn_major(config) ? arguments.depth
                                                                                : arguments.columns);
  if (raw) arguments.group_filter = static_cast<i32>(problem.k / patches.step);  // for a number before a patch
  // Blocks that share operands take as many tiles each, so that some may lie past the edge.
  arguments.tiles_n = ceil_div(arguments.columns, gemm.tile.n * gemm.cluster_n) * gemm.cluster_n;
  arguments.policy = image_policy(problem, device);
  const bool parts = gemm.split_k == SplitK::kWorkspace, cluster_sum = gemm.split_k == SplitK::kCluster;
  arguments.splits =
      static_cast<i32>(parts || cluster_sum ? (tensor ? tcgen05_kind::planned_splits(config, seen, splits)
                                                      : tma_model::planned_splits(config, seen, splits))
                                            : 1);
  arguments.run = make_divider(runs.length);
  arguments.run_gap = runs.gap;
  arguments.part_elements = forward ? problem.y_elements() : problem.x_elements();
  arguments.epilogue =
      parts ? epilogue_arguments(Epilogue{}) : epilogue_arguments(problem, config.gemm.groups_per_tile);

  Launch launch;
  launch.kernel = name_of(config);
  const Tensor a = forward ? Tensor::kX : Tensor::kY, out = output_tensor(problem.direction);
  const int box_rows = few_rows ? arguments.copied_rows : tma_layout::a_box_rows(config);
  int64_t image_zero_units = 0;
  for (size_t i = 0; i < regions.size(); ++i) {
    TmaRegion& region = regions[i].region;
    if (tma_layout::writes_zeros(config) && !regions[i].has_taps) {  // these come last
      region.first_tile = image_zero_units;
      region.rows /= std::max<int64_t>(1, problem.n);  // of one image
      image_zero_units += ceil_div(region.rows, tma_layout::kZeroRows);
      WT_CHECK(region.rows < int64_t{1} << 31, "{} pixels are more than the kernels count", region.rows);
      arguments.regions[i] = region;
      ++arguments.zero_regions;
      continue;
    }
    region.first_tile = arguments.tiles_m;
    arguments.tiles_m += ceil_div(region.rows, tma_layout::tile_rows(config) * gemm.cluster_m) * gemm.cluster_m;
    arguments.regions[i] = region;
    ++arguments.region_count;
    if (!regions[i].has_taps) continue;
    const Image image = image_of(problem, regions[i].seen);
    TensorMapSpec map;
    if (raw) {
      map = dense_map(image.type, {image.size[2] * image.channels, image.size[1], problem.n}, gemm.swizzle_a);
      map.box = {static_cast<uint32_t>(arguments.box_channels), 1, static_cast<uint32_t>(gemm.tile.m)};
    } else if (gemm.loader_a == Loader::kTmaTiled) {
      map = dense_map(image.type, {image.channels, region.rows}, gemm.swizzle_a);
      map.box = {static_cast<uint32_t>(arguments.box_channels), static_cast<uint32_t>(box_rows)};
    } else {
      map = im2col_map(problem, image, Walk{region.size, region.start, region.step}, config.gemm.swizzle_a,
                       arguments.box_channels, box_rows);
    }
    const size_t offset = offsetof(Arguments, regions) + i * sizeof(TmaRegion) + offsetof(TmaRegion, a);
    launch.maps.push_back({static_cast<uint32_t>(offset), a, first_byte(image), map});
  }

  const int64_t zero_units = problem.n * image_zero_units;
  if (zero_units > 0) set_zeros(arguments, config, problem, image_zero_units);

  // Copies in the workspace are in the L2 already.
  const bool as_it_lies =
      !tma_layout::turns_filter(config) && !tma_layout::copies_rows(config) && gemm.groups_per_tile == 1;
  arguments.filter_policy = as_it_lies ? filter_policy(problem, arguments.tiles_m, device) : kCacheNormal;

  const int64_t tiles = arguments.tiles_m * arguments.tiles_n * problem.g;
  const bool stream = tma_layout::streams(config);
  const StreamShares cut = stream ? planned_stream(tiles, stages_of_tile(config, arguments, arguments.regions[0]),
                                                   int64_t{device.multiprocessors} * config.min_blocks)
                                  : StreamShares{};

  // A filter that is turned round lies in the workspace, behind the parts of sums.
  const bool turned = tma_layout::turns_filter(config);
  const int64_t parts_bytes = parts    ? arguments.splits * arguments.part_elements * int64_t{sizeof(float)}
                              : stream ? stream_bytes(config, cut)
                                       : 0;
  const auto filter_at = static_cast<uint64_t>(ceil_div(parts_bytes, kMapAlignment) * kMapAlignment);
  TensorMapSpec filter = filter_map(config, problem);
  if (raw) {
    filter.size[0] = static_cast<uint64_t>(patches.depth);
    filter.size[2] *= static_cast<uint64_t>(patches.shifts);
  }
  filter.box[tma_layout::b_is_mn_major(config) ? 2 : 0] = static_cast<uint32_t>(arguments.box_channels);
  launch.maps.push_back(
      {offsetof(Arguments, b), turned ? Tensor::kWorkspace : Tensor::kW, turned ? filter_at : 0, filter});
  if (const int tail = tma_layout::tail_columns(config)) {
    filter.box[0] = static_cast<uint32_t>(tail);
    launch.maps.push_back({offsetof(Arguments, b_tail), Tensor::kW, 0, filter});
  }

  if (gemm.staging == Staging::kTmaStore) {
    const int64_t channels = forward ? problem.k : problem.c;
    TensorMapSpec store = dense_map(problem.output_type(), {channels, regions.front().region.rows}, 128);
    const int wide = tma_layout::out_span(config);
    store.box = {static_cast<uint32_t>(wide), static_cast<uint32_t>(tma_layout::crosswise(config) ? gemm.tile.m : 64)};
    if (raw) {
      store = dense_map(problem.output_type(), {channels, problem.in[2], problem.n}, 128);
      store.box = {64, 1, 64};
    }
    constexpr uint32_t kResidualAt = sizeof(Arguments);
    const bool residual = tma_layout::copies_residual(config);
    if (gemm.tile.n >= wide) {
      launch.maps.push_back({offsetof(Arguments, out), out, 0, store});
      if (residual) launch.maps.push_back({kResidualAt, Tensor::kResidual, 0, store});
    }
    if (gemm.tile.n % wide != 0) {
      store.box[0] = static_cast<uint32_t>(gemm.tile.n % wide);
      launch.maps.push_back({offsetof(Arguments, out_tail), out, 0, store});
      if (residual) launch.maps.push_back({kResidualAt + sizeof(TensorMap), Tensor::kResidual, 0, store});
    }
  }
  launch.pointers.push_back({offsetof(Arguments, y), parts ? Tensor::kWorkspace : out, 0});
  if (!parts) bind_epilogue(launch, problem, offsetof(Arguments, epilogue));
  if (as_it_lies) arguments.warm = bind_warm(launch, problem, offsetof(Arguments, warm));

  Binding binding;
  binding.parts = arguments.splits;
  binding.stream = for_people(cut);
  if (tiles + zero_units == 0) return binding;
  const int members =
      cluster_sum ? arguments.splits : tma_layout::sharing_blocks(config) * tma_layout::tile_blocks(config);
  const int64_t at_once = members > 1 ? resident_clusters(device.multiprocessors, members)
                                      : int64_t{device.multiprocessors} * config.min_blocks;
  WT_CHECK(tiles * arguments.splits < int64_t{1} << 30, "{} tiles are more than the kernels count", tiles);
  const int64_t parts_of_tiles = tiles * (parts ? arguments.splits : 1) / tma_layout::sharing_blocks(config);
  const int64_t work = std::max(parts_of_tiles, ceil_div(zero_units, tma_layout::kZeroWarps));
  // Launch control hands out the clusters of a grid that has one for each tile.
  const int64_t clusters = tensor && tcgen05_layout::takes_clusters(config) ? work : std::min(work, at_once);
  launch.shape.grid[0] = stream ? cut.blocks : static_cast<uint32_t>(clusters * members);
  launch.shape.cluster[0] = static_cast<uint32_t>(members);
  if (tma_layout::lists_work(config)) {
    const std::vector<TileRun> list = balanced_runs(tile_classes(config, arguments), launch.shape.grid[0]);
    std::copy(list.begin(), list.end(), arguments.tile_runs);
    arguments.tile_run_count = static_cast<i32>(list.size());
  }
  launch.shape.threads = static_cast<uint32_t>(tma_layout::threads(config));
  launch.shape.shared_bytes =
      static_cast<uint32_t>(tensor ? tcgen05_layout::shared_bytes(config) : tma_layout::shared_bytes(config));
  std::optional<Launch> stream_sum;
  if (stream) {
    if constexpr (kRegions == 1) set_stream(launch, arguments, cut);
    stream_sum = stream_sum_launch(config, launch, cut);
  } else {
    set_all_params(config, arguments, launch);
  }
  if (turned) {
    binding.launches.push_back(turn_filter_launch(config, problem, device, filter_at));
    launch.shape.programmatic = !tensor;  // kernels/tma/device/roles.h waits
  }
  binding.launches.push_back(std::move(launch));
  if (parts) binding.launches.push_back(split_sum_launch(config, problem, device, arguments.splits));
  if (stream_sum) binding.launches.push_back(std::move(*stream_sum));
  binding.workspace_bytes =
      turned ? static_cast<int64_t>(filter_at) + turned_elements(problem) * size_of(problem.w) : parts_bytes;
  return binding;
}

}  // namespace

TensorMapSpec filter_map(const KernelConfig& config, const ConvProblem& problem) {
  if (tma_layout::turns_filter(config)) {
    TensorMapSpec turned =
        dense_map(problem.w, {problem.k_per_group(), problem.c_per_group(), pixels(problem.filter) * problem.g},
                  config.gemm.swizzle_a);
    turned.stride[1] = static_cast<uint64_t>(turned_pitch(problem) * size_of(problem.w));
    turned.stride[2] = turned.stride[1] * static_cast<uint64_t>(problem.c_per_group());
    turned.box = {static_cast<uint32_t>(tma_layout::box_k(config)),
                  static_cast<uint32_t>(tma_layout::b_box_rows(config)), 1};
    return turned;
  }
  const bool across = tma_layout::b_is_mn_major(config);
  TensorMapSpec filter = dense_map(problem.w, {problem.c_per_group(), pixels(problem.filter), problem.k},
                                   across ? 128 : config.gemm.swizzle_a);
  const auto box = static_cast<uint32_t>(tma_layout::box_k(config));
  if (across) {
    filter.box = {static_cast<uint32_t>(tma_layout::copied_columns(config)), 1, box};
  } else {
    filter.box = {box, 1, static_cast<uint32_t>(tma_layout::b_box_rows(config))};
  }
  return filter;
}

Binding bind_regions(const KernelConfig& config, const View& seen, const DeviceInfo& device, int splits) {
  std::vector<HostRegion> regions = tma_regions(config, seen.problem(), seen.asked());
  const bool patches = tma_layout::raw_patches(config) || tma_layout::stores_patches(config);
  const PatchRuns runs = patches ? patch_runs(seen.asked()) : PatchRuns{1, 0};
  if (tma_layout::regions(config) == 1) return bind_list<1>(config, seen, device, splits, std::move(regions), runs);
  return bind_list<tma_layout::kMaxRegions>(config, seen, device, splits, std::move(regions), runs);
}

Binding tma_kind::bind(const KernelConfig& config, const View& asked, const DeviceInfo& device, int splits) {
  return bind_seen(config, asked, device, [&](const View& seen) { return bind_regions(config, seen, device, splits); });
}

Binding tma_fold_kind::bind(const KernelConfig& config, const View& seen, const DeviceInfo& device, int splits) {
  return bind_regions(config, seen, device, splits);
}

}  // namespace wt
