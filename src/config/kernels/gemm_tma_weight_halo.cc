// SPDX-License-Identifier: Apache-2.0
#include "config/kernels/gemm_tma_weight_halo.h"

#include "kernel/gemm/tma/weight_halo_layout.h"

namespace wt {
namespace {

constexpr int kSharedBytes = 227 * 1024;  // of a block
constexpr int kMaxStages = 8;
constexpr unsigned char kWholeVector = 8;  // 16 bytes

// Output channels, pixels of a stage, channels of a patch and rows of taps, one for each warpgroup.
struct Shape {
  short rows, pixels;
  unsigned char channels;
  short tap_rows;
  bool guess;           // in packs
  bool copies = false;  // also by way of copies of inputs whose rows are no whole 16 bytes
  bool pairs = false;   // of planes, for up to 32 output channels
};

// All nine taps of 3x3 filters at a time, or a row of taps. On an H200 tiles of 32 channels, which leave fewer sums to
// add, were mostly best. Of 14, 28 and 56 pixels the tiles of 112 are a whole number, of 50 those of 160 nearly.
constexpr Shape kShapes[] = {
    {64, 64, 32, 3, true, true},
    {64, 128, 64, 3, false, true},
    {64, 64, 64, 3, false, true},
    {64, 128, 32, 3, false},
    {64, 112, 32, 3, false},
    {64, 160, 32, 3, false},
    {64, 64, 32, 3, false, false, true},
    {64, 128, 64, 1, false},
    {64, 112, 64, 1, false},
    {128, 128, 64, 1, false},
    {128, 64, 64, 1, false},
    {128, 128, 32, 1, false},
    {128, 64, 32, 1, false},
};

}  // namespace

void propose_weight_halo(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (size_of(base.x) != 2 || base.x != base.y) return;
  // WHY not all: packs have a limit; these are the layers that gain most.
  if (breadth == Breadth::kFew && base.dims != 2) return;
  for (const Shape& shape : kShapes) {
    if ((breadth == Breadth::kFew && !shape.guess) || (shape.pairs && base.dims != 3)) continue;
    KernelConfig config = base;
    config.family = Family::kGemm;
    config.min_blocks = 1;
    config.finite_only = true;
    GemmConfig& gemm = config.gemm;
    gemm.pipeline = Pipeline::kTma;
    const auto columns = static_cast<short>(weight_halo::kTaps * shape.channels);
    gemm.tile = {shape.rows, static_cast<short>(shape.tap_rows * columns), shape.pixels};
    gemm.mma = {64, columns, 16};
    const int groups_m = shape.tap_rows == 3 ? 1 : shape.rows / 64;
    gemm.warps = {static_cast<short>(4 * groups_m), shape.tap_rows, 1};
    gemm.load_warps = 4;
    gemm.persistent = true;
    gemm.loader_a = Loader::kTmaTiled;
    gemm.loader_b = Loader::kTmaHalo;
    gemm.swizzle_a = shape.pairs ? 64 : 128;
    gemm.swizzle_b = static_cast<unsigned char>(2 * shape.channels);
    gemm.block_swizzle = 8;
    for (gemm.stages = kMaxStages; weight_halo::shared_bytes(config) > kSharedBytes;) --gemm.stages;
    for (const SplitK split : {SplitK::kWorkspace, SplitK::kNone}) {
      if (breadth == Breadth::kFew && split == SplitK::kNone) continue;
      gemm.split_k = split;
      configs.push_back(config);
      if (breadth == Breadth::kFew || !shape.copies || split == SplitK::kNone) continue;
      configs.back().gemm.vector_a = kWholeVector;
      configs.push_back(config);
    }
  }
}

}  // namespace wt
