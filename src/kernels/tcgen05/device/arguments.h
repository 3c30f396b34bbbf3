// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05/device/arguments.h - what kernels of numbers with scales have behind the parameter block of
// kernels/tma/device/arguments.h.
//
// Freestanding: host (kernels/tcgen05/bind.cc) and device compilers lay these structs out alike.
#pragma once

#include "kernels/tcgen05/device/layout.h"
#include "kernels/tma/device/arguments.h"

namespace wt {

// Where the scales of blocks lie: those of x beside each other for each pixel, those of w for each tap of a filter.
struct alignas(64) BlockScaleArguments {
  const u8 *x, *w;
  i32 size[3];                     // of the image
  i32 first[3], apart[3], all[3];  // a walk's pixel i is pixel first + i * apart of the image, and there are `all`
  i32 pixel;                       // scales of a pixel
  i32 group;                       // those of one group, which are as many as a tap of a filter has
  i32 filter;                      // scales of a filter
};

template <class Base>
struct ScaledArguments : Base {
  BlockScaleArguments scales;
};
static_assert(sizeof(ScaledArguments<TmaArguments<1>>) == sizeof(TmaArguments<1>) + sizeof(BlockScaleArguments));

template <KernelConfig kConfig, bool kScaled = tcgen05_layout::has_scales(kConfig)>
struct Tcgen05ArgumentsOf {
  using Type = typename TmaArgumentsOf<tma_layout::regions(kConfig), tma_layout::copies_residual(kConfig), false>::Type;
};
template <KernelConfig kConfig>
struct Tcgen05ArgumentsOf<kConfig, true> {
  using Type = ScaledArguments<typename Tcgen05ArgumentsOf<kConfig, false>::Type>;
};

}  // namespace wt
