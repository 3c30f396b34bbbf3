// SPDX-License-Identifier: Apache-2.0
// target/amd/role.h - these targets have no launches that overlap; the names are declared for code that asks its
// target first (kernels/device/overlap.h).
#pragma once

#include "target/amd/identity.h"

namespace wt::device {

WT_DEVICE void launch_dependents();
WT_DEVICE void wait_prerequisites();

}  // namespace wt::device
