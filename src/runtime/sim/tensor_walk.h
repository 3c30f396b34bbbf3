// SPDX-License-Identifier: Apache-2.0
// runtime/sim/tensor_walk.h - the path that a bulk tensor copy takes: rows of a box, or pixels of an im2col column.
#pragma once

#include <cstdint>

#include "runtime/sim/tensor_map.h"

namespace wt::sim {

// One run of `count` elements along the innermost dimension. Those from `first` to `end` lie in the tensor, at
// `address` + element * size; the others read as zero and are not written.
struct Run {
  uint64_t address;     // of the run's element 0, which may lie outside
  uint32_t first, end;  // first >= end: none
  uint32_t offset;      // bytes into the box, before the swizzle
};

// Calls visit(run) for every run in the order of shared memory. Offsets: an im2col tap, added after the walk.
template <class Visit>
void walk(const MapImage& map, const int32_t* at, const uint16_t* offset, Visit visit) {
  const uint32_t inner = map.box[0], element = map.element_bytes;
  const auto size = [&](int d) { return static_cast<int64_t>(map.size[d]) + 1; };
  const int64_t before = at[0] < 0 ? -static_cast<int64_t>(at[0]) : 0, room = size(0) - at[0];
  const auto first = static_cast<uint32_t>(before < inner ? before : inner);
  const auto end = static_cast<uint32_t>(room < 0 ? 0 : room < inner ? room : inner);
  const uint64_t base = map.base + static_cast<uint64_t>(static_cast<int64_t>(at[0]) * element);
  uint32_t place = 0;
  if (map.im2col) {
    const int spatial = map.rank - 2;
    int64_t pixel[3] = {at[1], at[2], at[3]}, image = at[map.rank - 1];
    for (uint32_t i = 0; i < map.pixels; ++i, place += map.pitch()) {
      bool inside = image >= 0 && image < size(map.rank - 1);
      uint64_t address = base + static_cast<uint64_t>(image) * map.stride[map.rank - 2];
      for (int d = 0; d < spatial; ++d) {
        const int64_t x = pixel[d] + offset[d];
        inside = inside && x >= 0 && x < size(d + 1);
        address += static_cast<uint64_t>(x) * map.stride[d];
      }
      visit(Run{address, first, inside ? end : 0, place});
      // The next pixel of the bounding box; it wraps into the next row, plane, image.
      int d = 0;
      for (; d < spatial; ++d) {
        pixel[d] += map.element_stride[d + 1];
        if (pixel[d] <= size(d + 1) - 1 + map.upper[d]) break;
        pixel[d] = map.lower[d];
      }
      image += d == spatial;
    }
    return;
  }
  int64_t step[5] = {};
  for (;;) {
    bool inside = true;
    uint64_t address = base;
    for (int d = 1; d < map.rank; ++d) {
      const int64_t x = at[d] + step[d];
      inside = inside && x >= 0 && x < size(d);
      address += static_cast<uint64_t>(x) * map.stride[d - 1];
    }
    visit(Run{address, first, inside ? end : 0, place});
    place += map.pitch();
    int d = 1;
    for (; d < map.rank; ++d) {
      step[d] += map.element_stride[d];
      if (step[d] < map.box[d]) break;
      step[d] = 0;
    }
    if (d >= map.rank) return;
  }
}

// Address bits 4 and up are exchanged with those three above: the pattern follows the address, not the box.
inline uint32_t swizzled(uint32_t address, uint32_t swizzle) {
  switch (swizzle) {
    case 32:
      return address ^ ((address >> 3) & 0x10);
    case 64:
      return address ^ ((address >> 3) & 0x30);
    case 128:
      return address ^ ((address >> 3) & 0x70);
    default:
      return address;
  }
}

}  // namespace wt::sim
