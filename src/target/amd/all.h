// SPDX-License-Identifier: Apache-2.0
// target/amd/all.h - everything an AMD kernel may use; clang's freestanding HIP mode, no SDK headers.
#pragma once

#include "target/amd/arithmetic.h"
#include "target/amd/async_copy.h"
#include "target/amd/barrier.h"
#include "target/amd/collective.h"
#include "target/amd/convert.h"
#include "target/amd/identity.h"
#include "target/amd/matrix.h"
#include "target/amd/memory.h"
#include "target/amd/mma.h"
