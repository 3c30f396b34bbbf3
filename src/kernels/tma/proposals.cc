// SPDX-License-Identifier: Apache-2.0
// kernels/tma/proposals.cc - tiles of the plain Hopper kernel.
#include <algorithm>

#include "kernels/tma/device/layout.h"
#include "kernels/tma/kind.h"
#include "kernels/tma/shapes.h"

namespace wt::tma_kind {
namespace {

using namespace tma_proposals;

constexpr Shape kShapes[] = {
    {128, 128, false, kCore, kCommon},     {128, 256, false, kCore, kSearch},     {256, 128, false, kSearch, kCommon},
    {128, 64, false, kCore, kCore},        {64, 64, false, kSearch, kSearch},     {128, 128, true, kCommon, kSearch},
    {128, 40, false, kSearch, kSearch},    {256, 64, false, kSearch, kSearch},    {192, 128, false, kSearch, kSearch},
    {64, 256, true, kSearch, kSearch},     {128, 16, false, kSearch, kSearch},    {64, 128, false, kSearch, kSearch},
    {64, 32, false, kSearch, kSearch},     {64, 40, false, kSearch, kSearch},     {64, 96, false, kSearch, kSearch},
    {64, 160, false, kSearch, kSearch},    {64, 192, false, kSearch, kSearch},    {128, 32, false, kSearch, kSearch},
    {128, 80, false, kSearch, kSearch},    {128, 96, false, kSearch, kSearch},    {128, 112, false, kSearch, kSearch},
    {128, 160, false, kSearch, kSearch},   {128, 192, false, kSearch, kSearch},   {128, 224, false, kSearch, kSearch},
    {256, 80, false, kSearch, kSearch},    {256, 88, false, kSearch, kSearch},    {256, 96, false, kSearch, kSearch},
    {256, 112, false, kSearch, kSearch},   {64, 128, true, kSearch, kSearch},     {64, 192, true, kSearch, kSearch},
    {128, 64, true, kSearch, kSearch},     {128, 96, true, kSearch, kSearch},     {192, 64, false, kSearch, kSearch},
    {192, 96, false, kSearch, kSearch},    {128, 64, false, kSearch, kSearch, 2}, {64, 64, false, kSearch, kSearch, 2},
    {64, 128, false, kSearch, kSearch, 2},
};

// Crosswise: pixels by output channels, so that tiles come in numbers just below a whole wave.
constexpr Shape kCrosswiseShapes[] = {
    {80, 128, false, kSearch, kSearch},  {96, 128, false, kSearch, kSearch},  {112, 128, false, kSearch, kSearch},
    {136, 128, false, kSearch, kSearch}, {152, 128, false, kSearch, kSearch}, {176, 128, false, kSearch, kSearch},
    {192, 128, false, kSearch, kSearch}, {208, 128, false, kSearch, kSearch}, {240, 128, false, kSearch, kSearch},
    {80, 256, false, kSearch, kSearch},  {96, 256, false, kSearch, kSearch},  {104, 256, false, kSearch, kSearch},
    {120, 256, false, kSearch, kSearch}, {152, 256, false, kSearch, kSearch}, {80, 128, true, kSearch, kSearch},
    {96, 128, true, kSearch, kSearch},   {112, 128, true, kSearch, kSearch},  {136, 128, true, kSearch, kSearch},
};

// Outputs that are staged in shared memory.
bool stages(const KernelConfig& base) { return size_of(output_type(base)) != 1; }

void propose_crosswise(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew || size_of(operand_a(base)) == 1 || !stages(base)) return;
  if (tma_layout::three_products(base)) return;
  for (const Shape& shape : kCrosswiseShapes) {
    for (const Loader loader : {Loader::kTmaTiled, Loader::kTmaIm2col}) {
      propose_shape(base, shape, 128, loader, Staging::kTmaStore, configs);
      GemmConfig& gemm = configs.back().gemm;
      gemm.mma = {64, shape.m, gemm.mma.k};
      gemm.warps = {1, static_cast<short>(shape.ping_pong ? 4 : 8), 1};
      gemm.swap_ab = true;
      gemm.stages = static_cast<unsigned char>(most_stages(configs.back()));
      if (gemm.stages < kLeastStages && size_of(output_type(base)) == 4) {
        configs.pop_back();  // the results take their room
        continue;
      }
      if (loader != Loader::kTmaIm2col || shape.m < 112 || shape.m % 16 != 0 || shape.ping_pong) continue;
      // Two blocks that share their pixels, or their filters.
      const KernelConfig alone = configs.back();
      for (const bool share_a : {false, true}) {
        configs.push_back(alone);
        share_operand(configs.back(), share_a);
      }
    }
  }
}

// Small groups, as many together as fill a box of channels. Rows wait for copies, so that tall tiles are best.
constexpr Shape kMergedShapes[] = {
    {256, 64, false, kSearch, kSearch}, {128, 64, false, kSearch, kSearch}, {128, 64, true, kSearch, kSearch}};

// Depthwise of few taps or several outputs of each channel: up to 64 channels as one product.
constexpr Shape kWholeShapes[] = {{256, 128, false, kSearch, kSearch},
                                  {128, 128, false, kSearch, kSearch},
                                  {256, 64, false, kSearch, kSearch},
                                  {128, 64, false, kSearch, kSearch},
                                  {128, 32, false, kSearch, kSearch}};

void propose_merged(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew) return;  // packs have the direct family for small groups
  if (!is_16_bit(operand_a(base)) || !is_16_bit(output_type(base))) return;
  for (const Shape& shape : kMergedShapes) {
    for (const unsigned char groups : {2, 4, 8, 16}) {
      // WHY only these stores: backward data is mostly strided, and forward's outputs are whole vectors.
      const bool forward = base.direction == Direction::kForward;
      propose_shape(base, shape, 128, Loader::kTmaIm2col, forward ? Staging::kTmaStore : Staging::kShared, configs);
      configs.back().gemm.groups_per_tile = groups;
      configs.back().finite_only = true;
    }
  }
  for (const Shape& shape : kWholeShapes) {
    for (const unsigned char groups : {16, 24, 32, 48, 64}) {
      const bool forward = base.direction == Direction::kForward;
      if (!propose_shape(base, shape, 128, Loader::kTmaIm2col, forward ? Staging::kTmaStore : Staging::kShared,
                         configs))
        continue;
      configs.back().gemm.groups_per_tile = groups;
      configs.back().finite_only = true;
    }
  }
}

// Sums divided among blocks, where tiles are too few for all multiprocessors. Over a cluster small tiles are best,
// since blocks of a cluster hold each other's sums; through the workspace larger ones, which leave fewer sums to add.
constexpr Shape kSplitShapes[] = {
    {64, 64, false, kSearch, kSearch},   {128, 128, false, kSearch, kSearch}, {64, 128, false, kSearch, kSearch},
    {64, 32, false, kSearch, kSearch},   {64, 40, false, kSearch, kSearch},   {64, 72, false, kSearch, kSearch},
    {128, 64, false, kSearch, kSearch},  {64, 96, false, kSearch, kSearch},   {128, 96, false, kSearch, kSearch},
    {128, 160, false, kSearch, kSearch}, {128, 192, false, kSearch, kSearch},
};

// WHY the general loader alone: it serves unit filters too, and as well.
void propose_splits(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew) return;
  for (const Shape& shape : kSplitShapes) {
    for (const SplitK split : {SplitK::kCluster, SplitK::kWorkspace}) {
      if (!propose_shape(base, shape, 128, Loader::kTmaIm2col, Staging::kDirect, configs)) continue;
      configs.back().gemm.split_k = split;
      const int stages = most_stages(configs.back());
      configs.back().gemm.stages = static_cast<unsigned char>(stages);
      if (stages < kLeastStages) configs.pop_back();  // the exchange takes their room
    }
  }
}

// Stream-K, where neither tiles nor whole parts of them fill the last wave: whole rounds of tiles and then pieces.
constexpr Shape kStreamShapes[] = {
    {128, 128, false, kSearch, kSearch}, {128, 128, true, kSearch, kSearch}, {128, 256, false, kSearch, kSearch},
    {256, 128, false, kSearch, kSearch}, {64, 128, false, kSearch, kSearch}, {64, 64, false, kSearch, kSearch},
    {128, 64, false, kSearch, kSearch},  {64, 256, true, kSearch, kSearch},  {128, 192, false, kSearch, kSearch},
};

void propose_streams(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew) return;
  for (const Shape& shape : kStreamShapes) {
    for (const Staging staging : {Staging::kTmaStore, Staging::kDirect}) {
      if (staging == Staging::kTmaStore && !stages(base)) continue;
      if (!propose_shape(base, shape, 128, Loader::kTmaIm2col, staging, configs)) continue;
      configs.back().gemm.stream_k = StreamK::kLinear;
    }
  }
}

// Two blocks that share the tiles of one operand, each loading half of them for both: where filling shared memory is
// the limit. On an H200 they were a few hundredths slower than the same tiles alone, so that packs leave them out.
constexpr Shape kSharingShapes[] = {
    {128, 128, false, kSearch, kSearch}, {128, 128, true, kSearch, kSearch},  {128, 256, false, kSearch, kSearch},
    {256, 128, false, kSearch, kSearch}, {128, 160, false, kSearch, kSearch}, {128, 192, false, kSearch, kSearch},
    {192, 80, false, kSearch, kSearch},  {192, 96, false, kSearch, kSearch},
};

constexpr Shape kSharingSplitShapes[] = {{128, 128, false, kSearch, kSearch}, {256, 128, false, kSearch, kSearch}};

void propose_sharing(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew) return;
  const Staging staging = stages(base) ? Staging::kTmaStore : Staging::kDirect;
  for (const Shape& shape : kSharingShapes) {
    for (const bool share_a : {false, true}) {
      if (!propose_shape(base, shape, 128, Loader::kTmaIm2col, staging, configs)) continue;
      share_operand(configs.back(), share_a);
    }
  }
  // The same of sums in parts, whose tiles are few and lie side by side.
  for (const Shape& shape : kSharingSplitShapes) {
    for (const bool share_a : {false, true}) {
      if (!propose_shape(base, shape, 128, Loader::kTmaIm2col, Staging::kDirect, configs)) continue;
      configs.back().gemm.split_k = SplitK::kWorkspace;
      share_operand(configs.back(), share_a);
    }
  }
}

// Channels off 16 bytes, by way of copies whose rows are whole. Outputs may be as odd, so that some store by pairs.
constexpr Shape kCopiedShapes[] = {{128, 128, true, kSearch, kSearch},
                                   {128, 64, false, kSearch, kSearch},
                                   {64, 64, false, kSearch, kSearch},
                                   {128, 256, false, kSearch, kSearch},
                                   {128, 32, false, kSearch, kSearch}};

// The same of 32-bit types, whose rows are few numbers: in narrow boxes too.
void propose_copied_words(const KernelConfig& base, std::vector<KernelConfig>& configs) {
  if (!stages(base)) return;
  for (const Staging staging : {Staging::kTmaStore, Staging::kDirect}) {
    for (const int swizzle : {128, 32}) {
      for (const Shape& shape : kCopiedShapes) {
        if (!propose_shape(base, shape, swizzle, Loader::kTmaIm2col, staging, configs)) continue;
        configs.back().gemm.aligned_copy = true;
      }
    }
  }
}

void propose_copied(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth != Breadth::kFew && size_of(operand_a(base)) == 4) return propose_copied_words(base, configs);
  if (breadth == Breadth::kFew || !is_16_bit(operand_a(base)) || !is_16_bit(output_type(base))) return;
  for (const unsigned char stored : {8, 2, 1}) {
    for (const Shape& shape : kCopiedShapes) {
      propose_shape(base, shape, 128, Loader::kTmaIm2col, Staging::kShared, configs);
      configs.back().gemm.aligned_copy = true;
      configs.back().gemm.vector_c = stored;
    }
  }
}

// Inputs of whole vectors and any number of output channels: heads.
constexpr Shape kOddShapes[] = {{128, 256, false, kSearch, kSearch}, {128, 128, true, kSearch, kSearch},
                                {128, 128, false, kSearch, kSearch}, {128, 64, false, kSearch, kSearch},
                                {64, 64, false, kSearch, kSearch},   {128, 32, false, kSearch, kSearch, 2},
                                {64, 128, true, kSearch, kSearch}};

void propose_odd(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew || base.direction != Direction::kForward || !is_16_bit(operand_a(base)) ||
      !is_16_bit(output_type(base)))
    return;
  for (const Shape& shape : kOddShapes) {
    for (const Loader loader : {Loader::kTmaTiled, Loader::kTmaIm2col}) {
      if (!propose_shape(base, shape, 128, loader, Staging::kShared, configs)) continue;
      configs.back().gemm.vector_c = 1;
    }
  }
}

// Few output channels in an even number that is no multiple of 4: rows are staged and stored by pairs. Where the image
// is most of the traffic, two blocks per multiprocessor have more of it on its way.
constexpr Shape kNarrowShapes[] = {
    {128, 32, false, kSearch, kSearch, 1}, {128, 32, false, kSearch, kSearch, 2}, {64, 32, false, kSearch, kSearch, 2},
    {128, 16, false, kSearch, kSearch, 2}, {64, 64, false, kSearch, kSearch, 2},
};

void propose_narrow(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew || base.direction != Direction::kForward) return;
  if (!is_16_bit(operand_a(base)) || !is_16_bit(output_type(base))) return;
  for (const Shape& shape : kNarrowShapes) {
    for (const Loader loader : {Loader::kTmaTiled, Loader::kTmaIm2col}) {
      propose_shape(base, shape, 128, loader, Staging::kShared, configs);
      configs.back().gemm.vector_c = 2;
    }
  }
}

// Convolutions over patches by their easier view (problem/patch_view.h), where channels of a patch's row are no whole
// 16 bytes by way of copies. Backward data stores runs of them, by vectors or pairs.
constexpr Shape kPatchShapes[] = {
    {128, 128, true, kSearch, kSearch},  {128, 64, false, kSearch, kSearch},  {128, 192, false, kSearch, kSearch},
    {128, 256, false, kSearch, kSearch}, {192, 128, false, kSearch, kSearch}, {128, 96, true, kSearch, kSearch},
    {256, 128, false, kSearch, kSearch}, {64, 192, true, kSearch, kSearch},
};

void propose_patches(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew || base.dims > 2) return;
  if (!is_16_bit(operand_a(base)) || !is_16_bit(output_type(base))) return;
  const bool forward = base.direction == Direction::kForward;
  for (const Shape& shape : kPatchShapes) {
    for (const bool copied : {false, true}) {
      for (const unsigned char stored : {8, 2}) {
        if (forward && stored != 8) continue;
        propose_shape(base, shape, 128, Loader::kTmaIm2col, forward ? Staging::kTmaStore : Staging::kShared, configs);
        configs.back().gemm.specialization = Specialization::kPatch;
        configs.back().gemm.aligned_copy = copied;
        if (!forward) configs.back().gemm.vector_c = stored;
      }
    }
  }
}

// The same where they lie: of few channels, whose rows of a patch are no whole 16 bytes.
constexpr Shape kRawPatchShapes[] = {
    {128, 256, false, kSearch, kSearch}, {128, 128, true, kSearch, kSearch},  {128, 192, false, kSearch, kSearch},
    {256, 128, false, kSearch, kSearch}, {192, 128, false, kSearch, kSearch}, {128, 64, false, kSearch, kSearch},
    {64, 256, true, kSearch, kSearch},   {64, 192, true, kSearch, kSearch},
};

void propose_raw_patches(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew || base.dims > 2 || base.direction != Direction::kForward) return;
  if (!is_16_bit(operand_a(base)) || !is_16_bit(output_type(base))) return;
  if (base.epilogue.placed() || base.epilogue.amax) return;
  for (const Shape& shape : kRawPatchShapes) {
    propose_shape(base, shape, 128, Loader::kTmaTiled, Staging::kTmaStore, configs);
    configs.back().gemm.specialization = Specialization::kPatch;
    configs.back().gemm.aligned_copy = true;
    configs.back().finite_only = true;
    if (shape.m * shape.n < 128 * 256) continue;
    configs.push_back(configs.back());
    share_operand(configs.back(), false);
  }
}

}  // namespace

void propose(const KernelConfig& base, const TargetInfo&, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (!offers(base, breadth)) return;
  propose_merged(base, breadth, configs);
  const Offer least = wanted(base, breadth);
  const bool staged = stages(base), words = size_of(output_type(base)) == 4;
  for (const Loader loader : {Loader::kTmaTiled, Loader::kTmaIm2col}) {
    for (const int swizzle : {128, 64, 32}) {
      if (swizzle != 128 && (loader == Loader::kTmaTiled || breadth == Breadth::kFew)) continue;
      // The general loader serves unit filters too: packs have no others for 32-bit types.
      if (breadth == Breadth::kFew && loader == Loader::kTmaTiled && size_of(operand_a(base)) == 4) continue;
      for (const Shape& shape : kShapes) {
        if (!staged) {
          if (shape.offer >= least) propose_shape(base, shape, swizzle, loader, Staging::kDirect, configs);
          continue;
        }
        if (shape.offer >= least) propose_shape(base, shape, swizzle, loader, Staging::kTmaStore, configs);
        // WHY: the general loader serves the rare outputs of unit filters too, with half the kernels in a pack.
        if (breadth == Breadth::kFew && loader == Loader::kTmaTiled) continue;
        // As best guesses, forward's outputs that bulk stores cannot write are narrow.
        if (breadth == Breadth::kFew && base.direction == Direction::kForward && shape.n > 64) continue;
        // Packs have 32-bit types' other outputs by pairs, whatever their channels.
        const Staging other = words && breadth == Breadth::kFew ? Staging::kDirect : Staging::kShared;
        if (shape.other >= least) propose_shape(base, shape, swizzle, loader, other, configs);
        // For outputs of odd channel counts, which forward has, and backward data where the filter is turned round; as
        // a best guess, they go to pipeline wavelet.
        const bool odd = base.direction == Direction::kForward || tma_layout::turns_filter(base);
        if (breadth == Breadth::kAll && odd && shape.m == 128 && !shape.ping_pong && shape.blocks == 1)
          propose_shape(base, shape, swizzle, loader, Staging::kDirect, configs);
      }
    }
  }
  propose_splits(base, breadth, configs);
  propose_streams(base, breadth, configs);
  propose_sharing(base, breadth, configs);
  propose_crosswise(base, breadth, configs);
  propose_copied(base, breadth, configs);
  propose_odd(base, breadth, configs);
  propose_narrow(base, breadth, configs);
  propose_patches(base, breadth, configs);
  propose_raw_patches(base, breadth, configs);
}

}  // namespace wt::tma_kind
