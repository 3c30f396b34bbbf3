// SPDX-License-Identifier: Apache-2.0
// target/sim/hopper.h - what sm_90a adds; only kernels of its pipelines include it, through target/hopper.h.
#pragma once

#include "target/sim/cluster.h"
#include "target/sim/mbarrier.h"
#include "target/sim/role.h"
#include "target/sim/tma.h"
#include "target/sim/wgmma.h"
