// SPDX-License-Identifier: Apache-2.0
// launch/rates.h - how fast a GPU is: the page of machine rates that every prediction reads.
//
//   DeviceInfo --name, multiprocessors, what the driver tells--> Rates --kernels/view.h--> predicted times, split
//   counts
//
// rates.cc holds one row per GPU, with sources. Kernels keep factors of these rates only. docs/rates.md shows the page.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"
#include "config/kernel_config.h"
#include "launch/device_info.h"

namespace wt {

struct Rates {
  std::string_view gpu;  // as its maker calls it: H200
  Target target = Target::kSm80;
  int units = 1;             // multiprocessors; compute units of CDNA, workgroup processors of RDNA
  double clock = 1000;       // cycles per us while all units multiply
  double launch_us = 0;      // of a launch, until the next one may begin
  double first_data_us = 0;  // from a block's start to its first data
  double memory = 1;         // bytes per us of the whole device, read plus write, as far as kernels reach them
  double fill = 1;           // bytes per cycle from the L2 to one unit
  double fill_all = 1;       // the same to all units together
  double shared = 128;       // bytes per cycle and unit of shared memory
  // Dense multiply-adds per cycle and unit, of 16-bit and 8-bit operands, tf32 and fp32. 0: by another type.
  double macs16 = 1, macs8 = 0, macs_tf32 = 1, macs32 = 1;
  int64_t shared_per_block = 0;  // bytes, the most that a block may ask for
  int64_t l2_bytes = 0;

  double memory_per_cycle() const { return memory / clock; }
  double launch_cycles() const { return launch_us * clock; }
  double first_data_cycles() const { return first_data_us * clock; }
  double macs(DataType type) const;
  // For a tile of rows x columns, so many operands deep.
  double product_cycles(DataType type, double rows, double columns, double deep) const;
};

// Hopper's matrix unit: 64 rows, 32 bytes deep. WHY not columns / 2 alone: 64 rows of A are read in 16 cycles, which
// narrow tiles do not hide.
constexpr double wgmma_cycles(double columns) { return std::max(columns / 2, 16 + columns / 4); }

// A GPU of the page, with what its data sheet and others say of it.
struct GpuRow {
  std::string_view gpu;
  std::string_view words;  // all of them are in the name that the driver gives it
  Target target;
  int units;
  double clock_mhz;
  double memory_peak;     // published, GB/s
  double memory_reached;  // of it
  double macs16, macs8, macs_tf32, macs32;
  double fill, fill_all;
  double launch_us, first_data_us;
  int shared_kb;  // per block
  double l2_mb;
  std::string_view source;  // of the figures, and which of them are guesses
};
std::span<const GpuRow> gpu_page();

// The GPU that predictions for a target mean where none is named: the first of the page.
const GpuRow& usual_gpu(Target target);
// By the name of the page, in any case: "h100 pcie".
Result<const GpuRow*> find_gpu(std::string_view name);
// A device as the page has it, to decide for without having one.
DeviceInfo device_of(const GpuRow& row);

// By the page where it has the device's name, else by the usual GPU of its target, corrected by what the driver tells
// of clock and memory. Multiprocessors, shared memory and L2 are the device's own.
Rates rates_of(const DeviceInfo& device);
Rates rates_of(const GpuRow& row);
Rates usual_rates(Target target);

}  // namespace wt
