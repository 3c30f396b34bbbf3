// SPDX-License-Identifier: Apache-2.0
// kernels/beside/device/fnuz_copy.h - e4m3 tensors as the FNUZ numbers that gfx942 multiplies, each of half its value.
//
//   e4m3 --16 numbers of a thread--> FNUZ (workspace)
//
// The launch before a kernel that would else convert a number wherever it is read: under every tap and in every column
// of tiles (target/number.h has the conversion).
#pragma once

#include "kernels/beside/device/fnuz_copy_arguments.h"
#include "kernels/device/gemm/storage.h"
#include "target/number.h"
#include "target/target.h"

namespace wt {

template <KernelConfig kConfig>
struct FnuzCopy {
  using Params = FnuzCopyArguments;
  static constexpr int kThreads = kFnuzThreads;
  static constexpr int kMinBlocks = 1;

  WT_DEVICE static void run(const Params& p) { WT_UNROLL for (int i = 0; i < kFnuzMost; ++i) copy(p.copies[i]); }

 private:
  using Chunk = Vector<u32, kFnuzChunk / 4>;
  static_assert(size_of(operand_a(kConfig)) == 1 && size_of(operand_b(kConfig)) == 1);

  WT_DEVICE static void copy(const FnuzCopyArguments::Copy& p) {
    const i64 step = static_cast<i64>(device::grid_size().x) * kThreads;
    const i64 chunks = (p.count + kFnuzChunk - 1) / kFnuzChunk;
    const bool aligned = reinterpret_cast<u64>(p.in) % kFnuzChunk == 0;  // a caller's tensor need not be
    for (i64 at = static_cast<i64>(device::block_index().x) * kThreads + device::thread_index(); at < chunks;
         at += step) {
      const i64 first = at * kFnuzChunk, left = p.count - first;
      const u8* from = static_cast<const u8*>(p.in) + first;
      Chunk chunk{};
      if (aligned && left >= kFnuzChunk) {
        chunk = device::load_global(reinterpret_cast<const Chunk*>(from));
      } else {
        WT_UNROLL for (int i = 0; i < kFnuzChunk; ++i) {
          if (i < left) chunk.at[i / 4] |= static_cast<u32>(device::load_global(from + i)) << 8 * (i % 4);
        }
      }
      WT_UNROLL for (int w = 0; w < kFnuzChunk / 4; ++w) chunk.at[w] = number::halved_to_fnuz(chunk.at[w]);
      device::store_global(reinterpret_cast<Chunk*>(static_cast<u8*>(p.out) + first), chunk);
    }
  }
};

}  // namespace wt
