// SPDX-License-Identifier: Apache-2.0
// target/hopper.h - target.h plus the operations of sm_90a: mbarriers, bulk tensor copies, wgmma, clusters, roles.
//
// WHY apart: wgmma alone is 224 instruction forms; kernels that use none of them compile without reading them.
#pragma once

#include "target/target.h"
#if defined(WT_SIM)
#include "target/sim/hopper.h"
#else
#include "target/cuda/hopper.h"
#endif
