// SPDX-License-Identifier: Apache-2.0
// kernels/beside/stream_sum.h - how Hopper's stream-K cuts a problem's tiles, and the launch that adds their pieces
// (kernels/tma/device/stream_sum.h).
#pragma once

#include <optional>

#include "kernels/tma/device/stream.h"
#include "launch/binding.h"

namespace wt {

// For tiles that sum over `depth` stages each, for up to `most` blocks.
StreamShares planned_stream(int64_t tiles, int64_t depth, int64_t most);
StreamKCut for_people(const StreamShares& cut);

// Bytes of the pieces, which start the workspace.
int64_t stream_bytes(const KernelConfig& config, const StreamShares& cut);

// It has the parameters of the launch that leaves them. None where no tile is in pieces.
std::optional<Launch> stream_sum_launch(const KernelConfig& config, const Launch& pieces, const StreamShares& cut);

}  // namespace wt
