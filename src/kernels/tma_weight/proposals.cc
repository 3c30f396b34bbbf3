// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight/proposals.cc - tiles of Hopper's weight gradient.
#include "kernels/tma_weight/kind.h"

#include "kernels/tma/device/layout.h"
#include "kernels/tma/shapes.h"

namespace wt::tma_weight_kind {

using namespace tma_proposals;

namespace {

constexpr Shape kPatchWeightShapes[] = {
    {128, 128, false, kSearch, kSearch}, {128, 192, false, kSearch, kSearch}, {128, 64, false, kSearch, kSearch},
    {64, 64, false, kSearch, kSearch},   {128, 256, false, kSearch, kSearch},
};

constexpr Shape kWeightShapes[] = {
    {128, 128, false, kCore, kCore},     {128, 256, false, kCommon, kCommon}, {64, 128, false, kCommon, kCommon},
    {256, 128, false, kCommon, kCommon}, {64, 64, false, kCore, kCore},       {128, 192, false, kSearch, kSearch},
    {128, 64, false, kSearch, kSearch},  {64, 256, false, kSearch, kSearch},  {64, 192, false, kSearch, kSearch},
    {256, 64, false, kSearch, kSearch},
};

// Where bits need not repeat: blocks add to one sum.
constexpr Shape kAtomicWeightShapes[] = {
    {128, 128, false, kSearch, kSearch}, {64, 128, false, kSearch, kSearch}, {64, 64, false, kSearch, kSearch}};

// Both operands lie across their channels, in blocks of 64; k runs over pixels.
bool propose_weight_shape(const KernelConfig& base, const Shape& shape, SplitK split, unsigned char groups,
                          std::vector<KernelConfig>& configs) {
  if (!propose_shape(base, shape, 128, Loader::kTmaTiled, Staging::kDirect, configs)) return false;
  GemmConfig& gemm = configs.back().gemm;
  gemm.loader_b = Loader::kTmaIm2col;
  gemm.specialization = Specialization::kDefault;
  gemm.split_k = split;
  gemm.groups_per_tile = groups;
  return true;
}

// Whole gradients whose tiles gained by sharing an operand on an H200: up to a twenty-fifth; others lost.
constexpr bool shares_whole(const Shape& shape, bool share_a) {
  return shape.n == 128 && (shape.m == 128 || (shape.m == 64 && !share_a));
}

// Unit filters: x by plain boxes, which two blocks share faster than im2col: a tenth on small images.
void propose_weight_unit(const KernelConfig& base, const Shape& shape, std::vector<KernelConfig>& configs) {
  if (!is_16_bit(base.x)) return;
  // Bulk stores write 16-bit gradients.
  const Staging whole = is_16_bit(output_type(base)) ? Staging::kTmaStore : Staging::kDirect;
  const auto plain = [&](SplitK split, Staging staging) {
    if (!propose_weight_shape(base, shape, split, 1, configs)) return false;
    GemmConfig& gemm = configs.back().gemm;
    gemm.loader_b = Loader::kTmaTiled;
    gemm.specialization = Specialization::kFilter1x1Stride1Pad0;
    gemm.staging = staging;
    gemm.stages = static_cast<unsigned char>(most_stages(configs.back()));
    return true;
  };
  plain(SplitK::kWorkspace, Staging::kDirect);
  plain(SplitK::kNone, whole);
  for (const bool share_a : {false, true}) {
    if (!shares_whole(shape, share_a)) continue;
    if (shape.m == 128 && plain(SplitK::kWorkspace, Staging::kDirect)) share_operand(configs.back(), share_a);
    if (plain(SplitK::kNone, whole)) share_operand(configs.back(), share_a);
  }
}

}  // namespace

void propose(const KernelConfig& base, const TargetInfo&, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (base.layout != Layout::kChannelsLast || base.x != base.y || size_of(base.x) == 1) return;
  const Offer least = wanted(base, breadth);
  for (const Shape& shape : kWeightShapes) {
    if (shape.other < least) continue;
    for (const SplitK split : {SplitK::kWorkspace, SplitK::kNone}) propose_weight_shape(base, shape, split, 1, configs);
    if (least != kSearch) continue;
    for (const bool share_a : {false, true}) {
      if (!is_16_bit(base.x) || shape.m * shape.n < 128 * 128 || (share_a ? shape.m : shape.n) % 128 != 0) continue;
      propose_weight_shape(base, shape, SplitK::kWorkspace, 1, configs);
      share_operand(configs.back(), share_a);
    }
    if (shape.m * shape.n <= 128 * 128 && propose_weight_shape(base, shape, SplitK::kCluster, 1, configs))
      configs.back().gemm.stages = static_cast<unsigned char>(most_stages(configs.back()));
    propose_weight_unit(base, shape, configs);
    // Stream-K, where neither tiles nor whole parts of them fill the last wave.
    if (!propose_weight_shape(base, shape, SplitK::kNone, 1, configs)) continue;
    configs.back().gemm.stream_k = StreamK::kLinear;
    if (!is_16_bit(output_type(base))) continue;
    propose_weight_shape(base, shape, SplitK::kNone, 1, configs);
    configs.back().gemm.staging = Staging::kTmaStore;
    configs.back().gemm.stages = static_cast<unsigned char>(most_stages(configs.back()));
    for (const bool share_a : {false, true}) {
      if (!is_16_bit(base.x) || !shares_whole(shape, share_a)) continue;
      propose_weight_shape(base, shape, SplitK::kNone, 1, configs);
      configs.back().gemm.staging = Staging::kTmaStore;
      share_operand(configs.back(), share_a);
    }
  }
  if (least != kSearch) return;
  for (const short columns : {64, 128, 192, 256}) {
    if (!propose_weight_shape(base, {64, columns, false, kSearch, kSearch}, SplitK::kWorkspace, 1, configs)) continue;
    configs.back().gemm.aligned_copy = true;
  }
  if (propose_weight_shape(base, {128, 128, false, kSearch, kSearch}, SplitK::kWorkspace, 1, configs))
    configs.back().gemm.aligned_copy = true;
  if (!is_16_bit(base.x)) return;
  for (const Shape& shape : kAtomicWeightShapes) propose_weight_shape(base, shape, SplitK::kAtomic, 1, configs);
  if (base.dims <= 2) {
    for (const Shape& shape : kPatchWeightShapes) {
      for (const bool copied : {false, true}) {
        propose_weight_shape(base, shape, SplitK::kWorkspace, 1, configs);
        configs.back().gemm.specialization = Specialization::kPatch;
        configs.back().gemm.aligned_copy = copied;
      }
    }
  }
  // Small groups together: the products of different groups are dropped with the partial sums.
  for (const unsigned char groups : {2, 4, 8, 16}) {
    for (const short columns : {192, 64}) {
      propose_weight_shape(base, {64, columns, false, kSearch, kSearch}, SplitK::kWorkspace, groups, configs);
    }
  }
  // All groups, of one input channel and several outputs each.
  for (const unsigned char groups : {16, 24, 32, 48, 64}) {
    propose_weight_shape(base, {128, 192, false, kSearch, kSearch}, SplitK::kWorkspace, groups, configs);
    propose_weight_shape(base, {64, 192, false, kSearch, kSearch}, SplitK::kWorkspace, groups, configs);
  }
}

}  // namespace wt::tma_weight_kind
