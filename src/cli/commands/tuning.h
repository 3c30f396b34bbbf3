// SPDX-License-Identifier: Apache-2.0
// cli/commands/tuning.h - wavetile tuning: look into the tuning database, carry it elsewhere, clean it.
#pragma once

#include <string>

namespace wt::cli {

struct TuningListOptions {
  std::string json;  // a file, "-" for standard output, or empty: not asked for
};

struct TuningExportOptions {
  std::string file;           // "-" for standard output
  bool measurements = false;  // of every candidate that was tried
};

struct TuningPruneOptions {
  bool stale = false;      // whose kernel has other machine code now
  double older_days = -1;  // saved longer ago than this; -1: not asked
  std::string gpu;         // of this GPU
  bool all = false;
};

int run_tuning_list(const TuningListOptions& options);
int run_tuning_export(const TuningExportOptions& options);
int run_tuning_import(const std::string& file);
int run_tuning_merge(const std::string& file);  // another database
int run_tuning_prune(const TuningPruneOptions& options);
int run_tuning_release(const std::string& kernel);  // out of quarantine
int run_tuning_check();                             // which entries plans still take; compiles what has to be compared
int run_tuning_verify();

}  // namespace wt::cli
