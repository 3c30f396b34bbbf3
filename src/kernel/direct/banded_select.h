// SPDX-License-Identifier: Apache-2.0
// kernel/direct/banded_select.h - the banded kernels by direction.
#pragma once

#include "kernel/direct/banded.h"

namespace wt {

template <KernelConfig kConfig>
struct BandedKernel : DirectBanded<kConfig> {};

}  // namespace wt
