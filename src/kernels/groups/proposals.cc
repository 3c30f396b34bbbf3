// SPDX-License-Identifier: Apache-2.0
// kernels/groups/proposals.cc - small groups on matrix instructions, the halo in shared memory.
#include "kernels/groups/device/shape.h"
#include "kernels/groups/kind.h"
#include "kernels/shared/constraint_rows.h"

namespace wt::groups_kind {
namespace {

// Positions and blocks follow the registers: sums take 4 * reach * tiles * outputs / 8 of them, and the filter
// filter_h * chunks * outputs / 8.
struct Variant {
  unsigned char filter, stride;   // of rows and columns alike; in one dimension there is one row
  unsigned char bundle, outputs;  // channels; outputs of a warp
  short threads, positions;
  unsigned char min_blocks, stages;
};
constexpr Variant kForward[] = {
    {3, 1, 8, 8, 256, 64, 2, 4},   {3, 1, 16, 8, 256, 64, 2, 4},   {3, 1, 32, 16, 256, 64, 1, 4},
    {3, 2, 8, 8, 256, 32, 2, 4},   {3, 2, 16, 8, 256, 32, 2, 4},   {3, 2, 32, 16, 256, 32, 1, 4},
    {3, 1, 24, 8, 192, 64, 2, 4},  {3, 2, 24, 8, 192, 32, 2, 4},   {3, 1, 32, 8, 256, 64, 2, 4},
    {3, 1, 8, 8, 256, 128, 1, 4},  {3, 1, 16, 16, 256, 128, 1, 4}, {3, 1, 32, 16, 256, 128, 1, 3},
    {3, 1, 8, 8, 256, 64, 2, 6},   {3, 1, 16, 16, 256, 32, 2, 4},  {3, 1, 16, 16, 256, 64, 2, 4},
    {3, 2, 8, 8, 256, 64, 1, 3},   {3, 2, 16, 16, 512, 64, 1, 3},  {3, 2, 32, 16, 512, 64, 1, 3},
    {3, 2, 32, 16, 256, 64, 1, 3}, {5, 1, 8, 8, 256, 32, 2, 4},    {5, 1, 16, 8, 256, 32, 1, 4},
    {7, 1, 8, 8, 256, 32, 1, 4},
};
constexpr Variant kData[] = {
    {3, 1, 8, 8, 256, 64, 2, 4},   {3, 1, 16, 8, 256, 64, 2, 4},   {3, 1, 32, 16, 256, 64, 1, 4},
    {3, 2, 8, 8, 256, 32, 2, 4},   {3, 2, 16, 8, 256, 32, 2, 4},   {3, 2, 32, 16, 256, 32, 1, 4},
    {3, 1, 24, 8, 192, 64, 2, 4},  {3, 2, 24, 8, 192, 32, 2, 4},   {3, 1, 32, 8, 256, 64, 2, 4},
    {3, 1, 8, 8, 256, 128, 1, 4},  {3, 1, 16, 16, 256, 128, 1, 4}, {3, 1, 32, 16, 256, 128, 1, 3},
    {3, 1, 16, 16, 256, 32, 2, 4}, {3, 1, 16, 16, 256, 64, 2, 4},  {3, 2, 8, 8, 256, 64, 1, 4},
    {3, 2, 16, 8, 256, 64, 1, 4},  {5, 1, 8, 8, 256, 32, 2, 4},    {5, 1, 16, 8, 256, 32, 1, 4},
    {7, 1, 8, 8, 256, 32, 1, 4},
};
constexpr Variant kWeight[] = {
    {3, 1, 8, 8, 256, 64, 2, 4},  {3, 1, 16, 8, 256, 32, 2, 4}, {3, 1, 32, 8, 256, 64, 1, 4},
    {3, 2, 8, 8, 256, 32, 2, 4},  {3, 2, 16, 8, 256, 32, 2, 4}, {3, 2, 32, 8, 256, 32, 1, 4},
    {3, 1, 24, 8, 192, 32, 2, 4}, {3, 2, 24, 8, 192, 32, 2, 4}, {3, 1, 8, 8, 256, 128, 1, 4},
    {3, 1, 16, 8, 256, 64, 1, 6}, {3, 2, 8, 8, 256, 64, 1, 3},  {3, 2, 16, 8, 256, 64, 1, 3},
    {5, 1, 8, 8, 256, 32, 1, 4},  {5, 1, 16, 8, 256, 32, 1, 4}, {7, 1, 8, 8, 256, 32, 1, 4},
};
// One-dimensional images are rows of their own: less of the filter and fewer sums in registers.
constexpr Variant kLine[] = {
    {3, 1, 8, 8, 256, 64, 2, 4},   {3, 1, 16, 16, 256, 64, 2, 4}, {3, 1, 32, 16, 256, 64, 2, 4},
    {3, 2, 8, 8, 256, 32, 2, 4},   {3, 2, 16, 8, 256, 32, 2, 4},  {4, 1, 8, 8, 256, 64, 2, 4},
    {4, 1, 16, 16, 256, 64, 2, 4}, {5, 1, 8, 8, 256, 64, 2, 4},   {5, 1, 16, 16, 256, 64, 2, 4},
    {7, 1, 8, 8, 256, 64, 2, 4},   {7, 1, 16, 8, 256, 64, 2, 4},
};
constexpr Variant kLineWeight[] = {
    {3, 1, 8, 8, 256, 64, 2, 4},  {3, 1, 16, 8, 256, 64, 2, 4}, {3, 1, 32, 8, 256, 64, 1, 4},
    {3, 2, 8, 8, 256, 32, 2, 4},  {3, 2, 16, 8, 256, 32, 2, 4}, {4, 1, 8, 8, 256, 64, 2, 4},
    {4, 1, 16, 8, 256, 64, 2, 4}, {5, 1, 8, 8, 256, 64, 2, 4},  {5, 1, 16, 8, 256, 64, 2, 4},
    {7, 1, 8, 8, 256, 64, 2, 4},  {7, 1, 16, 8, 256, 64, 1, 4},
};
// AMD: bundles of 16 and 32, two stages; no threads: a wave for each 16 of a block's channels. Nothing of it was timed.
constexpr Variant kWave[] = {
    {3, 1, 16, 16, 256, 32, 2, 2}, {3, 1, 32, 16, 256, 32, 2, 2}, {3, 2, 16, 16, 0, 16, 2, 2},
    {3, 2, 32, 16, 0, 16, 2, 2},   {3, 2, 16, 16, 256, 32, 1, 2}, {3, 2, 32, 16, 256, 32, 1, 2},
    {3, 1, 16, 16, 512, 64, 1, 2}, {3, 1, 32, 16, 512, 64, 1, 2}, {5, 1, 16, 16, 256, 32, 2, 2},
};
constexpr Variant kWaveWeight[] = {
    {3, 1, 16, 16, 0, 32, 2, 2},
    {3, 1, 32, 16, 0, 16, 2, 2},
    {3, 2, 16, 16, 0, 16, 2, 2},
    {3, 2, 32, 16, 0, 16, 2, 2},
};
constexpr Variant kWaveLine[] = {
    {3, 1, 16, 16, 256, 64, 2, 2}, {3, 1, 32, 16, 256, 64, 2, 2}, {3, 2, 16, 16, 256, 32, 2, 2},
    {4, 1, 16, 16, 256, 64, 2, 2}, {5, 1, 16, 16, 256, 64, 2, 2}, {7, 1, 16, 16, 256, 64, 2, 2},
};
constexpr Variant kWaveLineWeight[] = {
    {3, 1, 16, 16, 0, 32, 2, 2}, {3, 1, 32, 16, 0, 16, 2, 2}, {3, 2, 16, 16, 0, 32, 2, 2},
    {4, 1, 16, 16, 0, 32, 2, 2}, {5, 1, 16, 16, 0, 32, 2, 2}, {7, 1, 16, 16, 0, 32, 2, 2},
};
constexpr size_t kFewVariants = 1;  // packs have merged groups of the GEMM family for the rest

// A lane has 256 registers for the filter, or for the sums of a weight gradient: on RDNA3, whose lanes have all of k, 8
// for each tap of 16 channels, and on both RDNAs as many for their sums. What spilled is not here.
bool fits_wave(const KernelConfig& base, const Variant& variant) {
  const int taps = (base.dims == 1 ? 1 : variant.filter) * variant.filter * variant.bundle / 16;
  const bool rdna3 = base.target == Target::kGfx1100 || base.target == Target::kGfx11Generic;
  const bool rdna = rdna3 || base.target == Target::kGfx1201 || base.target == Target::kGfx12Generic;
  if (base.direction == Direction::kBackwardWeight)
    return rdna ? taps <= 9 && (base.dims == 1 || variant.stride == 1) : taps <= 18;
  return !rdna3 || taps <= 9;
}

// 512 threads of the widest bundles leave no registers for more than a comparison after the products.
bool fits(const KernelConfig& base, const Variant& variant) {
  if (is_amd(base.target)) return fits_wave(base, variant);
  const EpilogueConfig& epilogue = base.epilogue;
  if (variant.bundle < 32 || variant.threads < 512) return true;
  return !epilogue.placed() && !epilogue.amax && !epilogue.scale &&
         (epilogue.activation == Activation::kNone || epilogue.activation == Activation::kRelu);
}

std::span<const Variant> variants(Direction direction, int dims, Target target) {
  const bool weight = direction == Direction::kBackwardWeight;
  if (is_amd(target)) {
    if (dims == 1) return weight ? std::span<const Variant>(kWaveLineWeight) : kWaveLine;
    return weight ? std::span<const Variant>(kWaveWeight) : kWave;
  }
  if (dims == 1) return weight ? std::span(kLineWeight) : std::span(kLine);
  switch (direction) {
    case Direction::kForward:
      return kForward;
    case Direction::kBackwardData:
      return kData;
    case Direction::kBackwardWeight:
      break;
  }
  return kWeight;
}

}  // namespace

void propose(const KernelConfig& base, const TargetInfo& target, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (base.dims > 2 || base.layout != Layout::kChannelsLast) return;
  if (base.dims == 1 && breadth == Breadth::kFew) return;
  if (!has_one_16_bit_type(base)) return;
  std::span<const Variant> list = variants(base.direction, base.dims, base.target);
  if (breadth == Breadth::kFew) list = list.first(kFewVariants);
  for (const Variant& variant : list) {
    if (!fits(base, variant)) continue;
    // Narrower groups share bundles of 8 and 24, on AMD of 16; backward weight keeps them apart without being compiled
    // for it.
    const bool amd = is_amd(base.target);
    const bool shares = base.direction != Direction::kBackwardWeight && breadth == Breadth::kAll &&
                        (amd ? variant.bundle == 16 : variant.bundle == 8 || variant.bundle == 24);
    for (const bool finite_only : {false, true}) {
      if (finite_only && !shares) continue;
      KernelConfig config = base;
      DirectConfig& direct = config.direct;
      config.finite_only = finite_only;
      config.min_blocks = variant.min_blocks;
      // WHY fewer: RDNA3's lanes hold all of k, and their places for more positions take too many registers.
      const bool narrow = amd && target.warp_size == 32 && base.direction == Direction::kBackwardWeight;
      direct.tile_w = narrow ? short{kTilePositions} : variant.positions;
      config.fixed.filter_w = variant.filter;
      config.fixed.stride_w = variant.stride;
      config.fixed.filter_h = base.dims == 1 ? 1 : variant.filter;
      config.fixed.stride_h = base.dims == 1 ? 1 : variant.stride;
      config.fixed.dilation_h = config.fixed.dilation_w = 1;
      direct.vector_in = variant.bundle;
      direct.vector_out = variant.outputs;
      direct.block_size =
          static_cast<short>(variant.threads > 0 ? variant.threads : 64 / variant.outputs * target.warp_size);
      direct.prefetch = variant.stages;
      configs.push_back(config);
    }
  }
}

}  // namespace wt::groups_kind
