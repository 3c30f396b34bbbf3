// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_stream/proposals.cc - depthwise by ordinary multiply-adds down the rows, for the usual filters and
// strides.
#include <algorithm>

#include "config/targets.h"
#include "kernels/depthwise_stream/kind.h"
#include "kernels/device/gemm/storage.h"

namespace wt::depthwise_stream_kind {
namespace {

// What one thread takes: channels x columns, rows ahead, blocks per multiprocessor.
struct Variant {
  unsigned char width;
  short columns;
  unsigned char prefetch, min_blocks;
  bool register_weights;
};

// The best of a study on an H200 first; the last takes any channel count. What would spill is not here.
constexpr Variant kForward3[] = {{4, 4, 1, 2, false}, {4, 4, 3, 2, false}, {8, 2, 1, 2, false}, {4, 4, 1, 2, true},
                                 {4, 2, 2, 2, false}, {4, 2, 1, 3, false}, {2, 4, 2, 2, true},  {2, 4, 1, 3, true},
                                 {1, 8, 1, 2, true},  {1, 4, 2, 2, true}};
constexpr Variant kForward3Stride2[] = {{4, 4, 1, 2, false}, {8, 2, 1, 2, false}, {4, 2, 2, 2, false},
                                        {4, 2, 1, 3, false}, {4, 2, 2, 3, false}, {4, 1, 1, 2, false},
                                        {2, 4, 2, 2, true},  {2, 2, 1, 2, false}, {1, 4, 2, 2, true}};
constexpr Variant kData3[] = {{4, 4, 1, 2, false}, {4, 4, 3, 2, false}, {8, 2, 1, 2, false},
                              {4, 4, 1, 2, true},  {4, 2, 2, 2, false}, {2, 4, 2, 2, true},
                              {2, 4, 1, 3, true},  {1, 8, 1, 2, true},  {1, 4, 2, 2, true}};
constexpr Variant kData3Stride2[] = {{4, 2, 1, 2, false}, {4, 1, 2, 2, false}, {2, 2, 1, 2, true}, {1, 4, 1, 2, true}};
constexpr Variant kWeight3[] = {{4, 4, 1, 2, false}, {4, 4, 3, 2, false}, {4, 2, 2, 2, false}, {4, 2, 1, 2, false},
                                {2, 4, 2, 2, false}, {2, 4, 1, 3, false}, {1, 4, 2, 2, false}};
constexpr Variant kWeight3Stride2[] = {{4, 2, 2, 2, false}, {4, 2, 1, 2, false}, {4, 4, 1, 1, false},
                                       {2, 4, 2, 2, false}, {2, 2, 1, 2, false}, {1, 4, 2, 2, false}};
constexpr Variant kForward5[] = {{4, 2, 1, 2, false}, {2, 4, 1, 2, false}, {2, 7, 1, 2, false},
                                 {2, 2, 1, 2, false}, {1, 8, 1, 2, false}, {1, 4, 1, 2, false}};
constexpr Variant kData5Stride2[] = {{4, 1, 1, 2, false}, {2, 2, 1, 2, false}, {1, 4, 1, 2, false}};
constexpr Variant kWeight5[] = {{2, 4, 1, 2, false}, {2, 2, 1, 2, false}, {2, 7, 1, 1, false}, {1, 8, 1, 2, false}};
constexpr Variant kWeight5Stride2[] = {{2, 2, 1, 2, false}, {2, 7, 1, 1, false}, {1, 4, 1, 2, false}};
constexpr Variant kForward7[] = {{2, 4, 1, 2, false}, {4, 2, 1, 1, false}, {2, 7, 1, 1, false},
                                 {1, 8, 1, 2, false}, {1, 4, 1, 2, false}, {1, 2, 1, 2, false}};
constexpr Variant kData7Stride2[] = {{2, 2, 1, 2, false}, {1, 2, 1, 2, false}};
constexpr Variant kWeight7[] = {{2, 2, 1, 1, false}, {2, 4, 1, 1, false}, {1, 4, 1, 2, false}};
constexpr Variant kWeight7Stride2[] = {{2, 2, 1, 1, false}, {1, 2, 1, 2, false}};
constexpr Variant kLine4[] = {
    {8, 1, 4, 2, true}, {8, 1, 2, 2, true}, {4, 1, 8, 2, true}, {2, 1, 8, 2, true}, {1, 1, 8, 2, true}};
constexpr Variant kLine8[] = {
    {4, 1, 4, 2, false}, {4, 1, 2, 2, false}, {8, 1, 2, 1, false}, {2, 1, 8, 2, true}, {1, 1, 8, 2, true}};
constexpr Variant kLineWeight4[] = {
    {8, 1, 2, 2, false}, {4, 1, 4, 2, false}, {8, 1, 4, 1, false}, {2, 1, 8, 2, false}, {1, 1, 8, 2, false}};
constexpr Variant kLineWeight8[] = {{4, 1, 1, 2, false}, {4, 1, 4, 1, false}, {2, 1, 4, 2, false}, {1, 1, 4, 2, false}};
// Rows of the filter's planes come one after the other, each counted as a row ahead.
constexpr Variant kCube[] = {{4, 4, 1, 2, false}, {4, 2, 3, 2, false}, {4, 2, 1, 2, false},
                             {2, 4, 3, 2, false}, {2, 4, 1, 2, false}, {2, 2, 3, 2, false},
                             {2, 2, 1, 2, false}, {1, 4, 3, 2, false}, {1, 4, 1, 2, false}};
constexpr Variant kCubeStride2[] = {{4, 2, 1, 2, false}, {2, 4, 1, 2, false}, {2, 2, 1, 2, false}, {1, 4, 1, 2, false}};
constexpr Variant kCubeData2[] = {{4, 1, 1, 2, false}, {2, 2, 1, 2, false}, {1, 4, 1, 2, false}};

using Variants = std::span<const Variant>;

Variants variants_2d(Direction direction, int filter, bool strided) {
  const bool data = direction == Direction::kBackwardData, weight = direction == Direction::kBackwardWeight;
  switch (filter) {
    case 3:
      if (weight) return strided ? Variants(kWeight3Stride2) : kWeight3;
      if (data) return strided ? Variants(kData3Stride2) : kData3;
      return strided ? Variants(kForward3Stride2) : kForward3;
    case 5:
      if (weight) return strided ? Variants(kWeight5Stride2) : kWeight5;
      return data && strided ? Variants(kData5Stride2) : kForward5;
    default:
      if (weight) return strided ? Variants(kWeight7Stride2) : kWeight7;
      return data && strided ? Variants(kData7Stride2) : kForward7;
  }
}

Variants variants_1d(Direction direction, int filter) {
  if (direction == Direction::kBackwardWeight) return filter <= 4 ? Variants(kLineWeight4) : kLineWeight8;
  return filter <= 4 ? Variants(kLine4) : kLine8;
}

Variants variants_3d(Direction direction, bool strided) {
  // Backward weight takes the filter's planes one by one.
  if (direction == Direction::kBackwardWeight) return strided ? Variants(kWeight3Stride2) : kWeight3;
  if (direction == Direction::kBackwardData) return strided ? Variants(kCubeData2) : kCube;
  return strided ? Variants(kCubeStride2) : kCube;
}

constexpr int kBlock = 256;  // threads

struct Sizes {
  int filter_h, filter_w, stride_h, stride_w;
};

// Activations with an exponential take about ten registers.
bool is_heavy(Activation activation) { return facts_of(activation).special > 0; }

// What a thread holds must fit its registers, and fp32 takes twice as many on its way.
bool fits(const KernelConfig& base, const Sizes& sizes, const Variant& variant) {
  const int size = size_of(base.direction == Direction::kForward ? base.x : base.y), bytes = variant.width * size;
  const int largest = std::max(size, size_of(base.y));
  if (bytes > 16) return false;
  if (is_amd(base.target) && sizes.filter_h > 5 && (variant.width > 2 || variant.width * variant.columns > 8))
    return false;  // these spill there
  if (base.direction == Direction::kBackwardWeight &&
      kBlock * variant.width * sizes.filter_h * sizes.filter_w * 4 > info_of(base.target).shared_per_block)
    return false;
  if (base.dims == 1 && is_heavy(base.epilogue.activation) && variant.width * variant.prefetch >= 32 &&
      variant.width > 4)
    return false;
  if (base.dims == 1 && sizes.filter_h > 4) return bytes * variant.prefetch <= 32;
  if (base.dims == 3 && largest == 4 && base.direction != Direction::kBackwardWeight)
    return variant.width <= 2 && variant.width * variant.columns <= 4;
  if (base.dims == 1 || largest == 2) return true;
  const bool large = sizes.filter_h > 3, strided = sizes.stride_h > 1;
  if (variant.min_blocks > 2 || (variant.prefetch > 1 && variant.width > 2)) return false;
  if (sizes.filter_h > 5 && strided) return bytes * variant.columns <= 8 && variant.width == 1;
  if (sizes.filter_h > 5 || (large && strided)) return bytes * variant.columns <= 16 && variant.width == 1;
  return bytes * variant.columns <= (large || strided ? 16 : 32);
}

void propose_sizes(const KernelConfig& base, const Sizes& sizes, Variants variants,
                   std::vector<KernelConfig>& configs) {
  for (const Variant& variant : variants) {
    if (!fits(base, sizes, variant) || (base.layout == Layout::kChannelsFirst && variant.width > 1)) continue;
    KernelConfig config = base;
    DirectConfig& direct = config.direct;
    config.min_blocks = variant.min_blocks;
    config.fixed.filter_h = static_cast<unsigned char>(sizes.filter_h);
    config.fixed.filter_w = static_cast<unsigned char>(sizes.filter_w);
    config.fixed.stride_h = static_cast<unsigned char>(sizes.stride_h);
    config.fixed.stride_w = static_cast<unsigned char>(sizes.stride_w);
    config.fixed.dilation_h = 1;
    config.fixed.dilation_w = 1;
    direct.vector_in = variant.width;
    direct.vector_out = variant.width;
    direct.sub_w = variant.columns;
    direct.prefetch = variant.prefetch;
    direct.register_weights = variant.register_weights;
    direct.block_size = kBlock;
    configs.push_back(config);
  }
}

bool is_wide_type(DataType type) { return size_of(type) >= 2; }

}  // namespace

void propose(const KernelConfig& base, const TargetInfo&, Breadth breadth, std::vector<KernelConfig>& configs) {
  // One-dimensional strips lie along their only dimension, whose pixels threads should share where channels lie apart.
  if (base.layout == Layout::kChannelsFirst && (base.dims == 1 || breadth == Breadth::kFew)) return;
  if (!is_wide_type(base.x) || !is_wide_type(base.w) || !is_wide_type(base.y)) return;
  if (breadth == Breadth::kFew) {
    // The layer that most networks have.
    if (base.dims == 2 && size_of(base.x) == 2 && base.x == base.y)
      propose_sizes(base, {3, 3, 1, 1}, variants_2d(base.direction, 3, false).first(1), configs);
    return;
  }
  for (const int stride : {1, 2}) {
    if (base.dims == 1) {
      for (int filter = 1; filter <= 8; ++filter)
        propose_sizes(base, {filter, 1, stride, 1}, variants_1d(base.direction, filter), configs);
    } else if (base.dims == 2) {
      for (const int filter : {3, 5, 7})
        propose_sizes(base, {filter, filter, stride, stride}, variants_2d(base.direction, filter, stride > 1), configs);
    } else {
      propose_sizes(base, {3, 3, stride, stride}, variants_3d(base.direction, stride > 1), configs);
    }
  }
}

}  // namespace wt::depthwise_stream_kind
