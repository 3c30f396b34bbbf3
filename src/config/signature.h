// SPDX-License-Identifier: Apache-2.0
// config/signature.h - the part of a config that the problem and the device decide: direction, types, layout, epilogue.
#pragma once

#include <string>

#include "config/kernel_config.h"
#include "problem/problem.h"

namespace wt {

// Which steps a problem's epilogue needs in the machine code. Their values stay run-time arguments.
EpilogueConfig epilogue_config_of(const ConvProblem& problem);

// A config with the problem's signature for the target, and defaults in the rest: what rules and kernels start from.
KernelConfig config_for(const ConvProblem& problem, Target target);

// "direction=fwd, the problem's is bwd_data; ..." or empty where they agree.
std::string signature_difference(const KernelConfig& config, const ConvProblem& problem);

// Sets x, w and y so that both inputs of the direction have type `in` and its output has `out`.
void set_types(KernelConfig& config, DataType in, DataType out);

}  // namespace wt
