// SPDX-License-Identifier: Apache-2.0
// cli/commands/selftest.h - wavetile selftest: can this GPU, with this driver and compiler, be trusted? A file says so.
#pragma once

#include <string>

namespace wt::cli {

struct SelftestOptions {
  std::string device = "gpu";
  std::string output = "wavetile-selftest.json";  // the result, to be kept or sent
  double minutes = 10;
  int kernels = 0;  // so many of the sample; 0: all
  bool progress = true;
};

int run_selftest(const SelftestOptions& options);

}  // namespace wt::cli
