// SPDX-License-Identifier: Apache-2.0
// config/quarantine.h - kernels known to be wrong: never listed, generated or chosen, each with its reason. And forms
// of kernels that rest on what no source proves: listed and tested in the simulator, but not chosen on a GPU before its
// probes have passed (dispatch/choice/proven.h).
#pragma once

#include <span>
#include <string_view>

#include "config/kernel_config.h"

namespace wt {

struct Quarantined {
  std::string_view name;    // of the config
  std::string_view reason;  // what was seen to be wrong, and where it is tracked
};

std::span<const Quarantined> quarantine_list();

// Puts another list in place while it lives, for the tests. Not for several threads at once.
class ScopedQuarantine {
 public:
  explicit ScopedQuarantine(std::span<const Quarantined> list);
  ~ScopedQuarantine();
  ScopedQuarantine(const ScopedQuarantine&) = delete;
  ScopedQuarantine& operator=(const ScopedQuarantine&) = delete;
};

struct UnprovenForm {
  std::string_view id;
  std::string_view fact;    // what it rests on
  std::string_view probes;  // names of the probes that show it (conformance), with * and ?
  bool (*has)(const KernelConfig& config);
};

std::span<const UnprovenForm> unproven_forms();
// The form that a kernel has; null: none.
const UnprovenForm* unproven_form(const KernelConfig& config);

// The entry in `list` for `name`; null where there is none.
const Quarantined* find_quarantined(std::string_view name, std::span<const Quarantined> list);

}  // namespace wt
