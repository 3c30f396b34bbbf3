// SPDX-License-Identifier: Apache-2.0
// dispatch/tuning/key.h - under which key a problem on a device is tuned, and which machine code an entry speaks of.
#pragma once

#include <optional>
#include <string>

#include "config/kernel_config.h"
#include "dispatch/plan/plan.h"
#include "dispatch/tuning/database.h"

namespace wt::tuning {

// "v1 fwd bf16*bf16>bf16 ... +alpha=1 user=0 det=1 strict=0 ws=any": the canonical text of the problem, the hash of a
// user's epilogue, and what the caller of the plan asked for.
std::string key_text(const ConvProblem& problem, const PlanOptions& options);

Key key_of(const DeviceInfo& device, const ConvProblem& problem, const PlanOptions& options);

// The short text of the problem in a key, for people; the key itself where it is of another grammar.
std::string short_text(const Key& key);

// Content key and compiler of the module that a plan with `config` would load here: the pack's where one has it, else
// those of a compilation. Compiles nothing, so that the machine code stays empty. Remembered in this process, unless
// device headers are read from a checkout.
Result<KernelCode> code_to_load(const DeviceInfo& device, const KernelConfig& config);

// The same layer without its epilogue, whose tuned kernel is the best guess for it; nothing where it is plain already.
std::optional<ConvProblem> plain_layer(const ConvProblem& problem);

}  // namespace wt::tuning
