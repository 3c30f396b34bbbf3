// SPDX-License-Identifier: Apache-2.0
#include "kernels/tma/shapes.h"

#include "kernels/tma/device/layout.h"

namespace wt::tma_proposals {
namespace {

constexpr int64_t kSharedBytes = 228 * 1024;  // of a multiprocessor
constexpr int64_t kReservedBytes = 1024;      // of them, for each block
constexpr int kMaxStages = 8;
constexpr int kMaxSmallStages = 12;  // of tiles that are through before a longer ring has gone round

}  // namespace

Offer wanted(const KernelConfig& base, Breadth breadth) {
  if (breadth == Breadth::kAll) return Offer::kSearch;
  return size_of(operand_a(base)) == 2 && base.dims == 2 ? Offer::kCommon : Offer::kCore;
}

bool offers(const KernelConfig& base, Breadth breadth) {
  if (base.layout != Layout::kChannelsLast) return false;
  // Packs hold what is used most.
  const bool usual = is_16_bit(operand_a(base)) || (base.dims == 2 && base.direction == Direction::kForward);
  if (breadth == Breadth::kFew && !usual) return false;
  if (size_of(operand_a(base)) != size_of(operand_b(base))) return false;
  return size_of(operand_a(base)) == 1 || operand_a(base) == operand_b(base);
}

int most_stages(KernelConfig config) {
  const bool divides = tma_layout::is_halo(config) && config.gemm.split_k != SplitK::kNone;
  const bool small = config.gemm.tile.k > tma_layout::box_k(config) || config.gemm.tile.m == 64 || divides;
  int stages = small ? kMaxSmallStages : kMaxStages;
  for (; stages > 1; --stages) {
    config.gemm.stages = static_cast<unsigned char>(stages);
    if (tma_layout::shared_bytes(config) + kReservedBytes <= kSharedBytes / config.min_blocks) break;
  }
  return stages;
}

bool propose_shape(const KernelConfig& base, const Shape& shape, int swizzle, Loader loader_a, Staging staging,
                   std::vector<KernelConfig>& configs) {
  KernelConfig config = base;
  GemmConfig& gemm = config.gemm;
  config.min_blocks = shape.blocks;
  gemm.pipeline = Pipeline::kTma;
  gemm.tile = {shape.m, shape.n, static_cast<short>(128 / size_of(operand_a(base)))};
  gemm.mma = {64, shape.n, static_cast<short>(32 / size_of(operand_a(base)))};
  gemm.warps = {static_cast<short>(shape.ping_pong || shape.m == 64 ? 4 : shape.m == 192 ? 12 : 8), 1, 1};
  gemm.wave_groups = shape.ping_pong ? 2 : 1;
  gemm.ping_pong = shape.ping_pong;
  gemm.load_warps = 4;
  gemm.persistent = true;
  gemm.loader_a = loader_a;
  gemm.loader_b = Loader::kTmaTiled;
  gemm.specialization =
      loader_a == Loader::kTmaTiled ? Specialization::kFilter1x1Stride1Pad0 : Specialization::kDefault;
  gemm.swizzle_a = static_cast<unsigned char>(swizzle);
  gemm.swizzle_b = static_cast<unsigned char>(swizzle);
  gemm.block_swizzle = 8;
  gemm.staging = staging;
  // WHY: TMA reads the filter of backward data by rows of output channels, so that they are a multiple of 16 bytes.
  if (staging == Staging::kShared)
    gemm.vector_c = base.direction == Direction::kForward || size_of(output_type(base)) == 4 ? 4 : 8;
  gemm.stages = static_cast<unsigned char>(most_stages(config));
  // Tiles of fp32 take twice the room, and two stages of them leave the copies no time.
  if (tma_layout::three_products(config) && gemm.stages < 3) return false;
  configs.push_back(config);
  return true;
}

void share_operand(KernelConfig& config, bool share_a) {
  GemmConfig& gemm = config.gemm;
  (share_a ? gemm.cluster_n : gemm.cluster_m) = 2;
  (share_a ? gemm.multicast_a : gemm.multicast_b) = true;
  gemm.stages = static_cast<unsigned char>(most_stages(config));
}

}  // namespace wt::tma_proposals
