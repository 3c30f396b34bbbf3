// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows_weight/view.h"

#include <algorithm>
#include <numeric>

#include "base/integers.h"
#include "config/targets.h"
#include "kernels/rows/view.h"
#include "kernels/rows_weight/device/layout.h"
#include "kernels/shared/warpgroup.h"

namespace wt {
namespace {

constexpr int64_t kReservedBytes = 1024;  // of a block, by the hardware
constexpr int64_t kMaxPitch = 1024;       // 256 words of a bulk copy
constexpr int64_t kMaxBox = 256;
constexpr int64_t kMaxUnits = 0x7fffffff;  // that the kernel can divide
// What is tried. WHY not every number: a choice asks for some dozen kernels, and these are near enough to any.
constexpr int64_t kTileRows[] = {1, 2, 3, 4, 6, 8, 12, 16};
constexpr int64_t kMoreStrips = 2;  // than the least

// Cycles of a multiprocessor, counted on paper.
constexpr double kUnitCycles = 400;         // barriers, coordinates, the first words
constexpr double kStepInstructions = 30;    // of a warp: the pixels' addresses, the walk, waits
constexpr double kPairedInstructions = 20;  // the same of pairs of rows
constexpr double kBytesPerCycle = 18;       // into one multiprocessor's shared memory, when all of them load
constexpr double kLatencyCycles = 3500;     // from the copy of a unit to its arrival, when all multiprocessors load

// The view before its units are chosen.
RowsWeightView undivided(const KernelConfig& config, const ConvProblem& p) {
  RowsWeightView view{};
  view.run = p.filter[2] * p.c;
  view.step = p.stride[2] * p.c;
  view.odd_step = view.step % 2 != 0;
  view.lead = p.pad_lower[2] * p.c & 1;
  view.shift = view.odd_step ? 0 : view.lead;
  view.row_words = ceil_div(view.run + view.shift, 2);
  view.words = view.row_words * rows_filter_rows(p);
  view.planes = p.filter[0];
  view.tiles_m = ceil_div(view.words, rows_weight_layout::tile_words(config));
  view.tiles_n = ceil_div(p.k, config.gemm.tile.n);
  view.bank_waves = 1.5;  // until the pitch is known
  return view;
}

// WHY the gcd: chunks start at multiples of 128 bytes, rows at 16.
int64_t pitch_unit(int64_t chunk_rows) { return 128 / std::gcd<int64_t>(chunk_rows, 8); }

// Units of `rows` rows of outputs in `strips` strips.
void divide(RowsWeightView& view, const KernelConfig& config, const ConvProblem& p, const Spatial& out, int64_t strips,
            int64_t rows) {
  view.strip = round_up(ceil_div(out[2], strips), 8);
  view.strips = ceil_div(out[2], view.strip);
  view.tile_rows = rows;
  view.walk_units = ceil_div(out[1], rows);
  view.units = p.n * out[0] * view.strips * view.walk_units;
  view.chunk_rows = rows * p.stride[1];
  view.chunks = ceil_div((rows - 1) * p.stride[1] + p.filter[1], view.chunk_rows);
  // Before a unit's rows may be overwritten, the units that share them are over: in as many units as there are slots,
  // so many walks may start, each with all of its chunks.
  const int64_t stages = config.gemm.stages, starts = ceil_div(stages, view.walk_units);
  view.ring_chunks = stages + (view.chunks - 1) * (starts + 1);
  const int64_t words = ((view.strip - 1) * view.step + 7) / 2 + view.row_words + 1;
  view.pitch = round_up(4 * words, pitch_unit(view.chunk_rows));
  view.block_bytes = rows * view.strip * 128;
  view.paired = !view.odd_step && view.strips * view.strip == out[2] && view.walk_units * rows == out[1] &&
                rows % 2 == 0 && rows / 2 * view.octets() % 2 == 0;
}

bool unit_fits(const KernelConfig& config, const RowsWeightView& view) {
  const TargetInfo& target = info_of(config.target);
  const int64_t room = std::min<int64_t>(target.shared_per_block,
                                         target.shared_per_unit / std::max<int>(config.min_blocks, 1) - kReservedBytes);
  return view.units <= kMaxUnits && view.pitch <= kMaxPitch && view.strip <= kMaxBox && view.chunk_rows <= kMaxBox &&
         rows_weight_shared_bytes(config, view) <= room;
}

// How often two lanes of a warp read different words of one bank, over all of a tile's warps.
double bank_waves(const KernelConfig& config, const RowsWeightView& view, const ConvProblem& p) {
  constexpr int kMost = 4;
  const int filter_rows = static_cast<int>(rows_filter_rows(p));
  const int words = static_cast<int>(view.words), tile = rows_weight_layout::tile_words(config);
  int waves = 0, warps = 0;
  for (int first = 0; first < std::min(tile, words); first += 8, ++warps) {
    int64_t seen[32][kMost];
    int counts[32] = {}, most = 1;
    for (int index = first; index < std::min(first + 8, words); ++index) {
      const auto word = rows_weight_layout::word_of(filter_rows, static_cast<int>(view.row_words), index);
      int64_t at = word.row % p.filter[1] * view.pitch / 4 + word.at;  // rings start at the same bank
      for (int pair = 0; pair < 4; ++pair, at += view.step) {
        int& count = counts[at % 32];
        int64_t* const bank = seen[at % 32];
        if (count == kMost || std::find(bank, bank + count, at) != bank + count) continue;
        bank[count++] = at;
        most = std::max(most, count);
      }
    }
    waves += most;
  }
  return static_cast<double>(waves) / warps;
}

// Rows a little longer than they need be, where that spares the banks.
void spread_rows(RowsWeightView& view, const KernelConfig& config, const ConvProblem& p) {
  constexpr int kTried = 3;
  const int64_t unit = pitch_unit(view.chunk_rows), least = view.pitch;
  view.bank_waves = bank_waves(config, view, p);
  RowsWeightView tried = view;
  for (int i = 1; i < kTried && view.bank_waves > 1; ++i) {
    tried.pitch = least + i * unit;
    if (!unit_fits(config, tried)) break;
    tried.bank_waves = bank_waves(config, tried, p);
    if (tried.bank_waves < view.bank_waves) view = tried;
  }
}

// A step has two octets, so the outputs of whole units are an even number of them.
bool has_whole_steps(const RowsWeightView& view) { return view.octets() * view.tile_rows % 2 == 0; }

double part_cycles(const KernelConfig& config, const RowsWeightView& view, const Rates& rates) {
  const double steps = static_cast<double>(view.octets() * view.tile_rows) / 2;
  const double chunk = static_cast<double>(view.planes * view.chunk_rows * view.pitch);
  const double bytes = static_cast<double>(view.block_bytes * rows_weight_layout::blocks_n(config)) + chunk;
  const double more = chunk * static_cast<double>(view.chunks - 1);  // of a walk's first unit
  const double load = std::max((bytes + more / static_cast<double>(view.walk_units)) / kBytesPerCycle,
                               kLatencyCycles / config.gemm.stages);
  const double unit = std::max(steps * rows_weight_step_cycles(config, view, rates), load) +
                      kUnitCycles / rows_weight_layout::groups_k(config);
  const int64_t of_part = ceil_div(view.units, rows_weight_parts(config, view, rates.units));
  // Nothing hides the first unit.
  return (bytes + more) / kBytesPerCycle + static_cast<double>(of_part) * unit;
}

}  // namespace

bool rows_weight_turns(const ConvProblem& problem) {
  constexpr int64_t kFew = rows_weight_layout::kMostChannels;
  if (problem.c <= kFew && problem.k % 8 == 0) return false;
  if (problem.k <= kFew && problem.c % 8 == 0) return true;
  return !rows_weight_layout::takes_channels(problem.c);
}

ConvProblem rows_weight_source(const ConvProblem& problem) {
  ConvProblem source = problem;
  source.direction = rows_weight_turns(problem) ? Direction::kBackwardData : Direction::kForward;
  return rows_forward(source);
}

double rows_weight_step_cycles(const KernelConfig& config, const RowsWeightView& view, const Rates& rates) {
  const GemmConfig& gemm = config.gemm;
  const double fragments = rows_weight_layout::fragments(config), loads = view.odd_step ? 6 : 4;
  // A fragment's words are read by four warps; all of them read dy.
  const double shared = fragments * (4 * loads * 128 * view.bank_waves + gemm.tile.n * 32.0) / rates.shared;
  const double issue = view.paired
                           ? kPairedInstructions * rows_weight_layout::groups_m(config) + fragments * 2 * loads
                           : kStepInstructions * rows_weight_layout::groups_m(config) + fragments * (2.5 * loads + 5);
  const double products = fragments * warpgroup_cycles(rates, gemm.tile.n);
  // WHY not the longest alone: a group does one after the other, and few share a multiprocessor.
  const double longest = std::max({shared, issue, products}), all = shared + issue + products;
  return longest + (view.paired ? 0.12 : 0.25) * (all - longest);
}

RowsWeightView rows_weight_view(const KernelConfig& config, const View& seen) {
  const ConvProblem p = rows_weight_source(seen.problem());
  RowsWeightView view = undivided(config, p), best = view;
  const Spatial out = p.out();
  double best_cycles = 0;
  int64_t least = 0;  // strips that fit
  const int64_t longest = std::clamp<int64_t>((kMaxPitch / 2 - view.run) / view.step + 1, 8, kMaxBox);
  for (int64_t strips = ceil_div(out[2], longest); strips <= ceil_div(out[2], 8); ++strips) {
    if (least > 0 && strips > least + kMoreStrips) break;
    for (const int64_t rows : kTileRows) {
      if (rows > std::max<int64_t>(out[1], 2)) break;
      divide(view, config, p, out, strips, rows);
      if (!has_whole_steps(view)) continue;
      if (!unit_fits(config, view)) continue;
      if (least == 0) least = strips;
      const double cycles = part_cycles(config, view, seen.rates());
      if (best.strips == 0 || cycles < best_cycles) best = view, best_cycles = cycles;
    }
  }
  if (best.strips > 0) spread_rows(best, config, p);
  return best;
}

bool rows_weight_fits(const KernelConfig& config, const ConvProblem& problem) {
  const ConvProblem p = rows_weight_source(problem);
  RowsWeightView view = undivided(config, p);
  const Spatial out = p.out();
  if (out[0] < 1 || out[1] < 1 || out[2] < 1) return false;  // turned round with a stride, which another row declines
  divide(view, config, p, out, ceil_div(out[2], 8), 2);
  return unit_fits(config, view);
}

int64_t rows_weight_shared_bytes(const KernelConfig& config, const RowsWeightView& view) {
  return rows_weight_layout::shared_bytes(config, view.block_bytes, view.planes * view.ring_bytes());
}

int64_t rows_weight_parts(const KernelConfig& config, const RowsWeightView& view, int multiprocessors, int asked) {
  const int64_t resident = int64_t{multiprocessors} * std::max<int>(config.min_blocks, 1);
  const int64_t wanted = asked > 0 ? asked : resident / (view.tiles_m * view.tiles_n);
  return std::clamp<int64_t>(wanted, 1, std::max<int64_t>(1, view.units));
}

}  // namespace wt
