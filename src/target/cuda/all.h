// SPDX-License-Identifier: Apache-2.0
// target/cuda/all.h - everything an NVIDIA kernel may use, from sm_80 on; Hopper's own operations guard themselves by
// the pipelines that ask for them (config/targets.h).
#pragma once

#include "target/cuda/arithmetic.h"
#include "target/cuda/async_copy.h"
#include "target/cuda/barrier.h"
#include "target/cuda/collective.h"
#include "target/cuda/convert.h"
#include "target/cuda/identity.h"
#include "target/cuda/matrix.h"
#include "target/cuda/memory.h"
#include "target/cuda/mma.h"
