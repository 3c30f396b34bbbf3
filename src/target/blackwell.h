// SPDX-License-Identifier: Apache-2.0
// target/blackwell.h - target.h plus the operations of sm_100a: tensor memory, products into it, pairs of blocks,
// launch control, and of Hopper's what is left (mbarriers, bulk tensor copies, clusters).
#pragma once

#include "target/target.h"
#if defined(WT_SIM)
#include "target/sim/blackwell.h"
#else
#include "target/cuda/blackwell.h"
#endif
