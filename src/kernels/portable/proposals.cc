// SPDX-License-Identifier: Apache-2.0
// kernels/portable/proposals.cc - the portable pipelines: implicit GEMM by mma.sync, MFMA, WMMA or multiply-adds.
//
//   recipes (what a pipeline's loop is) x shapes (tile and warps) x accesses (how operands are read)
#include <algorithm>

#include "config/pipelines.h"
#include "kernels/portable/device/layout.h"
#include "kernels/portable/kind.h"

namespace wt::portable_kind {
namespace {

using enum Pipeline;

// One form of a pipeline.
struct Recipe {
  Pipeline pipeline;
  int stages;
  bool wide = false;  // worth every shape and access; others show what their loop does on two of each
  Scheduler scheduler = Scheduler::kIntrawave;
  int load_warps = 0;
  Staging staging = Staging::kShared;
  bool async = false;    // of wavelet, which may move data either way
  bool doubled = false;  // a second shared buffer where the loop does with one
};
constexpr Scheduler kIntra = Scheduler::kIntrawave, kInter = Scheduler::kInterwave;
constexpr Recipe kRecipes[] = {
    {kCompAsync, 3, true},
    {kCompV4, 2, true},
    {kCompAsync, 4},
    {kCompAsync, 2},
    {kCompV3, 1},
    {kCompV3, 1, false, kInter},
    {kMem, 2},
    {kMem, 4},
    {kMem, 2, false, kInter},
    {kCompV5, 2},
    {kCompV6, 2},
    {kBasicAsyncV1, 1},
    {kBasicV2, 1},
    {kBasicV2, 1, false, kIntra, 0, Staging::kDirect},
    {kMem, 2, false, kIntra, 0, Staging::kShared, false, true},
    {kCompV3, 1, false, kIntra, 0, Staging::kShared, false, true},
};
constexpr Recipe kRoleRecipes[] = {{kWavelet, 2, false, kIntra, 4},
                                   {kWavelet, 2, false, kIntra, 2},
                                   {kWavelet, 3, false, kIntra, 4, Staging::kShared, true},
                                   {kWavelet, 3, false, kIntra, 2, Staging::kShared, true}};

// Tile and warps; tile.k is given in bytes, so that a row is a swizzle's span whatever the type.
struct Shape {
  short m, n;
  int span;
  short warps_m, warps_n;
};
constexpr Shape kShapes32[] = {{128, 128, 64, 2, 4}, {64, 64, 64, 2, 2},  {128, 64, 64, 2, 2},
                               {64, 128, 64, 2, 2},  {128, 32, 64, 4, 1}, {128, 128, 128, 2, 4}};
constexpr Shape kShapes64[] = {{128, 128, 64, 2, 2}, {64, 64, 64, 2, 2},   {128, 64, 64, 2, 2},
                               {64, 128, 64, 2, 2},  {128, 32, 128, 4, 1}, {128, 128, 128, 2, 2}};
constexpr size_t kFewShapes = 2;
std::span<const Shape> shapes_of(const TargetInfo& target) {
  return target.warp_size == 64 ? std::span(kShapes64) : std::span(kShapes32);
}

// Bytes of an access to A and to B; 0: single numbers.
struct Accesses {
  int a, b;
};
constexpr Accesses kEqual[] = {{16, 16}, {0, 0}, {8, 8}, {4, 4}};
// Backward, A has the output channels and B the input channels.
constexpr Accesses kMixed[] = {{16, 16}, {0, 0}, {16, 0}, {0, 16}, {8, 8}, {4, 4}};
constexpr size_t kFewAccesses = 2;

void set_access(bool async, int bytes, DataType type, Loader& loader, unsigned char& vector) {
  const int wide = bytes / size_of(type);
  vector = static_cast<unsigned char>(std::max(1, wide));
  loader = async ? Loader::kAsync : wide > 1 ? Loader::kVector : Loader::kGather;
}

KernelConfig make(const KernelConfig& base, const Recipe& recipe, const Shape& shape, const Accesses& accesses) {
  KernelConfig config = base;
  GemmConfig& gemm = config.gemm;
  const PipelineInfo& pipeline = info_of(recipe.pipeline);
  const bool async = pipeline.async_copy || recipe.async;
  gemm.pipeline = recipe.pipeline;
  gemm.stages = static_cast<unsigned char>(recipe.stages);
  gemm.scheduler = recipe.scheduler;
  gemm.load_warps = static_cast<unsigned char>(recipe.load_warps);
  gemm.staging = recipe.staging;
  gemm.double_buffer = pipeline.double_buffer || recipe.doubled;
  gemm.wave_groups = static_cast<unsigned char>(pipeline.wave_groups);
  gemm.tile = {shape.m, shape.n, static_cast<short>(shape.span / size_of(operand_a(base)))};
  gemm.warps = {shape.warps_m, shape.warps_n, 1};
  set_access(async, accesses.a, operand_a(base), gemm.loader_a, gemm.vector_a);
  set_access(async, accesses.b, operand_b(base), gemm.loader_b, gemm.vector_b);
  return config;
}

bool moves_async(const Recipe& recipe) { return info_of(recipe.pipeline).async_copy || recipe.async; }

// Stream-K of all tiles, or of those that whole rounds leave.
struct Stream {
  StreamK order;
  bool all;
};
constexpr Stream kStreams[] = {
    {StreamK::kLinear, true}, {StreamK::kTree, true}, {StreamK::kLinear, false}, {StreamK::kTree, false}};

// The instructions that are worth it. gfx950 has 16-bit ones of twice the rate of those that all of CDNA has. A weight
// gradient, whose operands lie across the sum, spends its time on reading them either way (`targets --loops`).
std::vector<MmaShape> instructions(const KernelConfig& base, const TargetInfo& target) {
  std::vector<MmaShape> shapes;
  const DataType type = multiply_type(base);
  const bool wide =
      base.target == Target::kGfx950 && size_of(type) == 2 && base.direction != Direction::kBackwardWeight;
  for (const MmaShape& mma : mma_shapes(target, type))
    if (mma.portable != wide) shapes.push_back(mma);
  return shapes;
}

// With each matrix instruction. The sum of a weight gradient is divided; `whole`: other kernels do not divide it,
// or stream it.
void propose_config(const KernelConfig& base, KernelConfig config, const TargetInfo& target, bool few, bool whole,
                    std::vector<KernelConfig>& configs) {
  const bool weight = base.direction == Direction::kBackwardWeight;
  for (const MmaShape& mma : instructions(base, target)) {
    config.gemm.mma = mma.shape;
    config.gemm.split_k = weight ? SplitK::kWorkspace : SplitK::kNone;
    configs.push_back(config);
    if (few) break;
    if (!weight || !whole) continue;
    if (!has_wgmma(base.target)) {  // Hopper has such sums in its own weight gradients
      config.gemm.split_k = SplitK::kAtomic;
      configs.push_back(config);
    }
    config.gemm.split_k = SplitK::kNone;
    configs.push_back(config);
    for (const auto& [order, all] : kStreams) {
      configs.push_back(config);
      configs.back().gemm.stream_k = order;
      configs.back().gemm.stream_k_persistent = all;
    }
  }
}

// With each matrix instruction; a weight gradient's sum divided and whole.
void propose_form(const KernelConfig& base, const KernelConfig& config, const TargetInfo& target,
                  std::vector<KernelConfig>& configs) {
  const size_t first = configs.size();
  propose_config(base, config, target, false, false, configs);
  if (base.direction != Direction::kBackwardWeight) return;
  for (size_t i = first, end = configs.size(); i < end; ++i) {
    KernelConfig whole = configs[i];
    whole.gemm.split_k = SplitK::kNone;
    configs.push_back(whole);
  }
}

// Small groups, several at a time: their channels make whole vectors and fill more of a tile.
void propose_merged(const KernelConfig& base, const TargetInfo& target, std::vector<KernelConfig>& configs) {
  const bool weight = base.direction == Direction::kBackwardWeight;
  for (const Recipe& recipe : kRecipes) {
    if (!recipe.wide) continue;
    for (const Shape& shape : {Shape{64, 64, 64, 2, 2}, Shape{128, 64, 64, 2, 2}}) {
      for (const unsigned char groups : {2, 4, 8, 16}) {
        KernelConfig config = make(base, recipe, shape, {16, 16});
        config.gemm.groups_per_tile = groups;
        config.finite_only = !weight;  // a weight gradient only drops the products of different groups
        propose_form(base, config, target, configs);
      }
    }
  }
}

// Filters of one tap that meet every pixel: both operands of the weight gradient are read as they lie.
void propose_explicit(const KernelConfig& base, const TargetInfo& target, std::vector<KernelConfig>& configs) {
  for (const Recipe& recipe : kRecipes) {
    if (!recipe.wide) continue;
    for (const Shape& shape : shapes_of(target).first(kFewShapes)) {
      KernelConfig config = make(base, recipe, shape, {16, 16});
      config.gemm.specialization = Specialization::kFilter1x1Stride1Pad0;
      config.gemm.explicit_gemm = true;
      propose_form(base, config, target, configs);
    }
  }
}

// Packs hold, for images, two tiles of the best recipe and one that loads single numbers.
bool is_best_guess(const Recipe& recipe, const Shape& shape, const Accesses& access, const TargetInfo& target) {
  if (access.a == 0) return recipe.pipeline == kCompV4 && shape.m == 64;
  return recipe.pipeline == (target.vendor == Vendor::kNvidia ? kCompAsync : kCompV4);
}

// Single numbers are loaded by the plain form of a loop alone: one kernel a pipeline that takes every problem.
bool is_plain(const Recipe& recipe) {
  return recipe.wide || (recipe.scheduler == kIntra && recipe.staging == Staging::kShared && !recipe.doubled);
}

// Hopper multiplies 16-bit types better by its own pipelines, so a search there tries the two best recipes alone.
bool is_worth_it(const KernelConfig& base, const Recipe& recipe) {
  return !has_bulk_copies(base.target) || recipe.wide;
}

bool is_offered(const KernelConfig& base) {
  const bool fp8 = multiplies_fp8(base.target) && base.direction == Direction::kForward;
  return base.layout == Layout::kChannelsLast && operand_a(base) == operand_b(base) &&
         size_of(operand_a(base)) >= (fp8 ? 1 : 2);
}

void propose_recipes(const KernelConfig& base, const TargetInfo& target, Breadth breadth,
                     std::span<const Recipe> recipes, std::vector<KernelConfig>& configs) {
  const int bytes = size_of(operand_a(base));
  const bool few = breadth == Breadth::kFew;
  if (!is_offered(base)) return;
  if (few && (base.dims != 2 || operand_a(base) == DataType::kTf32 || (has_bulk_copies(base.target) && bytes == 2)))
    return;
  const auto shapes = shapes_of(target);
  const auto accesses = base.direction == Direction::kForward ? std::span<const Accesses>(kEqual) : kMixed;
  for (const Recipe& recipe : recipes) {
    if (!is_worth_it(base, recipe)) continue;
    const bool narrow = few || !recipe.wide;
    for (const Shape& shape : narrow || has_bulk_copies(base.target) ? shapes.first(kFewShapes) : shapes) {
      for (const Accesses& access : narrow || has_bulk_copies(base.target) ? accesses.first(kFewAccesses) : accesses) {
        if (access.a == 0 && access.b == 0 && !is_plain(recipe)) continue;
        if (moves_async(recipe) && std::min(access.a, access.b) == 0) continue;  // no copy is so narrow
        if (bytes == 4 && access.a == 4) continue;                               // a single number
        if (few && !is_best_guess(recipe, shape, access, target)) continue;
        const bool whole = !few && recipe.wide && access.a == 16 && access.b == 16;
        propose_config(base, make(base, recipe, shape, access), target, few, whole, configs);
      }
    }
  }
}

// CDNA's largest tiles, by the instructions of 32 rows: each number that is read serves most products.
constexpr Shape kLargeShapes[] = {{256, 256, 64, 2, 4}, {256, 128, 64, 2, 2}, {128, 256, 64, 2, 2}};
void propose_large(const KernelConfig& base, const TargetInfo& target, std::vector<KernelConfig>& configs) {
  if (target.warp_size != 64 || size_of(operand_a(base)) != 2) return;
  const bool weight = base.direction == Direction::kBackwardWeight;
  for (const Recipe& recipe : {Recipe{kCompV3, 1}, Recipe{kCompV4, 2}}) {
    for (const Shape& shape : kLargeShapes) {
      for (const MmaShape& mma : instructions(base, target)) {
        if (mma.shape.m != 32) continue;
        KernelConfig config = make(base, recipe, shape, {16, 16});
        config.gemm.mma = mma.shape;
        configs.push_back(config);
        if (!weight) continue;
        configs.back().gemm.split_k = SplitK::kWorkspace;
        configs.push_back(config);
      }
    }
  }
}

void propose_loops(const KernelConfig& base, const TargetInfo& target, Breadth breadth,
                   std::vector<KernelConfig>& configs) {
  propose_recipes(base, target, breadth, kRecipes, configs);
  if (breadth == Breadth::kFew || !is_offered(base)) return;
  propose_large(base, target, configs);
  if (!has_bulk_copies(base.target)) propose_merged(base, target, configs);
  if (base.direction == Direction::kBackwardWeight) propose_explicit(base, target, configs);
}

// CDNA's weight gradients, whose addresses cost most: four load waves with every tile of four and of two math waves,
// each width of access, and as a plain product where a filter of one tap is one.
constexpr Shape kCdnaRoleShapes[] = {{128, 128, 64, 2, 2}, {64, 64, 64, 2, 2}, {128, 64, 64, 2, 2},
                                     {64, 128, 64, 2, 2},  {64, 64, 64, 2, 1}, {128, 64, 64, 2, 1},
                                     {64, 128, 64, 1, 2}};
void propose_cdna_roles(const KernelConfig& base, const TargetInfo& target, std::vector<KernelConfig>& configs) {
  if (target.warp_size != 64 || base.direction != Direction::kBackwardWeight) return;
  const Recipe& recipe = kRoleRecipes[0];
  for (const Shape& shape : kCdnaRoleShapes) {
    const bool known = shape.m == shape.n;  // divided, with the widest vectors: propose_roles
    const KernelConfig wide = make(base, recipe, shape, {16, 16});
    if (!known) propose_config(base, wide, target, false, false, configs);
    for (const int bytes : {8, 4}) {
      if (size_of(operand_a(base)) >= bytes) continue;
      propose_config(base, make(base, recipe, shape, {bytes, bytes}), target, false, false, configs);
    }
    for (const MmaShape& mma : instructions(base, target)) {
      KernelConfig config = wide;
      config.gemm.mma = mma.shape;
      configs.push_back(config);
      configs.push_back(config);
      configs.back().gemm.stream_k = StreamK::kLinear;
      configs.back().gemm.stream_k_persistent = true;
    }
    KernelConfig plain = wide;
    plain.gemm.specialization = Specialization::kFilter1x1Stride1Pad0;
    plain.gemm.explicit_gemm = true;
    propose_config(base, plain, target, false, false, configs);
  }
}

// Four load warps for four or eight math warps, or for two; two for four or eight. Hopper, which has warpgroups for
// that, tries four and four, and four and two.
void propose_roles(const KernelConfig& base, const TargetInfo& target, Breadth breadth,
                   std::vector<KernelConfig>& configs) {
  // Two warps of 32 lanes have registers for half as many sums.
  const Shape two_math_warps{64, static_cast<short>(target.warp_size), 64, 2, 1}, four_math_warps{64, 64, 64, 2, 2};
  if (breadth != Breadth::kAll || !is_offered(base)) return;
  propose_recipes(base, target, breadth, kRoleRecipes, configs);
  for (const Recipe& recipe : kRoleRecipes) {
    if (recipe.load_warps != 4) continue;
    for (const Shape& shape : {four_math_warps, two_math_warps}) {
      if (has_bulk_copies(base.target) ? !recipe.async : shape.warps_n == 2)
        continue;  // not worth it; is there already
      propose_config(base, make(base, recipe, shape, {16, 16}), target, false, false, configs);
      if (!recipe.async) propose_config(base, make(base, recipe, shape, {0, 0}), target, false, false, configs);
    }
  }
  propose_cdna_roles(base, target, configs);
}

}  // namespace

void propose(const KernelConfig& base, const TargetInfo& target, Breadth breadth, std::vector<KernelConfig>& configs) {
  propose_loops(base, target, breadth, configs);
  propose_roles(base, target, breadth, configs);
}

}  // namespace wt::portable_kind
