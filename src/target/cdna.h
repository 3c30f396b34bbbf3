// SPDX-License-Identifier: Apache-2.0
// target/cdna.h - target.h plus what AMD's CDNA has beside the portable operations: buffer descriptors, priorities.
#pragma once

#include "target/target.h"
#if defined(WT_SIM)
#include "target/sim/buffer.h"
#else
#include "target/amd/buffer.h"
#endif
