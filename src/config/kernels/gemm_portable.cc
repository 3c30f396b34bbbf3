// SPDX-License-Identifier: Apache-2.0
// config/kernels/gemm_portable.cc - the portable pipelines: implicit GEMM by mma.sync, MFMA, WMMA or multiply-adds.
//
//   recipes (what a pipeline's loop is) x shapes (tile and warps) x accesses (how operands are read)
#include <algorithm>

#include "config/kernels.h"
#include "config/pipelines.h"
#include "kernel/gemm/portable/layout.h"

namespace wt {

namespace {

using enum Pipeline;

constexpr Pipeline kPipelines[] = {kBasicV2, kMem, kCompV3, kCompV4, kCompV5, kCompV6, kCompAsync, kBasicAsyncV1};
constexpr Pipeline kRolePipelines[] = {kWavelet};
constexpr Target kRoleTargets[] = {Target::kSm80,   Target::kSm100a,  Target::kGfx90a,  Target::kGfx942,
                                   Target::kGfx950, Target::kGfx1100, Target::kGfx1201, Target::kGfx1250};
constexpr std::string_view kReadFields[] = {
    "gemm.tile",     "gemm.warps",       "gemm.mma",           "gemm.pipeline",   "gemm.scheduler",
    "gemm.stages",   "gemm.wave_groups", "gemm.double_buffer", "gemm.loader_a",   "gemm.loader_b",
    "gemm.vector_a", "gemm.vector_b",    "gemm.staging",       "gemm.load_warps", "gemm.split_k"};

// One form of a pipeline.
struct Recipe {
  Pipeline pipeline;
  int stages;
  Scheduler scheduler = Scheduler::kIntrawave;
  int load_warps = 0;
  Staging staging = Staging::kShared;
  bool async = false;  // of wavelet, which may move data either way
};
constexpr Scheduler kInter = Scheduler::kInterwave;
constexpr Recipe kRecipes[] = {
    {kCompV4, 2},       {kCompAsync, 3},
    {kCompV3, 1},       {kCompV3, 1, kInter},
    {kMem, 2},          {kMem, 4},
    {kMem, 2, kInter},  {kBasicV2, 1},
    {kCompV5, 2},       {kCompV6, 3},
    {kCompAsync, 2},    {kCompAsync, 4},
    {kBasicAsyncV1, 1}, {kBasicV2, 1, Scheduler::kIntrawave, 0, Staging::kDirect},
};
constexpr Recipe kRoleRecipes[] = {{kWavelet, 2, Scheduler::kIntrawave, 4},
                                   {kWavelet, 2, Scheduler::kIntrawave, 2},
                                   {kWavelet, 3, Scheduler::kIntrawave, 4, Staging::kShared, true},
                                   {kWavelet, 3, Scheduler::kIntrawave, 2, Staging::kShared, true}};

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

// Bytes of an access to A and to B; 0: single numbers.
struct Accesses {
  int a, b;
};
constexpr Accesses kEqual[] = {{16, 16}, {8, 8}, {4, 4}, {0, 0}};
// Backward, A has the output channels and B the input channels.
constexpr Accesses kMixed[] = {{16, 16}, {16, 0}, {0, 16}, {0, 0}, {8, 8}, {4, 4}};

void set_access(bool async, int bytes, DataType type, Loader& loader, unsigned char& vector) {
  const int wide = bytes / size_of(type);
  vector = static_cast<unsigned char>(std::max(1, wide));
  loader = async ? Loader::kAsync : wide > 1 ? Loader::kVector : Loader::kGather;
}

KernelConfig make(const KernelConfig& base, const Recipe& recipe, const Shape& shape, const Accesses& accesses,
                  const MmaShape& mma) {
  KernelConfig config = base;
  GemmConfig& gemm = config.gemm;
  const PipelineInfo& pipeline = info_of(recipe.pipeline);
  const bool async = pipeline.async_copy || recipe.async;
  config.family = Family::kGemm;
  gemm.pipeline = recipe.pipeline;
  gemm.stages = static_cast<unsigned char>(recipe.stages);
  gemm.scheduler = recipe.scheduler;
  gemm.load_warps = static_cast<unsigned char>(recipe.load_warps);
  gemm.staging = recipe.staging;
  gemm.double_buffer = pipeline.double_buffer;
  gemm.wave_groups = static_cast<unsigned char>(pipeline.wave_groups);
  gemm.tile = {shape.m, shape.n, static_cast<short>(shape.span / size_of(operand_a(base)))};
  gemm.warps = {shape.warps_m, shape.warps_n, 1};
  gemm.mma = mma.shape;
  set_access(async, accesses.a, operand_a(base), gemm.loader_a, gemm.vector_a);
  set_access(async, accesses.b, operand_b(base), gemm.loader_b, gemm.vector_b);
  return config;
}

bool is_hopper(const KernelConfig& base) { return base.target == Target::kSm90a || base.target == Target::kSm100a; }

struct Scope {
  size_t recipes, shapes, accesses;  // the first so many
  bool every_mma;
};

// Hopper multiplies 16-bit types better by its own pipelines: packs then hold none of these, and a search tries few.
Scope scope_of(const KernelConfig& base, Breadth breadth, size_t recipes, size_t shapes, size_t accesses) {
  if (breadth == Breadth::kAll)
    return {is_hopper(base) ? std::min<size_t>(recipes, 3) : recipes, shapes, accesses, true};
  const bool wanted = base.dims == 2 && (!is_hopper(base) || operand_a(base) == DataType::kF32);
  return {wanted ? std::min<size_t>(recipes, 2) : 0, 2, base.direction == Direction::kForward ? accesses : 4, false};
}

void propose_recipes(const KernelConfig& base, const TargetInfo& target, Breadth breadth,
                     std::span<const Recipe> recipes, std::vector<KernelConfig>& configs) {
  if (base.layout != Layout::kChannelsLast || operand_a(base) != operand_b(base) || size_of(operand_a(base)) < 2)
    return;
  const auto shapes = target.warp_size == 64 ? std::span(kShapes64) : std::span(kShapes32);
  const auto accesses = base.direction == Direction::kForward ? std::span<const Accesses>(kEqual) : kMixed;
  const Scope scope = scope_of(base, breadth, recipes.size(), shapes.size(), accesses.size());
  for (const Recipe& recipe : recipes.first(scope.recipes)) {
    const bool async = info_of(recipe.pipeline).async_copy || recipe.async;
    if (async && !target.async_copy && breadth == Breadth::kFew) continue;
    for (const Shape& shape : shapes.first(scope.shapes)) {
      for (const Accesses& access : accesses.first(scope.accesses)) {
        if (async && std::min(access.a, access.b) == 0) continue;                         // no copy is so narrow
        if (size_of(operand_a(base)) == 4 && (access.a == 4 || access.b == 4)) continue;  // a single number
        for (const MmaShape& mma : mma_shapes(target, multiply_type(base))) {
          if (!mma.portable) break;
          configs.push_back(make(base, recipe, shape, access, mma));
          if (base.direction == Direction::kBackwardWeight) {
            configs.back().gemm.split_k = SplitK::kWorkspace;
            if (breadth == Breadth::kAll) {
              configs.push_back(configs.back());
              configs.back().gemm.split_k = SplitK::kNone;
            }
          }
          if (!scope.every_mma) break;
        }
      }
    }
  }
}

void propose(const KernelConfig& base, const TargetInfo& target, Breadth breadth, std::vector<KernelConfig>& configs) {
  propose_recipes(base, target, breadth, kRecipes, configs);
}
void propose_roles(const KernelConfig& base, const TargetInfo& target, Breadth breadth,
                   std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kAll) propose_recipes(base, target, breadth, kRoleRecipes, configs);
}

}  // namespace

extern const KernelKind kGemmPortable = {.id = "gemm-portable",
                                         .header = "kernel/gemm/portable/kernel.h",
                                         .class_name = "wt::PortableGemm",
                                         .family = Family::kGemm,
                                         .pipelines = kPipelines,
                                         .designs = {},
                                         .targets = {},
                                         .fields = kReadFields,
                                         .generic = false,
                                         .propose = propose};

// Hopper has a wavelet of its own (gemm_wavelet.cc).
extern const KernelKind kGemmPortableWavelet = {.id = "gemm-portable-wavelet",
                                                .header = "kernel/gemm/portable/kernel.h",
                                                .class_name = "wt::PortableGemm",
                                                .family = Family::kGemm,
                                                .pipelines = kRolePipelines,
                                                .designs = {},
                                                .targets = kRoleTargets,
                                                .fields = kReadFields,
                                                .generic = false,
                                                .propose = propose_roles};

}  // namespace wt
