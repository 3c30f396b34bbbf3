// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/tma_checks.h"

#include <cstring>

#include "runtime/sim/report.h"

namespace wt::sim {

MapImage image_of(const TensorMap& map, const char* operation, Site site) {
  if (reinterpret_cast<uintptr_t>(&map) % 64) {
    fail(Fault::kAlignment, operation, site, "the tensor map is not 64-byte aligned");
  }
  MapImage image;
  std::memcpy(&image, &map, sizeof image);
  if (image.magic != MapImage::kMagic) {
    fail(Fault::kUse, operation, site, "the parameter holds no tensor map that this device encoded");
  }
  return image;
}

void check_box(const Block& block, const MapImage& map, uint32_t address, bool im2col, int rank, const char* operation,
               Site site) {
  if (static_cast<bool>(map.im2col) != im2col || map.rank != rank) {
    fail(Fault::kUse, operation, site,
         fmt::format("an instruction for {} maps of rank {} meets a map that is {} of rank {}",
                     im2col ? "im2col" : "tiled", rank, map.im2col ? "im2col" : "tiled", map.rank));
  }
  check_shared(block, address, map.shared_bytes(), 128, operation, site);
  // WHY: the copy's pattern follows the address. In a box that starts elsewhere it is shifted against the box's rows,
  // and whoever counts rows from the box's start finds other bytes.
  const uint32_t repeat = 8 * map.swizzle;
  if (repeat && address % repeat) {
    fail(Fault::kAlignment, operation, site,
         fmt::format("{} is not a multiple of {}, where the {}-byte swizzle of the map starts over",
                     shared_text(block, address).text, repeat, map.swizzle));
  }
}

void check_policy(CachePolicy policy, const char* operation, Site site) {
  if (policy == kCacheNormal || policy == kCacheStream) return;
  fail(Fault::kUse, operation, site, fmt::format("{:#x} is no cache policy", policy.bits));
}

void check_corner(const MapImage& map, const int32_t* at, const char* operation, Site site) {
  const int64_t bytes = static_cast<int64_t>(at[0]) * map.element_bytes;
  if (bytes % 16) {
    fail(Fault::kUse, operation, site,
         fmt::format("the innermost coordinate {} is at byte {}, not a multiple of 16", at[0], bytes));
  }
}

}  // namespace wt::sim
