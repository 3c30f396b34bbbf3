// SPDX-License-Identifier: Apache-2.0
// dispatch/tuning/lookup.h - what the user's tuning database says of a problem, asked by every plan.
//
//   database.h (opened once, read-only) --> entry of the problem, else of its plain layer --> still valid? --> plan.cc
//
// An entry is valid while its kernel's machine code is the one that was measured (same_code.h); one that was measured
// with another compiler counts, and says so. A database that cannot be read is
// said once in the log, and plans go on without it and say so. What other processes save is seen at once.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/kernel_config.h"
#include "dispatch/plan/plan.h"
#include "dispatch/tuning/database.h"
#include "dispatch/tuning/same_code.h"

namespace wt::tuning {

struct Tuned {
  std::optional<Entry> entry;          // for this key, valid or not
  std::optional<KernelConfig> config;  // where the entry is valid
  std::string note;                    // why there is no config, where that is worth saying
  std::string mark;                    // beside a config: how what was measured differs from what will run
};

// Only a GPU has entries: a simulated time says nothing about a device.
Tuned find_tuned(const DeviceInfo& device, const ConvProblem& problem, const PlanOptions& options, CodeCheck check);

// What the database keeps of the machine code of a content key; empty: nothing.
std::string kept_machine_code(const std::string& content_key);

// The kernels in quarantine as they are now, by name; null where there is none, which is the usual case.
using Quarantined = std::shared_ptr<const std::multimap<std::string, Quarantine>>;
Quarantined quarantined_now(const DeviceInfo& device);

// Why tuning has put the kernel into quarantine; empty: it has not.
std::string quarantine_reason(const Quarantined& quarantined, const DeviceInfo& device, const KernelConfig& config);

// What was measured of single candidates, whatever became of them; nothing where the database cannot be read.
std::vector<Measurement> find_measurements(const DeviceInfo& device, const ConvProblem& problem,
                                           const PlanOptions& options);

}  // namespace wt::tuning
