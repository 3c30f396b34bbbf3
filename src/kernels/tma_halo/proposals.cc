// SPDX-License-Identifier: Apache-2.0
// kernels/tma_halo/proposals.cc - tiles of the kernel with patches.
#include "kernels/tma_halo/kind.h"

#include "kernels/tma/device/layout.h"
#include "kernels/tma/shapes.h"

namespace wt::tma_halo_kind {
namespace {

using namespace tma_proposals;

constexpr int kSharedOfBlock = 227 * 1024;

// 3x3 filters with stride 1, whose patches are loaded once for all taps: for few channels and small images.
constexpr Shape kHaloShapes[] = {
    {256, 32, false, kSearch, kSearch}, {256, 32, true, kSearch, kSearch},   {256, 64, false, kSearch, kSearch},
    {128, 64, false, kSearch, kSearch}, {128, 40, false, kSearch, kSearch},  {64, 64, false, kSearch, kSearch},
    {64, 32, false, kSearch, kSearch},  {64, 128, false, kSearch, kSearch},  {128, 16, false, kSearch, kSearch},
    {128, 96, false, kSearch, kSearch}, {128, 128, false, kSearch, kSearch}, {256, 40, false, kSearch, kSearch},
    {256, 96, false, kSearch, kSearch}, {256, 128, false, kSearch, kSearch}, {128, 64, true, kSearch, kSearch},
    {128, 40, true, kSearch, kSearch},  {256, 64, true, kSearch, kSearch},   {128, 128, true, kSearch, kSearch},
    {64, 64, true, kSearch, kSearch},   {64, 128, true, kSearch, kSearch},
};

// Filters of three taps below each other: 3 in one dimension, 3x1, 3x1x1.
constexpr Shape kColumnShapes[] = {
    {128, 64, false, kSearch, kSearch},  {256, 64, false, kSearch, kSearch}, {128, 64, true, kSearch, kSearch},
    {256, 64, true, kSearch, kSearch},   {128, 80, false, kSearch, kSearch}, {192, 80, false, kSearch, kSearch},
    {256, 80, false, kSearch, kSearch},  {128, 96, false, kSearch, kSearch}, {128, 128, false, kSearch, kSearch},
    {256, 128, false, kSearch, kSearch}, {128, 128, true, kSearch, kSearch}, {64, 64, false, kSearch, kSearch},
    {128, 32, false, kSearch, kSearch},
};

void propose_halo(const KernelConfig& base, const Shape& shape, std::vector<KernelConfig>& configs,
                  Staging staging = Staging::kShared) {
  propose_shape(base, shape, 128, Loader::kTmaHalo, staging, configs);
  GemmConfig& gemm = configs.back().gemm;
  gemm.specialization = Specialization::kFilter3x3;
  if (shape.n > 64 || shape.m * shape.n > 256 * 40) return;
  // Narrow tiles have few products per tap: a row of taps at a time.
  gemm.tile.k = 3 * 64;
  gemm.stages = static_cast<unsigned char>(most_stages(configs.back()));
}

// Low tiles by two warpgroups that take the taps in turns: one alone waits between its products.
constexpr Shape kHaloGroupShapes[] = {
    {64, 32, false, kSearch, kSearch},
    {64, 40, false, kSearch, kSearch},
    {64, 64, false, kSearch, kSearch},
    {64, 128, false, kSearch, kSearch},
};

void propose_halo_groups(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew) return;
  for (const Shape& shape : kHaloGroupShapes) {
    propose_halo(base, shape, configs, shape.n > 64 ? Staging::kTmaStore : Staging::kShared);
    configs.back().gemm.warps.k = 2;
    configs.back().gemm.stages = static_cast<unsigned char>(most_stages(configs.back()));
  }
}

// The same with sums divided among blocks, for small images: few tiles, whose pixels are read once for all taps. Tall
// tiles are several images of up to 8x8 pixels. One warpgroup alone where sums are long and filling is the limit.
struct HaloSplit {
  Shape shape;
  short groups;  // of warps along k
  bool cluster, workspace;
};
constexpr HaloSplit kHaloSplits[] = {
    {{64, 32, false, kSearch, kSearch}, 2, true, false},  {{64, 40, false, kSearch, kSearch}, 2, true, false},
    {{64, 64, false, kSearch, kSearch}, 2, true, false},  {{64, 64, false, kSearch, kSearch}, 1, true, true},
    {{128, 64, false, kSearch, kSearch}, 1, true, true},  {{128, 128, false, kSearch, kSearch}, 1, false, true},
    {{256, 64, false, kSearch, kSearch}, 1, false, true},
};

void propose_halo_splits(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew) return;
  for (const HaloSplit& proposal : kHaloSplits) {
    for (const SplitK split : {SplitK::kCluster, SplitK::kWorkspace}) {
      if (!(split == SplitK::kCluster ? proposal.cluster : proposal.workspace)) continue;
      propose_halo(base, proposal.shape, configs, Staging::kDirect);
      GemmConfig& gemm = configs.back().gemm;
      gemm.warps.k = proposal.groups;
      gemm.split_k = split;
      gemm.stages = static_cast<unsigned char>(most_stages(configs.back()));
      if (gemm.stages < tma_layout::halo_least_stages(configs.back())) configs.pop_back();
    }
  }
}

void propose_columns(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew || !is_16_bit(operand_a(base)) || !is_16_bit(output_type(base))) return;
  for (const Shape& shape : kColumnShapes) {
    for (const Staging staging : {Staging::kShared, Staging::kTmaStore}) {
      propose_shape(base, shape, 128, Loader::kTmaHalo, staging, configs);
      if (shape.n > 64) continue;
      configs.back().gemm.tile.k = 3 * 64;  // all taps at a time
      configs.back().gemm.stages = static_cast<unsigned char>(most_stages(configs.back()));
    }
  }
}

void propose_halos(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (base.dims < 2 || !is_16_bit(output_type(base)) || !is_16_bit(operand_a(base))) return;
  const Offer least = wanted(base, breadth);
  for (const Shape& shape : kHaloShapes) {
    if (shape.offer < least) continue;
    propose_halo(base, shape, configs);
    // Bulk stores of narrow tiles that no second consumer hides were slower than vectors.
    if (shape.ping_pong || shape.n > 64) propose_halo(base, shape, configs, Staging::kTmaStore);
    if (shape.n > 64 || shape.m < 128) continue;
    // Up to 32 channels fill half of a row, and half as many matrix instructions do.
    propose_halo(base, shape, configs);
    configs.back().gemm.tile.k /= 2;
    configs.back().gemm.stages = static_cast<unsigned char>(most_stages(configs.back()));
  }
  propose_halo_groups(base, breadth, configs);
  propose_halo_splits(base, breadth, configs);
}

// Up to 64 channels or so on both sides: the whole filter stays in shared memory, in as many stages of three taps as
// it has planes and blocks of channels.
constexpr Shape kKeptShapes[] = {
    {256, 32, true, kSearch, kSearch},  {256, 48, true, kSearch, kSearch},  {256, 64, true, kSearch, kSearch},
    {256, 32, false, kSearch, kSearch}, {256, 64, false, kSearch, kSearch}, {128, 32, true, kSearch, kSearch},
    {128, 48, true, kSearch, kSearch},  {128, 64, true, kSearch, kSearch},  {128, 64, false, kSearch, kSearch},
    {128, 96, true, kSearch, kSearch},  {128, 96, false, kSearch, kSearch}, {256, 24, true, kSearch, kSearch},
    {256, 40, true, kSearch, kSearch},  {192, 64, false, kSearch, kSearch}, {128, 128, false, kSearch, kSearch},
};

void propose_kept(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew || base.dims < 2) return;
  if (!is_16_bit(output_type(base)) || !is_16_bit(operand_a(base))) return;
  for (const Shape& shape : kKeptShapes) {
    for (const unsigned char stages : {3, 6, 9}) {  // one or two blocks of channels, three planes
      for (const Staging staging : {Staging::kShared, Staging::kTmaStore}) {
        for (const short depth : {3 * 64, 3 * 32}) {
          if (depth == 3 * 32 && stages == 6) continue;  // of one block of channels alone
          propose_shape(base, shape, 128, Loader::kTmaHalo, staging, configs);
          GemmConfig& gemm = configs.back().gemm;
          gemm.specialization = Specialization::kFilter3x3;
          gemm.tile.k = depth;
          gemm.stages = stages;
          gemm.filter_rows = stages;
          if (tma_layout::shared_bytes(configs.back()) > kSharedOfBlock) configs.pop_back();
        }
      }
    }
  }
}

// Backward data with strides of two, all phases at once: the filter stays where it fits.
constexpr Shape kPhasedShapes[] = {
    {128, 64, false, kSearch, kSearch}, {64, 64, true, kSearch, kSearch},   {128, 32, true, kSearch, kSearch},
    {256, 32, false, kSearch, kSearch}, {128, 48, false, kSearch, kSearch}, {64, 48, true, kSearch, kSearch},
    {64, 80, true, kSearch, kSearch},   {128, 24, true, kSearch, kSearch},
};

void propose_phased(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew || base.dims != 2 || base.direction != Direction::kBackwardData) return;
  if (!is_16_bit(output_type(base)) || !is_16_bit(operand_a(base))) return;
  for (const Shape& shape : kPhasedShapes) {
    for (const unsigned char kept : {0, 3, 6}) {
      for (const short depth : {3 * 64, 3 * 32}) {
        for (const bool copied : {false, true}) {
          if (depth == 3 * 32 && kept != 3) continue;
          if (copied && kept == 0) continue;
          propose_shape(base, shape, 128, Loader::kTmaHalo, Staging::kShared, configs);
          KernelConfig& config = configs.back();
          config.gemm.specialization = Specialization::kFilter3x3;
          config.gemm.tile.k = depth;
          config.fixed.stride_h = config.fixed.stride_w = 2;
          config.gemm.aligned_copy = copied;
          if (copied) config.gemm.vector_c = 2;
          config.gemm.filter_rows = kept;
          config.gemm.stages = kept > 0 ? kept : static_cast<unsigned char>(most_stages(config));
          if (tma_layout::shared_bytes(config) > kSharedOfBlock || config.gemm.stages < 3) configs.pop_back();
        }
      }
    }
  }
}

// Small groups, as many together as fill a box of channels.
constexpr Shape kMergedShapes[] = {
    {256, 64, false, kSearch, kSearch}, {128, 64, false, kSearch, kSearch}, {128, 64, true, kSearch, kSearch}};

// Depthwise of several outputs of each channel: up to 64 channels as one product.
constexpr Shape kWholeShapes[] = {
    {256, 128, false, kSearch, kSearch}, {128, 128, true, kSearch, kSearch}, {256, 64, true, kSearch, kSearch}};

void propose_merged(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew || base.dims != 2) return;  // packs have the direct family for small groups
  if (!is_16_bit(operand_a(base)) || !is_16_bit(output_type(base))) return;
  for (const Shape& shape : kMergedShapes) {
    for (const unsigned char groups : {2, 4, 8, 16}) {
      propose_halo(base, shape, configs);
      configs.back().gemm.groups_per_tile = groups;
      configs.back().finite_only = true;
    }
  }
  for (const Shape& shape : kWholeShapes) {
    for (const unsigned char groups : {16, 24, 32, 48, 64}) {
      propose_halo(base, shape, configs, Staging::kTmaStore);
      configs.back().gemm.groups_per_tile = groups;
      configs.back().finite_only = true;
    }
  }
}

// Channels off 16 bytes, by way of copies whose rows are aligned. Outputs may be as odd, so that some store by pairs,
// and some rows of any length, which forward has of aligned inputs too.
constexpr Shape kCopiedShapes[] = {{256, 128, false, kSearch, kSearch}, {128, 128, true, kSearch, kSearch},
                                   {256, 64, true, kSearch, kSearch},   {128, 64, false, kSearch, kSearch},
                                   {64, 64, false, kSearch, kSearch},   {64, 32, false, kSearch, kSearch}};

void propose_copied(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew || base.dims < 2) return;
  if (!is_16_bit(operand_a(base)) || !is_16_bit(output_type(base))) return;
  for (const unsigned char stored : {8, 2, 1}) {
    for (const Shape& shape : kCopiedShapes) {
      propose_halo(base, shape, configs,
                   stored == 8 && (shape.ping_pong || shape.n > 64) ? Staging::kTmaStore : Staging::kShared);
      configs.back().gemm.aligned_copy = true;
      if (configs.back().gemm.staging == Staging::kShared) configs.back().gemm.vector_c = stored;
      if (stored != 1 || base.direction != Direction::kForward) continue;
      configs.push_back(configs.back());
      configs.back().gemm.aligned_copy = false;
    }
  }
}

}  // namespace

void propose(const KernelConfig& base, const TargetInfo&, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (!offers(base, breadth)) return;
  propose_merged(base, breadth, configs);
  propose_halos(base, breadth, configs);
  propose_kept(base, breadth, configs);
  propose_phased(base, breadth, configs);
  propose_columns(base, breadth, configs);
  propose_copied(base, breadth, configs);
}

}  // namespace wt::tma_halo_kind
