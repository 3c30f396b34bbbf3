// SPDX-License-Identifier: Apache-2.0
// dispatch/choice/packs.h - the packs that WAVETILE_PACK names, as one catalogue for a device.
//
//   WAVETILE_PACK=FILE[:FILE...] --installed_packs(device)--> Registry --> plan.cc, kernel_plan.cc
#pragma once

#include <memory>

#include "dispatch/choice/registry.h"
#include "runtime/device.h"

namespace wt {

compile::Backend backend_for(const DeviceInfo& device);

// Null where no pack is named or none is for this device; packs for other targets are said once in the log. A pack that
// cannot be read, is damaged or is of another version is an error: what was named must not be passed over in silence.
// Opened once for each value of the variable.
Result<std::shared_ptr<const Registry>> installed_packs(const DeviceInfo& device);

}  // namespace wt
