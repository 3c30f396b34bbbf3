// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/entries.h - the kernel and the launches beside it: what a source of kind tma instantiates.
#pragma once

#include "kernels/beside/device/merge_groups.h"
#include "kernels/beside/device/split_sum.h"
#include "kernels/beside/device/transpose.h"
#include "kernels/beside/device/whole_rows.h"
#include "kernels/tma/device/kernel.h"
#include "kernels/tma/device/stream_sum.h"

namespace wt {

template <KernelConfig kConfig>
struct TmaStreamSum : StreamSum<kConfig, StreamPlaces<kConfig>> {};

}  // namespace wt
