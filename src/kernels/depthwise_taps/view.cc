// SPDX-License-Identifier: Apache-2.0
#include "kernels/depthwise_taps/view.h"

#include <algorithm>
#include <list>
#include <vector>

#include "base/integers.h"
#include "kernels/depthwise_taps/device/shape.h"
#include "kernels/depthwise_taps/work.h"
#include "kernels/shared/direct_geometry.h"
#include "kernels/shared/parts.h"

namespace wt {
namespace {

constexpr size_t kD = 0, kH = 1, kW = 2;
constexpr int64_t kMostImages = 16, kReserved = 1 << 10;

int64_t runs_of(const KernelConfig& config, const ConvProblem& p) {
  return ceil_div(p.filter[kW], int64_t{depthwise_taps::run_taps(config)});
}
int64_t columns_of(const KernelConfig& config, const ConvProblem& p) {
  return p.filter[kD] * p.filter[kH] * runs_of(config, p);
}
int64_t warp_groups_of(const KernelConfig& config, const ConvProblem& p) {
  return ceil_div(columns_of(config, p), int64_t{depthwise_taps::kColumns} * depthwise_taps::matrices(config));
}

// What does not depend on the tile.
DepthwiseTapsArguments whole(const KernelConfig& config, const ConvProblem& p) {
  DepthwiseTapsArguments a{};
  a.from = direct_image(p, false);
  a.to = direct_image(p, true);
  a.images = static_cast<i32>(p.n);
  a.channels = static_cast<i32>(p.c);
  for (size_t i = 0; i < 3; ++i) {
    a.filter[i] = static_cast<i32>(p.filter[i]);
    a.stride[i] = static_cast<i32>(p.stride[i]);
    a.dilation[i] = static_cast<i32>(p.dilation[i]);
    a.pad[i] = static_cast<i32>(p.pad_lower[i]);
  }
  a.columns = static_cast<i32>(columns_of(config, p));
  a.run_shift = static_cast<i32>(depthwise_taps::run_taps(config) * p.dilation[kW] / p.stride[kW]);
  a.margin = a.run_shift * static_cast<i32>(runs_of(config, p) - 1);
  a.residues = p.stride[kH] > 1 ? 1 : a.dilation[kH];
  a.warp_groups = static_cast<i32>(warp_groups_of(config, p));
  const int others = depthwise_taps::warps(config) / depthwise_taps::units(config);
  a.slices = std::max(1, others / a.warp_groups);
  a.channel_blocks = static_cast<i32>(ceil_div(p.c, int64_t{depthwise_taps::channels(config)}));
  return a;
}

// Pieces of a line, a divisor of the slices: as few as keep all warps about equally long.
i32 chunks_of(const DepthwiseTapsArguments& a) {
  i32 best = 1;
  int64_t least = INT64_MAX;
  for (i32 chunks = 1; chunks <= std::min(a.steps, a.slices); ++chunks) {
    if (a.slices % chunks != 0) continue;
    const int64_t lines = int64_t{a.tile_images} * a.lines;
    const int64_t walk = ceil_div(lines, int64_t{a.slices / chunks}) * (ceil_div(a.steps, chunks) + 1);
    if (walk >= least) continue;
    least = walk;
    best = chunks;
  }
  return best;
}

void set_tile(const KernelConfig& config, const ConvProblem& p, int64_t images, int64_t lines, int64_t columns,
              DepthwiseTapsArguments& a) {
  const int64_t rows = ceil_div(p.in[kH], int64_t{a.residues}), reach = (p.filter[kH] - 1) * p.dilation[kH];
  const int64_t met = a.stride[kH] == 1 ? lines + p.filter[kH] - 1 : (lines - 1 + reach) / a.stride[kH] + 1;
  a.tile_images = static_cast<i32>(images);
  a.lines = static_cast<i32>(lines);
  a.out_lines = static_cast<i32>(std::min(met, ceil_div(int64_t{a.to.size[kH]}, int64_t{a.residues})));
  a.tile_columns = static_cast<i32>(columns);
  a.image_tiles = static_cast<i32>(ceil_div(p.n, images));
  a.line_tiles = static_cast<i32>(ceil_div(rows, lines) * a.residues);
  a.column_tiles = static_cast<i32>(ceil_div(int64_t{a.to.size[kW]}, columns));
  a.tiles = a.image_tiles * a.from.size[kD] * a.line_tiles * a.column_tiles;
  a.steps = static_cast<i32>(ceil_div(columns + a.margin, int64_t{depthwise_taps::kWindow}));
  a.chunks = chunks_of(a);
  a.chunk = ceil_div(a.steps, a.chunks);
  a.line_slices = a.slices / a.chunks;
  a.out_pixels = depthwise_taps::kWindow * a.steps + a.margin;
  const int taps = depthwise_taps::run_taps(config);
  const int last = depthwise_taps::shares_pixels(config) ? taps - 1 : std::min(taps, a.filter[kW]) - 1;
  a.line_pixels = (depthwise_taps::kWindow * a.steps - 1) * a.stride[kW] + last * a.dilation[kW] + 1;
  TapsShared& at = a.shared;
  at.line_bytes = static_cast<u32>(depthwise_taps::line_bytes(config, a.line_pixels));
  at.out_line_bytes = static_cast<u32>(depthwise_taps::line_bytes(config, a.out_pixels));
  at.buffers = at.out_line_bytes;
  at.out_lines = static_cast<u32>(a.tile_images * a.lines) * at.line_bytes;
  at.tile_bytes = at.out_lines + static_cast<u32>(a.tile_images * a.filter[kD] * a.out_lines) * at.out_line_bytes;
}

int64_t shared_bytes(const KernelConfig& config, const DepthwiseTapsArguments& a) {
  const int64_t taps = int64_t{a.filter[0]} * a.filter[1] * a.filter[2];
  return std::max(a.shared.buffers + int64_t{config.direct.prefetch} * a.shared.tile_bytes,
                  taps * depthwise_taps::channels(config) * 4);
}

// A filter along the depth alone has its planes as rows of h * w columns.
ConvProblem counted(const ConvProblem& problem) {
  ConvProblem p = problem;
  for (size_t i = 0; i < 3; ++i) {
    if (p.filter[i] == 1) p.dilation[i] = 1;
  }
  const auto plain = [&](size_t i) {
    return p.filter[i] == 1 && p.stride[i] == 1 && p.pad_lower[i] == 0 && p.pad_upper[i] == 0;
  };
  if (p.filter[kD] == 1 || !plain(kH) || !plain(kW)) return p;
  p.in = {1, p.in[kD], p.in[kH] * p.in[kW]};
  for (Spatial* value : {&p.filter, &p.stride, &p.dilation, &p.pad_lower, &p.pad_upper}) {
    std::swap((*value)[kD], (*value)[kH]);
  }
  return p;
}

std::optional<TapsCut> cut_taps(const KernelConfig& config, const ConvProblem& p, const Rates& rates) {
  const int64_t room = rates.shared_per_block;
  DepthwiseTapsArguments a = whole(config, p);
  std::optional<TapsCut> best;
  const auto consider = [&](int64_t images, int64_t lines, int64_t columns) {
    // WHY first: bytes are counted in 32 bits.
    const int64_t pixels = std::max(columns + a.margin, columns * p.stride[kW]);
    if ((lines + pixels) * images * depthwise_taps::channels(config) > room) return;
    set_tile(config, p, images, lines, columns, a);
    TapsCut cut;
    cut.shared_bytes = shared_bytes(config, a);
    if (cut.shared_bytes > room) return;
    const int64_t resident =
        std::clamp<int64_t>((room + kReserved) / (cut.shared_bytes + kReserved), 1, config.min_blocks);
    // As many blocks as fit, less those that would not make the longest walk shorter.
    const int64_t tiles = std::max<i32>(1, a.tiles);
    const int64_t most = std::clamp<int64_t>(rates.units * resident / a.channel_blocks, 1, tiles);
    a.workers = static_cast<i32>(ceil_div(tiles, ceil_div(tiles, most)));
    cut.grid = int64_t{a.workers} * a.channel_blocks;
    cut.busy_us = taps_busy_us(config, p, rates, a, resident);
    if (best && best->busy_us <= cut.busy_us) return;
    cut.arguments = a;
    best = cut;
  };
  const int64_t rows = std::max<int64_t>(1, ceil_div(p.in[kH], int64_t{a.residues}));
  const int64_t all_columns = std::max<int64_t>(1, a.to.size[kW]);
  for (const int64_t columns : parts_of(all_columns, depthwise_taps::kWindow)) {
    for (const int64_t lines : parts_of(rows, 1)) {
      // Several images only where each is whole.
      const bool whole_image = lines == rows && a.residues == 1 && columns == all_columns;
      for (int64_t images = 1; images <= std::min(std::max<int64_t>(1, p.n), whole_image ? kMostImages : 1);
           images *= 2)
        consider(images, lines, columns);
    }
  }
  return best;
}

struct Seen {
  explicit Seen(const View& view) : problem(counted(view.problem())) {}

  struct Known {
    KernelConfig config;
    std::optional<TapsCut> cut;
  };
  ConvProblem problem;
  std::list<Known> cuts;  // WHY a list: what is known stays where it is
};

}  // namespace

bool taps_runs_align(const KernelConfig& config, const View& view) {
  const ConvProblem& p = view.part<Seen>().problem;
  return runs_of(config, p) == 1 || depthwise_taps::run_taps(config) * p.dilation[kW] % p.stride[kW] == 0;
}

int64_t taps_warp_groups(const KernelConfig& config, const View& view) {
  return warp_groups_of(config, view.part<Seen>().problem);
}

const std::optional<TapsCut>& taps_cut(const KernelConfig& config, const View& view) {
  Seen& seen = view.part<Seen>();
  for (const Seen::Known& known : seen.cuts)
    if (known.config == config) return known.cut;
  return seen.cuts.emplace_back(config, cut_taps(config, seen.problem, view.rates())).cut;
}

}  // namespace wt
