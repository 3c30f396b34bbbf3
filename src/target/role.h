// SPDX-License-Identifier: Apache-2.0
// target/role.h - target.h plus overlapping launches, for kernels that use nothing else of hopper.h.
#pragma once

#include "target/target.h"
#if defined(WT_SIM)
#include "target/sim/role.h"
#elif defined(__HIP__)
#include "target/amd/role.h"
#else
#include "target/cuda/role.h"
#endif
