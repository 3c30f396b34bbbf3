// SPDX-License-Identifier: Apache-2.0
// problem/sample.cc - which elements of a large output a verification compares.
#include <algorithm>

#include "problem/gemm_view.h"
#include "problem/random.h"
#include "problem/verify.h"

namespace wt {
namespace {

constexpr int64_t kTile = 64;  // the corners of 128-wide tiles are corners of 64-wide ones too
constexpr int64_t kMostElements = int64_t{1} << 20;
constexpr int64_t kFewestElements = 64;

// Where a GEMM's rows and columns lie in the output: element (r, c) is at rows[r] + columns[c].
struct Corners {
  std::vector<int64_t> rows, columns;
};

// First and last index of each tile of [0, size).
std::vector<int64_t> tile_ends(int64_t size) {
  std::vector<int64_t> ends;
  for (int64_t first = 0; first < size; first += kTile) {
    ends.push_back(first);
    if (const int64_t last = std::min(first + kTile, size) - 1; last != first) ends.push_back(last);
  }
  return ends;
}

// The same within each of `groups` equal parts of the channels.
std::vector<int64_t> grouped_ends(int64_t groups, int64_t size) {
  std::vector<int64_t> ends;
  for (int64_t group = 0; group < groups; ++group) {
    for (const int64_t end : tile_ends(size)) ends.push_back(group * size + end);
  }
  return ends;
}

// The pixels n, d, h, w at the ends of tiles over a lattice of the output.
void add_pixels(const Strides& strides, int64_t n, const std::array<DimPhase, kMaxDims>& lattice,
                std::vector<int64_t>& rows) {
  for (int64_t row : tile_ends(n * lattice[0].count * lattice[1].count * lattice[2].count)) {
    Spatial at;
    for (int i = kMaxDims - 1; i >= 0; --i) {
      at[i] = lattice[i].offset + row % lattice[i].count * lattice[i].step;
      row /= lattice[i].count;
    }
    rows.push_back(strides.at(row, 0, at));
  }
}

Corners tile_corners(const ConvProblem& p) {
  Corners corners;
  if (p.direction == Direction::kBackwardWeight) {
    const Strides w = w_strides(p);
    for (const int64_t k : grouped_ends(p.g, p.k_per_group())) corners.rows.push_back(k * w.outer);
    for (const int64_t column : tile_ends(p.filter_taps() * p.c_per_group())) {
      const int64_t tap = column / p.c_per_group();
      const Spatial at = {tap / (p.filter[1] * p.filter[2]), tap / p.filter[2] % p.filter[1], tap % p.filter[2]};
      corners.columns.push_back(w.at(0, column % p.c_per_group(), at));
    }
    return corners;
  }
  if (p.direction == Direction::kForward) {
    const Strides y = y_strides(p);
    const Spatial out = p.out();
    std::array<DimPhase, kMaxDims> all;
    for (int i = 0; i < kMaxDims; ++i) all[i] = {.offset = 0, .step = 1, .count = out[i]};
    add_pixels(y, p.n, all, corners.rows);
    for (const int64_t k : grouped_ends(p.g, p.k_per_group())) corners.columns.push_back(k * y.channel);
    return corners;
  }
  const Strides x = x_strides(p);
  for (const StridePhase& phase : stride_phases(p)) add_pixels(x, p.n, phase.dim, corners.rows);
  for (const int64_t c : grouped_ends(p.g, p.c_per_group())) corners.columns.push_back(c * x.channel);
  return corners;
}

// First and last of every dimension of the output, in all combinations.
void add_borders(const ConvProblem& p, std::vector<int64_t>& sample) {
  const bool weight = p.direction == Direction::kBackwardWeight, data = p.direction == Direction::kBackwardData;
  const Strides strides = weight ? w_strides(p) : data ? x_strides(p) : y_strides(p);
  const Spatial size = weight ? p.filter : data ? p.in : p.out();
  const int64_t outer = weight ? p.k : p.n, channels = weight ? p.c_per_group() : data ? p.c : p.k;
  for (int corner = 0; corner < 32; ++corner) {
    const auto end = [&](int bit, int64_t extent) { return corner >> bit & 1 ? extent - 1 : 0; };
    sample.push_back(strides.at(end(0, outer), end(1, channels), {end(2, size[0]), end(3, size[1]), end(4, size[2])}));
  }
}

}  // namespace

std::vector<int64_t> sample_elements(const ConvProblem& problem, const VerifyOptions& options) {
  const int64_t elements = problem.output_elements();
  const int64_t affordable = options.work_limit / std::max<int64_t>(1, problem.terms());
  const int64_t budget = std::min(elements, std::clamp(affordable, kFewestElements, kMostElements));
  std::vector<int64_t> sample;
  if (elements == 0) return sample;
  add_borders(problem, sample);

  Random random(options.seed);
  const Corners corners = tile_corners(problem);
  const int64_t columns = static_cast<int64_t>(corners.columns.size());
  const int64_t all = static_cast<int64_t>(corners.rows.size()) * columns;
  const int64_t wanted = std::min(all, std::max<int64_t>(1, budget * 3 / 4));
  // Evenly spread where there are too many: the i-th of `wanted` slices, at a random place in it.
  for (int64_t i = 0; i < wanted; ++i) {
    const double slice = static_cast<double>(all) / static_cast<double>(wanted);
    const double place = wanted == all ? 0 : random.real();
    const int64_t at = std::min(all - 1, static_cast<int64_t>((static_cast<double>(i) + place) * slice));
    const int64_t corner = wanted == all ? i : at;
    sample.push_back(corners.rows[static_cast<size_t>(corner / columns)] +
                     corners.columns[static_cast<size_t>(corner % columns)]);
  }
  for (int64_t i = budget / 4; i > 0; --i) sample.push_back(random.between(0, elements - 1));
  std::sort(sample.begin(), sample.end());
  sample.erase(std::unique(sample.begin(), sample.end()), sample.end());
  return sample;
}

}  // namespace wt
