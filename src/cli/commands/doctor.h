// SPDX-License-Identifier: Apache-2.0
// cli/commands/doctor.h - wavetile doctor: a model's convolutions, layer by layer: time, limit, workspace, wrong
// results, and what to change.
//
//   input/model_layers.h --decide, advice_for; where there is a device, trials and cuDNN--> show/doctor_report.h
#pragma once

#include <string>

#include "cli/input/selection.h"
#include "dispatch/plan/plan.h"

namespace wt::cli {

struct DoctorOptions {
  std::string file;
  std::string device = "auto";  // as open_device reads it; the CPU found so is taken as no device
  std::string target, gpu;      // predict for these instead
  SuiteCode code = SuiteCode::kRefused;
  PlanOptions plan;
  bool compare = true;  // with cuDNN, where it is there
  bool progress = true;
  std::string page;  // a web page; empty: none
  std::string json;  // a file, "-" for standard output, or empty: not asked for
};

int run_doctor(const DoctorOptions& options);

}  // namespace wt::cli
