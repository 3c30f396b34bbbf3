// SPDX-License-Identifier: Apache-2.0
#include "kernels/portable/view.h"

#include <algorithm>
#include <utility>

#include "base/integers.h"
#include "config/targets.h"
#include "kernels/portable/device/layout.h"
#include "kernels/portable/device/stream_arguments.h"
#include "kernels/shared/split.h"
#include "kernels/shared/tma_maps.h"

namespace wt {

namespace {

// WHY: rows of taps that only together make vectors need what the portable loaders have not, a place for every tap.
bool is_plain(const WaveletView& view) { return !view.padded() && !view.row_is_one_run; }

}  // namespace

const WaveletView* portable_view(const KernelConfig& config, const View& seen) {
  const std::optional<WaveletView>& view = wavelet_view(config, seen.merged(config.gemm.groups_per_tile));
  return view && is_plain(*view) ? &*view : nullptr;
}

const WaveletWeightView* portable_weight_view(const KernelConfig& config, const View& seen) {
  KernelConfig gathering = config;  // its A is what is gathered
  std::swap(gathering.gemm.vector_a, gathering.gemm.vector_b);
  const std::optional<WaveletWeightView>& view =
      wavelet_weight_view(gathering, seen.merged(config.gemm.groups_per_tile));
  return view && is_plain(view->walk) ? &*view : nullptr;
}

PortableParts portable_parts(const KernelConfig& config, const View& seen, int asked) {
  const ConvProblem& problem = seen.problem();
  const GemmConfig& gemm = config.gemm;
  const WaveletWeightView* view = portable_weight_view(config, seen);
  PortableParts parts;
  if (!view) return parts;
  parts.tiles_n = ceil_div(view->walk.numbers(), gemm.tile.n);
  const ConvProblem& p = view->walk.problem;
  parts.tiles = parts.tiles_n * ceil_div(view->walk.columns, gemm.tile.m) * p.g;
  // An empty batch has one block of zeros.
  parts.pixel_blocks = std::max<int64_t>(1, ceil_div(p.n * pixels(p.out()), gemm.tile.k));
  const int64_t wanted = gemm.split_k != SplitK::kNone
                             ? split_count(seen, split_input(config, parts.tiles, parts.pixel_blocks,
                                                             seen.rates().units, problem.w_elements(), asked))
                             : 1;
  parts.blocks_per_split = ceil_div(parts.pixel_blocks, wanted);
  parts.splits = ceil_div(parts.pixel_blocks, parts.blocks_per_split);
  return parts;
}

PortableStreams portable_streams(const KernelConfig& config, const PortableParts& parts, int units) {
  constexpr int64_t kLeastShare = 4;  // k-blocks: below that a block does little but start and end
  const TargetInfo& info = info_of(config.target);
  const int64_t resident = std::clamp<int64_t>(info.shared_per_unit / portable_layout::shared_bytes(config), 1, 2);
  const int64_t blocks = units * resident;
  PortableStreams streams;
  if (!config.gemm.stream_k_persistent) streams.whole_tiles = parts.tiles / blocks * blocks;
  streams.streamed = (parts.tiles - streams.whole_tiles) * parts.pixel_blocks;
  streams.share = std::max(std::min(kLeastShare, parts.pixel_blocks), ceil_div(streams.streamed, blocks));
  // A tile is never in more parts than the sum's tree has room for.
  streams.share = std::max(streams.share, ceil_div(parts.pixel_blocks, (int64_t{1} << kStreamTreeLevels) - 2));
  streams.blocks = ceil_div(streams.streamed, streams.share);
  streams.has_parts = streams.blocks > 0 && (streams.share % parts.pixel_blocks != 0);
  return streams;
}

}  // namespace wt
