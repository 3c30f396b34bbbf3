// SPDX-License-Identifier: Apache-2.0
// config/kernels/direct_groups.cc - small groups on matrix instructions, the halo in shared memory.
#include "config/kernels.h"

namespace wt {

namespace {

constexpr DirectDesign kDesigns[] = {DirectDesign::kGroups};
constexpr Target kTargets[] = {Target::kSm80, Target::kSm90a};
constexpr std::string_view kReadFields[] = {
    "finite_only",       "direct.design",     "direct.tile_w",     "direct.filter_h",   "direct.filter_w",
    "direct.stride_h",   "direct.stride_w",   "direct.dilation_h", "direct.dilation_w", "direct.vector_in",
    "direct.vector_out", "direct.block_size", "direct.prefetch"};

// Positions and blocks follow the registers: sums take 4 * reach * tiles * outputs / 8 of them, and the filter
// filter_h * chunks * outputs / 8.
struct Variant {
  unsigned char filter, stride;   // of rows and columns alike; in one dimension there is one row
  unsigned char bundle, outputs;  // channels; outputs of a warp
  short threads, positions;
  unsigned char min_blocks, stages;
};
constexpr Variant kForward[] = {
    {3, 1, 8, 8, 256, 64, 2, 4},   {3, 1, 16, 8, 256, 64, 2, 4},   {3, 1, 32, 16, 256, 64, 1, 4},
    {3, 2, 8, 8, 256, 32, 2, 4},   {3, 2, 16, 8, 256, 32, 2, 4},   {3, 2, 32, 16, 256, 32, 1, 4},
    {3, 1, 24, 8, 192, 64, 2, 4},  {3, 2, 24, 8, 192, 32, 2, 4},   {3, 1, 32, 8, 256, 64, 2, 4},
    {3, 1, 8, 8, 256, 128, 1, 4},  {3, 1, 16, 16, 256, 128, 1, 4}, {3, 1, 32, 16, 256, 128, 1, 3},
    {3, 1, 8, 8, 256, 64, 2, 6},   {3, 1, 16, 16, 256, 32, 2, 4},  {3, 1, 16, 16, 256, 64, 2, 4},
    {3, 2, 8, 8, 256, 64, 1, 3},   {3, 2, 16, 16, 512, 64, 1, 3},  {3, 2, 32, 16, 512, 64, 1, 3},
    {3, 2, 32, 16, 256, 64, 1, 3}, {5, 1, 8, 8, 256, 32, 2, 4},    {5, 1, 16, 8, 256, 32, 1, 4},
    {7, 1, 8, 8, 256, 32, 1, 4},
};
constexpr Variant kData[] = {
    {3, 1, 8, 8, 256, 64, 2, 4},   {3, 1, 16, 8, 256, 64, 2, 4},   {3, 1, 32, 16, 256, 64, 1, 4},
    {3, 2, 8, 8, 256, 32, 2, 4},   {3, 2, 16, 8, 256, 32, 2, 4},   {3, 2, 32, 16, 256, 32, 1, 4},
    {3, 1, 24, 8, 192, 64, 2, 4},  {3, 2, 24, 8, 192, 32, 2, 4},   {3, 1, 32, 8, 256, 64, 2, 4},
    {3, 1, 8, 8, 256, 128, 1, 4},  {3, 1, 16, 16, 256, 128, 1, 4}, {3, 1, 32, 16, 256, 128, 1, 3},
    {3, 1, 16, 16, 256, 32, 2, 4}, {3, 1, 16, 16, 256, 64, 2, 4},  {3, 2, 8, 8, 256, 64, 1, 4},
    {3, 2, 16, 8, 256, 64, 1, 4},  {5, 1, 8, 8, 256, 32, 2, 4},    {5, 1, 16, 8, 256, 32, 1, 4},
    {7, 1, 8, 8, 256, 32, 1, 4},
};
constexpr Variant kWeight[] = {
    {3, 1, 8, 8, 256, 64, 2, 4},  {3, 1, 16, 8, 256, 32, 2, 4}, {3, 1, 32, 8, 256, 64, 1, 4},
    {3, 2, 8, 8, 256, 32, 2, 4},  {3, 2, 16, 8, 256, 32, 2, 4}, {3, 2, 32, 8, 256, 32, 1, 4},
    {3, 1, 24, 8, 192, 32, 2, 4}, {3, 2, 24, 8, 192, 32, 2, 4}, {3, 1, 8, 8, 256, 128, 1, 4},
    {3, 1, 16, 8, 256, 64, 1, 6}, {3, 2, 8, 8, 256, 64, 1, 3},  {3, 2, 16, 8, 256, 64, 1, 3},
    {5, 1, 8, 8, 256, 32, 1, 4},  {5, 1, 16, 8, 256, 32, 1, 4}, {7, 1, 8, 8, 256, 32, 1, 4},
};
// One-dimensional images are rows of their own: less of the filter and fewer sums in registers.
constexpr Variant kLine[] = {
    {3, 1, 8, 8, 256, 64, 2, 4},   {3, 1, 16, 16, 256, 64, 2, 4}, {3, 1, 32, 16, 256, 64, 2, 4},
    {3, 2, 8, 8, 256, 32, 2, 4},   {3, 2, 16, 8, 256, 32, 2, 4},  {4, 1, 8, 8, 256, 64, 2, 4},
    {4, 1, 16, 16, 256, 64, 2, 4}, {5, 1, 8, 8, 256, 64, 2, 4},   {5, 1, 16, 16, 256, 64, 2, 4},
    {7, 1, 8, 8, 256, 64, 2, 4},   {7, 1, 16, 8, 256, 64, 2, 4},
};
constexpr Variant kLineWeight[] = {
    {3, 1, 8, 8, 256, 64, 2, 4},  {3, 1, 16, 8, 256, 64, 2, 4}, {3, 1, 32, 8, 256, 64, 1, 4},
    {3, 2, 8, 8, 256, 32, 2, 4},  {3, 2, 16, 8, 256, 32, 2, 4}, {4, 1, 8, 8, 256, 64, 2, 4},
    {4, 1, 16, 8, 256, 64, 2, 4}, {5, 1, 8, 8, 256, 64, 2, 4},  {5, 1, 16, 8, 256, 64, 2, 4},
    {7, 1, 8, 8, 256, 64, 2, 4},  {7, 1, 16, 8, 256, 64, 1, 4},
};
constexpr size_t kFewVariants = 1;  // packs have merged groups of the GEMM family for the rest

// 512 threads of the widest bundles leave no registers for more than a comparison after the products.
bool fits(const EpilogueConfig& epilogue, const Variant& variant) {
  if (variant.bundle < 32 || variant.threads < 512) return true;
  return !epilogue.placed() && !epilogue.amax && !epilogue.scale &&
         (epilogue.activation == Activation::kNone || epilogue.activation == Activation::kRelu);
}

std::span<const Variant> variants(Direction direction, int dims) {
  if (dims == 1) return direction == Direction::kBackwardWeight ? std::span(kLineWeight) : std::span(kLine);
  switch (direction) {
    case Direction::kForward:
      return kForward;
    case Direction::kBackwardData:
      return kData;
    case Direction::kBackwardWeight:
      break;
  }
  return kWeight;
}

void propose(const KernelConfig& base, const TargetInfo&, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (base.dims > 2 || base.layout != Layout::kChannelsLast) return;
  if (base.dims == 1 && breadth == Breadth::kFew) return;
  if (size_of(base.x) != 2 || base.x != base.y || base.x != base.w) return;
  std::span<const Variant> list = variants(base.direction, base.dims);
  if (breadth == Breadth::kFew) list = list.first(kFewVariants);
  for (const Variant& variant : list) {
    if (!fits(base.epilogue, variant)) continue;
    // Narrower groups share bundles of 8 and 24; backward weight keeps them apart without being compiled for it.
    const bool shares = base.direction != Direction::kBackwardWeight && breadth == Breadth::kAll &&
                        (variant.bundle == 8 || variant.bundle == 24);
    for (const bool finite_only : {false, true}) {
      if (finite_only && !shares) continue;
      KernelConfig config = base;
      DirectConfig& direct = config.direct;
      config.family = Family::kDirect;
      config.finite_only = finite_only;
      config.min_blocks = variant.min_blocks;
      direct.design = DirectDesign::kGroups;
      direct.tile_w = variant.positions;
      direct.filter_w = variant.filter;
      direct.stride_w = variant.stride;
      direct.filter_h = base.dims == 1 ? 1 : variant.filter;
      direct.stride_h = base.dims == 1 ? 1 : variant.stride;
      direct.dilation_h = direct.dilation_w = 1;
      direct.vector_in = variant.bundle;
      direct.vector_out = variant.outputs;
      direct.block_size = variant.threads;
      direct.prefetch = variant.stages;
      configs.push_back(config);
    }
  }
}

}  // namespace

extern const KernelKind kDirectGroups = {.id = "direct-groups",
                                         .header = "kernel/direct/groups_select.h",
                                         .class_name = "wt::GroupsKernel",
                                         .family = Family::kDirect,
                                         .pipelines = {},
                                         .designs = kDesigns,
                                         .targets = kTargets,
                                         .fields = kReadFields,
                                         .generic = false,
                                         .propose = propose};

}  // namespace wt
