// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight_halo/proposals.cc - tiles of this kind.
#include "kernels/tma_weight_halo/kind.h"

#include "kernels/tma_weight_halo/device/layout.h"

namespace wt::tma_weight_halo_kind {
namespace {

constexpr int kSharedBytes = 227 * 1024;  // of a block
constexpr int kMaxStages = 8;

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
// add, were mostly best. 14, 28 and 56 pixels make whole tiles of 112, and 50 nearly whole ones of 160.
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

void propose(const KernelConfig& base, const TargetInfo&, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (base.layout != Layout::kChannelsLast) return;
  if (size_of(base.x) != 2 || base.x != base.y) return;
  // WHY not all: packs have a limit; these are the layers that gain most.
  if (breadth == Breadth::kFew && base.dims != 2) return;
  for (const Shape& shape : kShapes) {
    if ((breadth == Breadth::kFew && !shape.guess) || (shape.pairs && base.dims != 3)) continue;
    KernelConfig config = base;
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
      configs.back().gemm.aligned_copy = true;
      configs.push_back(config);
    }
  }
}

}  // namespace wt::tma_weight_halo_kind
