// SPDX-License-Identifier: Apache-2.0
// cli/input/log_file.h - the problems of a log: what a program executed, to be measured again.
//
//   WAVETILE_LOG=info WAVETILE_LOG_FILE=run.log program  -->  wavetile bench --log run.log
#pragma once

#include <string>
#include <vector>

#include "cli/input/selection.h"

namespace wt::cli {

// Each problem once, in the order of its first execution, named by its number and how often it was executed. C++ in a
// problem is treated as in a suite file.
Result<std::vector<Row>> rows_of_log(const std::string& file, SuiteCode code);

}  // namespace wt::cli
