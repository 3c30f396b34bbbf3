// SPDX-License-Identifier: Apache-2.0
// dispatch/bind_portable.h - launches of the portable pipelines (kernel/gemm/portable).
#pragma once

#include "dispatch/bind.h"

namespace wt {

Binding bind_portable(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device);
// The same with another limit of indices than portable_layout::kIndexLimit, for tests.
Binding bind_portable(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device,
                      int64_t index_limit);

// How a weight gradient is divided; the cost model asks too.
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
PortableStreams portable_streams(const KernelConfig& config, const PortableParts& parts, int multiprocessors);

PortableParts portable_parts(const KernelConfig& config, const ConvProblem& problem, int multiprocessors);

}  // namespace wt
