// SPDX-License-Identifier: Apache-2.0
// dispatch/bind_four_wave.h - launches of the four-wave kernels of CDNA.
#pragma once

#include "dispatch/bind.h"

namespace wt {

Binding bind_four_wave(const KernelConfig& config, const ConvProblem& problem);

}  // namespace wt
