// SPDX-License-Identifier: Apache-2.0
// kernels/wavelet/proposals.cc - Hopper's implicit GEMM for what TMA cannot load: warps that gather, and wgmma.
#include <algorithm>

#include "kernels/shared/warpgroup.h"
#include "kernels/wavelet/device/layout.h"
#include "kernels/wavelet/kind.h"

namespace wt::wavelet_kind {
namespace {

constexpr int kMaxStages = 6;

// How an operand is read: bytes at a time, asynchronously or through registers.
struct Access {
  Loader loader;
  int bytes;  // 0: one number
};
constexpr Access kAsync16{Loader::kAsync, 16}, kAsync8{Loader::kAsync, 8}, kAsync4{Loader::kAsync, 4};
constexpr Access kVector16{Loader::kVector, 16}, kVector8{Loader::kVector, 8}, kVector4{Loader::kVector, 4};
constexpr Access kSingle{Loader::kGather, 0};

struct Accesses {
  Access a, b;
  bool few;  // among the best guesses
};

// Forward, the filter is at least as aligned as the channels, but for rows of taps that are padded to vectors.
constexpr Accesses kForward[] = {{kAsync16, kAsync16, false},
                                 {kAsync8, kAsync8, true},
                                 {kAsync4, kAsync4, true},
                                 {kVector4, kSingle, false},
                                 {kSingle, kSingle, true}};
// tf32 is rounded on its way, which takes registers.
constexpr Accesses kForwardTf32[] = {
    {kVector16, kVector16, false}, {kVector8, kVector8, false}, {kVector8, kSingle, false}, {kSingle, kSingle, false}};
// Numbers of one byte by fours at least: a chunk of sixteen single ones takes too many registers.
constexpr Accesses kForwardFp8[] = {{kAsync16, kAsync16, false}, {kAsync8, kAsync8, false}, {kAsync4, kAsync4, false}};
// Backward data, either side may have odd channels.
constexpr Accesses kBackward[] = {{kAsync16, kAsync16, true}, {kAsync16, kAsync8, false}, {kAsync16, kAsync4, false},
                                  {kAsync16, kSingle, false}, {kAsync8, kAsync16, false}, {kAsync8, kAsync8, false},
                                  {kAsync8, kSingle, false},  {kAsync4, kAsync16, false}, {kAsync4, kAsync8, false},
                                  {kAsync4, kSingle, false},  {kSingle, kAsync16, false}, {kSingle, kAsync8, false},
                                  {kSingle, kSingle, true}};

// With stride phases as columns the filter is read number by number, and few input channels are what it is for.
constexpr Accesses kPhaseColumns[] = {
    {kAsync16, kSingle, false}, {kAsync8, kSingle, false}, {kAsync4, kSingle, false}, {kSingle, kSingle, false}};

struct Shape {
  short m, n;
  int math_warps, load_warps;
  int min_blocks;
  int span;  // bytes of tile.k
  bool few;
};

constexpr Shape kShapes[] = {
    {128, 64, 4, 4, 2, 128, true},   {128, 128, 8, 4, 1, 128, false}, {128, 256, 8, 4, 1, 128, false},
    {128, 16, 4, 4, 2, 128, false},  {128, 32, 4, 4, 2, 128, false},  {128, 40, 4, 4, 2, 128, false},
    {128, 64, 4, 8, 1, 128, false},  {128, 96, 4, 4, 1, 128, false},  {128, 128, 4, 8, 1, 128, false},
    {128, 192, 8, 4, 1, 128, false}, {256, 64, 8, 4, 1, 128, false},  {64, 64, 4, 4, 2, 128, false},
    {128, 64, 4, 4, 2, 64, false},   {128, 32, 4, 4, 2, 64, false},   {128, 64, 4, 8, 1, 64, false},
    {128, 128, 8, 4, 1, 64, false},
};

// Weight gradients: rows are the gathered tensor's taps and channels, columns the plain one's channels.
constexpr Accesses kWeight[] = {{kAsync16, kAsync16, false}, {kAsync8, kAsync16, true}, {kAsync4, kAsync16, false},
                                {kSingle, kAsync16, false},  {kAsync8, kAsync8, false}, {kAsync8, kAsync4, false},
                                {kAsync4, kAsync8, false},   {kAsync4, kAsync4, false}, {kAsync16, kAsync4, false},
                                {kAsync16, kSingle, false},  {kSingle, kSingle, true}};
constexpr Shape kWeightShapes[] = {
    {128, 64, 4, 4, 2, 128, true},  {64, 64, 4, 4, 2, 128, false},  {128, 128, 8, 4, 1, 128, false},
    {64, 128, 4, 4, 2, 128, false}, {128, 40, 4, 4, 2, 128, false}, {128, 256, 8, 4, 1, 128, false},
    {128, 16, 4, 4, 2, 128, false}, {64, 256, 4, 8, 1, 128, false},
};

// WHY one block a multiprocessor from 64 columns on: where each of them goes takes registers.
constexpr Shape kPhaseColumnShapes[] = {
    {128, 16, 4, 4, 2, 128, false},
    {128, 32, 4, 4, 2, 128, false},
    {128, 64, 4, 4, 1, 128, false},
    {128, 128, 8, 4, 1, 128, false},
};

int vector_of(const Access& access, DataType type) { return access.bytes ? access.bytes / size_of(type) : 1; }

// As many stages as fit the blocks that share a multiprocessor.
int most_stages(KernelConfig config) {
  const int64_t shared = info_of(config.target).shared_per_block;
  int stages = kMaxStages;
  for (; stages > 1; --stages) {
    config.gemm.stages = static_cast<unsigned char>(stages);
    if (wavelet_layout::shared_bytes(config) + 1024 <= (shared + 1024) / config.min_blocks) break;
  }
  return stages;
}

void propose_shape(const KernelConfig& base, const Shape& shape, const Accesses& accesses,
                   std::vector<KernelConfig>& configs) {
  KernelConfig config = base;
  GemmConfig& gemm = config.gemm;
  const int bytes = size_of(operand_a(base));
  config.min_blocks = static_cast<unsigned char>(shape.min_blocks);
  gemm.pipeline = Pipeline::kWavelet;
  gemm.tile = {shape.m, shape.n, static_cast<short>(shape.span / bytes)};
  gemm.mma = warpgroup_mma(base.target, shape.n, static_cast<short>(32 / bytes));
  gemm.warps = {static_cast<short>(shape.math_warps), 1, 1};
  gemm.load_warps = static_cast<unsigned char>(shape.load_warps);
  gemm.persistent = true;
  gemm.swizzle_a = gemm.swizzle_b = static_cast<unsigned char>(shape.span);
  gemm.loader_a = accesses.a.loader;
  gemm.loader_b = accesses.b.loader;
  gemm.vector_a = static_cast<unsigned char>(vector_of(accesses.a, operand_a(base)));
  gemm.vector_b = static_cast<unsigned char>(vector_of(accesses.b, operand_b(base)));
  gemm.stages = static_cast<unsigned char>(most_stages(config));
  configs.push_back(config);
}

void propose_weight(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  const bool few = breadth == Breadth::kFew;
  if (few && base.dims != 2) return;
  for (const Accesses& accesses : kWeight) {
    for (const Shape& shape : kWeightShapes) {
      for (const bool gathers_outputs : {false, true}) {
        if (few && (!accesses.few || !shape.few || gathers_outputs)) continue;
        propose_shape(base, shape, accesses, configs);
        configs.back().finite_only = gathers_outputs;
        configs.back().gemm.split_k = SplitK::kWorkspace;
        // Without a split only where tiles may be many.
        if (few || shape.m != 128 || shape.n < 128) continue;
        configs.push_back(configs.back());
        configs.back().gemm.split_k = SplitK::kNone;
      }
    }
  }
}

// wgmma multiplies equal 16-bit types, tf32, and any two fp8 types; across channels, as backward, only 16-bit ones, and
// so do warps in its place.
bool multiplies(const KernelConfig& base) {
  const DataType a = operand_a(base), b = operand_b(base);
  if (size_of(a) == 2) return a == b;
  return has_wgmma(base.target) && base.direction == Direction::kForward &&
         (a == DataType::kTf32 ? a == b : size_of(a) == 1 && size_of(b) == 1);
}

std::span<const Accesses> accesses_of(const KernelConfig& base) {
  if (base.direction != Direction::kForward) return kBackward;
  if (operand_a(base) == DataType::kTf32) return kForwardTf32;
  if (size_of(operand_a(base)) == 1) return kForwardFp8;
  return kForward;
}

}  // namespace

void propose(const KernelConfig& base, const TargetInfo&, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (base.layout != Layout::kChannelsLast || !multiplies(base)) return;
  if (base.direction == Direction::kBackwardWeight) return propose_weight(base, breadth, configs);
  const bool few = breadth == Breadth::kFew, forward = base.direction == Direction::kForward;
  if (few && base.dims != 2) return;  // packs hold what is used most
  for (const Accesses& accesses : accesses_of(base)) {
    if (few && !accesses.few) continue;
    for (const Shape& shape : kShapes) {
      if (few && !shape.few) continue;
      // Wide tiles read filters that are aligned; loads of single numbers would take registers that are not there.
      if (!forward && shape.n > 128 && accesses.b.bytes == 0) continue;
      // Short blocks along k serve short sums, which few channels have.
      if (shape.span < 128 && (!forward || accesses.a.bytes == 16)) continue;
      propose_shape(base, shape, accesses, configs);
    }
  }
  if (few || forward) return;
  for (const Accesses& accesses : kPhaseColumns) {
    for (const Shape& shape : kPhaseColumnShapes) {
      propose_shape(base, shape, accesses, configs);
      configs.back().finite_only = true;
      configs.back().gemm.stages = static_cast<unsigned char>(most_stages(configs.back()));
    }
  }
}

}  // namespace wt::wavelet_kind
