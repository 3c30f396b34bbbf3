// SPDX-License-Identifier: Apache-2.0
// conformance/isolated.h - probes on a device that a fault may break, in child processes.
//
//   parent --fork--> child: opens the device, runs probes, writes their bytes into a pipe
//
// A fault on a GPU costs the process its context. The child then ends, and the next one goes on after the probe that
// broke it, so that one command finishes the whole list. The parent itself never opens the device.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "conformance/probe.h"
#include "runtime/device.h"

namespace wt::conformance {

// What `id` is, asked in a child. Call this and the next function before the process has threads.
Result<DeviceInfo> isolated_info(const std::string& id);

// The bytes that each probe leaves, or why there are none, in their order; `done` is told of each. A failure of the
// whole: the device does not open, or a kernel does not compile.
Result<std::vector<Result<Bytes>>> run_isolated(const std::string& id, std::span<const Probe> probes,
                                                const std::function<void(size_t done)>& done = {});

}  // namespace wt::conformance
