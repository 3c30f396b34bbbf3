// SPDX-License-Identifier: Apache-2.0
// kernels/rows/proposals.cc - Hopper's kernel for few channels to sum over: fragments read from raw image rows.
#include "kernels/rows/device/layout.h"
#include "kernels/rows/kind.h"
#include "kernels/rows/view.h"
#include "kernels/shared/warpgroup.h"
#include "problem/measures.h"
#include "problem/problem.h"

namespace wt::rows_kind {
namespace {

// Filter rows, and the octets of one: S * C numbers and one more where windows start at odd elements. Up to 11 rows,
// and as many octets as rows, which is what 8 channels have; these are worth more than one tile.
struct Filter {
  short rows, octets;
};
constexpr short kMostRows = 11;
constexpr int kMostAnyOctets = 128;  // of a filter whose outputs are rows of any length
constexpr Filter kCommon[] = {
    {7, 3},   // 7x7 of 3 channels
    {3, 2},   // 3x3 of 3 to 5
    {5, 1},   // 5x5 of 1
    {4, 2},   // 4x4 of 3 and 4
    {3, 1},   // 3x3 of 1 and 2
    {3, 3},   // 3x3 of 6 to 8
    {5, 2},   // 5x5 of 2 and 3
    {7, 1},   // 7x7 of 1
    {7, 4},   // 7x7 of 4
    {11, 5},  // 11x11 of 3
    {8, 3},   // 8x8 of 3, patches
};

constexpr Filter kHead = {3, 14};  // 3x3 of 36

bool is_common(const Filter& filter) {
  for (const Filter& common : kCommon) {
    if (common.rows == filter.rows && common.octets == filter.octets) return true;
  }
  return false;
}

// One row or three of many octets: heads of 18 and 36 channels and the like.
bool is_wide(const Filter& filter) {
  return filter.rows <= rows_layout::kMostWideRows && filter.octets > filter.rows && !is_common(filter);
}

struct Shape {
  short columns;
  int groups, min_blocks, stages;
};
// WHY three groups: with them and the load warps, a thread has 128 registers. Two blocks of two have more that overlap,
// and fewer registers.
// Four groups have fewer registers still, and take eight fragments in two rounds where three take three.
constexpr Shape kShapes[] = {{64, 3, 1, 4}, {32, 3, 1, 4}, {96, 3, 1, 4},  {128, 3, 1, 3}, {16, 3, 1, 4},
                             {64, 2, 2, 3}, {32, 2, 2, 3}, {128, 2, 1, 3}, {32, 4, 1, 4}};
// Five rows of many octets, 5x5 over up to 52 channels that are no vectors: their filters leave room for few patches.
constexpr Shape kFiveRowShapes[] = {{16, 3, 1, 4}, {32, 3, 1, 2}, {32, 3, 1, 4}, {64, 3, 1, 2}, {32, 4, 1, 4}};

// Scale, bias and activations leave room for three groups, not of 128 columns.
constexpr Shape kSteppedShapes[] = {{64, 3, 1, 4}, {32, 3, 1, 4}, {96, 3, 1, 4}, {16, 3, 1, 4}, {64, 2, 1, 4}};
// An epilogue that loads at places wants more registers.
constexpr Shape kLoadedShapes[] = {{64, 2, 1, 4}, {32, 2, 1, 4}, {96, 2, 1, 4}};

std::span<const Shape> shapes_for(const EpilogueConfig& epilogue) {
  if (rows_layout::is_loaded(epilogue)) return kLoadedShapes;
  if (rows_layout::is_stepped(epilogue)) return kSteppedShapes;
  return kShapes;
}

// Which of them are best guesses: filter, columns, load warps.
struct Guess {
  Filter filter;
  short columns;
  int load_warps;
};
constexpr Guess kGuesses[] = {{{7, 3}, 64, 1}, {{3, 2}, 32, 1}};
// Decoders end in 3 channels under 3x3, heads in 36; 128 columns read dy once for most of them.
constexpr Guess kDataGuesses[] = {{{3, 2}, 128, 1}, {{3, 2}, 64, 1}, {{3, 14}, 128, 4}};

bool is_guess(Direction direction, const Filter& filter, const Shape& shape, int load_warps) {
  const std::span<const Guess> guesses =
      direction == Direction::kForward ? std::span<const Guess>(kGuesses) : std::span<const Guess>(kDataGuesses);
  for (const Guess& guess : guesses) {
    if (guess.filter.rows == filter.rows && guess.filter.octets == filter.octets && guess.columns == shape.columns &&
        shape.min_blocks == 1 && shape.groups < 4 && (shape.columns != 128 || shape.groups == 3) &&
        guess.load_warps == load_warps)
      return true;
  }
  return false;
}

KernelConfig config_of(const KernelConfig& base, const Filter& filter, const Shape& shape, int load_warps) {
  KernelConfig config = base;
  config.min_blocks = static_cast<unsigned char>(shape.min_blocks);
  GemmConfig& gemm = config.gemm;
  gemm.pipeline = Pipeline::kRows;
  gemm.tile = {static_cast<short>(64 * shape.groups), shape.columns,
               static_cast<short>((filter.rows * filter.octets + 1) / 2 * 16)};
  gemm.mma = warpgroup_mma(base.target, shape.columns, 16);
  gemm.warps = {static_cast<short>(4 * shape.groups), 1, 1};
  gemm.stages = static_cast<unsigned char>(shape.stages);
  gemm.loader_a = Loader::kRegister;
  gemm.persistent = true;
  gemm.load_warps = static_cast<unsigned char>(load_warps);
  gemm.filter_rows = static_cast<unsigned char>(filter.rows);
  return config;
}

void propose(const KernelConfig& base, const Filter& filter, bool common, Breadth breadth,
             std::vector<KernelConfig>& configs) {
  const bool vectors = size_of(output_type(base)) == 2 && !base.epilogue.store;
  for (const Shape& shape : shapes_for(base.epilogue)) {
    const bool wide = is_wide(filter) && (shape.columns == 16 || shape.columns == 32 || shape.columns == 128);
    if (!common && ((shape.columns != 64 && !wide) || shape.min_blocks > 1)) continue;
    if (shape.groups == 4 && !common) continue;
    // Long sums alone are worth more registers for fragments than a third group leaves.
    if (shape.columns == 128 && shape.groups == 2 && !(wide && filter.octets > 8)) continue;
    for (const int load_warps : {1, 4}) {
      if (breadth == Breadth::kFew && !is_guess(base.direction, filter, shape, load_warps)) continue;
      if (shape.min_blocks > 1 && load_warps != 1) continue;
      KernelConfig config = config_of(base, filter, shape, load_warps);
      if (vectors) {
        config.gemm.staging = Staging::kShared;
        config.gemm.vector_c = 8;
        configs.push_back(config);
        if (breadth == Breadth::kFew) continue;
        // Without the way through shared memory, which wide fragments gain most from.
        if (shape.columns % 32 == 0 && rows_layout::is_plain(base.epilogue)) {
          config.gemm.staging = Staging::kDirect;
          configs.push_back(config);
        }
        // Even numbers of channels.
        for (const unsigned char even : {4, 2}) {
          if (load_warps != 1 || shape.columns > 64) continue;
          config.gemm.staging = Staging::kShared;
          config.gemm.vector_c = even;
          configs.push_back(config);
        }
        // Any number of channels, through shared memory. WHY not of the longest sums: they spill.
        if (filter.rows * filter.octets > kMostAnyOctets) continue;
        config.gemm.staging = Staging::kShared;
        config.gemm.vector_c = 1;
        configs.push_back(config);
      }
      // Any number of channels, from registers: by load warps alone where there are vectors too.
      if ((vectors && load_warps == 1) || shape.columns > 64) continue;
      config.gemm.staging = Staging::kDirect;
      config.gemm.vector_c = 1;
      configs.push_back(config);
    }
  }
}

// Unit filters, whose pixels are one line: any number of octets, and columns that cover the widths of networks in one
// tile or two. WHY two groups where there are many: their sums take registers.
constexpr Shape kUnitShapes[] = {{16, 3, 1, 4}, {24, 3, 1, 4},  {32, 3, 1, 4},  {48, 3, 1, 4}, {64, 3, 1, 4},
                                 {80, 3, 1, 4}, {96, 3, 1, 4},  {128, 3, 1, 3}, {128, 2, 1, 4}, {144, 2, 1, 4},
                                 {160, 2, 1, 4}, {192, 2, 1, 3}, {64, 2, 2, 4}, {32, 2, 2, 4}};
constexpr short kMostWideOctets = 18;
void propose_unit(const KernelConfig& base, std::vector<KernelConfig>& configs) {
  if (size_of(output_type(base)) != 2 || base.epilogue.store || rows_layout::is_loaded(base.epilogue)) return;
  for (short octets = 2; octets <= rows_layout::kMostFlat / rows_layout::kOctet; octets += 2) {
    for (const Shape& shape : kUnitShapes) {
      if (octets > kMostWideOctets && (shape.columns > 64 || shape.groups < 3)) continue;  // their sums are few
      KernelConfig config = config_of(base, {1, octets}, shape, 1);
      config.gemm.vector_c = 8;
      config.gemm.staging = Staging::kShared;
      configs.push_back(config);
      if (shape.columns % 32 != 0) continue;
      config.gemm.staging = Staging::kDirect;
      configs.push_back(config);
    }
  }
}

// Outputs by whole vectors, by pairs or of any number.
void propose_five_rows(const KernelConfig& base, std::vector<KernelConfig>& configs) {
  if (size_of(output_type(base)) != 2 || base.epilogue.store || !rows_layout::is_plain(base.epilogue)) return;
  for (short octets = 6; octets <= rows_layout::kMostNumbersOfFive / rows_layout::kOctet; ++octets) {
    for (const Shape& shape : kFiveRowShapes) {
      for (const int load_warps : {1, 4}) {
        for (const unsigned char stored : {8, 2, 1}) {
          configs.push_back(config_of(base, {rows_layout::kFiveRows, octets}, shape, load_warps));
          configs.back().gemm.staging = Staging::kShared;
          configs.back().gemm.vector_c = stored;
        }
      }
    }
  }
}

// One dimension: a row of any length.
void propose_line(const KernelConfig& base, std::vector<KernelConfig>& configs) {
  for (short octets = 2; octets <= rows_layout::kMostNumbers / rows_layout::kOctet; octets += 2)
    propose(base, {1, octets}, octets <= 4, Breadth::kAll, configs);
  propose_unit(base, configs);
}

// Three dimensions: rows of all planes. Cubes of 3 and 5, a plane or a column of them, stems of 7x7 and 4x4 under up to
// 7 planes, patches of 16x16 under two.
struct Planes {
  short rows, most_octets;
  bool common;
};
constexpr Planes kPlanes[] = {{1, 8, false},  {2, 4, false},  {3, 6, false},  {4, 4, false},  {5, 10, false},
                              {6, 4, false},  {7, 4, false},  {8, 4, false},  {9, 6, true},   {12, 4, false},
                              {15, 4, false}, {16, 4, false}, {21, 4, true},  {25, 10, true}, {27, 4, false},
                              {32, 6, false}, {35, 4, true},  {49, 4, false}, {64, 3, false}};
void propose_planes(const KernelConfig& base, std::vector<KernelConfig>& configs) {
  for (const Planes& planes : kPlanes) {
    for (short octets = 1; octets <= planes.most_octets; ++octets) {
      if (planes.rows == 1 && octets % 2 != 0) continue;  // a step is two octets
      propose(base, {planes.rows, octets}, planes.common, Breadth::kAll, configs);
    }
  }
}

}  // namespace

void propose(const KernelConfig& base, const TargetInfo&, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (base.layout != Layout::kChannelsLast) return;
  if (base.direction == Direction::kBackwardWeight) return;
  if (!is_16_bit(operand_a(base)) || operand_a(base) != operand_b(base)) return;
  // WHY not fp16: packs have a limit, and layers of images in fp16 are rare.
  if (breadth == Breadth::kFew && operand_a(base) != DataType::kBf16) return;
  if (base.dims != 2 && breadth == Breadth::kFew) return;  // packs hold what is used most
  if (base.dims == 1) return propose_line(base, configs);
  if (base.dims == 3) return propose_planes(base, configs);
  for (const Filter& filter : kCommon) propose(base, filter, true, breadth, configs);
  propose(base, kHead, false, breadth, configs);
  if (breadth == Breadth::kFew) return;
  for (short rows = 2; rows <= kMostRows; ++rows) {
    for (short octets = 1; octets <= rows; ++octets) {
      if (!is_common({rows, octets})) propose(base, {rows, octets}, false, breadth, configs);
    }
  }
  for (short octets = 2; octets <= rows_layout::kMostNumbers / rows_layout::kOctet; ++octets) {
    if (octets % 2 == 0) propose(base, {1, octets}, false, breadth, configs);
    if (octets > 3 && octets != kHead.octets) propose(base, {3, octets}, false, breadth, configs);
  }
  propose_unit(base, configs);
  propose_five_rows(base, configs);
}

bool may_serve(const ConvProblem& problem) {
  if (problem.g != 1 || !rows_take_channels(problem)) return false;
  return problem.direction == Direction::kForward || (problem.direction == Direction::kBackwardData && problem.stride == Spatial{1, 1, 1});
}

}  // namespace wt::rows_kind
