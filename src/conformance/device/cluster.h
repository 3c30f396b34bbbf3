// SPDX-License-Identifier: Apache-2.0
// conformance/device/cluster.h - mbarrier phases, and blocks of a cluster that read, write and wake one another.
#pragma once

#include "conformance/device/arguments.h"
#include "target/hopper.h"

namespace wt::probe {

using namespace wt::device;

// Out: first 16 words, what try_wait says step by step of one barrier; then for each of 6 rounds each thread's sum of
// what the four warps wrote, ordered by a second barrier alone; then each thread's word that another's cp.async
// brought.
struct Phases {
  static constexpr int kThreads = 128, kMinBlocks = 1, kRounds = 6;
  using Params = probe::Params;

  WT_DEVICE static void steps(const Params& p, SharedAddress barrier, SharedAddress data) {
    u32* out = reinterpret_cast<u32*>(p.out);
    const auto note = [&](u32 parity) { store_global(out++, static_cast<u32>(mbarrier_try_wait(barrier, parity))); };
    note(0);  // phase 0 is open
    note(1);  // the phase before it counts as completed
    mbarrier_arrive(barrier);
    note(0);
    mbarrier_arrive(barrier);  // the second of two
    note(0);
    note(1);
    mbarrier_arrive_expect(barrier, 32);
    bulk_load(data, p.in, 16, barrier);
    mbarrier_arrive(barrier);
    note(1);  // 16 bytes are missing
    bulk_load(data + 16, p.in + 16, 16, barrier);
    mbarrier_wait(barrier, 1);
    note(1);
    note(0);
    for (int i = 0; i < 8; ++i) store_global(out++, load_shared<u32>(data + 4 * i));
  }

  WT_DEVICE static void run(const Params& p) {
    const int t = thread_index(), warp = warp_index();
    const SharedAddress data = (shared_base() + 127) & ~127u, slots = data + 32, copies = data + 64;
    const SharedAddress stepped = copies + 512, filled = stepped + 8, landed = stepped + 16;
    if (t == 0) {
      mbarrier_init(stepped, 2);
      mbarrier_init(filled, 4);
      mbarrier_init(landed, kThreads);
      mbarrier_fence_init();
    }
    sync_block();
    if (t == 0) steps(p, stepped, data);
    u32* out = reinterpret_cast<u32*>(p.out) + 16 + t;
    for (int round = 0; round < kRounds; ++round) {
      if (lane_index() == 0) {
        store_shared(slots + 4 * warp, static_cast<u32>(round * 1000 + warp * 10));
        mbarrier_arrive(filled);
      }
      mbarrier_wait(filled, static_cast<u32>(round & 1));
      u32 sum = 0;
      for (int w = 0; w < 4; ++w) sum += load_shared<u32>(slots + 4 * w);
      store_global(out + round * kThreads, sum);
      sync_block();  // the slots are free again
    }
    copy_async<4>(copies + 4 * t, p.in + 4 * t, 4);
    copy_async_arrive(landed);
    mbarrier_wait(landed, 0);
    store_global(out + kRounds * kThreads, load_shared<u32>(copies + 4 * (127 - t)));
    // WHY: copies must not be in flight when their thread ends, and a wait covers only what is committed.
    copy_async_commit();
    copy_async_wait<0>();
  }
};

// In: 128 words per block. Out, 10 words per thread of the grid: rank, blocks of the cluster, the sum over the cluster
// of one word of each, what the block before stored here, four floats of the next block's, two that the block before
// stored and counted.
struct Exchange {
  static constexpr int kThreads = 128, kMinBlocks = 1;
  using Params = probe::Params;
  WT_DEVICE static void run(const Params& p) {
    const int t = thread_index(), block = block_index().x;
    const u32 rank = cluster_rank(), blocks = cluster_blocks();
    const SharedAddress own = (shared_base() + 15) & ~15u, mail = own + 512, floats = mail + 512, pairs = floats + 2048,
                        barrier = pairs + 2048, counted = barrier + 8;
    const u32 word = load_global(reinterpret_cast<const u32*>(p.in) + block * kThreads + t);
    store_shared(own + 4 * t, word);
    const float real = static_cast<float>(word & 0xfff);
    store_shared(floats + 16 * t, Vector<float, 4>{{real, real + 1, real + 2, real + 3}});
    if (t == 0) {
      mbarrier_init(barrier, blocks * 4);
      mbarrier_init(counted, 1);
      mbarrier_fence_init();
    }
    cluster_arrive();
    cluster_wait();
    u32 sum = 0;
    for (u32 r = 0; r < blocks; ++r) sum += load_cluster<u32>(cluster_address(own + 4 * ((t + 1) % kThreads), r));
    const u32 next = (rank + 1) % blocks;
    store_cluster(cluster_address(mail + 4 * (127 - t), next), word ^ 0x5555aaaau);
    if (t == 0) mbarrier_arrive_expect(counted, 16 * kThreads);
    store_cluster_counted(cluster_address(pairs + 16 * (127 - t), next), {{real, real + 5, 0, 0}},
                          cluster_address(counted, next));
    mbarrier_wait(counted, 0);
    const auto two = load_shared<Vector<float, 4>>(pairs + 16 * t);
    const auto four = load_cluster<Vector<float, 4>>(cluster_address(floats + 16 * t, next));
    if (lane_index() == 0) {
      for (u32 r = 0; r < blocks; ++r) mbarrier_arrive_remote(barrier, r);
    }
    mbarrier_wait(barrier, 0);
    cluster_arrive();
    cluster_wait();
    u32* out = reinterpret_cast<u32*>(p.out) + (block * kThreads + t) * 10;
    store_global(out, rank);
    store_global(out + 1, blocks);
    store_global(out + 2, sum);
    store_global(out + 3, load_shared<u32>(mail + 4 * t));
    for (int i = 0; i < 4; ++i) store_global(out + 4 + i, __builtin_bit_cast(u32, four.at[i]));
    for (int i = 0; i < 2; ++i) store_global(out + 8 + i, __builtin_bit_cast(u32, two.at[i]));
  }
};

// Three warpgroups move registers between them; one lane a warp is elected. Out: a word a thread, how many were
// elected.
struct Roles {
  static constexpr int kThreads = 384, kMinBlocks = 1;
  using Params = probe::Params;
  WT_DEVICE static void run(const Params& p) {
    const int t = thread_index();
    if (warp_index() < 4) {
      give_registers<40>();
      finish(p, t, 1);
    } else {
      take_registers<232>();
      finish(p, t, 2);
    }
  }

 private:
  WT_DEVICE static void finish(const Params& p, int t, u32 role) {
    u32 elected = static_cast<u32>(ballot(elect())), count = 0;
    for (; elected; elected &= elected - 1) ++count;
    store_global(reinterpret_cast<u32*>(p.out) + t, role * 16 + count);
  }
};

}  // namespace wt::probe
