// SPDX-License-Identifier: Apache-2.0
// cli/commands/generate.h - `wavetile generate`: kernels as a list or as a folder of sources.
//
// The options are a table (generate/options.h), which cli/words/kernels.cc registers in a loop:
//   for (const GenerateOption& option : generate_options()) ... command->add_option(names, values[key], help)
// Keys that were not given must not be in the map.
#pragma once

#include "generate/options.h"

namespace wt::cli {

int run_generate(const GenerateValues& values);

}  // namespace wt::cli
