// SPDX-License-Identifier: Apache-2.0
// dispatch/choice/proven.h - which forms of config/quarantine.h the probes of a GPU have shown to be right.
//
//   wavetile conformance --device gpu --probes that ran, all there are--> a line in the user's data folder
//     --Filter, tuner--> the form's kernels may be chosen on GPUs of that name and target
#pragma once

#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "config/kernel_config.h"
#include "launch/device_info.h"

namespace wt {

struct ProbeResult {
  std::string name;
  bool passed;
};

// $WAVETILE_PROVEN_FORMS, or proven-forms.txt in the user's data folder.
Result<std::filesystem::path> proven_path();

// The ids of forms that are shown to be right on GPUs like this one. A file that cannot be trusted or read shows
// nothing.
std::set<std::string> proven_forms(const DeviceInfo& device);

// Writes down what probes of this device have shown: a form of which every one of `known` (the names of all probes that
// there are) has passed is proven, one of which any has failed is not. Others stay as they were. The ids of the forms
// that are proven now.
Result<std::set<std::string>> record_probes(const DeviceInfo& device, std::span<const ProbeResult> results,
                                            std::span<const std::string> known);

// Why a plan passes over the kernel; empty: its form is proven, or needs no proof.
std::string unproven_reason(const std::set<std::string>& proven, const KernelConfig& config);

}  // namespace wt
