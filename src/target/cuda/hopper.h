// SPDX-License-Identifier: Apache-2.0
// target/cuda/hopper.h - what sm_90a and later targets add; only kernels of its pipelines include it, through
// target/hopper.h. Later ones have no wgmma.
#pragma once

#include "target/cuda/cluster.h"
#include "target/cuda/mbarrier.h"
#include "target/cuda/role.h"
#include "target/cuda/tma.h"
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ > 900
#include "target/cuda/warpgroup_mma.h"
#else
#include "target/cuda/wgmma.h"
#endif
