// SPDX-License-Identifier: Apache-2.0
// target/sim/all.h - everything a simulated kernel may use. WT_SIM_TARGET is the value of the
// simulated target (enum Target); matrix instructions that it lacks are not defined.
#pragma once

#include "target/sim/arithmetic.h"
#include "target/sim/async_copy.h"
#include "target/sim/barrier.h"
#include "target/sim/collective.h"
#include "target/sim/convert.h"
#include "target/sim/identity.h"
#include "target/sim/matrix.h"
#include "target/sim/memory.h"
#include "target/sim/mma.h"
