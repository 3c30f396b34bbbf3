// SPDX-License-Identifier: Apache-2.0
#include "kernels/shared/tma_regions.h"

#include <algorithm>
#include <array>

#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/tma_maps.h"
#include "kernels/tma/device/layout.h"
#include "problem/gemm_view.h"
#include "problem/image_line.h"
#include "problem/tap_regions.h"

namespace wt {
namespace {

void set_output(TmaRegion& region, const TensorStrides& strides) {
  region.out_stride[0] = strides.n;
  for (int i = 0; i < 3; ++i) region.out_stride[i + 1] = strides.spatial[i];
}

// Filter taps lie one after the other, w fastest.
std::array<int64_t, 3> tap_strides(const ConvProblem& problem) {
  return {problem.filter[1] * problem.filter[2], problem.filter[2], 1};
}

std::vector<HostRegion> forward_regions(const ConvProblem& problem) {
  HostRegion host;
  TmaRegion& region = host.region;
  const std::array<int64_t, 3> taps = tap_strides(problem);
  for (size_t i = 0; i < 3; ++i) {
    const ImageLine line = image_line(problem, static_cast<int>(i));
    host.seen.first[i] = line.first;
    host.seen.apart[i] = line.apart;
    region.size[i] = static_cast<i32>(problem.out()[i]);
    region.start[i] = static_cast<i32>(line.start);
    region.step[i] = static_cast<i32>(line.step);
    region.taps.count[i] = static_cast<i32>(problem.filter[i]);
    region.taps.step[i] = static_cast<i32>(line.tap_step);
    region.taps.filter_step[i] = static_cast<i32>(taps[i]);
  }
  region.rows = problem.n * pixels(problem.out());
  set_output(region, tensor_strides(problem, Tensor::kY));
  return {host};
}

// All pixels that a filter row reads, padding included, whose taps lie side by side (kernels/tma_fold/device/kernel.h).
std::vector<HostRegion> folded_regions(const KernelConfig& config, const ConvProblem& problem) {
  std::vector<HostRegion> regions = forward_regions(problem);
  TmaRegion& region = regions.front().region;
  region.size[2] += tma_layout::fold_reach(config);
  region.rows = problem.n * region.size[0] * region.size[1] * region.size[2];
  region.taps.count[2] = 1;
  return regions;
}

// Patches of one column, below each other in all images, lie as far apart as the rows of patches, so that a tile of
// them is one box: its GEMM rows are the columns' whole tiles, one column after the other.
std::vector<HostRegion> raw_patch_regions(const KernelConfig& config, const ConvProblem& view) {
  std::vector<HostRegion> regions = forward_regions(view);
  TmaRegion& region = regions.front().region;
  // Blocks that share a filter have patches of one column too.
  const int64_t whole = int64_t{config.gemm.tile.m} * config.gemm.cluster_m;
  const int64_t columns = view.in[2], below = ceil_div(view.n, whole) * whole;
  region.size[1] = 1;
  region.size[2] = static_cast<i32>(below);
  region.rows = columns * below;
  region.out_stride[0] = view.k;
  region.out_stride[3] = columns * view.k;
  return regions;
}

// Long sums first: the blocks that start last then have the least to do.
void sort_by_taps(std::vector<HostRegion>& regions) {
  std::stable_sort(regions.begin(), regions.end(), [](const HostRegion& a, const HostRegion& b) {
    const auto count = [](const TapWalk& walk) { return int64_t{walk.count[0]} * walk.count[1] * walk.count[2]; };
    return count(a.region.taps) > count(b.region.taps);
  });
}

// Pixels of dx, those that `dim` says in each dimension; without taps.
HostRegion pixels_of(const ConvProblem& problem, const std::array<DimPhase, kMaxDims>& dim) {
  const TensorStrides dx = tensor_strides(problem, Tensor::kX);
  HostRegion host;
  host.has_taps = false;
  TmaRegion& region = host.region;
  region.rows = problem.n;
  set_output(region, dx);
  for (size_t i = 0; i < 3; ++i) {
    region.size[i] = static_cast<i32>(dim[i].count);
    region.rows *= dim[i].count;
    region.out_base += dim[i].offset * dx.spatial[i];
    region.out_stride[i + 1] *= dim[i].step;
  }
  return host;
}

// The phases without taps, in regions that lie together as far as they can: a row of pixels that no tap reaches is one.
std::vector<HostRegion> zero_regions(const ConvProblem& problem) {
  std::vector<HostRegion> regions;
  std::array<DimPhase, kMaxDims> all, at;
  for (size_t i = 0; i < 3; ++i) all[i].count = problem.in[i];
  for (const DimPhase& d : dim_phases(problem, 0)) {
    at = {d, all[1], all[2]};
    if (d.tap_count == 0) {
      regions.push_back(pixels_of(problem, at));
      continue;
    }
    for (const DimPhase& h : dim_phases(problem, 1)) {
      at = {d, h, all[2]};
      if (h.tap_count == 0) {
        regions.push_back(pixels_of(problem, at));
        continue;
      }
      for (const DimPhase& w : dim_phases(problem, 2)) {
        at[2] = w;
        if (w.tap_count == 0) regions.push_back(pixels_of(problem, at));
      }
    }
  }
  return regions;
}

// One region a stride phase. Taps are walked backwards, so that offsets into dy rise.
std::vector<HostRegion> backward_regions(const KernelConfig& config, const ConvProblem& problem) {
  std::vector<HostRegion> regions;
  const std::array<int64_t, 3> taps = tap_strides(problem);
  const bool writes_zeros = tma_layout::writes_zeros(config);
  for (const StridePhase& phase : stride_phases(problem)) {
    if (writes_zeros && !phase.has_taps()) continue;
    HostRegion host = pixels_of(problem, phase.dim);
    TmaRegion& region = host.region;
    host.has_taps = phase.has_taps();
    for (size_t i = 0; i < 3; ++i) {
      const DimPhase& dim = phase.dim[i];
      const int64_t last = dim.tap_count - 1;
      region.step[i] = 1;
      region.start[i] = static_cast<i32>(dim.shift_first + last * dim.shift_step);
      region.taps.count[i] = static_cast<i32>(dim.tap_count);
      region.taps.step[i] = static_cast<i32>(-dim.shift_step);
      region.taps.filter += static_cast<i32>((dim.tap_first + last * dim.tap_step) * taps[i]);
      region.taps.filter_step[i] = static_cast<i32>(-dim.tap_step * taps[i]);
    }
    regions.push_back(host);
  }
  sort_by_taps(regions);
  if (writes_zeros) {
    const std::vector<HostRegion> zeros = zero_regions(problem);
    regions.insert(regions.end(), zeros.begin(), zeros.end());
  }
  return regions;
}

static_assert(kMaxTapRegions <= tma_layout::kMaxRegions);

// The rectangles of a region that is all of a problem; long sums first, as above.
std::vector<HostRegion> divided(const HostRegion& whole, const std::vector<TapRegion>& rectangles, int64_t images) {
  std::vector<HostRegion> regions;
  for (const TapRegion& rectangle : rectangles) {
    HostRegion host = whole;
    TmaRegion& region = host.region;
    for (size_t i = 0; i < 3; ++i) {
      const TapSegment& segment = rectangle.dim[i];
      region.size[i] = static_cast<i32>(segment.count);
      region.start[i] += static_cast<i32>(segment.first) * region.step[i];
      region.out_base += segment.first * region.out_stride[i + 1];
      region.taps.count[i] = static_cast<i32>(segment.tap_count);
      region.taps.offset[i] = static_cast<i32>(segment.tap_first) * region.taps.step[i];
      region.taps.filter += static_cast<i32>(segment.tap_first) * region.taps.filter_step[i];
    }
    host.has_taps = rectangle.taps() > 0;
    region.rows = images * rectangle.pixels();
    regions.push_back(host);
  }
  sort_by_taps(regions);
  return regions;
}

// The pixels of the view of patches lie as far apart as patches do.
void place_patches(TmaRegion& region, const ConvProblem& patches) {
  const TensorStrides dx = tensor_strides(patches, Tensor::kX);
  set_output(region, dx);
  for (size_t i = 0; i < 3; ++i) region.out_stride[i + 1] *= patches.stride[i];
}

}  // namespace

std::vector<HostRegion> tma_regions(const KernelConfig& config, const ConvProblem& problem, const ConvProblem& asked) {
  const bool forward = problem.direction == Direction::kForward;
  std::vector<HostRegion> regions = tma_layout::raw_patches(config)  ? raw_patch_regions(config, problem)
                                    : tma_layout::folds_taps(config) ? folded_regions(config, problem)
                                    : forward                        ? forward_regions(problem)
                                                                     : backward_regions(config, problem);
  if (tma_layout::divides_by_taps(config)) {
    const std::vector<TapRegion> rectangles = tap_regions(problem);
    if (!rectangles.empty()) regions = divided(regions.front(), rectangles, problem.n);
  }
  if (tma_layout::stores_patches(config)) place_patches(regions.front().region, asked);
  return regions;
}

}  // namespace wt
