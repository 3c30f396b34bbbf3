// SPDX-License-Identifier: Apache-2.0
// dispatch/tuning/row_checksum.h - of each row of the tuning database, so that a flipped bit in a value is seen: SQLite
// checks how its pages hang together, not what they hold.
#pragma once

#include "dispatch/tuning/database.h"

namespace wt::tuning {

std::string checksum_of(const Entry& entry);
std::string checksum_of(const Key& key, const Measurement& measurement);
std::string checksum_of(const Quarantine& quarantine);
std::string checksum_of(const KernelCode& code);

}  // namespace wt::tuning
