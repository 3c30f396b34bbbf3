// SPDX-License-Identifier: Apache-2.0
// Probes of Hopper's operations: the bytes that a load leaves in shared memory, products through every descriptor form.
#include "target/hopper.h"

namespace wt::probe {

using namespace wt::device;

struct DumpParams {
  TensorMap map;
  u32* out;
  const void* plain;
  i32 at[5];
  i32 tap[3];
  i32 bytes;
  i32 form;  // 1 to 5: tiled of that rank; 13 to 15: im2col of that rank; 0: plain
};

// One load, then the raw bytes.
struct Dump {
  static constexpr int kThreads = 128, kMinBlocks = 1;
  using Params = DumpParams;
  WT_DEVICE static void run(const Params& p) {
    const SharedAddress to = (shared_base() + 1023) & ~1023u, bar = to + ((p.bytes + 15) & ~15);
    const int t = thread_index();
    if (t == 0) {
      mbarrier_init(bar, 1);
      mbarrier_fence_init();
    }
    sync_block();
    if (t == 0) {
      mbarrier_arrive_expect(bar, p.bytes);
      const i32* c = p.at;
      const u16 w = static_cast<u16>(p.tap[0]), h = static_cast<u16>(p.tap[1]), d = static_cast<u16>(p.tap[2]);
      switch (p.form) {
        case 0:
          bulk_load(to, p.plain, p.bytes, bar);
          break;
        case 1:
          tma_load(to, p.map, bar, c[0]);
          break;
        case 2:
          tma_load(to, p.map, bar, c[0], c[1]);
          break;
        case 3:
          tma_load(to, p.map, bar, c[0], c[1], c[2]);
          break;
        case 4:
          tma_load(to, p.map, bar, c[0], c[1], c[2], c[3]);
          break;
        case 5:
          tma_load(to, p.map, bar, c[0], c[1], c[2], c[3], c[4]);
          break;
        case 13:
          tma_load_im2col(to, p.map, bar, c[0], c[1], c[2], w);
          break;
        case 14:
          tma_load_im2col(to, p.map, bar, c[0], c[1], c[2], c[3], w, h);
          break;
        case 15:
          tma_load_im2col(to, p.map, bar, c[0], c[1], c[2], c[3], c[4], w, h, d);
          break;
      }
    }
    while (!mbarrier_try_wait(bar, 0)) {
    }
    for (int i = t; i < p.bytes / 4; i += kThreads) store_global(p.out + i, load_shared<u32>(to + 4 * i));
  }
};

struct StoreParams {
  TensorMap map;
  const u32* in;
  i32 at[5];
  i32 bytes;
  i32 form;  // 2 to 5: tiled; 13 to 15: im2col; 22: reduce add
};

// Raw bytes to shared memory, then one store.
struct Store {
  static constexpr int kThreads = 128, kMinBlocks = 1;
  using Params = StoreParams;
  WT_DEVICE static void run(const Params& p) {
    const SharedAddress from = (shared_base() + 1023) & ~1023u;
    const int t = thread_index();
    for (int i = t; i < p.bytes / 4; i += kThreads) store_shared(from + 4 * i, load_global(p.in + i));
    fence_async_shared();
    sync_block();
    if (t == 0) {
      const i32* c = p.at;
      switch (p.form) {
        case 2:
          tma_store(p.map, from, c[0], c[1]);
          break;
        case 3:
          tma_store(p.map, from, c[0], c[1], c[2]);
          break;
        case 4:
          tma_store(p.map, from, c[0], c[1], c[2], c[3]);
          break;
        case 5:
          tma_store(p.map, from, c[0], c[1], c[2], c[3], c[4]);
          break;
        case 13:
          tma_store_im2col(p.map, from, c[0], c[1], c[2]);
          break;
        case 14:
          tma_store_im2col(p.map, from, c[0], c[1], c[2], c[3]);
          break;
        case 15:
          tma_store_im2col(p.map, from, c[0], c[1], c[2], c[3], c[4]);
          break;
        case 22:
          tma_reduce_add(p.map, from, c[0], c[1]);
          break;
      }
      bulk_commit();
      bulk_wait<0>();
    }
  }
};

struct ProductParams {
  const u32* a;  // the bytes of shared memory, as the descriptors read them
  const u32* b;
  float* d;  // (64, kN)
  i32 bytes_a, bytes_b;
  i32 leading_a, stride_a, leading_b, stride_b;
  i32 step_a, step_b;  // bytes from one product to the next along k
  i32 steps;
};

// D (64, kN) = sum of products over raw shared memory. kRegisters: A comes from K-major rows of 32 bytes, by registers.
template <DataType kA, DataType kB, int kN, Major kMajorA, Major kMajorB, DescriptorSwizzle kSwizzle, bool kRegisters>
struct Product {
  static constexpr int kThreads = 128, kMinBlocks = 1;
  using Params = ProductParams;
  WT_DEVICE static void run(const Params& p) {
    const SharedAddress a = (shared_base() + 1023) & ~1023u, b = (a + p.bytes_a + 1023) & ~1023u;
    const int t = thread_index();
    for (int i = t; i < p.bytes_a / 4; i += kThreads) store_shared(a + 4 * i, load_global(p.a + i));
    for (int i = t; i < p.bytes_b / 4; i += kThreads) store_shared(b + 4 * i, load_global(p.b + i));
    fence_async_shared();
    sync_block();
    float d[kN / 2];
    for (int i = 0; i < kN / 2; ++i) d[i] = 7;
    using Instruction = Wgmma<kA, kB, kN>;
    u32 registers[4][4];  // of up to four products
    if constexpr (kRegisters) {
      for (int step = 0; step < p.steps; ++step) {
        for (int r = 0; r < 4; ++r) {
          const int row = t / 32 * 16 + t % 32 / 4 + 8 * (r & 1);
          registers[step][r] = load_shared<u32>(a + step * p.step_a + row * 32 + t % 4 * 4 + 16 * (r >> 1));
        }
      }
    }
    wgmma_fence();
    for (int step = 0; step < p.steps; ++step) {
      const u64 desc_b = wgmma_descriptor(b + step * p.step_b, p.leading_b, p.stride_b, kSwizzle);
      if constexpr (kRegisters) {
        Instruction::template multiply<kMajorB>(d, registers[step], desc_b, step != 0);
      } else {
        const u64 desc_a = wgmma_descriptor(a + step * p.step_a, p.leading_a, p.stride_a, kSwizzle);
        Instruction::template multiply<kMajorA, kMajorB>(d, desc_a, desc_b, step != 0);
      }
    }
    wgmma_commit();
    wgmma_wait<0>();
    for (int i = 0; i < kN / 2; ++i) {
      const int row = t / 32 * 16 + t % 32 / 4 + 8 * (i / 2 % 2), column = i / 4 * 8 + t % 4 * 2 + i % 2;
      store_global(p.d + row * kN + column, d[i]);
    }
  }
};

}  // namespace wt::probe
