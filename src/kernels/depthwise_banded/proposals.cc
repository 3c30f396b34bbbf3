// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_banded/proposals.cc - depthwise of stride 1 on matrix instructions, the filter's rows as bands.
#include "kernels/depthwise_banded/kind.h"
#include "kernels/shared/constraint_rows.h"

namespace wt::depthwise_banded_kind {
namespace {

// Threads and blocks follow the registers: about 124, 200 and 240 per thread for filters of 3, 5 and 7.
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
// ahead. Larger blocks, and half the channels per warp, were slower on every layer.
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

void propose_variants(const KernelConfig& base, std::span<const Variant> variants, bool bulk, int stride,
                      std::vector<KernelConfig>& configs) {
  for (const Variant& variant : variants) {
    for (const int images : {1, 16}) {
      KernelConfig config = base;
      DirectConfig& direct = config.direct;
      config.finite_only = true;
      config.min_blocks = variant.min_blocks;
      direct.bulk_rows = bulk;
      direct.read_ahead = variant.reads_ahead;
      config.fixed.filter_h = variant.filter;
      config.fixed.filter_w = variant.filter;
      config.fixed.stride_h = config.fixed.stride_w = static_cast<unsigned char>(stride);
      config.fixed.dilation_h = config.fixed.dilation_w = 1;
      direct.vector_in = direct.vector_out = 4;
      direct.block_size = variant.threads;
      direct.images = static_cast<unsigned char>(images);
      direct.prefetch = variant.stages;
      configs.push_back(config);
    }
  }
}

}  // namespace

void propose(const KernelConfig& base, const TargetInfo&, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew || base.dims < 2 || base.layout != Layout::kChannelsLast) return;
  if (!has_one_16_bit_type(base)) return;
  propose_variants(base, variants(base.direction, base.dims), false, 1, configs);
  if (!has_bulk_copies(base.target) || base.dims != 2 || base.direction == Direction::kBackwardWeight) return;
  propose_variants(base, kBulk, true, 1, configs);
  if (base.direction == Direction::kForward) propose_variants(base, kBulkStride2, true, 2, configs);
}

}  // namespace wt::depthwise_banded_kind
