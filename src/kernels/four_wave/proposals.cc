// SPDX-License-Identifier: Apache-2.0
// kernels/four_wave/proposals.cc - CDNA's convolutions, forward and of data backward, and matrix products by four waves
// of four quadrants.
#include "kernels/device/gemm/storage.h"
#include "kernels/four_wave/device/layout.h"
#include "kernels/four_wave/kind.h"

namespace wt::four_wave_kind {
namespace {

struct Shape {
  short m, n;
  short edge;  // of the matrix instruction
  int span;    // bytes of tile.k
  bool few;
};

// Wide instructions where a quadrant holds them; deeper blocks halve the barriers and double the shared memory.
constexpr Shape kShapes[] = {
    {128, 128, 32, 64, true},   {128, 256, 32, 64, false},  {64, 64, 16, 64, false},
    {128, 128, 32, 128, false}, {64, 64, 16, 128, false},   {128, 128, 16, 64, false},
    {128, 256, 16, 64, false},  {128, 256, 32, 128, false}, {128, 64, 16, 64, false},
};

struct Access {
  Loader loader;
  int bytes;  // of a vector; 0: one number
  bool few;
};
// The first reads a matrix, the second a tap at a time, the others whatever channels there are.
constexpr Access kAccesses[] = {
    {Loader::kBufferRows, 16, true}, {Loader::kBufferUniform, 16, true}, {Loader::kBufferLane, 16, false},
    {Loader::kBufferLane, 8, false}, {Loader::kBufferLane, 4, false},    {Loader::kBufferLane, 0, true},
    {Loader::kBufferRows, 8, false}, {Loader::kBufferRows, 4, false},    {Loader::kBufferRows, 0, false},
};

// The instruction with this edge that takes most along k, and no more than a row of shared memory has.
const MmaShape* widest(const TargetInfo& target, DataType type, int edge, int span) {
  const MmaShape* best = nullptr;
  for (const MmaShape& mma : target.mma) {
    if (mma.type != type || mma.shape.m != edge || mma.shape.n != edge || mma.shape.k * size_of(type) > span) continue;
    if (!best || mma.shape.k > best->shape.k) best = &mma;
  }
  return best;
}

}  // namespace

void propose(const KernelConfig& base, const TargetInfo& target, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (base.direction == Direction::kBackwardWeight || base.layout != Layout::kChannelsLast) return;
  const DataType type = operand_a(base);
  if (type != operand_b(base) || size_of(type) > 2 || type == DataType::kE5m2) return;
  const bool few = breadth == Breadth::kFew;
  if (few && base.dims != 2) return;  // packs hold what is used most
  for (const Access& access : kAccesses) {
    if (few && !access.few) continue;
    for (const Shape& shape : kShapes) {
      const MmaShape* mma = widest(target, type, shape.edge, shape.span);
      if (!mma || (few && !shape.few)) continue;
      if (access.bytes == 0 && shape.n == 256) continue;  // so many addresses would spill
      KernelConfig config = base;
      GemmConfig& gemm = config.gemm;
      gemm.pipeline = Pipeline::kFourWave;
      gemm.tile = {shape.m, shape.n, static_cast<short>(shape.span / size_of(type))};
      gemm.warps = {2, 2, 1};
      gemm.mma = mma->shape;
      gemm.stages = 2;
      gemm.loader_a = access.loader;
      gemm.loader_b = Loader::kBufferRows;
      gemm.vector_a = gemm.vector_b = static_cast<unsigned char>(access.bytes ? access.bytes / size_of(type) : 1);
      gemm.block_swizzle = 8;
      configs.push_back(config);
      // Converted once, instead of wherever a number is read.
      if (four_wave_layout::multiplies_fnuz(config) && access.bytes == 16) {
        configs.push_back(config);
        configs.back().gemm.aligned_copy = true;
      }
    }
  }
}

}  // namespace wt::four_wave_kind
