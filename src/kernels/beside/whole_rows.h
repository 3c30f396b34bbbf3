// SPDX-License-Identifier: Apache-2.0
// kernels/beside/whole_rows.h - the launch before a Hopper kernel that copies inputs whose rows of channels are not
// whole 16 bytes.
#pragma once

#include "launch/binding.h"

namespace wt {

// From one copied row to the next. WHY no whole lines of 128 bytes: rows of 84 bytes took longer so on an H200; writing
// more costs more than crossing lines.
int64_t whole_row_bytes(int64_t bytes);

// Bytes that the copies are, each aligned as maps want it; and those that the copying launch reads and writes.
int64_t whole_rows_bytes(const KernelConfig& config, const ConvProblem& problem);
double whole_rows_traffic(const KernelConfig& config, const ConvProblem& problem);

// `binding` with maps that read the copies, which lie in the workspace behind what it holds there already. `asked`:
// before the kernel saw it as `problem`.
Binding with_whole_rows(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device,
                        const ConvProblem& asked, Binding binding);

}  // namespace wt
