// SPDX-License-Identifier: Apache-2.0
#include "kernels/depthwise_strips/view.h"

#include <algorithm>
#include <list>
#include <numeric>
#include <vector>

#include "base/integers.h"
#include "kernels/depthwise_strips/work.h"
#include "kernels/shared/direct_geometry.h"
#include "kernels/shared/parts.h"

namespace wt {
namespace {

constexpr int64_t kMaxTaps = 511;  // of a row of the filter: their offsets are 16 bits of up to 128 bytes each
constexpr size_t kD = 0, kH = 1, kW = 2;

bool is_data(const ConvProblem& p) { return p.direction == Direction::kBackwardData; }

int64_t floor_div(int64_t value, int64_t by) { return value >= 0 ? value / by : -((-value + by - 1) / by); }

// Backward data: the row of dy that row 0 of a class meets first, counted from the last row of the filter; false
// where the class meets none.
bool first_met(const ConvProblem& p, int64_t of_class, StripsPhase& phase, int64_t& row) {
  const int64_t stride = p.stride[kH], dilation = p.dilation[kH], step = stride / std::gcd(stride, dilation);
  for (int64_t first = 0; first < std::min(step, p.filter[kH]); ++first) {
    if ((of_class + p.pad_lower[kH] - first * dilation) % stride != 0) continue;
    const int64_t count = ceil_div(p.filter[kH] - first, step), last = first + (count - 1) * step;
    phase.first = static_cast<i32>(last);
    phase.count = static_cast<i32>(count);
    row = (of_class + p.pad_lower[kH] - last * dilation) / stride;
    return true;
  }
  return false;
}

void set_data_rows(const ConvProblem& p, StripsArguments& a) {
  const int64_t stride = p.stride[kH], common = std::gcd(stride, p.dilation[kH]);
  a.classes = static_cast<i32>(stride);
  a.phases = 1;
  a.residues = static_cast<i32>(p.dilation[kH] / common);
  a.row_scale = 1;
  a.row_step = static_cast<i32>(-(stride / common));
  // Where neighbouring lines are neighbouring rows, all classes share them.
  const bool share = a.residues == 1;
  a.groups = share ? 1 : a.classes;
  std::vector<int64_t> rows(static_cast<size_t>(stride));
  int64_t least = INT64_MAX;
  for (int64_t i = 0; i < stride; ++i) {
    a.phase[i] = {};
    if (first_met(p, i, a.phase[i], rows[static_cast<size_t>(i)]))
      least = std::min(least, rows[static_cast<size_t>(i)]);
  }
  if (share) a.group_first[0] = static_cast<i32>(least == INT64_MAX ? 0 : least);
  for (int64_t i = 0; i < stride; ++i) {
    if (a.phase[i].count == 0) continue;
    if (share) {
      a.phase[i].offset = static_cast<i32>(rows[static_cast<size_t>(i)] - least);
    } else {
      a.phase[i].group = static_cast<i32>(i);
      a.group_first[i] = static_cast<i32>(rows[static_cast<size_t>(i)]);
    }
  }
}

void set_rows(const ConvProblem& p, StripsArguments& a) {
  if (is_data(p)) return set_data_rows(p, a);
  const int64_t stride = p.stride[kH], dilation = p.dilation[kH], common = std::gcd(stride, dilation);
  const int64_t step = stride / common, phases = std::min(step, p.filter[kH]);
  a.classes = 1;
  a.phases = a.groups = static_cast<i32>(phases);
  a.residues = static_cast<i32>(dilation / common);
  a.row_scale = static_cast<i32>(stride);
  a.row_step = static_cast<i32>(step);
  for (int64_t i = 0; i < phases; ++i) {
    a.phase[i] = {static_cast<i32>(i), static_cast<i32>(ceil_div(p.filter[kH] - i, step)), static_cast<i32>(i), 0};
    a.group_first[i] = static_cast<i32>(i * dilation - p.pad_lower[kH]);
  }
}

// The pixels that a strip's outputs meet, from the first on.
struct Columns {
  int64_t width, advance, origin;
  std::vector<int64_t> pixels;  // in order
};
Columns columns_of(const ConvProblem& p) {
  const int64_t stride = p.stride[kW], dilation = p.dilation[kW], taps = p.filter[kW], pad = p.pad_lower[kW];
  Columns columns{strips::kColumns, strips::kColumns * stride, -pad, {}};
  if (is_data(p)) {
    columns.width = strips::kColumns / stride * stride;
    columns.advance = columns.width / stride;
    columns.origin = -floor_div((taps - 1) * dilation - pad, stride);
  }
  for (int64_t out = 0; out < columns.width; ++out) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      if (!is_data(p)) {
        columns.pixels.push_back(out * stride + tap * dilation);
      } else if ((out + pad - tap * dilation) % stride == 0) {
        columns.pixels.push_back((out + pad - tap * dilation) / stride - columns.origin);
      }
    }
  }
  std::ranges::sort(columns.pixels);
  return columns;
}

std::vector<int64_t> steps_of(const Columns& columns) {
  std::vector<int64_t> steps;
  for (const int64_t pixel : columns.pixels) {
    if (steps.empty() || pixel >= steps.back() + strips::kWindow) steps.push_back(pixel);
  }
  // Outputs that meet no tap at all are zeros, which a step makes too.
  if (steps.empty()) steps.push_back(0);
  return steps;
}

void set_columns(const ConvProblem& p, StripsArguments& a) {
  const Columns columns = columns_of(p);
  const std::vector<int64_t> steps = steps_of(columns);
  a.strip_columns = static_cast<i32>(columns.width);
  a.advance = static_cast<i32>(columns.advance);
  a.origin = static_cast<i32>(columns.origin);
  a.steps = static_cast<i32>(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) a.step_column[i] = static_cast<i32>(steps[i]);
}

// What does not depend on the tile.
StripsArguments whole(const KernelConfig& config, const ConvProblem& p) {
  const bool folds = strips::fold(config) > 1;
  StripsArguments a{};
  a.from = direct_image(p, is_data(p));
  a.to = direct_image(p, !is_data(p));
  a.images = static_cast<i32>(p.n);
  a.channels = static_cast<i32>(folds ? p.k : p.c);
  a.multiplier = static_cast<i32>(folds ? 1 : p.k_per_group());
  for (size_t i = 0; i < 3; ++i) {
    a.filter[i] = static_cast<i32>(p.filter[i]);
    a.stride[i] = static_cast<i32>(p.stride[i]);
    a.dilation[i] = static_cast<i32>(p.dilation[i]);
    a.pad[i] = static_cast<i32>(p.pad_lower[i]);
  }
  set_rows(p, a);
  set_columns(p, a);
  a.planes = std::min(a.filter[kD], a.from.size[kD]);
  return a;
}

// Strips that share their pixels with neighbours, side by side on a line.
int64_t neighbours(const KernelConfig& config) {
  if (!strips::shares_pixels(config)) return 1;
  return strips::is_weight(config) ? 4 : 2;
}

// A tile of `images` images, `bands` of rows and lines of `columns` strips.
void set_tile(const KernelConfig& config, int64_t images, int64_t bands, int64_t band_rows, int64_t columns,
              int64_t all_bands, int64_t all_columns, StripsArguments& a) {
  const int64_t places = neighbours(config);
  a.tile_images = static_cast<i32>(images);
  a.tile_bands = static_cast<i32>(bands);
  a.band_rows = static_cast<i32>(band_rows);
  a.tile_strips = static_cast<i32>(columns);
  a.line_strips = static_cast<i32>(ceil_div(columns, places) * places);
  a.image_tiles = static_cast<i32>(ceil_div(a.images, images));
  a.row_tiles = static_cast<i32>(ceil_div(all_bands, bands) * a.residues);
  a.column_tiles = static_cast<i32>(ceil_div(all_columns, columns));
  a.tiles = a.image_tiles * a.to.size[kD] * a.row_tiles * a.column_tiles;
  i32 reach = 0;
  for (i32 i = 0; i < a.classes * a.phases; ++i) reach = std::max(reach, a.phase[i].offset + a.phase[i].count);
  const int64_t apart = int64_t{a.row_scale} * a.residues;
  a.lines =
      static_cast<i32>(std::max<int64_t>(1, std::min(bands * band_rows + reach - 1, ceil_div(a.from.size[kH], apart))));
  const int64_t last = a.step_column[a.steps - 1];
  const int64_t pixels = strips::shares_pixels(config) ? int64_t{a.line_strips} * strips::kColumns + last + 8
                                                       : (columns - 1) * a.advance + last + strips::kWindow;
  a.line_pixels = static_cast<i32>(ceil_div(pixels, 8) * 8);
  a.class_tiles = static_cast<i32>(ceil_div(images * bands * a.line_strips, strips::kRows));
}

strips::Sizes sizes_of(const StripsArguments& a) {
  return {.steps = a.steps,
          .line_pixels = a.line_pixels,
          .filter_rows = a.filter[0] * a.filter[1],
          .filter_w = a.filter[2],
          .multiplier = a.multiplier,
          .matrices = a.classes * a.class_tiles,
          .tasks = a.classes * a.filter[kD] * a.phases * a.steps,
          .tile_lines = a.tile_images * a.planes * a.groups * a.lines,
          .out_lines = a.tile_images * a.tile_bands * a.band_rows,
          .out_pixels = a.line_strips * strips::kColumns};
}

StripsShared shared_of(const KernelConfig& config, const strips::Sizes& sizes) {
  const auto bytes = [](long long value) { return static_cast<u32>(value); };
  StripsShared at{};
  at.line_bytes = bytes(strips::line_bytes(config, sizes));
  at.out_line_bytes = bytes(strips::out_line_bytes(config, sizes));
  at.tile_bytes = bytes(strips::tile_bytes(config, sizes));
  at.zeros = bytes(strips::table_bytes(sizes));
  at.weights = at.zeros + at.line_bytes;
  at.places = at.weights + bytes(strips::weight_bytes(config, sizes));
  at.tasks = at.places + bytes(strips::place_bytes(sizes));
  at.staged = at.tasks + bytes(strips::task_bytes(sizes));
  at.buffers = at.staged + bytes(strips::staged_bytes(config, sizes));
  return at;
}

// The problem as the kernel counts it: a filter along the depth alone has its planes as rows of h * w columns.
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

bool can_count(const ConvProblem& p) {
  if (p.stride[kH] > kStripsMaxStride || p.stride[kW] > kStripsMaxStride || p.filter[kW] > kMaxTaps) return false;
  return steps_of(columns_of(p)).size() <= kStripsMaxSteps;
}

std::optional<StripsCut> cut_strips(const KernelConfig& config, const ConvProblem& p, const Rates& rates) {
  constexpr int64_t kReserved = 1 << 10, kMostImages = 16;
  const int64_t room = rates.shared_per_block;
  StripsArguments a = whole(config, p);
  a.channel_blocks = static_cast<i32>(ceil_div(a.channels, strips::channels(config)));
  const int64_t rows = std::max<int64_t>(1, ceil_div(ceil_div(a.to.size[kH], a.classes), a.residues));
  const int64_t all_columns = std::max<int64_t>(1, ceil_div(a.to.size[kW], a.strip_columns));
  const StripsWork work(config, p, rates);
  std::optional<StripsCut> best;
  const auto consider = [&](int64_t images, int64_t bands, int64_t band_rows, int64_t columns) {
    set_tile(config, images, bands, band_rows, columns, ceil_div(rows, band_rows), all_columns, a);
    const strips::Sizes sizes = sizes_of(a);
    const int64_t bytes = strips::shared_bytes(config, sizes);
    if (bytes > room || a.line_pixels > 0xffff || bands * band_rows > 0xffff) return;
    StripsCut cut;
    cut.shared_bytes = bytes;
    cut.resident = std::clamp<int64_t>((room + kReserved) / (bytes + kReserved), 1, config.min_blocks);
    const int64_t capacity = rates.units * cut.resident;
    // As many blocks as fit, less those that would not make the longest walk shorter. A gradient of no images is zeros.
    const int64_t tiles = std::max<i32>(1, a.tiles);
    const int64_t most = std::clamp<int64_t>(capacity / a.channel_blocks, 1, tiles);
    a.workers = static_cast<i32>(ceil_div(tiles, ceil_div(tiles, most)));
    cut.grid = int64_t{a.workers} * a.channel_blocks;
    cut.busy_us = work.busy_us(a, sizes, cut.resident);
    if (best && best->busy_us <= cut.busy_us) return;
    a.shared = shared_of(config, sizes);
    cut.arguments = a;
    best = cut;
  };
  // Several images only where each is whole.
  const auto consider_images = [&](bool whole_image, int64_t bands, int64_t band_rows, int64_t columns) {
    for (int64_t images = 1; images <= std::min(std::max<int64_t>(1, p.n), whole_image ? kMostImages : 1);
         images *= 2) {
      consider(images, bands, band_rows, columns);
    }
  };
  for (const int64_t columns : parts_of(all_columns, neighbours(config))) {
    if (!strips::is_weight(config)) {
      const int64_t band_rows = config.direct.sub_h, all_bands = ceil_div(rows, band_rows);
      for (const int64_t bands : parts_of(all_bands, 1)) {
        consider_images(bands == all_bands && columns == all_columns, bands, band_rows, columns);
      }
      continue;
    }
    // Bands share the rows of a tile, so that strips fill whole matrices.
    for (const int64_t tile_rows : parts_of(rows, 1)) {
      for (const int64_t bands : {1, 2, 4, 8, 16}) {
        if (bands > 1 && (bands > tile_rows || bands * columns > strips::kRows)) break;
        consider_images(tile_rows == rows && columns == all_columns, bands, ceil_div(tile_rows, bands), columns);
      }
    }
  }
  return best;
}

// What is known of a problem, and the cuts of the kernels that were asked about it.
struct Seen {
  explicit Seen(const View& view) : problem(counted(view.problem())), can_count(wt::can_count(problem)) {}

  struct Known {
    KernelConfig config;
    std::optional<StripsCut> cut;
  };
  ConvProblem problem;
  bool can_count;
  std::list<Known> cuts;  // WHY a list: what is known stays where it is
};

}  // namespace

bool strips_can_count(const View& view) { return view.part<Seen>().can_count; }

bool strips_fit(const KernelConfig& config, const View& view) {
  StripsArguments a = whole(config, view.part<Seen>().problem);
  const int64_t columns = ceil_div(a.to.size[kW], a.strip_columns), rows = a.to.size[kH];
  set_tile(config, 1, 1, strips::is_weight(config) ? 1 : config.direct.sub_h, std::min(columns, neighbours(config)),
           rows, columns, a);
  return strips::shared_bytes(config, sizes_of(a)) <= view.rates().shared_per_block;
}

const std::optional<StripsCut>& strips_cut(const KernelConfig& config, const View& view) {
  Seen& seen = view.part<Seen>();
  for (const Seen::Known& known : seen.cuts)
    if (known.config == config) return known.cut;
  return seen.cuts.emplace_back(config, cut_strips(config, seen.problem, view.rates())).cut;
}

}  // namespace wt
