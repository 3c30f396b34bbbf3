// SPDX-License-Identifier: Apache-2.0
// cli/show/trial_json.h - a trial as JSON: the rows of bench and the answer of run.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "dispatch/trial/trial.h"

namespace wt::cli {

nlohmann::ordered_json trial_json(const TrialResult& trial);
nlohmann::ordered_json device_json(const DeviceInfo& device);

// What every JSON document of the command starts with: schema, program, date (UTC) and the command.
nlohmann::ordered_json document(const std::string& command);

// As text that ends in a newline, one line per row (base/json_rows.h).
std::string json_text(const nlohmann::ordered_json& json);

// The same to a file, or to standard output for "-".
Status write_json(const std::string& where, const nlohmann::ordered_json& json);

}  // namespace wt::cli
