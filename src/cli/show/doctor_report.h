// SPDX-License-Identifier: Apache-2.0
// cli/show/doctor_report.h - what was found out about a model's layers, as a table and as JSON that `report` reads too.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_value.h"
#include "cli/input/model_layers.h"
#include "dispatch/choice/advice.h"
#include "dispatch/trial/cudnn.h"
#include "dispatch/trial/trial.h"

namespace wt::cli {

struct DoctorRow {
  ModelLayer layer;
  Result<Decision> decision;
  std::optional<TrialResult> trial;  // where a device was there to run it
  std::optional<CudnnResult> cudnn;  // where it is there too
  std::vector<Advice> advice;        // the fastest first
  double limit_us = 0;               // 0: not known
  int64_t workspace_bytes = 0;

  // Of one call: measured, else predicted; 0: not known.
  double us() const;
  bool is_measured() const { return trial && trial->verified && trial->timing; }
  bool is_wrong() const;
  double cudnn_us() const { return cudnn && cudnn->tuned ? cudnn->tuned->median_us : 0; }
  double share() const { return us() > 0 ? limit_us / us() : 0; }
  // Of all calls: by the best advice, or by doing what cuDNN does.
  double gain_us() const;
  std::string kernel() const;
};

// What can be gained most first; wrong and failed ones before all.
void sort_rows(std::vector<DoctorRow>& rows);

// `columns`: of the terminal, 0 in a file or a pipe. Readable in 80.
std::string doctor_table(const std::vector<DoctorRow>& rows, int columns);
std::string doctor_summary(const std::vector<DoctorRow>& rows);

OrderedJson doctor_json(const std::vector<DoctorRow>& rows, const DeviceInfo& device, const Rates* rates,
                        const std::string& command);

int doctor_exit_code(const std::vector<DoctorRow>& rows);

}  // namespace wt::cli
