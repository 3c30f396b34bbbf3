// SPDX-License-Identifier: Apache-2.0
#include "kernels/depthwise_strips/work.h"

#include <algorithm>
#include <cmath>

#include "kernels/shared/direct_cost.h"

namespace wt {
namespace {

constexpr double kSchedulers = 4;
constexpr double kHopperMacs = 2048;
constexpr double kProduct = 1.6;   // m16n8k16 of a multiprocessor of an H200
constexpr double kPasses = 4;      // of a warp's read of four channels of 32 pixels: two would be ideal
constexpr double kCopyBytes = 26;  // per clock, by copies of 16 bytes
constexpr double kCopyInstructions = 19, kStoreInstructions = 14;  // of a chunk, in turn
constexpr double kAloneInstruction =
    7.5;                         // clocks of a lone warp for each counted instruction: 4.6 for each that a profile saw
constexpr double kTileUs = 1.2;  // from a tile's copies to its first data

}  // namespace

StripsWork::StripsWork(const KernelConfig& config, const ConvProblem& problem, const Rates& rates)
    : config_(config), rates_(rates), bytes_us_(direct_model::bytes_us(problem, rates)) {}

StripsWork::Clocks StripsWork::matrix(const StripsArguments& a) const {
  const bool weight = strips::is_weight(config_), apart = strips::reads_apart(config_);
  const bool shares = strips::shares_pixels(config_);
  const double rows = config_.direct.sub_h, channels = strips::kWarpChannels;
  const double multiple = strips::single(config_) ? 1 : a.multiplier;
  Clocks clocks;
  double lines = 0, filter_rows = 0, tasks = 0;  // of a mean class: lines read, rows of the filter, and walks
  for (int i = 0; i < a.classes * a.phases; ++i) {
    const double count = a.phase[i].count;
    if (count == 0) continue;
    if (weight) {
      const double walks = std::ceil(count / rows);
      tasks += walks;
      lines += walks * (a.band_rows + std::min(count, rows) - 1);
    } else {
      tasks += 1;
      lines += count + rows - 1;
      filter_rows += count;
    }
  }
  const double scale = a.planes * a.steps * multiple / a.classes;
  lines *= scale;
  filter_rows *= scale;
  tasks *= scale;
  const double products = (weight ? lines : filter_rows) * rows * channels;
  const double line_reads = weight ? (shares ? 5 : 8) + 4 : apart ? 4 * 8 * 2 : shares ? 6 : 8;
  const double line_packs = weight ? 24 : apart ? 32 : shares ? 12 : 16;
  const double row_reads = weight ? 0 : 4, row_packs = weight ? 0 : 8;
  clocks.tensor = products * kProduct * kHopperMacs / rates_.macs16;
  clocks.shared = lines * line_reads * kPasses + filter_rows * row_reads * 2;
  const double instructions =
      products + lines * (line_reads + line_packs + 14) + filter_rows * (row_reads + row_packs + 8) + tasks * 40;
  clocks.issue = instructions / kSchedulers;
  clocks.alone = instructions * kAloneInstruction;
  if (weight) {
    // Diagonals: not where all taps are one matrix.
    const bool lone = tasks <= 1 && a.multiplier == 1;
    const double diagonals = lone ? 0 : tasks * rows * 110 / std::max(1, a.class_tiles);
    clocks.issue += diagonals / kSchedulers;
    clocks.shared += diagonals / 2;
    clocks.alone += diagonals * kAloneInstruction;
  }
  return clocks;
}

double StripsWork::busy_us(const StripsArguments& a, const strips::Sizes& s, int64_t resident) const {
  const bool weight = strips::is_weight(config_);
  const Clocks one = matrix(a);
  const double all = s.matrices, warps = strips::channel_warps(config_);
  const double in_bytes = static_cast<double>(s.tile_lines) * static_cast<double>(strips::line_bytes(config_, s));
  const double out_bytes =
      weight ? static_cast<double>(s.out_lines) * static_cast<double>(strips::out_line_bytes(config_, s))
             : all * config_.direct.sub_h * strips::kRows * strips::kColumns * strips::out_bytes(config_, s.multiplier);
  const double in_chunks = in_bytes / (2 * config_.direct.vector_in) / 32;
  const double out_chunks = out_bytes / (2 * config_.direct.vector_out) / 32;
  const double moving = in_chunks * kCopyInstructions + out_chunks * (weight ? kCopyInstructions : kStoreInstructions) +
                        (weight ? 0 : all * warps * (60 + 12 * config_.direct.sub_h));
  const double tensor = all * warps * one.tensor;
  const double shared = all * warps * one.shared + (in_bytes + (weight ? 1 : 4) * out_bytes) / rates_.shared;
  const double issue = all * warps * one.issue + moving / kSchedulers;
  // A block's piece of a pixel comes in whole sectors of 32 bytes.
  const double piece = strips::in_bytes(config_, s.multiplier);
  const double copies = (in_bytes + (weight ? out_bytes : 0)) * std::max(1.0, 32 / piece) / kCopyBytes;
  const double tile = std::max({tensor, shared, issue, copies}) + 0.3 * (std::min(tensor, shared) + 0.5 * issue);

  const double rounds = std::ceil(static_cast<double>(a.tiles) / a.workers);
  const double blocks = std::ceil(static_cast<double>(a.workers) * a.channel_blocks / rates_.units);
  const double together = std::min<double>(blocks, static_cast<double>(resident));
  const double waves = std::ceil(blocks / static_cast<double>(resident));
  // The blocks of a multiprocessor share it, but none is quicker than its warps alone.
  const double alone =
      std::ceil(all / strips::matrices(config_)) * one.alone + moving / strips::warps(config_) * kAloneInstruction;
  const double walk = waves * rounds * std::max(tile * together, alone) / rates_.clock;
  // What no other block hides: the wait for a tile's first data.
  const double waits = waves * rounds * kTileUs / (together * config_.direct.prefetch);
  const double filled =
      static_cast<double>(a.tiles) * a.channel_blocks / (waves * rounds * std::max<double>(together * rates_.units, 1));
  // WHY: banded kernels with 32 bytes of a pixel took a sixth longer than with 64; 16 are a guess.
  const double narrow = piece < 32 ? 0.45 : piece < 64 ? 0.15 : 0;
  const double memory = bytes_us_ * (1.1 + narrow) / std::min(1.0, std::max(0.25, filled));
  return 1.1 * std::max(walk, memory) + 0.25 * std::min(walk, memory) + waits;
}

}  // namespace wt
