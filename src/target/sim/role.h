// SPDX-License-Identifier: Apache-2.0
// target/sim/role.h - registers moved between roles of a block, overlapping launches, the elected lane.
#pragma once

#include "target/sim/identity.h"

namespace wt::device {

template <int kRegisters>
WT_DEVICE void take_registers(WT_SITE) {
  sim::table->set_registers(kRegisters, true, site);
}
template <int kRegisters>
WT_DEVICE void give_registers(WT_SITE) {
  sim::table->set_registers(kRegisters, false, site);
}

// Launches follow one another here, but what a launch that may overlap the one before it does is judged as if they did
// not: before this wait nothing that the one before wrote is there.
WT_DEVICE void launch_dependents() {}
WT_DEVICE void wait_prerequisites(WT_SITE) { sim::table->wait_prerequisites(site); }

WT_DEVICE bool elect(WT_SITE) { return sim::table->elect(site); }

}  // namespace wt::device
