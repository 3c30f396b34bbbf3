// SPDX-License-Identifier: Apache-2.0
// config/quarantine.h - kernels known to be wrong: never listed, generated or chosen, each with its reason.
#pragma once

#include <span>
#include <string_view>

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

// The entry in `list` for `name`; null where there is none.
const Quarantined* find_quarantined(std::string_view name, std::span<const Quarantined> list);

}  // namespace wt
