// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_stream/device/entries.h - the streaming kernels by direction, and the sum of their parts.
#pragma once

#include "kernels/depthwise_stream/device/data.h"
#include "kernels/depthwise_stream/device/forward.h"
#include "kernels/depthwise_stream/device/weight.h"
#include "kernels/device/direct/sum.h"

namespace wt {

template <KernelConfig kConfig, Direction kDirection = kConfig.direction>
struct DepthwiseStream : StreamForward<kConfig> {};
template <KernelConfig kConfig>
struct DepthwiseStream<kConfig, Direction::kBackwardData> : StreamData<kConfig> {};
template <KernelConfig kConfig>
struct DepthwiseStream<kConfig, Direction::kBackwardWeight> : StreamWeight<kConfig> {};

}  // namespace wt
