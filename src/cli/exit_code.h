// SPDX-License-Identifier: Apache-2.0
// cli/exit_code.h - what the command's exit codes mean; the one place that decides them.
#pragma once

#include "base/status.h"

namespace wt::cli {

inline constexpr int kExitGood = 0;
inline constexpr int kExitVerificationFailed = 1;
inline constexpr int kExitBadInput = 2;       // a text, a value, or a file that the user named
inline constexpr int kExitUnsupported = 3;    // valid, but nothing here can do it
inline constexpr int kExitDevice = 4;         // a device, its driver or a kernel compiler
inline constexpr int kExitInterrupted = 130;  // Ctrl-C, as shells count it

int exit_code(const Status& status);

// The graver of two codes, for commands that go on after a failed row: a wrong result outweighs everything, then
// device trouble, then what is unsupported, then bad input.
int graver(int a, int b);

// "wavetile: <message>" on standard error; returns exit_code(status).
int report_failure(const Status& status);

// The same for a command that tried many kernels: says how many gave a wrong result, and how many did not compile or
// run. Returns kExitGood, and says nothing, where there are none.
int report_kernels(int wrong, int failed);

}  // namespace wt::cli
