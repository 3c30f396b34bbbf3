// SPDX-License-Identifier: Apache-2.0
// runtime/sim/tma_checks.h - what bulk loads and stores alike ask of a tensor map, a box and a policy.
#pragma once

#include "runtime/sim/lane.h"
#include "runtime/sim/primitives.h"
#include "runtime/sim/tensor_map.h"

namespace wt::sim {

MapImage image_of(const TensorMap& map, const char* operation, Site site);
void check_box(const Block& block, const MapImage& map, uint32_t address, bool im2col, int rank, const char* operation,
               Site site);
void check_policy(CachePolicy policy, const char* operation, Site site);
// Measured on an H200: a start off 16 bytes, and a store with a coordinate below zero, are illegal instructions.
void check_corner(const MapImage& map, const int32_t* at, const char* operation, Site site);

}  // namespace wt::sim
