// SPDX-License-Identifier: Apache-2.0
// target/cuda/hopper.h - what sm_90a adds; only kernels of its pipelines include it, through target/hopper.h.
#pragma once

#include "target/cuda/cluster.h"
#include "target/cuda/mbarrier.h"
#include "target/cuda/role.h"
#include "target/cuda/tma.h"
#include "target/cuda/wgmma.h"
