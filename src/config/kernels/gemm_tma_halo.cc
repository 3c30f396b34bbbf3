// SPDX-License-Identifier: Apache-2.0
#include "config/kernels/gemm_tma_halo.h"

#include "kernel/gemm/tma/layout.h"

namespace wt::tma_proposals {
namespace {

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

// The same with pixels in registers, which narrow tiles read less often from shared memory than their descriptors
// would.
constexpr Shape kHaloRegisterShapes[] = {
    {128, 40, true, kSearch, kSearch},
    {128, 32, true, kSearch, kSearch},
    {128, 16, true, kSearch, kSearch},
};

void propose_halo_registers(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  // WHY: a longer epilogue does not fit the registers beside three sets of operands.
  if (breadth == Breadth::kFew || base.epilogue != EpilogueConfig{}) return;
  for (const Shape& shape : kHaloRegisterShapes) {
    propose_shape(base, shape, 128, Loader::kTmaHalo, Staging::kShared, configs);
    GemmConfig& gemm = configs.back().gemm;
    gemm.specialization = Specialization::kFilter3x3;
    gemm.filter_rows = tma_layout::kHaloFilter;
    gemm.tile.k = 3 * 64;
    gemm.stages = static_cast<unsigned char>(most_stages(configs.back()));
    gemm.stages = static_cast<unsigned char>(gemm.stages / 2 * 2);  // a ring for each consumer
  }
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

}  // namespace

void propose_halo(const KernelConfig& base, const Shape& shape, std::vector<KernelConfig>& configs, Staging staging) {
  propose_shape(base, shape, 128, Loader::kTmaHalo, staging, configs);
  GemmConfig& gemm = configs.back().gemm;
  gemm.specialization = Specialization::kFilter3x3;
  if (shape.n > 64 || shape.m * shape.n > 256 * 40) return;
  // Narrow tiles have few products a tap: a row of taps at a time.
  gemm.tile.k = 3 * 64;
  gemm.stages = static_cast<unsigned char>(most_stages(configs.back()));
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
  propose_halo_registers(base, breadth, configs);
  propose_halo_groups(base, breadth, configs);
  propose_halo_splits(base, breadth, configs);
}

}  // namespace wt::tma_proposals
