// SPDX-License-Identifier: Apache-2.0
#include "config/quarantine.h"

namespace wt {

namespace {

// Empty while every listed kernel passes its checks. An entry looks like this:
//   {"wt_fwd_bf16_nhwc_sm90a_gemm_basic_v1_t64x64x32", "wrong results for stride 3; issue 12"},
constexpr std::span<const Quarantined> kList;

std::span<const Quarantined> current = kList;

constexpr UnprovenForm kForms[] = {
    {"tcgen05-starts-anywhere", "operands of tcgen05 that start off a repeat of their swizzle", "tcgen05.*.row*",
     [](const KernelConfig& config) {
       return config.kind == Kind::kTcgen05Halo && config.direction != Direction::kBackwardWeight &&
              config.gemm.specialization == Specialization::kFilter3x3;
     }},
};

}  // namespace

std::span<const Quarantined> quarantine_list() { return current; }

ScopedQuarantine::ScopedQuarantine(std::span<const Quarantined> list) { current = list; }
ScopedQuarantine::~ScopedQuarantine() { current = kList; }

std::span<const UnprovenForm> unproven_forms() { return kForms; }

const UnprovenForm* unproven_form(const KernelConfig& config) {
  for (const UnprovenForm& form : kForms)
    if (form.has(config)) return &form;
  return nullptr;
}

const Quarantined* find_quarantined(std::string_view name, std::span<const Quarantined> list) {
  for (const Quarantined& entry : list)
    if (entry.name == name) return &entry;
  return nullptr;
}

}  // namespace wt
