// SPDX-License-Identifier: Apache-2.0
#include "config/quarantine.h"

namespace wt {

namespace {

// Empty while every listed kernel passes its checks. An entry looks like this:
//   {"wt_fwd_bf16_nhwc_sm90a_gemm_basic_v1_t64x64x32", "wrong results for stride 3; issue 12"},
constexpr std::span<const Quarantined> kList;

std::span<const Quarantined> current = kList;

}  // namespace

std::span<const Quarantined> quarantine_list() { return current; }

ScopedQuarantine::ScopedQuarantine(std::span<const Quarantined> list) { current = list; }
ScopedQuarantine::~ScopedQuarantine() { current = kList; }

const Quarantined* find_quarantined(std::string_view name, std::span<const Quarantined> list) {
  for (const Quarantined& entry : list)
    if (entry.name == name) return &entry;
  return nullptr;
}

}  // namespace wt
