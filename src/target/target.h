// SPDX-License-Identifier: Apache-2.0
// target/target.h - picks the folder whose operations device code gets; the only place that asks for whom we compile.
#pragma once

#if defined(WT_SIM)
#include "target/sim/all.h"
#elif defined(__HIP__)
#include "target/amd/all.h"
#elif defined(__CUDACC__)
#include "target/cuda/all.h"
#else
#error "device code is compiled by NVRTC or nvcc, by clang in HIP mode, or by the host compiler with WT_SIM"
#endif
