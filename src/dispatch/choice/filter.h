// SPDX-License-Identifier: Apache-2.0
// dispatch/choice/filter.h - which kernels a plan may take beside what the constraint table says: those that can be
// had on this machine, fit the workspace limit, are not in quarantine, and keep an image's bits where that is asked
// for.
//
//   KernelConfig --decline_of--> id and message, as rows of the constraint table have them
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dispatch/choice/registry.h"
#include "dispatch/plan/plan.h"
#include "dispatch/tuning/lookup.h"
#include "kernels/constraints.h"

namespace wt {

// A device as a target usually is, to decide for without having one; launch/rates.h makes others. Nothing of this
// machine counts then: whatever could be compiled is taken to be there, and nothing is tuned.
DeviceInfo usual_device(Target target);
bool is_usual_device(const DeviceInfo& device);

// Whether what plans run beside kernels can be compiled: transpositions, joined histories, bias gradients.
Status can_compile(const DeviceInfo& device);

class Filter {
 public:
  // For the problem of `view`. They all outlive it.
  static Result<Filter> make(const DeviceInfo& device, const View& view, const PlanOptions& options);

  // Why a plan passes over a kernel that accepts the problem; nothing: it may take it.
  std::optional<Decline> decline_of(const KernelConfig& config) const;

  // The same for a choice, which counts what it passes over.
  bool allows(const KernelConfig& config);
  // A kernel that could not be compiled or loaded.
  void exclude(const KernelConfig& config) { failed_.push_back(config); }

  // What was passed over, each part after "; ".
  std::string note() const;
  Status nothing_left() const;

 private:
  Filter(const DeviceInfo& device, const View& view, const PlanOptions& options)
      : device_(&device), view_(&view), options_(&options) {}

  const DeviceInfo* device_;
  const View* view_;
  const PlanOptions* options_;
  std::shared_ptr<const View> one_;  // of a single image, where results must not depend on the batch; else null
  std::shared_ptr<const Registry> packs_;
  Status compiler_;
  tuning::Quarantined in_quarantine_;
  std::set<std::string> proven_;  // forms that rest on probes (proven.h)
  std::vector<KernelConfig> failed_;
  int absent_ = 0, too_large_ = 0, quarantined_ = 0, varying_ = 0, unproven_ = 0;
};

}  // namespace wt
