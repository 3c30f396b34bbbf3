// SPDX-License-Identifier: Apache-2.0
// dispatch/trial/self_test.h - whether a device, its driver and its compiler can be trusted with our kernels.
//
//   kernels of every kind and form, non-finite values, streams, graphs, memory --> SelfTestSection each
//
// The parts compare with the reference on the host or with the device's own earlier bits; a fault is a row, and the
// rest goes on where the device still answers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/device.h"

namespace wt {

struct SelfTestFault {
  std::string what;    // kernel or step, and the problem
  std::string detail;  // what was wrong
  std::string repeat;  // the command that shows it again; empty where there is none
};

struct SelfTestSection {
  std::string name;
  int checks = 0;    // made
  int skipped = 0;   // for want of time
  std::string note;  // what was tried, or why a part does not apply here
  std::vector<SelfTestFault> faults;
  double seconds = 0;
};

struct SelfTestOptions {
  double seconds = 600;        // for the kernels, compiled too; the other parts take a few seconds
  int most_kernels = 0;        // 0: all
  std::function<bool()> stop;  // asked between two checks
  std::function<void(int done, int total, const std::string& what)> progress;
};

// Every part, in order. Ends early where the device is lost, which the last section then says.
std::vector<SelfTestSection> self_test(const std::shared_ptr<Device>& device, const SelfTestOptions& options);

}  // namespace wt
