// SPDX-License-Identifier: Apache-2.0
// dispatch/choice/decision_json.h - a decision for programs: the command's JSON and the C API's have the same.
#pragma once

#include "base/json_value.h"
#include "dispatch/choice/decision.h"

namespace wt {

// {"kind": "transposed", "reason": ..., "expected_us": ..., "inner": {"kind": "kernel", "kernel": ..., ...}}; times
// that are not known are left out.
OrderedJson to_json(const Decision& decision);

}  // namespace wt
