// SPDX-License-Identifier: Apache-2.0
// conformance/probe.h - one probe: a small kernel on one primitive, its input, and the bytes it must leave.
//
//   probes() --run.h--> the same kernel on a GPU and in the simulator --> raw bytes, compared
//
// The device code is conformance/device/*.h. What a probe must leave is computed here from the vendor's manual and by
// plain arithmetic, never by the simulator's code, so that the probes test the simulator where there is no GPU, too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/kernel_config.h"
#include "conformance/device/arguments.h"
#include "launch/launch.h"

namespace wt::conformance {

using Bytes = std::vector<uint8_t>;

struct Probe {
  std::string name;          // tma.load.tiled.2d.bf16.swizzle128
  Target since{};            // the first target of NVIDIA that has the primitive
  bool needs_wgmma = false;  // a product that warps in its place do not have
  std::string module;        // probes of one module are compiled together
  std::string header;        // below src/
  std::string entry;         // of the module
  std::string kernel;        // the entry's class
  LaunchShape shape;         // shared_bytes: what the probe itself needs
  probe::Params params{};    // without addresses and the map
  std::optional<TensorMapSpec> map;
  bool map_over_output = false;
  Bytes input;
  Bytes output;    // what the output holds before
  Bytes expected;  // and must hold after
  // Not empty: the primitive has a limit that the probe breaks on purpose. A GPU must fault, and the simulator's report
  // must hold this text.
  std::string refused;
};

// Every probe that `target` can run, in a fixed order; names are unique.
std::vector<Probe> probes(Target target);

// The parts of the list, one a source.
void add_tma_loads(std::vector<Probe>& list);
void add_tma_stores(std::vector<Probe>& list);
void add_products(std::vector<Probe>& list);
void add_tensor_probes(std::vector<Probe>& list);
void add_scaled_probes(std::vector<Probe>& list);  // by add_tensor_probes
void add_warp_probes(std::vector<Probe>& list);
void add_block_probes(std::vector<Probe>& list);
void add_atomics(std::vector<Probe>& list);
void add_conversions(std::vector<Probe>& list);
void add_amd_probes(std::vector<Probe>& list, Target target);

// Bytes without a pattern that a wrong address could repeat.
Bytes pattern(size_t count, uint32_t seed = 1);

template <class T>
void append(Bytes& bytes, const T& value) {
  const auto* raw = reinterpret_cast<const uint8_t*>(&value);
  bytes.insert(bytes.end(), raw, raw + sizeof(T));
}

}  // namespace wt::conformance
