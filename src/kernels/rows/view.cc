// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/view.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/integers.h"
#include "config/targets.h"
#include "kernels/rows/device/layout.h"
#include "kernels/shared/warpgroup.h"

namespace wt {
namespace {

constexpr int64_t kReservedBytes = 1024;  // of a block, by the hardware
constexpr int64_t kMaxPitch = 1024;       // 256 words of a bulk copy
constexpr int64_t kMaxBoxes = 32;         // of a row in one dimension
constexpr int64_t kMaxPatchRows = 256;
constexpr int64_t kMaxFragments = 32;
// What is tried. WHY not every number: a choice asks for some dozen kernels, and these are near enough to any.
constexpr int64_t kStrips[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32};
// In one dimension: fragments of a strip, which alone divides the outputs.
constexpr int64_t kStripFragments[] = {1, 2, 3, 4, 6, 9, 12, 18, 24, 32};
constexpr int64_t kTileRows[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 48, 64};

constexpr int kMostSpread = 3;  // 64 outputs of a fragment are then eights of outputs 8 apart

// Cycles of a multiprocessor: the gather's instructions were counted on paper, the rest read off similar kernels.
constexpr double kGatherInstructions = 1.4;  // of a warp for each 32-bit load: its mask and address
constexpr double kFragmentInstructions = 150;
constexpr double kPairInstructions = 3.5;  // of a warp for each pair of columns: scale, round, stage, copy
constexpr double kShown = 0.6;             // of what the longest of shared memory, issue and products hides
constexpr double kPatchCycles = 150;       // barriers, coordinates
constexpr double kBytesPerCycle = 18;      // into one multiprocessor's shared memory, when all of them load

// Words that lanes of a warp read at once lie `step` apart for eight outputs: how often two share a bank.
double bank_conflicts(int64_t step_words) {
  int most = 1;
  int counts[32] = {};
  int64_t seen[32] = {};
  for (int64_t row = 0; row < 8; ++row) {
    for (int64_t pair = 0; pair < 4; ++pair) {
      const int64_t word = row * step_words + pair, bank = word % 32;
      if (counts[bank] > 0 && seen[bank] == word) continue;
      seen[bank] = word;
      most = std::max(most, ++counts[bank]);
    }
  }
  return most;
}

// The same of a fragment's eights of outputs 1 << spread apart, on the mean, where they lie in a patch.
double fragment_waves(const RowsView& view, int64_t stride_h, int spread) {
  int all = 0;
  for (int64_t first = 0; first < 64; first += 8) {
    const int64_t eights = first / 8, among = eights & ((1 << spread) - 1);
    int counts[32] = {}, most = 1;
    int64_t seen[32][8];
    for (int64_t row = 0; row < 8; ++row) {
      const int64_t number = (eights - among) * 8 + (row << spread) + among;
      const int64_t line = number / view.class_strip, column = number % view.class_strip;
      for (int64_t pair = 0; pair < 4; ++pair) {
        const int64_t word = line * stride_h * view.pitch / 4 + column * view.step * view.classes / 2 + pair,
                      bank = word % 32;
        if (std::find(seen[bank], seen[bank] + counts[bank], word) != seen[bank] + counts[bank]) continue;
        seen[bank][counts[bank]++] = word;
        most = std::max(most, counts[bank]);
      }
    }
    all += most;
  }
  return all / 8.0;
}

// The patch with `strip` outputs along w and `rows` along h.
void set_patch(RowsView& view, const ConvProblem& p, const Spatial& out, int64_t strips, int64_t rows) {
  view.strips = strips;
  view.strip = round_up(ceil_div(out[2], strips), strips > 1 ? view.classes : 1);
  view.class_strip = ceil_div(view.strip, view.classes);
  view.tile_rows = rows;
  view.row_blocks = ceil_div(out[1], rows);
  view.fragments = view.classes * ceil_div(rows * view.class_strip, 64);
  const int64_t last = (view.class_strip * view.classes - 1) * view.step + 7;
  view.pitch = round_up(last / 2 * 4 + 16 * view.octets, 16);
  view.boxes = 1;
  if (p.dims == 1) {
    view.boxes = ceil_div(view.pitch, kMaxPitch);
    // WHY 128 where there are several: each is a copy in bulk of its own, to an address that is a multiple of that.
    view.pitch = round_up(view.pitch, (view.boxes > 1 ? 128 : 16) * view.boxes);
  }
  view.patch_rows = (rows - 1) * p.stride[1] + p.filter[1];
  view.slot_bytes = round_up(view.pitch * view.patch_rows * p.filter[0], 128);
  view.patches = p.n * out[0] * view.row_blocks * ceil_div(out[2], view.strip);
}

RowsRuns runs_of(const ConvProblem& p) {
  RowsRuns runs{};
  runs.run = p.filter[2] * p.c;
  runs.step = p.stride[2] * p.c;
  runs.classes = runs.step % 2 == 0 ? 1 : 2;
  runs.lead = p.pad_lower[2] * p.c & 1;
  runs.octets = ceil_div(runs.run + std::max(runs.lead, runs.classes - 1), rows_layout::kOctet);
  if (p.filter[0] * p.filter[1] == 1) runs.octets = round_up(runs.octets, 2);  // a step is two octets
  return runs;
}

// The view before its patch is chosen.
RowsView unpatched(const KernelConfig& config, const ConvProblem& p) {
  RowsView view{};
  static_cast<RowsRuns&>(view) = runs_of(p);
  view.tiles_n = ceil_div(p.k, config.gemm.tile.n);
  return view;
}

// What patches may be in a kernel.
struct Room {
  int64_t bytes;  // of a slot
  bool in_bulk;

  bool takes(const RowsView& view) const {
    return (view.pitch <= view.boxes * kMaxPitch || !in_bulk) && view.boxes <= kMaxBoxes &&
           view.patch_rows <= kMaxPatchRows && view.slot_bytes <= bytes;
  }
};

Room room_of(const KernelConfig& config, int64_t classes) {
  const TargetInfo& target = info_of(config.target);
  const int64_t room = std::min<int64_t>(target.shared_per_block,
                                         target.shared_per_unit / std::max<int>(config.min_blocks, 1) - kReservedBytes);
  const int64_t fixed = rows_layout::shared_bytes(config, static_cast<int>(classes), 0);
  const int64_t slots = std::max<int>(config.gemm.stages, 1);
  return {room < fixed ? -1 : (room - fixed) / slots, rows_layout::loads_in_bulk(config)};
}

int64_t blocks_for(const KernelConfig& config, int64_t patches, int64_t tiles_n, int multiprocessors) {
  const int64_t resident = int64_t{multiprocessors} * std::max<int>(config.min_blocks, 1);
  return std::max<int64_t>(1, std::min(patches, resident / std::max<int64_t>(tiles_n, 1)));
}

// How a problem may be divided into patches, whatever the kernel: strips by strips, from low to high ones.
struct Divisions {
  explicit Divisions(const View& seen);

  ConvProblem forward;
  RowsRuns runs;
  struct Division {
    RowsView view;  // of no columns
    double patches, fragments, load;
  };
  std::vector<Division> all;
  int64_t most_strips = 1;  // that are tried
};

// From few strips to many.
std::vector<int64_t> strips_of(const ConvProblem& forward, const RowsRuns& runs) {
  std::vector<int64_t> all(std::begin(kStrips), std::end(kStrips));
  if (forward.dims > 1) return all;
  // Backward data of a stride, which is declined, may leave no output: strips are counted from one also there.
  for (const int64_t fragments : kStripFragments)
    all.push_back(std::max<int64_t>(1, ceil_div(forward.out()[2], 64 * runs.classes * fragments)));
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

Divisions::Divisions(const View& seen) : forward(rows_seen(seen.problem())), runs(runs_of(forward)) {
  const Spatial out = forward.out();
  RowsView view{};
  static_cast<RowsRuns&>(view) = runs;
  for (const int64_t strips : strips_of(forward, runs)) {
    if (strips > out[2]) break;
    most_strips = strips;
    for (const int64_t rows : kTileRows) {
      if (rows > out[1]) break;
      set_patch(view, forward, out, strips, rows);
      all.push_back({view, static_cast<double>(view.patches), static_cast<double>(view.fragments),
                     static_cast<double>(view.slot_bytes) / kBytesPerCycle});
    }
  }
}

}  // namespace

int rows_spread(const RowsView& view, int64_t stride_h) {
  int best = 0;
  double best_waves = fragment_waves(view, stride_h, 0);
  for (int spread = 1; spread <= kMostSpread; ++spread) {
    const double waves = fragment_waves(view, stride_h, spread);
    if (waves < best_waves) best = spread, best_waves = waves;
  }
  return best;
}

double rows_fragment_cycles(const KernelConfig& config, const RowsView& view, const Rates& rates) {
  const GemmConfig& gemm = config.gemm;
  const double loads = 2.0 * rows_layout::filter_rows(config) * rows_layout::octets_of_row(config);
  const double shared = 4 * loads * bank_conflicts(view.step * view.classes / 2);
  const double issue = loads * kGatherInstructions + kFragmentInstructions + gemm.tile.n / 2.0 * kPairInstructions;
  const double products = rows_layout::steps(config) * warpgroup_cycles(rates, gemm.tile.n);
  // WHY not the longest alone: a warpgroup does one after the other, and few share a multiprocessor.
  const double longest = std::max({shared, issue, products}), all = shared + issue + products;
  return longest + kShown * (all - longest);
}

ConvProblem rows_forward(const ConvProblem& problem) {
  ConvProblem p;
  p.dims = problem.dims, p.n = problem.n, p.g = problem.g, p.c = problem.c, p.k = problem.k;
  p.x = problem.x, p.w = problem.w, p.y = problem.y;
  p.in = problem.in, p.filter = problem.filter, p.stride = problem.stride, p.dilation = problem.dilation;
  p.pad_lower = problem.pad_lower, p.pad_upper = problem.pad_upper;
  if (problem.direction != Direction::kBackwardData) return p;
  std::swap(p.c, p.k);
  std::swap(p.x, p.y);
  p.in = problem.out();
  for (size_t i = 0; i < kMaxDims; ++i) {
    const int64_t reach = (p.filter[i] - 1) * p.dilation[i];
    p.pad_lower[i] = reach - problem.pad_lower[i];
    p.pad_upper[i] = reach - problem.pad_upper[i];
  }
  return p;
}

bool rows_is_flat(const ConvProblem& problem) {
  constexpr Spatial kNone = {0, 0, 0}, kOne = {1, 1, 1};
  return problem.dims < 3 && problem.g == 1 && problem.filter == kOne && problem.stride == kOne &&
         problem.pad_lower == kNone && problem.pad_upper == kNone &&
         std::max(problem.x_elements(), problem.y_elements()) < INT32_MAX;
}

ConvProblem rows_seen(const ConvProblem& problem) {
  ConvProblem p = rows_forward(problem);
  if (!rows_is_flat(p)) return p;
  p.in = {1, 1, p.n * p.in[0] * p.in[1] * p.in[2]};
  p.n = 1, p.dims = 1;
  return p;
}

bool rows_take_channels(const ConvProblem& problem) {
  const ConvProblem p = rows_forward(problem);
  if (rows_is_flat(p) && p.c <= rows_layout::kMostFlat) return true;
  return rows_layout::takes_channels(p.c, rows_filter_rows(p), p.filter[2]);
}

const RowsRuns& rows_runs(const View& seen) { return seen.part<Divisions>().runs; }
int64_t rows_filter_rows(const ConvProblem& problem) { return problem.filter[0] * problem.filter[1]; }

RowsView rows_view(const KernelConfig& config, const View& seen) {
  const Divisions& divisions = seen.part<Divisions>();
  RowsView best = unpatched(config, divisions.forward);
  const double fragment = rows_fragment_cycles(config, best, seen.rates());  // whatever the patch
  const int64_t tiles_n = best.tiles_n, most = blocks_for(config, INT64_MAX, tiles_n, seen.rates().units);
  const Room room = room_of(config, best.classes);
  // WHY no divisions: a choice asks for some dozen kernels, each of which tries all of these.
  const double of_block = 1 / static_cast<double>(most), apart = kPatchCycles / config.min_blocks;
  const RowsView* chosen = nullptr;
  double best_cycles = 0;
  int64_t too_large = 0;  // these strips, with so many rows and more
  for (const Divisions::Division& division : divisions.all) {
    const RowsView& view = division.view;
    if (view.strips == too_large) continue;
    if (!room.takes(view) || (view.tile_rows > 1 && view.fragments > kMaxFragments)) {
      too_large = view.strips;
      continue;
    }
    const double waves = std::max(1.0, std::ceil(division.patches * of_block - 1e-9));
    // Nothing hides the first patch.
    const double cycles = division.load + waves * (std::max(division.fragments * fragment, division.load) + apart);
    if (chosen == nullptr || cycles < best_cycles) chosen = &view, best_cycles = cycles;
  }
  if (chosen != nullptr) best = *chosen;
  best.tiles_n = tiles_n;
  best.strips = best.strip > 0 ? ceil_div(divisions.forward.out()[2], best.strip) : 0;
  return best;
}

bool rows_fit(const KernelConfig& config, const View& seen) {
  const Divisions& divisions = seen.part<Divisions>();
  const ConvProblem& p = divisions.forward;
  const Spatial out = p.out();
  if (out[0] < 1 || out[1] < 1 || out[2] < 1)
    return false;  // of backward data with a stride, which is no such convolution
  RowsView view = unpatched(config, p);
  set_patch(view, p, out, divisions.most_strips, 1);
  return room_of(config, view.classes).takes(view);
}

int64_t rows_shared_bytes(const KernelConfig& config, const RowsView& view) {
  return rows_layout::shared_bytes(config, static_cast<int>(view.classes), view.slot_bytes);
}

int64_t rows_blocks(const KernelConfig& config, const RowsView& view, int multiprocessors) {
  return blocks_for(config, view.patches, view.tiles_n, multiprocessors);
}

}  // namespace wt
