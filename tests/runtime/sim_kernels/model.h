// SPDX-License-Identifier: Apache-2.0
// Small kernels with one mistake to plant each, of the kinds that a GPU forgives most of the time: `fault` 0 is right.
#include "target/target.h"

#if defined(WT_MODEL_HOPPER)
#include "target/hopper.h"
#endif

namespace wt::probe {

using namespace wt::device;

struct ModelParams {
  const float* in;
  float* out;
  int count;
  int fault;
};

// Lanes of a warp turn their numbers round through shared memory. 1: without sync_warp after the stores; 2: without it
// before the next stores; 3: one word is read that nobody wrote.
struct LaneExchange {
  static constexpr int kThreads = 2 * kWarpSize, kMinBlocks = 1;
  using Params = ModelParams;
  WT_DEVICE static void run(const Params& p) {
    const int lane = lane_index();
    const SharedAddress own = shared_base() + warp_index() * kWarpSize * 16;
    for (int round = 0; round < 2; ++round) {
      const float value = load_global(p.in + thread_index()) + static_cast<float>(round);
      store_shared(own + lane * 16, Vector<float, 4>{{value, value, value, value}});
      if (p.fault != 1) sync_warp();
      const SharedAddress from = own + (kWarpSize - 1 - lane) * 16;
      const float turned = load_shared<float>(p.fault == 3 && round == 1 ? from + kThreads * 16 : from);
      if (p.fault != 2) sync_warp();
      store_global(p.out + round * kThreads + thread_index(), turned);
    }
  }
};

// The largest number of all blocks. 1: read, compared and written by plain accesses.
struct Largest {
  static constexpr int kThreads = kWarpSize, kMinBlocks = 1;
  using Params = ModelParams;
  WT_DEVICE static void run(const Params& p) {
    if (lane_index() != 0) return;
    const float value = load_global(p.in + block_index().x);
    if (p.fault == 1) {
      if (value > load_global(p.out)) store_global(p.out, value);
    } else {
      atomic_max(reinterpret_cast<u32*>(p.out), __builtin_bit_cast(u32, value));
    }
  }
};

// A block's warps add a number each to one word. 1: without the barrier between the turns of the warps.
struct Turnwise {
  static constexpr int kThreads = 4 * kWarpSize, kMinBlocks = 1;
  using Params = ModelParams;
  WT_DEVICE static void run(const Params& p) {
    for (int turn = 0; turn < 4; ++turn) {
      if (thread_index() == turn * kWarpSize) store_global(p.out, load_global(p.out) + load_global(p.in + turn));
      if (p.fault != 1) sync_block();
    }
  }
};

// The last block to come adds what all have left in `out`. 1: nobody fences.
struct LastBlock {
  static constexpr int kThreads = kWarpSize, kMinBlocks = 1;
  using Params = ModelParams;
  WT_DEVICE static void run(const Params& p) {
    if (lane_index() != 0) return;
    const int blocks = grid_size().x;
    store_global(p.out + 1 + block_index().x, load_global(p.in + block_index().x));
    if (p.fault != 1) fence_global();
    if (atomic_add(reinterpret_cast<u32*>(p.out + 1 + blocks), 1u) != static_cast<u32>(blocks - 1)) return;
    if (p.fault != 1) fence_global();
    float sum = 0;
    for (int i = 0; i < blocks; ++i) sum += load_global(p.out + 1 + i);
    store_global(p.out, sum);
  }
};

// A matrix product of one warp with itself. 1: its accumulators are not cleared.
template <int kM, int kN, int kK>
struct Accumulate {
  static constexpr int kThreads = kWarpSize, kMinBlocks = 1;
  using Params = ModelParams;
  using Instruction = Mma<DataType::kBf16, kM, kN, kK>;
  WT_DEVICE static void run(const Params& p) {
    typename Instruction::Operand a[Instruction::kA], b[Instruction::kB];
    float c[Instruction::kC];
    for (auto& value : a) value = from_float<typename Instruction::Operand>(1);
    for (auto& value : b) value = from_float<typename Instruction::Operand>(1);
    if (p.fault != 1) {
      for (float& value : c) value = 0;
    }
    Instruction::multiply(c, a, b);
    store_global(p.out + lane_index(), c[0]);
  }
};

#if defined(WT_MODEL_HOPPER)

// Twice the numbers of the launch before; `out` follows `in`. 1: before it is known to be over.
struct Doubled {
  static constexpr int kThreads = kWarpSize, kMinBlocks = 1;
  using Params = ModelParams;
  WT_DEVICE static void run(const Params& p) {
    launch_dependents();
    const int at = block_index().x * kThreads + thread_index();
    if (p.fault != 1) wait_prerequisites();
    store_global(p.out + at, 2 * load_global(p.in + at));
  }
};

// A warp loads numbers by cp.async and arrives at an mbarrier; another one stores them. 1: the loader ends with its
// copies in flight; 2: it waits without a commit.
struct Loader {
  static constexpr int kThreads = 2 * kWarpSize, kMinBlocks = 1;
  using Params = ModelParams;
  WT_DEVICE static void run(const Params& p) {
    const SharedAddress full = (shared_base() + 15) & ~15u, slot = full + 16;
    if (thread_index() == 0) {
      mbarrier_init(full, kWarpSize);
      mbarrier_fence_init();
    }
    sync_block();
    const int lane = lane_index();
    if (warp_index() == 0) {
      copy_async<4>(slot + 4 * lane, p.in + lane, 4);
      copy_async_arrive(full);
      if (p.fault != 1 && p.fault != 2) copy_async_commit();
      if (p.fault != 1) copy_async_wait<0>();
    } else {
      mbarrier_wait(full, 0);
      store_global(p.out + lane, load_shared<float>(slot + 4 * (kWarpSize - 1 - lane)));
    }
  }
};

// One warp writes a row, another one sends it by a bulk store. 1: the proxy fence follows the arrival that another lane
// makes; 2: only the lane that arrives fences, and the lanes have not met; 3: the lanes do not meet before one arrives.
struct FencedRow {
  static constexpr int kThreads = 2 * kWarpSize, kMinBlocks = 1;
  using Params = ModelParams;
  WT_DEVICE static void run(const Params& p) {
    const SharedAddress full = (shared_base() + 127) & ~127u, row = full + 128;
    if (thread_index() == 0) {
      mbarrier_init(full, 1);
      mbarrier_fence_init();
    }
    sync_block();
    const int lane = lane_index();
    if (warp_index() == 0) {
      store_shared(row + 4 * lane, load_global(p.in + lane));
      if (p.fault == 0 || p.fault == 3 || (p.fault == 2 && lane == 0)) fence_async_shared();
      if (p.fault != 3) sync_warp();
      if (lane == 0) mbarrier_arrive(full);
      if (p.fault == 1) fence_async_shared();
    } else if (lane == 0) {
      mbarrier_wait(full, 0);
      bulk_store(p.out, row, 128);
      bulk_commit();
      bulk_wait<0>();
    }
  }
};

// Warps of a warpgroup share a product's operand. 1: each fences its own part, and no barrier follows; 2: the staging
// of the result is written again while other warps of the group may read it; 3: accumulators that are not cleared.
struct SharedOperand {
  static constexpr int kThreads = 128, kMinBlocks = 1;
  using Params = ModelParams;
  WT_DEVICE static void run(const Params& p) {
    const SharedAddress a = (shared_base() + 1023) & ~1023u, b = a + 64 * 128, staging = b + 16 * 128;
    const int t = thread_index();
    float d[8];
    if (p.fault != 3) {
      for (float& value : d) value = 0;
    }
    const Bf16 one = from_float<Bf16>(1.f);
    const Vector<Bf16, 8> ones{{one, one, one, one, one, one, one, one}};
    for (int chunk = t; chunk < 80 * 8; chunk += kThreads) store_shared(a + chunk * 16, ones);
    fence_async_shared();
    if (p.fault != 1) sync_block();
    for (int round = 0; round < 2; ++round) {
      wgmma_fence();
      for (int step = 0; step < 4; ++step) {
        Wgmma<DataType::kBf16, DataType::kBf16, 16>::multiply<Major::kK, Major::kK>(
            d, wgmma_descriptor(a + 32 * step, 16, 1024, DescriptorSwizzle::k128),
            wgmma_descriptor(b + 32 * step, 16, 1024, DescriptorSwizzle::k128), true);
      }
      wgmma_commit();
      wgmma_wait<0>();
      store_shared(staging + 4 * t, d[0]);
      sync_block();
      store_global(p.out + round * kThreads + t, load_shared<float>(staging + 4 * (kThreads - 1 - t)));
      if (p.fault != 2) sync_block();
    }
  }
};
#endif

}  // namespace wt::probe
