// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_strips/proposals.cc - depthwise of any size on matrix instructions, sizes at run time.
#include "kernels/depthwise_strips/kind.h"
#include "kernels/shared/constraint_rows.h"

namespace wt::depthwise_strips_kind {
namespace {

struct Variant {
  short rows, threads;
  unsigned char channels, min_blocks;
  bool wide;  // only where pixels are whole 16 bytes
};
// About 168 registers with three rows of a band, 200 with four, 110 with one, which is enough for filters of one row.
constexpr Variant kData[] = {{3, 128, 16, 3, false}, {4, 128, 16, 2, true},  {4, 256, 32, 1, true},
                             {3, 128, 8, 3, true},   {1, 128, 16, 4, false}, {1, 256, 32, 2, true}};
constexpr Variant kWeight[] = {{3, 128, 16, 3, false},
                               {4, 128, 16, 2, true},
                               {4, 256, 32, 1, true},
                               {1, 128, 16, 4, false},
                               {1, 256, 32, 2, true}};
// The same of several channels of dy for one of dx.
constexpr Variant kFolds[] = {{4, 256, 32, 1, true}, {3, 128, 16, 3, true}, {1, 256, 32, 2, true}};

}  // namespace

void propose(const KernelConfig& base, const TargetInfo&, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew || base.layout != Layout::kChannelsLast) return;
  if (!has_one_16_bit_type(base)) return;
  const auto add = [&](const Variant& variant, bool shares, int group_channels, int in, int out) {
    KernelConfig config = base;
    DirectConfig& direct = config.direct;
    config.finite_only = true;
    // WHY fewer: channels of dy that lie apart take registers.
    config.min_blocks = base.direction == Direction::kBackwardWeight && group_channels == 0 && variant.rows > 1
                            ? 2
                            : variant.min_blocks;
    config.fixed.stride_w = shares ? 1 : 0;
    direct.sub_h = variant.rows;
    direct.block_size = variant.threads;
    direct.block_channels = variant.channels;
    direct.group_channels = static_cast<unsigned char>(group_channels);
    direct.vector_in = static_cast<unsigned char>(in);
    direct.vector_out = static_cast<unsigned char>(out);
    configs.push_back(config);
  };
  const bool weight = base.direction == Direction::kBackwardWeight;
  for (const bool shares : {true, false}) {
    for (const Variant& variant : weight ? std::span<const Variant>(kWeight) : std::span<const Variant>(kData)) {
      for (const int vector : {8, 4, 2, 1}) {
        if (vector == 8 || !variant.wide) add(variant, shares, 1, vector, vector);
        if (!variant.wide) add(variant, shares, 0, vector, vector);
      }
    }
    // Pixels of dy are whole 16 bytes where those of dx are 8 or more.
    if (base.direction != Direction::kBackwardData) continue;
    for (const Variant& variant : kFolds) {
      for (const int fold : {2, 4}) add(variant, shares, fold, 8, variant.channels / fold < 8 ? 4 : 8);
    }
  }
}

}  // namespace wt::depthwise_strips_kind
