// SPDX-License-Identifier: Apache-2.0
// target/wgmma_descriptor.h - how an operand lies in shared memory, as the products of a warpgroup name it.
#pragma once

#include "target/types.h"

namespace wt::device {

enum class Major : u8 { kK, kMn };  // which index of an operand is contiguous; kMn exists for 16-bit types only

// Bits 62 and 63 of a descriptor.
enum class DescriptorSwizzle : u8 { kNone = 0, k128 = 1, k64 = 2, k32 = 3 };

// start: first byte; leading, stride: bytes between the blocks of the operand's canonical layout.
WT_DEVICE u64 wgmma_descriptor(SharedAddress start, u32 leading, u32 stride, DescriptorSwizzle swizzle) {
  return static_cast<u64>((start & 0x3ffff) >> 4) | static_cast<u64>((leading & 0x3ffff) >> 4) << 16 |
         static_cast<u64>((stride & 0x3ffff) >> 4) << 32 | static_cast<u64>(swizzle) << 62;
}

}  // namespace wt::device
