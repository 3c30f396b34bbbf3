// SPDX-License-Identifier: Apache-2.0
// conformance/device/tcgen05.h - products and copies into tensor memory over raw shared memory, by one block or a pair;
// dumps all lanes of tensor memory. And launch control.
#pragma once

#include "conformance/device/arguments.h"
#include "target/blackwell.h"

namespace wt::probe {

using namespace wt::device;

inline constexpr int kTensorColumns = 256;

// What tensor memory holds before.
WT_DEVICE float untouched_at(int lane, int column) {
  return static_cast<float>(-1000 - lane * kTensorColumns - column);
}

// Fills tensor memory by stores, has one thread start work(tensor address) and commit it, and dumps tensor memory by
// loads of kShape as (block, lane, column).
template <int kBlocks, TensorShape kShape>
struct TensorProbe {
  static constexpr int kThreads = 128, kMinBlocks = 1;

  WT_DEVICE static SharedAddress base() { return (shared_base() + 1023) & ~1023u; }
  // Behind the inputs: the barrier, and where the address comes.
  WT_DEVICE static SharedAddress barrier(int bytes) { return base() + ((static_cast<u32>(bytes) + 1023) & ~1023u); }

  template <class Work>
  WT_DEVICE static void run(u8* out, int bytes, Work&& work) {
    const SharedAddress done = barrier(bytes), address = done + 8;
    const int warp = warp_index();
    if (thread_index() == 0) {
      mbarrier_init(done, 1);
      mbarrier_fence_init();
    }
    fence_async_shared();
    meet();
    if (warp == 0) {
      tensor_allocate<kBlocks>(address, kTensorColumns);
      tensor_relinquish<kBlocks>();
    }
    tensor_fence_before();
    sync_block();
    tensor_fence_after();
    const u32 tensor = load_shared<u32>(address), lanes = static_cast<u32>(warp) << 21;
    const int lane = thread_index();
    WT_ROLLED for (int first = 0; first < kTensorColumns; first += 32) {
      float values[32];
      WT_UNROLL for (int i = 0; i < 32; ++i) values[i] = untouched_at(lane, first + i);
      tensor_store<TensorShape::k32x32>(tensor + lanes + static_cast<u32>(first), values);
    }
    tensor_store_wait();
    tensor_fence_before();
    meet();
    tensor_fence_after();
    const bool first_block = kBlocks == 1 || cluster_rank() == 0;
    if (warp == 0 && first_block) {
      if (elect()) {
        work(tensor);
        if constexpr (kBlocks == 1) {
          tensor_commit<1>(done);
        } else {
          tensor_commit_multicast<2>(done, 3);
        }
      }
      sync_warp();
    }
    mbarrier_wait(done, 0);
    tensor_fence_after();
    dump(reinterpret_cast<float*>(out), tensor);
    tensor_fence_before();
    meet();
    tensor_fence_after();
    if (warp == 0) tensor_free<kBlocks>(tensor, kTensorColumns);
  }

 private:
  WT_DEVICE static void meet() {
    if constexpr (kBlocks == 1) {
      sync_block();
    } else {
      cluster_arrive();
      cluster_wait();
    }
  }

  WT_DEVICE static void dump(float* out, u32 tensor) {
    constexpr int kCount = 32, kColumns = tensor_place(kShape, 31, kCount - 1, kCount).column + 1;
    constexpr int kParts = kShape == TensorShape::k32x32 ? 1 : 2;
    const int warp = warp_index(), block = kBlocks == 1 ? 0 : static_cast<int>(cluster_rank());
    WT_ROLLED for (int first = 0; first < kTensorColumns; first += kColumns) {
      WT_UNROLL for (int part = 0; part < kParts; ++part) {
        float values[kCount];
        const int lane = 32 * warp + 16 * part;
        tensor_load<kShape>(values, tensor + (static_cast<u32>(lane) << 16) + static_cast<u32>(first));
        tensor_load_wait();
        tensor_hold(values);
        WT_UNROLL for (int i = 0; i < kCount; ++i) {
          const TensorPlace at = tensor_place(kShape, lane_index(), i, kCount);
          store_global(out + (block * 128 + lane + at.lane) * kTensorColumns + first + at.column, values[i]);
        }
      }
    }
  }
};

WT_DEVICE void copy_to_shared(SharedAddress to, const u8* from, int bytes) {
  for (int i = thread_index(); i < bytes / 4; i += 128)
    store_shared(to + 4 * i, load_global(reinterpret_cast<const u32*>(from) + i));
}

// D = sum over `count` products, into column `at[0]`, of the word `form`. The input holds A's bytes and B's, of a pair
// one block's after the other's; A's first row is `step` bytes from its first byte. Without at[1] the first product
// overwrites.
template <TensorKind kKind, int kBlocks, TensorShape kShape>
struct TensorProductProbe {
  static constexpr int kThreads = 128, kMinBlocks = 1;
  using Params = probe::Params;
  using Tensor = TensorProbe<kBlocks, kShape>;
  WT_DEVICE static void run(const Params& p) {
    const SharedAddress a = Tensor::base();
    const SharedAddress b = Tensor::base() + ((static_cast<u32>(p.bytes_a) + 1023) & ~1023u);
    const u8* from = p.in + (kBlocks == 1 ? 0 : static_cast<int>(cluster_rank()) * p.bytes);
    copy_to_shared(a, from, p.bytes_a);
    copy_to_shared(b, from + p.bytes_a, p.bytes - p.bytes_a);
    const int all = static_cast<int>(b - Tensor::base()) + p.bytes - p.bytes_a;
    Tensor::run(p.out, all, [&](u32 tensor) {
      WT_ROLLED for (int k = 0; k < p.count; ++k) {
        const auto of = [&](SharedAddress first, i32 step, i32 leading, i32 stride, i32 swizzle) {
          return tensor_descriptor(first + static_cast<u32>(k * step), static_cast<u32>(leading),
                                   static_cast<u32>(stride), static_cast<TensorSwizzle>(swizzle));
        };
        tensor_multiply<kKind, kBlocks>(
            tensor + static_cast<u32>(p.at[0]),
            of(a + static_cast<u32>(p.step), p.step_a, p.leading_a, p.stride_a, p.swizzle_a),
            of(b, p.step_b, p.leading_b, p.stride_b, p.swizzle_b), static_cast<u32>(p.form), k > 0 || p.at[1] != 0);
      }
    });
  }
};

// D = sum over `count` products of 32 bytes a row, scaled; operands along k with a swizzle of 128 bytes, and the word
// `form` but for which scales it takes. The input holds A's bytes, B's, and the scales of both, `tap[0]` bytes each:
// 512 bytes for every four scales of 128 rows. Sums start in column `at[0]`, scales in `at[1]` and `at[2]`.
template <ScaledKind kKind>
struct TensorScaledProbe {
  static constexpr int kThreads = 128, kMinBlocks = 1;
  using Params = probe::Params;
  using Tensor = TensorProbe<1, TensorShape::k32x32>;
  static constexpr int kScales = tensor_scales(kKind), kPartBytes = 512, kPartColumns = 4;

  WT_DEVICE static void run(const Params& p) {
    const SharedAddress a = Tensor::base();
    const SharedAddress b = a + ((static_cast<u32>(p.bytes_a) + 1023) & ~1023u);
    const auto bytes_b = static_cast<u32>(p.bytes - p.bytes_a), part = static_cast<u32>(p.tap[0]);
    const SharedAddress scales = b + ((bytes_b + 1023) & ~1023u);
    copy_to_shared(a, p.in, p.bytes_a);
    copy_to_shared(b, p.in + p.bytes_a, static_cast<int>(bytes_b));
    copy_to_shared(scales, p.in + p.bytes, static_cast<int>(2 * part));
    Tensor::run(p.out, static_cast<int>(scales - a + 2 * part), [&](u32 tensor) {
      WT_ROLLED for (u32 at = 0; at < part; at += kPartBytes) {
        const u32 column = at / kPartBytes * kPartColumns;
        copy(tensor + static_cast<u32>(p.at[1]) + column, scales + at);
        copy(tensor + static_cast<u32>(p.at[2]) + column, scales + part + at);
      }
      WT_ROLLED for (int k = 0; k < p.count; ++k) {
        const u32 first = static_cast<u32>(k * kScales % 4), column = static_cast<u32>(k * kScales / 4) * kPartColumns;
        tensor_multiply_scaled<kKind, 1>(tensor + static_cast<u32>(p.at[0]), operand(a, k), operand(b, k),
                                         static_cast<u32>(p.form) | first << 4 | first << 29,
                                         tensor + static_cast<u32>(p.at[1]) + column,
                                         tensor + static_cast<u32>(p.at[2]) + column, k > 0);
      }
    });
  }

 private:
  WT_DEVICE static void copy(u32 to, SharedAddress from) {
    tensor_copy<TensorCopy::k32x128Four, 1>(to, tensor_descriptor(from, kPartBytes, 128, TensorSwizzle::kNone));
  }
  WT_DEVICE static u64 operand(SharedAddress first, int k) {
    return tensor_descriptor(first + 32 * static_cast<u32>(k), 16, 1024, TensorSwizzle::k128);
  }
};

// One copy of the input, whose rows lie 16 bytes apart in groups of 8, into column at[0].
template <TensorCopy kCopy>
struct TensorCopyProbe {
  static constexpr int kThreads = 128, kMinBlocks = 1;
  using Params = probe::Params;
  using Tensor = TensorProbe<1, TensorShape::k32x32>;
  WT_DEVICE static void run(const Params& p) {
    copy_to_shared(Tensor::base(), p.in, p.bytes);
    Tensor::run(p.out, p.bytes, [&](u32 tensor) {
      tensor_copy<kCopy, 1>(tensor + static_cast<u32>(p.at[0]),
                            tensor_descriptor(Tensor::base(), static_cast<u32>(p.leading_a),
                                              static_cast<u32>(p.stride_a), TensorSwizzle::kNone));
    });
  }
};

// A grid of clusters, each of which counts itself and all that it takes over: every one comes once. Out: a counter for
// each cluster.
template <int kBlocks>
struct LaunchControlProbe {
  static constexpr int kThreads = 32, kMinBlocks = 1;
  using Params = probe::Params;
  WT_DEVICE static void run(const Params& p) {
    const SharedAddress answer = (shared_base() + 15) & ~15u, answered = answer + 16;
    const bool asks = kBlocks == 1 || cluster_rank() == 0;
    if (thread_index() == 0) {
      mbarrier_init(answered, 1);
      mbarrier_fence_init();
    }
    meet();
    u32 phase = 0;
    i32 cluster = block_index().x / kBlocks;
    for (bool more = true; more; phase ^= 1) {
      if (asks && thread_index() == 0) atomic_add(reinterpret_cast<u32*>(p.out) + cluster, 1u);
      if (asks && elect()) {
        for (u32 block = 0; block < kBlocks; ++block) {
          if constexpr (kBlocks == 1) {
            mbarrier_arrive_expect(answered, 16);
          } else {
            mbarrier_arrive_expect_remote(answered, block, 16);
          }
        }
        take_cluster(answer, answered);
      }
      sync_warp();
      mbarrier_wait(answered, phase);
      const TakenCluster taken = taken_cluster(answer);
      fence_async_shared();
      cluster = taken.first.x / kBlocks;
      more = taken.taken;
      meet();  // all have read the answer
    }
  }

 private:
  WT_DEVICE static void meet() {
    if constexpr (kBlocks == 1) {
      sync_block();
    } else {
      cluster_arrive();
      cluster_wait();
    }
  }
};

}  // namespace wt::probe
