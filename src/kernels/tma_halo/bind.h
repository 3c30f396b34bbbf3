// SPDX-License-Identifier: Apache-2.0
// kernels/tma_halo/bind.h - what launches of kernels with patches share.
#pragma once

#include "kernels/tma_halo/view.h"
#include "launch/launch.h"

namespace wt {

// A tensor of `size` pixels, as the view has them; the caller sets the box.
TensorMapSpec pixels_map(const HaloView& view, DataType type, int64_t channels, const Spatial& size, int swizzle);

}  // namespace wt
