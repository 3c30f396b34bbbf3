// SPDX-License-Identifier: Apache-2.0
// config/kernels/direct_banded.cc - depthwise of stride 1 on matrix instructions, the filter's rows as bands.
#include "config/kernels.h"

namespace wt {

namespace {

constexpr DirectDesign kDesigns[] = {DirectDesign::kBanded};
constexpr Target kTargets[] = {Target::kSm80, Target::kSm90a};
constexpr std::string_view kReadFields[] = {
    "finite_only",       "direct.design",     "direct.filter_h",   "direct.filter_w",  "direct.stride_h",
    "direct.stride_w",   "direct.dilation_h", "direct.dilation_w", "direct.vector_in", "direct.vector_out",
    "direct.block_size", "direct.images",     "direct.prefetch",   "gemm.loader_a",    "gemm.double_buffer"};

// Threads and blocks follow the registers: about 124, 200 and 240 a thread for filters of 3, 5 and 7.
struct Variant {
  unsigned char filter;
  short threads;
  unsigned char min_blocks, stages;
  bool reads_ahead = false;
};
constexpr Variant kData[] = {
    {3, 256, 2, 4}, {3, 128, 4, 4}, {3, 256, 2, 6}, {3, 512, 1, 4}, {5, 128, 2, 4},
    {5, 256, 1, 4}, {5, 128, 2, 6}, {7, 128, 2, 4}, {7, 256, 1, 4}, {7, 128, 2, 6},
};
// With rows that the copy engine brings: about 112, 162 and 216 registers, and a dozen more where fragments are read
// ahead. Larger blocks, and half the channels a warp, were slower on every layer.
constexpr Variant kBulk[] = {{3, 256, 2, 4}, {3, 128, 3, 6, true}, {5, 128, 3, 6},
                             {5, 128, 2, 8}, {7, 128, 2, 6, true}, {7, 128, 2, 6}};
// The same with stride 2, whose step has four rows of windows. Filters of 3 are faster in design stream.
constexpr Variant kBulkStride2[] = {{5, 128, 2, 3}};
constexpr Variant kWeight[] = {
    {3, 128, 3, 4}, {3, 256, 1, 6}, {3, 128, 3, 6}, {5, 128, 2, 4}, {5, 256, 1, 4}, {7, 128, 2, 4}, {7, 256, 1, 4},
};

// Three planes take about 190 registers, and 250 in backward weight.
constexpr Variant kCube[] = {{3, 128, 2, 4}, {3, 256, 1, 4}};
constexpr Variant kCubeWeight[] = {{3, 128, 2, 3}, {3, 256, 1, 3}};

std::span<const Variant> variants(Direction direction, int dims) {
  if (dims == 3) return direction == Direction::kBackwardWeight ? kCubeWeight : kCube;
  if (direction == Direction::kBackwardWeight) return kWeight;
  return kData;
}

void propose_variants(const KernelConfig& base, std::span<const Variant> variants, Loader loader, int stride,
                      std::vector<KernelConfig>& configs) {
  for (const Variant& variant : variants) {
    for (const int images : {1, 16}) {
      KernelConfig config = base;
      DirectConfig& direct = config.direct;
      config.family = Family::kDirect;
      config.finite_only = true;
      config.min_blocks = variant.min_blocks;
      config.gemm.loader_a = loader;
      if (variant.reads_ahead) config.gemm.double_buffer = true;
      direct.design = DirectDesign::kBanded;
      direct.filter_h = variant.filter;
      direct.filter_w = variant.filter;
      direct.stride_h = direct.stride_w = static_cast<unsigned char>(stride);
      direct.dilation_h = direct.dilation_w = 1;
      direct.vector_in = direct.vector_out = 4;
      direct.block_size = variant.threads;
      direct.images = static_cast<unsigned char>(images);
      direct.prefetch = variant.stages;
      configs.push_back(config);
    }
  }
}

void propose(const KernelConfig& base, const TargetInfo&, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew || base.dims < 2 || base.layout != Layout::kChannelsLast) return;
  if (size_of(base.x) != 2 || base.x != base.y || base.x != base.w) return;
  propose_variants(base, variants(base.direction, base.dims), base.gemm.loader_a, 1, configs);
  if (base.target != Target::kSm90a || base.dims != 2 || base.direction == Direction::kBackwardWeight) return;
  propose_variants(base, kBulk, Loader::kTmaTiled, 1, configs);
  if (base.direction == Direction::kForward) propose_variants(base, kBulkStride2, Loader::kTmaTiled, 2, configs);
}

}  // namespace

extern const KernelKind kDirectBanded = {.id = "direct-banded",
                                         .header = "kernel/direct/banded_select.h",
                                         .class_name = "wt::BandedKernel",
                                         .family = Family::kDirect,
                                         .pipelines = {},
                                         .designs = kDesigns,
                                         .targets = kTargets,
                                         .fields = kReadFields,
                                         .generic = false,
                                         .propose = propose};

}  // namespace wt
