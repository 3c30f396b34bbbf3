// SPDX-License-Identifier: Apache-2.0
// cli/show/trial_json.h - a trial as JSON: the rows of bench and the answer of run.
#pragma once

#include "base/json_value.h"
#include "dispatch/trial/trial.h"

namespace wt::cli {

OrderedJson trial_json(const TrialResult& trial);
OrderedJson device_json(const DeviceInfo& device);

// What every JSON document of the command starts with: schema, program, date (UTC) and the command.
OrderedJson document(const std::string& command);

// As text that ends in a newline, one line per row (base/json_rows.h).
std::string json_text(const OrderedJson& json);

// The same to a file, or to standard output for "-".
Status write_json(const std::string& where, const OrderedJson& json);

}  // namespace wt::cli
