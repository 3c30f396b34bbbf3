// SPDX-License-Identifier: Apache-2.0
// launch/device_info.h - a device as data: what a choice and a launch need to know of it.
#pragma once

#include <cstdint>
#include <string>

#include "config/kernel_config.h"

namespace wt {

enum class DeviceKind { kCpu, kCuda, kSim, kHip };

// Real hardware with a clock, streams and graphs.
constexpr bool is_gpu(DeviceKind kind) { return kind == DeviceKind::kCuda || kind == DeviceKind::kHip; }

struct DeviceInfo {
  DeviceKind kind = DeviceKind::kCpu;
  std::string id;                 // as a user writes it: cpu, gpu:0, hip:0, sim:sm_90a
  std::string name;               // as the maker calls it
  std::string architecture;       // AMD: gfx1101, which a target may share with others; empty elsewhere
  Target target = Target::kSm80;  // meaningless for the CPU
  int multiprocessors = 1;
  int64_t shared_bytes_per_block = 0;
  int64_t l2_bytes = 0;
  int64_t memory_bytes = 0;
  double clock_mhz = 0;    // the highest that the driver tells; 0: it does not
  double memory_peak = 0;  // bytes per us, by the driver's memory clock and bus; 0: it does not tell
  int driver_version = 0;  // 13000 for CUDA 13.0, 6040 for HIP 6.4; 0: none
};

}  // namespace wt
