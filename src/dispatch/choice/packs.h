// SPDX-License-Identifier: Apache-2.0
// dispatch/choice/packs.h - the packs that WAVETILE_PACK names and, below them, the installed one: one catalogue for a
// device.
//
//   WAVETILE_PACK=FILE[:FILE...], lib/wavetile/sm_90a.wtpack --installed_packs(device)--> Registry --> plan.cc,
//   kernel.cc
#pragma once

#include <memory>

#include "dispatch/choice/registry.h"
#include "runtime/device.h"

namespace wt {

compile::Backend backend_for(const DeviceInfo& device);

// Null where no pack is named or none is for this device; packs for other targets are said once in the log. A pack that
// WAVETILE_PACK names and that cannot be read, is damaged or is of another version is an error: what was named must not
// be passed over in silence. The installed one nobody named: it is passed over with a warning. What both hold comes
// from the named one. Opened once for each value of the variables.
Result<std::shared_ptr<const Registry>> installed_packs(const DeviceInfo& device);

// Where the catalogue of a device comes from, as text: another text may be another catalogue.
std::string pack_places(const DeviceInfo& device);

}  // namespace wt
