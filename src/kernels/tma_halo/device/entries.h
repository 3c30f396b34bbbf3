// SPDX-License-Identifier: Apache-2.0
// kernels/tma_halo/device/entries.h - the kernel and the launches beside it: what a source of kind tma_halo
// instantiates.
#pragma once

#include "kernels/beside/device/merge_groups.h"
#include "kernels/beside/device/split_sum.h"
#include "kernels/beside/device/whole_rows.h"
#include "kernels/tma_halo/device/kernel.h"
