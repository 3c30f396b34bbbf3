// SPDX-License-Identifier: Apache-2.0
// A warp-specialised product D (m, 64) = A (m, k) * B (64, k)^T in bf16 for the checker's own tests: TMA loads into a
// ring, wgmma, staging, TMA store. Fault::kNone is right; every other value plants one mistake.
#include "target/hopper.h"

namespace wt::probe {

using namespace wt::device;

enum class Fault : int {
  kNone,
  kNoFullWait,
  kWrongFullParity,
  kNoEmptyWait,
  kEarlyRelease,
  kNoRelease,
  kCountHigh,
  kCountLow,
  kBytesLow,
  kBytesHigh,
  kNoProxyFence,
  kOneLaneFence,
  kNoFinalWait,
  kNoInitSync,
  kNoInitFence,
  kNoStoreWait,
  kStagingReuse,
  kNoWgmmaFence,
  kNoStagingSwizzle,
  kDivergentBarrier,
  kBarrierCount,
  kMisalignedBox,
  kWrongRank,
  kDescriptorDiverges,
  kOperandOutside,
  kAccumulatorTouched,
  kWrongBarrierAddress,
  kBarrierOverwritten,
  kStoreOutside,
  kRawPointerOutside,
  kWrongStageOffset,
  kNoStagingBarrier,
  kDoubleInit,
  kZeroCoordinate,
  kReleaseTwice,
  kNoGive,
  kNoPolicy,
  kNoStagingOpen,    // who sends waits for its store, and the others do not wait for it
  kReleaseUnwaited,  // of the stage whose products wgmma_wait<1> leaves pending
  kShiftedStages,    // by 128 bytes: aligned for copies, but not for their swizzle
  kCount
};

struct PipelineParams {
  TensorMap a, b, d;
  Bf16* out;  // for stores that bypass the map
  i32 m, k, tiles;
  Fault fault;
};

struct Pipeline {
  static constexpr int kConsumers = 2, kStages = 3, kThreads = 128 * kConsumers + 32, kMinBlocks = 1;
  static constexpr u32 kA = 128 * 128, kB = 64 * 128, kOut = 64 * 128;  // bytes of a stage, and of a group's staging
  static constexpr u32 kSharedBytes = 1024 + kStages * (kA + kB) + kConsumers * kOut + 16 * kStages + 16;
  using Params = PipelineParams;

  struct Shared {
    SharedAddress a, b, out, bars;
    WT_DEVICE SharedAddress full(int i) const { return bars + 8 * i; }
    WT_DEVICE SharedAddress empty(int i) const { return bars + 8 * (kStages + i); }
  };

  WT_DEVICE static void run(const Params& p) {
    const SharedAddress base = ((shared_base() + 1023) & ~1023u) + (p.fault == Fault::kShiftedStages ? 128 : 0);
    const Shared s{base, base + kStages * kA, base + kStages * (kA + kB),
                   base + kStages * (kA + kB) + kConsumers * kOut};
    const int warp = warp_index();
    if (thread_index() == 0) {
      const u32 consumers = 4 * kConsumers + (p.fault == Fault::kCountHigh) - (p.fault == Fault::kCountLow);
      for (int i = 0; i < kStages; ++i) {
        mbarrier_init(s.full(i), 1);
        mbarrier_init(s.empty(i), consumers);
      }
      if (p.fault == Fault::kDoubleInit) mbarrier_init(s.full(0), 1);
      if (p.fault != Fault::kNoInitFence) mbarrier_fence_init();
      if (p.fault == Fault::kBarrierOverwritten) store_shared(s.full(1), Vector<u32, 2>{});
    }
    if (p.fault == Fault::kDivergentBarrier) {
      if (warp != 2) sync_named(1, kThreads);
    } else if (p.fault != Fault::kNoInitSync) {
      sync_block();
    }
    if (warp == 4 * kConsumers) {
      if (p.fault != Fault::kNoGive) give_registers<24>();
      if (elect()) load(p, s);
    } else {
      take_registers<240>();
      multiply(p, s, warp);
    }
  }

 private:
  WT_DEVICE static void load(const Params& p, const Shared& s) {
    int slot = 0;
    u32 phase = 0;
    for (int tile = block_index().x; tile < p.tiles; tile += grid_size().x) {
      for (int k = 0; k < p.k; k += 64) {
        if (p.fault != Fault::kNoEmptyWait) mbarrier_wait(s.empty(slot), phase ^ 1);
        const u32 bytes = kA + kB - (p.fault == Fault::kBytesLow ? 64 : 0) + (p.fault == Fault::kBytesHigh ? 16 : 0);
        mbarrier_arrive_expect(s.full(slot), bytes);
        const u32 shift = p.fault == Fault::kMisalignedBox ? 64 : 0;
        const int row = p.fault == Fault::kZeroCoordinate ? 0 : tile * 128;
        if (p.fault == Fault::kWrongRank) {
          tma_load(s.a + slot * kA, p.a, s.full(slot), k, row, 0);
        } else {
          tma_load(s.a + slot * kA + shift, p.a, s.full(slot), k, row);
        }
        tma_load(s.b + slot * kB, p.b, s.full(slot), k, 0,
                 p.fault == Fault::kNoPolicy ? CachePolicy{}
                 : tile % 2                  ? kCacheStream
                                             : kCacheNormal);
        if (++slot == kStages) {
          slot = 0;
          phase ^= 1;
        }
      }
    }
  }

  WT_DEVICE static void multiply(const Params& p, const Shared& s, int warp) {
    const int group = warp / 4, lane = lane_index();
    int slot = 0;
    u32 phase = 0;
    for (int tile = block_index().x; tile < p.tiles; tile += grid_size().x) {
      float d[32];
      for (int i = 0; i < 32; ++i) d[i] = 0;
      for (int k = 0; k < p.k; k += 64) {
        if (p.fault != Fault::kNoFullWait) {
          const SharedAddress full = s.full(slot) + (p.fault == Fault::kWrongBarrierAddress ? 8 * 2 * kStages : 0);
          mbarrier_wait(full, p.fault == Fault::kWrongFullParity ? phase ^ 1 : phase);
        }
        if (p.fault != Fault::kNoWgmmaFence) wgmma_fence();
        const int stage = p.fault == Fault::kWrongStageOffset ? (slot + 1) % kStages : slot;
        SharedAddress a = s.a + stage * kA + group * 64 * 128;
        if (p.fault == Fault::kOperandOutside) a += 0x30000;
        for (int step = 0; step < 4; ++step) {
          u64 desc_a = wgmma_descriptor(a + 32 * step, 16, 1024, DescriptorSwizzle::k128);
          const u64 desc_b = wgmma_descriptor(s.b + stage * kB + 32 * step, 16, 1024, DescriptorSwizzle::k128);
          if (p.fault == Fault::kDescriptorDiverges && warp == 1) desc_a += 2;
          Wgmma<DataType::kBf16, DataType::kBf16, 64>::multiply<Major::kK, Major::kK>(d, desc_a, desc_b, true);
        }
        wgmma_commit();
        const bool releases = lane == 0 && p.fault != Fault::kNoRelease;
        if (p.fault == Fault::kEarlyRelease) {
          if (releases) mbarrier_arrive(s.empty(slot));
          wgmma_wait<1>();
        } else {
          wgmma_wait<1>();
          const int done = p.fault == Fault::kReleaseUnwaited ? slot : slot == 0 ? kStages - 1 : slot - 1;
          if (releases && (k > 0 || p.fault == Fault::kReleaseUnwaited)) mbarrier_arrive(s.empty(done));
          if (releases && k > 0 && p.fault == Fault::kReleaseTwice) {
            mbarrier_arrive(s.empty(slot == 0 ? kStages - 1 : slot - 1));
          }
        }
        if (++slot == kStages) {
          slot = 0;
          phase ^= 1;
        }
      }
      if (p.fault == Fault::kAccumulatorTouched) d[3] = 1;
      if (p.fault != Fault::kNoFinalWait) wgmma_wait<0>();
      if (lane == 0 && p.fault != Fault::kNoRelease && p.fault != Fault::kEarlyRelease &&
          p.fault != Fault::kReleaseUnwaited) {
        mbarrier_arrive(s.empty(slot == 0 ? kStages - 1 : slot - 1));
      }
      store(p, s, warp, tile, d);
    }
    if (thread_index() % 128 == 0 && p.fault != Fault::kNoStoreWait) bulk_wait_read<0>();
  }

  WT_DEVICE static void store(const Params& p, const Shared& s, int warp, int tile, const float (&d)[32]) {
    const int group = warp / 4, lane = lane_index(), first = tile * 128 + group * 64;
    const SharedAddress out = s.out + group * kOut;
    const bool sends = thread_index() % 128 == 0;
    if (p.fault != Fault::kStagingReuse) {
      if (sends) bulk_wait_read<0>();
      if (p.fault != Fault::kNoStagingOpen) sync_named(1 + group, 128);
    }
    for (int i = 0; i < 32; i += 2) {
      const int row = warp % 4 * 16 + lane / 4 + 8 * (i / 2 % 2), column = i / 4 * 8 + lane % 4 * 2;
      const Vector<Bf16, 2> pair{{from_float<Bf16>(d[i]), from_float<Bf16>(d[i + 1])}};
      const SharedAddress at = out + row * 128 + column * 2;
      store_shared(p.fault == Fault::kNoStagingSwizzle ? at : at ^ ((at >> 3) & 0x70), pair);
      if (p.fault == Fault::kStoreOutside) {
        store_global(reinterpret_cast<Vector<Bf16, 2>*>(p.out + (first + row) * 64 + column), pair);
      }
      if (p.fault == Fault::kRawPointerOutside) p.out[static_cast<i64>(p.m) * 64 + 512 + column] = pair.at[0];
    }
    if (p.fault == Fault::kOneLaneFence) {
      if (lane == 0) fence_async_shared();
    } else if (p.fault != Fault::kNoProxyFence) {
      fence_async_shared();
    }
    if (p.fault != Fault::kNoStagingBarrier) {
      sync_named(1 + group, p.fault == Fault::kBarrierCount && warp % 4 == 1 ? 160 : 128);
    }
    if (sends) {
      tma_store(p.d, out, 0, first);
      bulk_commit();
    }
  }
};

}  // namespace wt::probe
