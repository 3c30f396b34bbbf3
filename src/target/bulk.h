// SPDX-License-Identifier: Apache-2.0
// target/bulk.h - target.h plus mbarriers and bulk tensor copies, for kernels that use nothing else of hopper.h.
#pragma once

#include "target/target.h"
#if defined(WT_SIM)
#include "target/sim/mbarrier.h"
#include "target/sim/tma.h"
#else
#include "target/cuda/mbarrier.h"
#include "target/cuda/tma.h"
#endif
