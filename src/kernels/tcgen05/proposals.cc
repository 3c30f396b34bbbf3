// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05/proposals.cc - tiles of the kernel on tensor memory.
#include "kernels/tcgen05/device/layout.h"
#include "kernels/tcgen05/kind.h"
#include "kernels/tma/shapes.h"

namespace wt::tcgen05_kind {
namespace {

using tma_proposals::kCommon, tma_proposals::kCore, tma_proposals::kSearch, tma_proposals::Offer;

constexpr int64_t kSharedBytes = 227 * 1024;
constexpr int kTensorColumns = 512;
constexpr int kMostStages = 8, kLeastStages = 3;

struct Shape {
  short n;
  bool pair;
  bool takes_clusters;  // by launch control
  Offer offer;
};
// Pairs of 256 x 256 fill shared memory the least; narrow tiles are for few columns. Launch control balances tiles that
// take different times.
constexpr Shape kShapes[] = {
    {256, true, true, kCore},    {128, true, true, kCommon},   {256, false, true, kCommon},
    {128, false, true, kCore},   {64, false, true, kCore},     {256, true, false, kSearch},
    {128, true, false, kSearch}, {256, false, false, kSearch}, {128, false, false, kSearch},
    {64, false, false, kSearch}, {192, false, true, kSearch},  {192, true, true, kSearch},
    {64, true, true, kSearch},   {32, false, true, kSearch},   {16, false, true, kSearch},
    {48, false, true, kSearch},  {96, false, true, kSearch},   {160, false, true, kSearch},
    {224, false, true, kSearch},
};

// Stages as many as fit.
bool set_stages(KernelConfig& config) {
  for (int stages = kMostStages; stages >= kLeastStages; --stages) {
    config.gemm.stages = static_cast<unsigned char>(stages);
    if (tcgen05_layout::shared_bytes(config) <= kSharedBytes) return true;
  }
  return false;
}

bool propose_shape(const KernelConfig& base, const Shape& shape, int swizzle, Loader loader_a, Staging staging,
                   std::vector<KernelConfig>& configs) {
  KernelConfig config = base;
  GemmConfig& gemm = config.gemm;
  const auto bytes = size_of(operand_a(base));
  const short rows = shape.pair ? 256 : 128;
  gemm.pipeline = Pipeline::kTcgen05;
  gemm.tile = {rows, shape.n, static_cast<short>(128 / bytes)};
  gemm.mma = {rows, shape.n, static_cast<short>(32 / bytes)};
  gemm.warps = {4, 1, 1};
  gemm.load_warps = static_cast<unsigned char>((tcgen05_layout::threads(config) - 128) / 32);
  gemm.persistent = !shape.takes_clusters;
  gemm.double_buffer = true;
  if (tcgen05_layout::tensor_columns(config) > kTensorColumns) gemm.double_buffer = false;  // scales lie there, too
  gemm.loader_a = loader_a;
  gemm.loader_b = Loader::kTmaTiled;
  gemm.specialization =
      loader_a == Loader::kTmaTiled ? Specialization::kFilter1x1Stride1Pad0 : Specialization::kDefault;
  gemm.swizzle_a = gemm.swizzle_b = static_cast<unsigned char>(swizzle);
  gemm.block_swizzle = 8;
  gemm.staging = staging;
  if (staging == Staging::kShared) gemm.vector_c = base.direction == Direction::kForward ? 4 : 8;
  if (!set_stages(config)) return false;
  configs.push_back(config);
  return true;
}

// Two tiles that share an operand, and kernels that hold one accumulator.
void propose_sharing(const KernelConfig& base, Breadth breadth, Staging staging, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew) return;
  for (const Shape& shape : {Shape{256, true, true, kSearch},
                             {128, true, true, kSearch},
                             {128, false, true, kSearch},
                             {256, false, false, kSearch}}) {
    for (const bool share_a : {false, true}) {
      if (!propose_shape(base, shape, 128, Loader::kTmaIm2col, staging, configs)) continue;
      GemmConfig& gemm = configs.back().gemm;
      (share_a ? gemm.cluster_n : gemm.cluster_m) = 2;
      (share_a ? gemm.multicast_a : gemm.multicast_b) = true;
    }
  }
  for (const short n : {256, 128}) {
    if (!propose_shape(base, {n, false, true, kSearch}, 128, Loader::kTmaIm2col, staging, configs)) continue;
    if (configs.back().gemm.double_buffer) {
      configs.back().gemm.double_buffer = false;
    } else {
      configs.pop_back();  // has one as it is
    }
  }
}

// Sums in parts, where tiles are too few for all multiprocessors.
void propose_splits(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew) return;
  for (const Shape& shape : {Shape{128, false, false, kSearch},
                             {128, false, true, kSearch},
                             {64, false, false, kSearch},
                             {256, false, false, kSearch},
                             {128, true, false, kSearch},
                             {256, true, true, kSearch}}) {
    if (propose_shape(base, shape, 128, Loader::kTmaIm2col, Staging::kDirect, configs))
      configs.back().gemm.split_k = SplitK::kWorkspace;
  }
  // Over a cluster, whose blocks hold each other's sums.
  for (const short n : {256, 128, 64, 32, 16}) {
    if (!propose_shape(base, {n, false, false, kSearch}, 128, Loader::kTmaIm2col, Staging::kDirect, configs)) continue;
    configs.back().gemm.split_k = SplitK::kCluster;
    if (!set_stages(configs.back())) configs.pop_back();
  }
}

// Channels off 16 bytes by way of copies, of 32-bit types and of 32-bit results.
void propose_copied_words(const KernelConfig& base, std::vector<KernelConfig>& configs) {
  for (const short n : {128, 64, 32, 16}) {
    for (const SplitK split : {SplitK::kNone, SplitK::kCluster}) {
      const bool walks = split == SplitK::kCluster;
      if (!propose_shape(base, {n, false, !walks, kSearch}, 128, Loader::kTmaIm2col, Staging::kDirect, configs))
        continue;
      configs.back().gemm.aligned_copy = true;
      configs.back().gemm.split_k = split;
      if (!set_stages(configs.back())) configs.pop_back();
    }
  }
}

// As on Hopper: small groups together, channels off 16 bytes by way of copies, patches, any number of output channels.
void propose_views(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew || size_of(operand_a(base)) == 1) return;
  if (!is_16_bit(operand_a(base)) || !is_16_bit(output_type(base))) return propose_copied_words(base, configs);
  const bool forward = base.direction == Direction::kForward;
  const Staging whole = forward ? Staging::kTmaStore : Staging::kShared;
  // Of up to 16 groups a box of channels, else all that there are.
  for (const unsigned char groups : {2, 4, 8, 16, 32, 48, 64}) {
    const short n = groups > 16 ? 128 : 64;
    if (!propose_shape(base, {n, false, true, kSearch}, 128, Loader::kTmaIm2col, whole, configs)) continue;
    configs.back().gemm.groups_per_tile = groups;
    configs.back().finite_only = true;
  }
  for (const Shape& shape :
       {Shape{128, false, true, kSearch}, {64, false, true, kSearch}, {256, false, true, kSearch}}) {
    for (const unsigned char stored : {8, 2, 1}) {
      if (!propose_shape(base, shape, 128, Loader::kTmaIm2col, Staging::kShared, configs)) continue;
      configs.back().gemm.aligned_copy = true;
      configs.back().gemm.vector_c = stored;
    }
    for (const unsigned char stored : {2, 1}) {
      if (!forward || !propose_shape(base, shape, 128, Loader::kTmaIm2col, Staging::kShared, configs)) continue;
      configs.back().gemm.vector_c = stored;
    }
    if (base.dims > 2) continue;
    for (const bool copied : {false, true}) {
      for (const unsigned char stored : {8, 2}) {
        if (forward && stored != 8) continue;
        if (!propose_shape(base, shape, 128, Loader::kTmaIm2col, whole, configs)) continue;
        configs.back().gemm.specialization = Specialization::kPatch;
        configs.back().gemm.aligned_copy = copied;
        if (!forward) configs.back().gemm.vector_c = stored;
      }
    }
  }
}

// Weight gradients: output channels by blocks of 64 input channels of a tap, whole or in parts of the pixels.
void propose_gradient(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  const auto add = [&](short n, bool pair, SplitK split, Loader loader_b) {
    if (pair && tma_layout::turns_tiles(base)) return false;
    if (!propose_shape(base, {n, pair, false, kSearch}, 128, Loader::kTmaTiled, Staging::kDirect, configs))
      return false;
    GemmConfig& gemm = configs.back().gemm;
    gemm.loader_b = loader_b;
    gemm.specialization =
        loader_b == Loader::kTmaTiled ? Specialization::kFilter1x1Stride1Pad0 : Specialization::kDefault;
    gemm.split_k = split;
    if (split != SplitK::kCluster || set_stages(configs.back())) return true;
    configs.pop_back();  // no room for what the blocks exchange
    return false;
  };
  const bool few = breadth == Breadth::kFew;
  for (const SplitK split : {SplitK::kWorkspace, SplitK::kNone, SplitK::kCluster}) {
    const bool cluster = split == SplitK::kCluster;
    if (few && cluster) continue;
    for (const Loader loader_b : {Loader::kTmaIm2col, Loader::kTmaTiled}) {
      if (few && loader_b == Loader::kTmaTiled) continue;
      for (const short n : {256, 128, 64}) {
        add(n, false, split, loader_b);
        if (n > 64 && !few && !cluster) add(n, true, split, loader_b);
      }
    }
  }
  if (few || size_of(operand_a(base)) == 1) return;
  for (const short n : {128, 64}) {
    if (add(n, false, SplitK::kWorkspace, Loader::kTmaIm2col)) configs.back().gemm.aligned_copy = true;
  }
  if (!is_16_bit(operand_a(base))) return;
  for (const unsigned char groups : {2, 4, 8, 16, 32, 48, 64}) {
    for (const short n : {64, 256}) {
      if (add(n, false, SplitK::kWorkspace, Loader::kTmaIm2col)) configs.back().gemm.groups_per_tile = groups;
    }
  }
  for (const short n : {128, 64}) {
    for (const bool copied : {false, true}) {
      if (base.dims > 2 || !add(n, false, SplitK::kWorkspace, Loader::kTmaIm2col)) continue;
      configs.back().gemm.specialization = Specialization::kPatch;
      configs.back().gemm.aligned_copy = copied;
    }
  }
}

// Numbers with scales: boxes of 128 bytes. Pairs are among them for who asks why there are none (constraints.cc).
void propose_scaled(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  const Offer least = tma_proposals::wanted(base, breadth);
  const Staging whole = is_16_bit(output_type(base)) ? Staging::kTmaStore : Staging::kDirect;
  for (const Shape& shape : kShapes) {
    if (shape.offer < least) continue;
    propose_shape(base, shape, 128, Loader::kTmaIm2col, whole, configs);
    if (breadth == Breadth::kFew || whole == Staging::kDirect) continue;
    propose_shape(base, shape, 128, Loader::kTmaIm2col, Staging::kDirect, configs);
  }
  propose_sharing(base, breadth, whole, configs);
  propose_splits(base, breadth, configs);
}

}  // namespace

void propose(const KernelConfig& base, const TargetInfo&, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (!tma_proposals::offers(base, breadth)) return;
  if (tcgen05_layout::has_scales(base)) return propose_scaled(base, breadth, configs);
  if (base.direction == Direction::kBackwardWeight) return propose_gradient(base, breadth, configs);
  const Offer least = tma_proposals::wanted(base, breadth);
  const bool staged = is_16_bit(output_type(base));
  propose_views(base, breadth, configs);
  for (const Loader loader : {Loader::kTmaTiled, Loader::kTmaIm2col}) {
    for (const int swizzle : {128, 64, 32}) {
      if (swizzle != 128 && (loader == Loader::kTmaTiled || breadth == Breadth::kFew)) continue;
      if (breadth == Breadth::kFew && loader == Loader::kTmaTiled) continue;  // the general one serves unit filters too
      for (const Shape& shape : kShapes) {
        if (shape.offer < least || (swizzle != 128 && shape.pair)) continue;
        if (!staged) {
          propose_shape(base, shape, swizzle, loader, Staging::kDirect, configs);
          continue;
        }
        propose_shape(base, shape, swizzle, loader, Staging::kTmaStore, configs);
        if (loader == Loader::kTmaIm2col) propose_shape(base, shape, swizzle, loader, Staging::kShared, configs);
        if (breadth == Breadth::kAll && loader == Loader::kTmaIm2col && swizzle == 128)
          propose_shape(base, shape, swizzle, loader, Staging::kDirect, configs);
      }
    }
  }
  propose_sharing(base, breadth, staged ? Staging::kTmaStore : Staging::kDirect, configs);
  propose_splits(base, breadth, configs);
}

}  // namespace wt::tcgen05_kind
