// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05_halo/proposals.cc - tiles of Blackwell's kernels with patches.
#include "kernels/tcgen05/device/layout.h"
#include "kernels/tcgen05_halo/kind.h"
#include "kernels/tma/shapes.h"

namespace wt::tcgen05_halo_kind {
namespace {

using tma_proposals::kCommon, tma_proposals::kSearch, tma_proposals::Offer;

constexpr int64_t kSharedBytes = 227 * 1024;
constexpr int kMostStages = 8, kLeastStages = 2;

struct Shape {
  short n;
  bool pair;
  Offer offer;
};
constexpr Shape kShapes[] = {
    {64, false, kCommon},  {128, true, kCommon},  {128, false, kSearch}, {256, true, kSearch},
    {64, true, kSearch},   {32, false, kSearch},  {16, false, kSearch},  {96, false, kSearch},
    {80, false, kSearch},  {48, false, kSearch},  {256, false, kSearch}, {32, true, kSearch},
    {192, false, kSearch}, {160, false, kSearch}, {96, true, kSearch},   {192, true, kSearch},
};

// As many stages as fit; false where there are too few.
bool set_stages(KernelConfig& config) {
  for (int stages = kMostStages; stages >= kLeastStages; --stages) {
    config.gemm.stages = static_cast<unsigned char>(stages);
    if (tcgen05_layout::shared_bytes(config) <= kSharedBytes) return true;
  }
  return false;
}

bool propose_shape(const KernelConfig& base, const Shape& shape, int taps, Staging staging,
                   std::vector<KernelConfig>& configs, int swizzle = 128) {
  KernelConfig config = base;
  GemmConfig& gemm = config.gemm;
  const auto bytes = size_of(operand_a(base));
  const short rows = shape.pair ? 256 : 128;
  config.kind = Kind::kTcgen05Halo;
  gemm.pipeline = Pipeline::kTcgen05;
  gemm.tile = {rows, shape.n, static_cast<short>(swizzle / bytes)};
  gemm.mma = {rows, shape.n, static_cast<short>(32 / bytes)};
  gemm.warps = {4, 1, 1};
  gemm.load_warps = static_cast<unsigned char>((tcgen05_layout::threads(config) - 128) / 32);
  gemm.double_buffer = true;
  gemm.loader_a = Loader::kTmaHalo;
  gemm.loader_b = Loader::kTmaTiled;
  gemm.filter_rows = static_cast<unsigned char>(taps);
  gemm.swizzle_a = gemm.swizzle_b = static_cast<unsigned char>(swizzle);
  gemm.block_swizzle = 8;
  gemm.staging = staging;
  if (staging == Staging::kShared) gemm.vector_c = base.direction == Direction::kForward ? 4 : 8;
  if (!set_stages(config)) return false;
  configs.push_back(config);
  return true;
}

// Blocks that walk over tiles in turns, and sums in parts where tiles are few.
void propose_divided(const KernelConfig& base, std::vector<KernelConfig>& configs) {
  const Staging whole = is_16_bit(output_type(base)) ? Staging::kTmaStore : Staging::kDirect;
  for (const short n : {64, 128}) {
    if (propose_shape(base, {n, false, kSearch}, 3, whole, configs)) configs.back().gemm.persistent = true;
    if (propose_shape(base, {n, true, kSearch}, 3, whole, configs)) configs.back().gemm.persistent = true;
  }
  for (const Shape& shape : {Shape{64, false, kSearch}, Shape{128, false, kSearch}, Shape{128, true, kSearch}}) {
    if (!propose_shape(base, shape, 3, Staging::kDirect, configs)) continue;
    configs.back().gemm.split_k = SplitK::kWorkspace;
    configs.back().gemm.persistent = true;
  }
  for (const short n : {16, 32, 64, 128}) {
    if (!propose_shape(base, {n, false, kSearch}, 3, Staging::kDirect, configs)) continue;
    configs.back().gemm.persistent = true;
    configs.back().gemm.split_k = SplitK::kCluster;
    if (!set_stages(configs.back())) configs.pop_back();
  }
}

// As on Hopper: small groups together, channels off 16 bytes by way of copies, and one patch for all nine taps.
void propose_views(const KernelConfig& base, std::vector<KernelConfig>& configs) {
  if (!is_16_bit(operand_a(base)) || !is_16_bit(output_type(base))) return;
  for (const short n : {64, 128}) {
    for (const unsigned char stored : {8, 2, 1}) {
      if (!propose_shape(base, {n, false, kSearch}, 3, Staging::kShared, configs)) continue;
      configs.back().gemm.aligned_copy = true;
      configs.back().gemm.vector_c = stored;
    }
  }
  if (base.dims == 1) return;
  // Groups of 32 channels, each by itself.
  for (const short n : {32, 64}) {
    propose_shape(base, {n, false, kSearch}, 3, Staging::kTmaStore, configs, 64);
    propose_shape(base, {n, true, kSearch}, 3, Staging::kTmaStore, configs, 64);
  }
  for (const unsigned char groups : {2, 4, 8, 16, 32, 48, 64}) {
    const short n = groups > 16 ? 128 : 64;
    if (!propose_shape(base, {n, false, kSearch}, 3, Staging::kTmaStore, configs)) continue;
    configs.back().gemm.groups_per_tile = groups;
    configs.back().finite_only = true;
  }
  for (const short n : {32, 64}) {
    if (!propose_shape(base, {n, false, kSearch}, 3, Staging::kTmaStore, configs)) continue;
    configs.back().gemm.specialization = Specialization::kFilter3x3;
    if (!set_stages(configs.back())) configs.pop_back();
  }
}

// Weight gradients: all nine taps at a time of few output channels, or those of one column.
struct GradientShape {
  short columns, pixels;
  unsigned char swizzle;
  bool whole;
};
constexpr GradientShape kGradients[] = {
    {64, 128, 128, true},   {48, 128, 128, true},   {32, 128, 128, true},  {96, 128, 128, true},  {64, 64, 128, true},
    {32, 128, 64, true},    {64, 128, 64, true},    {128, 128, 64, true},  {160, 128, 64, true},  {32, 64, 64, true},
    {128, 128, 128, false}, {256, 128, 128, false}, {256, 64, 128, false}, {256, 128, 64, false}, {64, 128, 128, false},
};

void propose_gradients(const KernelConfig& base, std::vector<KernelConfig>& configs) {
  if (base.dims == 1 || size_of(operand_a(base)) != 2) return;
  for (const int taps : {3, 5}) {
    for (const GradientShape& shape : kGradients) {
      if (taps != 3 && shape.whole) continue;
      for (const SplitK split : {SplitK::kWorkspace, SplitK::kNone}) {
        for (const bool copied : {false, true}) {
          if (copied && (split == SplitK::kNone || taps != 3)) continue;
          KernelConfig config = base;
          GemmConfig& gemm = config.gemm;
          config.kind = Kind::kTcgen05Halo;
          config.finite_only = true;
          gemm.pipeline = Pipeline::kTcgen05;
          gemm.tile = {128, shape.columns, shape.pixels};
          gemm.mma = {128, shape.columns, 16};
          gemm.warps = {4, 1, 1};
          gemm.load_warps = static_cast<unsigned char>((tcgen05_layout::threads(config) - 128) / 32);
          gemm.persistent = true;
          gemm.loader_a = Loader::kTmaTiled;
          gemm.loader_b = Loader::kTmaHalo;
          gemm.filter_rows = static_cast<unsigned char>(taps);
          gemm.swizzle_a = gemm.swizzle_b = shape.swizzle;
          gemm.block_swizzle = 8;
          gemm.staging = Staging::kDirect;
          gemm.split_k = split;
          gemm.aligned_copy = copied;
          if (shape.whole) gemm.specialization = Specialization::kFilter3x3;
          if (set_stages(config)) configs.push_back(config);
        }
      }
    }
  }
}

}  // namespace

void propose(const KernelConfig& base, const TargetInfo&, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (!tma_proposals::offers(base, breadth)) return;
  if (base.direction == Direction::kBackwardWeight) {
    if (breadth == Breadth::kAll) propose_gradients(base, configs);
    return;
  }
  const Offer least = tma_proposals::wanted(base, breadth);
  const bool staged = is_16_bit(output_type(base));
  for (const int taps : {3, 2, 5, 7}) {
    for (const Shape& shape : kShapes) {
      if (shape.offer < least || (taps != 3 && (breadth == Breadth::kFew || (shape.n != 64 && shape.n != 32))))
        continue;
      if (!staged) {
        propose_shape(base, shape, taps, Staging::kDirect, configs);
        continue;
      }
      propose_shape(base, shape, taps, Staging::kTmaStore, configs);
      if (taps == 3) propose_shape(base, shape, taps, Staging::kShared, configs);
    }
  }
  if (breadth == Breadth::kFew) return;
  propose_divided(base, configs);
  propose_views(base, configs);
}

}  // namespace wt::tcgen05_halo_kind
