// SPDX-License-Identifier: Apache-2.0
// The transposition that stands before and after channels-last kernels.
#include "kernels/beside/device/transpose.h"
