// SPDX-License-Identifier: Apache-2.0
#include "conformance/probe.h"

#include <algorithm>

#include "config/targets.h"

namespace wt::conformance {

std::vector<Probe> probes(Target target) {
  std::vector<Probe> list;
  if (info_of(target).vendor == Vendor::kAmd) {
    add_amd_probes(list, named_target(target));
    return list;
  }
  add_tma_loads(list);
  add_tma_stores(list);
  add_products(list);
  if (has_tensor_memory(target)) add_tensor_probes(list);
  add_warp_probes(list);
  add_block_probes(list);
  if (target == Target::kSm80) std::erase_if(list, [](const Probe& probe) { return probe.since != Target::kSm80; });
  if (!has_wgmma(target)) std::erase_if(list, [](const Probe& probe) { return probe.needs_wgmma; });
  return list;
}

Bytes pattern(size_t count, uint32_t seed) {
  Bytes bytes(count);
  uint32_t state = seed * 2654435761u + 12345;
  for (uint8_t& byte : bytes) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    byte = static_cast<uint8_t>(state >> 11);
  }
  return bytes;
}

}  // namespace wt::conformance
