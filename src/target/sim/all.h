// SPDX-License-Identifier: Apache-2.0
// target/sim/all.h - everything a simulated kernel may use. The target that is simulated is WT_SIM_TARGET, an
// enumerator of Target (kSm90a); what that target lacks is not declared.
#pragma once

#include "target/sim/arithmetic.h"
#include "target/sim/barrier.h"
#include "target/sim/collective.h"
#include "target/sim/convert.h"
#include "target/sim/identity.h"
#include "target/sim/memory.h"
#include "target/sim/mma.h"
