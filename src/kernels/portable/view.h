// SPDX-License-Identifier: Apache-2.0
// kernels/portable/view.h - a convolution as the portable kernels see it: the walk of wavelet_view.h where every tap's
// channels are whole vectors, and groups_per_tile groups are one.
#pragma once

#include "kernels/wavelet/view.h"

namespace wt {

// Both are null where there is no such view, and good as long as the problem's view (wavelet/view.h).

// Forward and backward data. Nothing where vectors of `vector_a` do not fit the channels that are summed over.
const WaveletView* portable_view(const KernelConfig& config, const View& seen);

// Backward weight: A is dy by vectors of `vector_a`, B is x, gathered, by vectors of `vector_b`.
const WaveletWeightView* portable_weight_view(const KernelConfig& config, const View& seen);

// How a weight gradient is divided.
struct PortableParts {
  int64_t tiles_n = 0, tiles = 0;            // of one part
  int64_t pixel_blocks = 0;                  // k-blocks of a whole sum
  int64_t blocks_per_split = 0, splits = 1;  // k-blocks of a part, parts
};
// Stream-K: tiles with a block each, the other tiles' k-blocks, and how many of those a streaming block takes.
struct PortableStreams {
  int64_t whole_tiles = 0, streamed = 0, share = 1, blocks = 0;
  bool has_parts = false;  // some tile is shared by blocks
};
PortableStreams portable_streams(const KernelConfig& config, const PortableParts& parts, int units);

PortableParts portable_parts(const KernelConfig& config, const View& seen, int asked);

}  // namespace wt
