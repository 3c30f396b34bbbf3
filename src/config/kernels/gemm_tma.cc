// SPDX-License-Identifier: Apache-2.0
// config/kernels/gemm_tma.cc - Hopper's implicit GEMM: bulk tensor copies and wgmma; all three directions.
#include <algorithm>

#include "config/kernels.h"
#include "config/kernels/gemm_tma_weight_few.h"
#include "config/kernels/gemm_tma_weight_halo.h"
#include "kernel/gemm/tma/layout.h"

namespace wt {

namespace {

constexpr Pipeline kPipelines[] = {Pipeline::kTma};
constexpr Target kTargets[] = {Target::kSm90a};
constexpr std::string_view kReadFields[] = {
    "gemm.tile",           "gemm.warps",       "gemm.mma",           "gemm.pipeline",    "gemm.stages",
    "gemm.wave_groups",    "gemm.loader_a",    "gemm.loader_b",      "gemm.ping_pong",   "gemm.swizzle_a",
    "gemm.swizzle_b",      "gemm.raster",      "gemm.block_swizzle", "gemm.persistent",  "gemm.staging",
    "gemm.specialization", "gemm.load_warps",  "gemm.split_k",       "gemm.vector_c",    "gemm.groups_per_tile",
    "gemm.cluster_m",      "gemm.cluster_n",   "gemm.multicast_a",   "gemm.multicast_b", "gemm.stream_k",
    "gemm.vector_a",       "gemm.filter_rows", "finite_only"};

constexpr int64_t kSharedBytes = 228 * 1024;  // of a multiprocessor
constexpr int64_t kReservedBytes = 1024;      // of them, for each block
constexpr int kMaxStages = 8;
constexpr int kMaxSmallStages = 12;  // of tiles that are through before a longer ring has gone round
constexpr int kLeastStages = 4;      // of a ring that shares its room with other buffers

// Which of the lists has a shape.
enum class Offer {
  kSearch,  // an exhaustive search
  kCommon,  // and the best guesses for the signatures that are used most: 16-bit types, two dimensions
  kCore,    // and the best guesses for every signature
};

struct Shape {
  short m, n;
  bool ping_pong;
  Offer offer;               // with bulk stores, the best where they can write the output
  Offer other;               // with other stores
  unsigned char blocks = 1;  // a multiprocessor: two hide each other's start and end where memory is the limit
};

constexpr Offer kSearch = Offer::kSearch, kCommon = Offer::kCommon, kCore = Offer::kCore;

constexpr Shape kShapes[] = {
    {128, 128, false, kCore, kCommon},     {128, 256, false, kCore, kSearch},     {256, 128, false, kSearch, kCommon},
    {128, 64, false, kCore, kCore},        {64, 64, false, kSearch, kSearch},     {128, 128, true, kCommon, kSearch},
    {128, 40, false, kSearch, kSearch},    {256, 64, false, kSearch, kSearch},    {192, 128, false, kSearch, kSearch},
    {64, 256, true, kSearch, kSearch},     {128, 16, false, kSearch, kSearch},    {64, 128, false, kSearch, kSearch},
    {64, 32, false, kSearch, kSearch},     {64, 40, false, kSearch, kSearch},     {64, 96, false, kSearch, kSearch},
    {64, 160, false, kSearch, kSearch},    {64, 192, false, kSearch, kSearch},    {128, 32, false, kSearch, kSearch},
    {128, 80, false, kSearch, kSearch},    {128, 96, false, kSearch, kSearch},    {128, 112, false, kSearch, kSearch},
    {128, 160, false, kSearch, kSearch},   {128, 192, false, kSearch, kSearch},   {128, 224, false, kSearch, kSearch},
    {256, 80, false, kSearch, kSearch},    {256, 88, false, kSearch, kSearch},    {256, 96, false, kSearch, kSearch},
    {256, 112, false, kSearch, kSearch},   {64, 128, true, kSearch, kSearch},     {64, 192, true, kSearch, kSearch},
    {128, 64, true, kSearch, kSearch},     {128, 96, true, kSearch, kSearch},     {192, 64, false, kSearch, kSearch},
    {192, 96, false, kSearch, kSearch},    {128, 64, false, kSearch, kSearch, 2}, {64, 64, false, kSearch, kSearch, 2},
    {64, 128, false, kSearch, kSearch, 2},
};

// The least offer that is wanted.
Offer wanted(const KernelConfig& base, Breadth breadth) {
  if (breadth == Breadth::kAll) return Offer::kSearch;
  return size_of(operand_a(base)) == 2 && base.dims == 2 ? Offer::kCommon : Offer::kCore;
}

// As many stages as fit, so that the copies run ahead as far as they can.
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

bool is_16_bit(DataType type) { return size_of(type) == 2; }

// False where there is no room for it.
bool propose_shape(const KernelConfig& base, const Shape& shape, int swizzle, Loader loader_a, Staging staging,
                   std::vector<KernelConfig>& configs) {
  KernelConfig config = base;
  GemmConfig& gemm = config.gemm;
  config.family = Family::kGemm;
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
  if (staging == Staging::kShared) gemm.vector_c = base.direction == Direction::kForward ? 4 : 8;
  gemm.stages = static_cast<unsigned char>(most_stages(config));
  // Tiles of fp32 take twice the room, and two stages of them leave the copies no time.
  if (tma_layout::three_products(config) && gemm.stages < 3) return false;
  configs.push_back(config);
  return true;
}

// Crosswise: pixels by output channels, so that tiles come in numbers just below a whole wave.
constexpr Shape kCrosswiseShapes[] = {
    {80, 128, false, kSearch, kSearch},  {96, 128, false, kSearch, kSearch},  {112, 128, false, kSearch, kSearch},
    {136, 128, false, kSearch, kSearch}, {152, 128, false, kSearch, kSearch}, {176, 128, false, kSearch, kSearch},
    {192, 128, false, kSearch, kSearch}, {208, 128, false, kSearch, kSearch}, {240, 128, false, kSearch, kSearch},
    {80, 256, false, kSearch, kSearch},  {96, 256, false, kSearch, kSearch},  {104, 256, false, kSearch, kSearch},
    {120, 256, false, kSearch, kSearch}, {152, 256, false, kSearch, kSearch}, {80, 128, true, kSearch, kSearch},
    {96, 128, true, kSearch, kSearch},   {112, 128, true, kSearch, kSearch},  {136, 128, true, kSearch, kSearch},
};

// Each of the two blocks loads half of the operand's tile for both.
void share_operand(KernelConfig& config, bool share_a) {
  GemmConfig& gemm = config.gemm;
  (share_a ? gemm.cluster_n : gemm.cluster_m) = 2;
  (share_a ? gemm.multicast_a : gemm.multicast_b) = true;
  gemm.stages = static_cast<unsigned char>(most_stages(config));
}

void propose_crosswise(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew || !is_16_bit(operand_a(base)) || !is_16_bit(output_type(base))) return;
  for (const Shape& shape : kCrosswiseShapes) {
    for (const Loader loader : {Loader::kTmaTiled, Loader::kTmaIm2col}) {
      propose_shape(base, shape, 128, loader, Staging::kTmaStore, configs);
      GemmConfig& gemm = configs.back().gemm;
      gemm.mma = {64, shape.m, gemm.mma.k};
      gemm.warps = {1, static_cast<short>(shape.ping_pong ? 4 : 8), 1};
      gemm.stages = static_cast<unsigned char>(most_stages(configs.back()));
      if (loader != Loader::kTmaIm2col || shape.m < 112 || shape.m % 16 != 0 || shape.ping_pong) continue;
      // Two blocks that share their pixels, or their filters.
      const KernelConfig alone = configs.back();
      for (const bool share_a : {false, true}) {
        configs.push_back(alone);
        share_operand(configs.back(), share_a);
      }
    }
  }
}

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

void propose_halo(const KernelConfig& base, const Shape& shape, std::vector<KernelConfig>& configs,
                  Staging staging = Staging::kShared) {
  propose_shape(base, shape, 128, Loader::kTmaHalo, staging, configs);
  GemmConfig& gemm = configs.back().gemm;
  gemm.specialization = Specialization::kFilter3x3;
  if (shape.n > 64 || shape.m * shape.n > 256 * 40) return;
  // Narrow tiles have few products a tap: a row of taps at a time.
  gemm.tile.k = 3 * 64;
  gemm.stages = static_cast<unsigned char>(most_stages(configs.back()));
}

// Filters of three taps below each other: 3 in one dimension, 3x1, 3x1x1.
constexpr Shape kColumnShapes[] = {
    {128, 64, false, kSearch, kSearch},  {256, 64, false, kSearch, kSearch}, {128, 64, true, kSearch, kSearch},
    {256, 64, true, kSearch, kSearch},   {128, 80, false, kSearch, kSearch}, {192, 80, false, kSearch, kSearch},
    {256, 80, false, kSearch, kSearch},  {128, 96, false, kSearch, kSearch}, {128, 128, false, kSearch, kSearch},
    {256, 128, false, kSearch, kSearch}, {128, 128, true, kSearch, kSearch}, {64, 64, false, kSearch, kSearch},
    {128, 32, false, kSearch, kSearch},
};

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

// Small groups, as many together as fill a box of channels. Rows wait for copies, so that tall tiles are best.
constexpr Shape kMergedShapes[] = {
    {256, 64, false, kSearch, kSearch}, {128, 64, false, kSearch, kSearch}, {128, 64, true, kSearch, kSearch}};

void propose_merged(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew) return;  // packs have the direct family for small groups
  if (!is_16_bit(operand_a(base)) || !is_16_bit(output_type(base))) return;
  for (const Shape& shape : kMergedShapes) {
    for (const unsigned char groups : {2, 4, 8, 16}) {
      // WHY only these stores: backward data is mostly strided, and forward's outputs are whole vectors.
      const bool forward = base.direction == Direction::kForward;
      propose_shape(base, shape, 128, Loader::kTmaIm2col, forward ? Staging::kTmaStore : Staging::kShared, configs);
      configs.back().gemm.groups_per_tile = groups;
      configs.back().finite_only = true;
      if (base.dims != 2) continue;
      propose_halo(base, shape, configs);
      configs.back().gemm.groups_per_tile = groups;
      configs.back().finite_only = true;
    }
  }
}

// Sums divided among blocks, where tiles are too few for all multiprocessors. Over a cluster small tiles are best,
// since blocks of a cluster hold each other's sums; through the workspace larger ones, which leave fewer sums to add.
constexpr Shape kSplitShapes[] = {
    {64, 64, false, kSearch, kSearch},   {128, 128, false, kSearch, kSearch}, {64, 128, false, kSearch, kSearch},
    {64, 32, false, kSearch, kSearch},   {64, 40, false, kSearch, kSearch},   {64, 72, false, kSearch, kSearch},
    {128, 64, false, kSearch, kSearch},  {64, 96, false, kSearch, kSearch},   {128, 96, false, kSearch, kSearch},
    {128, 160, false, kSearch, kSearch}, {128, 192, false, kSearch, kSearch},
};

// WHY the general loader alone: it serves unit filters too, and as well.
void propose_splits(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew) return;
  for (const Shape& shape : kSplitShapes) {
    for (const SplitK split : {SplitK::kCluster, SplitK::kWorkspace}) {
      if (!propose_shape(base, shape, 128, Loader::kTmaIm2col, Staging::kDirect, configs)) continue;
      configs.back().gemm.split_k = split;
      const int stages = most_stages(configs.back());
      configs.back().gemm.stages = static_cast<unsigned char>(stages);
      if (stages < kLeastStages) configs.pop_back();  // the exchange takes their room
    }
  }
}

// Two blocks that share the tiles of one operand, each loading half of them for both: where filling shared memory is
// the limit. On an H200 they were a few hundredths slower than the same tiles alone, so that packs leave them out.
constexpr Shape kSharingShapes[] = {
    {128, 128, false, kSearch, kSearch}, {128, 128, true, kSearch, kSearch},  {128, 256, false, kSearch, kSearch},
    {256, 128, false, kSearch, kSearch}, {128, 160, false, kSearch, kSearch}, {128, 192, false, kSearch, kSearch},
    {192, 80, false, kSearch, kSearch},  {192, 96, false, kSearch, kSearch},
};

constexpr Shape kSharingSplitShapes[] = {{128, 128, false, kSearch, kSearch}, {256, 128, false, kSearch, kSearch}};

void propose_sharing(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew) return;
  const Staging staging = is_16_bit(output_type(base)) ? Staging::kTmaStore : Staging::kDirect;
  for (const Shape& shape : kSharingShapes) {
    for (const bool share_a : {false, true}) {
      if (!propose_shape(base, shape, 128, Loader::kTmaIm2col, staging, configs)) continue;
      share_operand(configs.back(), share_a);
    }
  }
  // The same of sums in parts, whose tiles are few and lie side by side.
  for (const Shape& shape : kSharingSplitShapes) {
    for (const bool share_a : {false, true}) {
      if (!propose_shape(base, shape, 128, Loader::kTmaIm2col, Staging::kDirect, configs)) continue;
      configs.back().gemm.split_k = SplitK::kWorkspace;
      share_operand(configs.back(), share_a);
    }
  }
}

// Channels off 16 bytes, by way of copies whose rows are whole. Outputs may be as odd, so that some store by pairs.
constexpr Shape kCopiedShapes[] = {{128, 128, true, kSearch, kSearch},
                                   {128, 64, false, kSearch, kSearch},
                                   {64, 64, false, kSearch, kSearch},
                                   {128, 256, false, kSearch, kSearch},
                                   {128, 32, false, kSearch, kSearch}};
constexpr Shape kCopiedHaloShapes[] = {{256, 128, false, kSearch, kSearch}, {128, 128, true, kSearch, kSearch},
                                       {256, 64, true, kSearch, kSearch},   {128, 64, false, kSearch, kSearch},
                                       {64, 64, false, kSearch, kSearch},   {64, 32, false, kSearch, kSearch}};
constexpr unsigned char kOneNumber = 1, kWholeVector = 8;  // 16 bytes

void propose_copied(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew || !is_16_bit(operand_a(base)) || !is_16_bit(output_type(base))) return;
  for (const unsigned char stored : {8, 2}) {
    for (const Shape& shape : kCopiedShapes) {
      propose_shape(base, shape, 128, Loader::kTmaIm2col, Staging::kShared, configs);
      configs.back().gemm.vector_a = kWholeVector;
      configs.back().gemm.vector_c = stored;
    }
    if (base.dims < 2) continue;
    for (const Shape& shape : kCopiedHaloShapes) {
      propose_halo(base, shape, configs,
                   stored == 8 && (shape.ping_pong || shape.n > 64) ? Staging::kTmaStore : Staging::kShared);
      configs.back().gemm.vector_a = kWholeVector;
      if (configs.back().gemm.staging == Staging::kShared) configs.back().gemm.vector_c = stored;
    }
  }
}

// Few output channels in an even number that is no multiple of 4: rows are staged and stored by pairs. Where the image
// is most of the traffic, two blocks a multiprocessor have more of it on its way.
constexpr Shape kNarrowShapes[] = {
    {128, 32, false, kSearch, kSearch, 1}, {128, 32, false, kSearch, kSearch, 2}, {64, 32, false, kSearch, kSearch, 2},
    {128, 16, false, kSearch, kSearch, 2}, {64, 64, false, kSearch, kSearch, 2},
};

void propose_narrow(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew || base.direction != Direction::kForward) return;
  if (!is_16_bit(operand_a(base)) || !is_16_bit(output_type(base))) return;
  for (const Shape& shape : kNarrowShapes) {
    for (const Loader loader : {Loader::kTmaTiled, Loader::kTmaIm2col}) {
      propose_shape(base, shape, 128, loader, Staging::kShared, configs);
      configs.back().gemm.vector_c = 2;
    }
  }
}

// Convolutions over patches by their easier view (problem/patch_view.h), where channels of a patch's row are no whole
// 16 bytes by way of copies. Backward data stores runs of them, by vectors or pairs.
constexpr Shape kPatchShapes[] = {
    {128, 128, true, kSearch, kSearch},  {128, 64, false, kSearch, kSearch},  {128, 192, false, kSearch, kSearch},
    {128, 256, false, kSearch, kSearch}, {192, 128, false, kSearch, kSearch}, {128, 96, true, kSearch, kSearch},
    {256, 128, false, kSearch, kSearch}, {64, 192, true, kSearch, kSearch},
};

void propose_patches(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew || base.dims > 2) return;
  if (!is_16_bit(operand_a(base)) || !is_16_bit(output_type(base))) return;
  const bool forward = base.direction == Direction::kForward;
  for (const Shape& shape : kPatchShapes) {
    for (const unsigned char vector : {kOneNumber, kWholeVector}) {
      for (const unsigned char stored : {8, 2}) {
        if (forward && stored != 8) continue;
        propose_shape(base, shape, 128, Loader::kTmaIm2col, forward ? Staging::kTmaStore : Staging::kShared, configs);
        configs.back().gemm.specialization = Specialization::kPatch;
        configs.back().gemm.vector_a = vector;
        if (!forward) configs.back().gemm.vector_c = stored;
      }
    }
  }
}

// The same where they lie: of few channels, whose rows of a patch are no whole 16 bytes.
constexpr Shape kRawPatchShapes[] = {
    {128, 256, false, kSearch, kSearch}, {128, 128, true, kSearch, kSearch},  {128, 192, false, kSearch, kSearch},
    {256, 128, false, kSearch, kSearch}, {192, 128, false, kSearch, kSearch}, {128, 64, false, kSearch, kSearch},
    {64, 256, true, kSearch, kSearch},   {64, 192, true, kSearch, kSearch},
};

void propose_raw_patches(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew || base.dims > 2 || base.direction != Direction::kForward) return;
  if (!is_16_bit(operand_a(base)) || !is_16_bit(output_type(base))) return;
  if (base.epilogue.placed() || base.epilogue.amax) return;
  for (const Shape& shape : kRawPatchShapes) {
    propose_shape(base, shape, 128, Loader::kTmaTiled, Staging::kTmaStore, configs);
    configs.back().gemm.specialization = Specialization::kPatch;
    configs.back().gemm.vector_a = kWholeVector;
    configs.back().finite_only = true;
    if (shape.m * shape.n < 128 * 256) continue;
    configs.push_back(configs.back());
    share_operand(configs.back(), false);
  }
}

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
  if (!is_16_bit(base.x) || !is_16_bit(output_type(base))) return;
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
  plain(SplitK::kNone, Staging::kTmaStore);
  for (const bool share_a : {false, true}) {
    if (!shares_whole(shape, share_a)) continue;
    if (shape.m == 128 && plain(SplitK::kWorkspace, Staging::kDirect)) share_operand(configs.back(), share_a);
    if (plain(SplitK::kNone, Staging::kTmaStore)) share_operand(configs.back(), share_a);
  }
}

void propose_weight(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (base.x != base.y || size_of(base.x) == 1) return;
  propose_weight_halo(base, breadth, configs);
  propose_weight_few(base, breadth, configs);
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
    if (shape.m == 128 && shape.n <= 128 && propose_weight_shape(base, shape, SplitK::kNone, 1, configs))
      configs.back().gemm.stream_k = StreamK::kTree;
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
  if (least != kSearch || !is_16_bit(base.x)) return;
  for (const Shape& shape : kAtomicWeightShapes) propose_weight_shape(base, shape, SplitK::kAtomic, 1, configs);
  for (const short columns : {64, 128, 192, 256}) {
    propose_weight_shape(base, {64, columns, false, kSearch, kSearch}, SplitK::kWorkspace, 1, configs);
    configs.back().gemm.vector_a = kWholeVector;
  }
  propose_weight_shape(base, {128, 128, false, kSearch, kSearch}, SplitK::kWorkspace, 1, configs);
  configs.back().gemm.vector_a = kWholeVector;
  if (base.dims <= 2) {
    for (const Shape& shape : kPatchWeightShapes) {
      for (const unsigned char vector : {kOneNumber, kWholeVector}) {
        propose_weight_shape(base, shape, SplitK::kWorkspace, 1, configs);
        configs.back().gemm.specialization = Specialization::kPatch;
        configs.back().gemm.vector_a = vector;
      }
    }
  }
  // Small groups together: the products of different groups are dropped with the partial sums.
  for (const unsigned char groups : {2, 4, 8, 16}) {
    for (const short columns : {192, 64}) {
      propose_weight_shape(base, {64, columns, false, kSearch, kSearch}, SplitK::kWorkspace, groups, configs);
    }
  }
}

void propose(const KernelConfig& base, const TargetInfo&, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (base.layout != Layout::kChannelsLast) return;
  if (base.direction == Direction::kBackwardWeight) return propose_weight(base, breadth, configs);
  // Packs hold what is used most.
  const bool usual = is_16_bit(operand_a(base)) || (base.dims == 2 && base.direction == Direction::kForward);
  if (breadth == Breadth::kFew && !usual) return;
  if (size_of(operand_a(base)) != size_of(operand_b(base))) return;
  if (size_of(operand_a(base)) != 1 && operand_a(base) != operand_b(base)) return;
  propose_merged(base, breadth, configs);
  const Offer least = wanted(base, breadth);
  const bool staged = is_16_bit(output_type(base));
  if (base.dims >= 2 && staged && is_16_bit(operand_a(base))) {
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
  for (const Loader loader : {Loader::kTmaTiled, Loader::kTmaIm2col}) {
    for (const int swizzle : {128, 64, 32}) {
      if (swizzle != 128 && (loader == Loader::kTmaTiled || breadth == Breadth::kFew)) continue;
      for (const Shape& shape : kShapes) {
        if (!staged) {
          if (shape.offer >= least) propose_shape(base, shape, swizzle, loader, Staging::kDirect, configs);
          continue;
        }
        if (shape.offer >= least) propose_shape(base, shape, swizzle, loader, Staging::kTmaStore, configs);
        // WHY: the general loader serves the rare outputs of unit filters too, with half the kernels in a pack.
        if (breadth == Breadth::kFew && loader == Loader::kTmaTiled) continue;
        // As best guesses, forward's outputs that bulk stores cannot write are narrow.
        if (breadth == Breadth::kFew && base.direction == Direction::kForward && shape.n > 64) continue;
        if (shape.other >= least) propose_shape(base, shape, swizzle, loader, Staging::kShared, configs);
        // For outputs of odd channel counts, which only forward has; as a best guess, they go to pipeline wavelet.
        if (breadth == Breadth::kAll && base.direction == Direction::kForward && shape.m == 128 && !shape.ping_pong &&
            shape.blocks == 1)
          propose_shape(base, shape, swizzle, loader, Staging::kDirect, configs);
      }
    }
  }
  propose_columns(base, breadth, configs);
  propose_splits(base, breadth, configs);
  propose_sharing(base, breadth, configs);
  propose_crosswise(base, breadth, configs);
  propose_copied(base, breadth, configs);
  propose_narrow(base, breadth, configs);
  propose_patches(base, breadth, configs);
  propose_raw_patches(base, breadth, configs);
}

}  // namespace

extern const KernelKind kGemmTma = {.id = "gemm-tma",
                                    .header = "kernel/gemm/tma/select.h",
                                    .class_name = "wt::TmaKernel",
                                    .family = Family::kGemm,
                                    .pipelines = kPipelines,
                                    .designs = {},
                                    .targets = kTargets,
                                    .fields = kReadFields,
                                    .generic = false,
                                    .propose = propose};

}  // namespace wt
